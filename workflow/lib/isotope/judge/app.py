"""The judging pages as web applications: what one desk answers."""

import errno
import ipaddress
import json
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from isotope.core.errors import BadParams, IsotopeError
from isotope.judge import session as judge_items
from isotope.judge import study
from isotope.judge.ledger import PAIRS, Form, Grade, Item
from isotope.judge.session import Desk, Pictures, SheetDesk
from isotope.judge.study import RATINGS, VERDICTS
from isotope.params.phases import Judge
from isotope.params.resolve import Params
from isotope.params.union import sources
from isotope.report.site import environment

_SHUT_S = 2


def scale(params: Params) -> dict[int, str]:
    """Return the label of each grade: `score.judge.scale`, or its default."""
    given = params["score"].get("judge", {}).get("scale", Judge.defaults()["scale"])
    return {int(key): label for key, label in sorted(given.items(), key=lambda item: str(item[0]))}


def desk(collection: str, assessor: str, params: Params) -> Desk:
    """Return the desk of an assessor in the working directory's project.

    Raises:
        BadParams: a collection that the params lack, or a bad name.
        MissingFile: no pool, as `judge_items.load`.
        BrokenPromise, CorruptFile: as `Desk`.
    """
    _known(collection, params)
    items = judge_items.load(collection, assessor)
    pictures = Pictures(_shards(collection, params), set(items.words["images"]))
    return Desk(collection, assessor, items, pictures)


def sheet_desk(collection: str, assessor: str, name: str, params: Params) -> SheetDesk:
    """Return the desk of an assessor at the sheet `name`, failures or mistakes.

    Raises:
        BadParams: a collection that the params lack, a sheet that they do not ask for, a bad name.
        MissingFile: no sheet, as `judge_sheets.load`.
        BrokenPromise, CorruptFile: as `SheetDesk`.
    """
    _known(collection, params)
    sheet = study.load(collection, name, params["tabulate"])
    ids = {row[c] for row in sheet.rows for c in ("query_id", "truth_id", "found_id")}
    pictures = Pictures(_shards(collection, params), ids)
    return SheetDesk(collection, assessor, sheet, pictures)


def _known(collection: str, params: Params) -> None:
    if collection not in params["collect"]:
        known = ", ".join(params["collect"])
        remedy = f"known: {known}; name its overlay with --configfile"
        raise BadParams("params collect", f"no collection {collection!r}", remedy)


def _shards(collection: str, params: Params) -> list[Path]:
    crawls = [Path(f"data/crawl/{source}") for source in sources(params, collection)]
    return sorted(shard for crawl in crawls for shard in crawl.glob("shard-*.parquet"))


def bound(host: str, port: int, *, remote: bool = False) -> socket.socket:
    """Return a listening socket; port 0 is any free one.

    Raises:
        BadParams: a host that others reach, without `remote`; one that is none; a port in use.
    """
    if not (remote or _is_loopback(host)):
        found = f"{host} can be reached from elsewhere, and whoever reaches it can grade"
        raise BadParams("--host", found, "leave it out, or add --remote")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        busy = getattr(error, "errno", None) == errno.EADDRINUSE
        found = "another program listens there" if busy else str(error)
        remedy = "take another --port; 0 is any free one"
        raise BadParams(f"--host {host} --port {port}", found, remedy) from error
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(at: Desk | SheetDesk, served: Starlette, listening: socket.socket) -> str:
    """Serve until the process is told to end; return what is done, for the terminal."""
    host, port = listening.getsockname()[:2]
    place = f"[{host}]" if ":" in host else host
    told = f"{at.assessor} judges {at.collection}: http://{place}:{port}/ (Ctrl-C ends)"
    sys.stdout.write(f"{told}\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt), closing(listening):
        uvicorn.Server(_config(served)).run(sockets=[listening])
    done = at.progress()
    return f"{done['done']:,} of {done['total']:,} are graded in {at.ledger.path}\n"


def _config(served: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        served,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUT_S,
    )


def record(body: bytes) -> dict[str, Any] | None:
    """Return what JSON says, None if it is no object with an assessor and a collection."""
    try:
        given: Any = json.loads(body)
        named = [given[name] for name in ("assessor", "collection")]
    except (ValueError, KeyError, TypeError):
        return None
    return given if all(isinstance(word, str) for word in named) else None


def graded(
    given: Mapping[str, Any], form: Form[Item, Grade]
) -> tuple[Item, Grade | None, Grade | None] | None:
    """Return an item, its grade and the one that the page showed before; None if it has none."""
    if not {"grade", "seen"} <= given.keys():
        return None
    found, before = form.read(given), form.read({**given, "grade": given["seen"]})
    return None if found is None or before is None else (*found, before[1])


HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_OWN = {"localhost", socket.gethostname().lower()}


class Guard:
    """Refuses what another site could send: foreign Host headers, posts from elsewhere.

    A page elsewhere may point a name of its own at this machine (DNS rebinding), so only
    addresses, `localhost` and this machine's own name are answered.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http" and (found := refused(Request(scope))):
            await PlainTextResponse(found, 403, HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def refused(request: Request) -> str | None:
    """Return why a request is refused, None if it is not."""
    host = request.headers.get("host", "")
    if not _is_ours(host):
        return f"this page is not to be had under the name {host!r}"
    if request.method in {"GET", "HEAD"}:
        return None
    if request.headers.get("origin") != f"{request.url.scheme}://{host}":
        return "grades are taken from this page only"
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return "grades come as JSON"
    return None


def _is_ours(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in _OWN or bool(ipaddress.ip_address(name))
    except ValueError:
        return False


BODY_BYTES = 16_384
_KINDS = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_ASSETS = ("judge.css", "judge.svg", "judge.js", "judge_page.js", "judge_sheet.js")
_Answer = Callable[[Request], Response]


@dataclass(frozen=True)
class _Taken:
    """Which grades are taken: those that `form` reads and `fits` allows."""

    form: Form[Any, Any]
    fits: Callable[[Any], bool]


def app(desk: Desk, scale: Mapping[int, str]) -> Starlette:
    """Return the application for a pool; `scale` has a label for each grade that is taken."""
    shown = _page("judge.html.j2", desk, scale=scale)
    routes = [Route("/", shown), Route("/api/agreement", _asked(desk.agreement))]
    return _application(desk, _Taken(PAIRS, scale.__contains__), routes)


def sheet_app(desk: SheetDesk) -> Starlette:
    """Return the application for a sheet of failures."""
    sheet = desk.sheet
    ratings = RATINGS if sheet.is_rated else []
    shown = _page("judge_sheet.html.j2", desk, sheet=sheet, ratings=ratings)
    return _application(desk, _Taken(VERDICTS, sheet.fits), [Route("/", shown)])


def _application(desk: Desk | SheetDesk, taken: _Taken, routes: list[Route]) -> Starlette:
    shared = {
        "/api/query/{number:int}": _query(desk),
        "/api/progress": _asked(desk.progress),
        "/picture/{image:path}": _picture(desk.pictures),
        **{f"/{name}": _asset(name) for name in _ASSETS},
    }
    post = Route("/api/grade", _grade(desk, taken), methods=["POST"])
    return Starlette(
        routes=[*routes, *(Route(path, answer) for path, answer in shared.items()), post],
        middleware=[Middleware(Guard)],
        exception_handlers={IsotopeError: _told},
        max_body_size=BODY_BYTES,
    )


def _json(content: object, status: int = 200) -> JSONResponse:
    return JSONResponse(content, status, HEADERS)


def _told(_: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 500)


def _page(template: str, desk: Desk | SheetDesk, **more: object) -> _Answer:
    shown = {"collection": desk.collection, "assessor": desk.assessor, **more}
    html = environment().get_template(template).render(**shown)
    return lambda _: Response(html, 200, HEADERS, "text/html")


def _asset(name: str) -> _Answer:
    content = (files("isotope") / "templates" / name).read_bytes()
    return lambda _: Response(content, 200, HEADERS, _KINDS[name.rpartition(".")[2]])


def _asked(answer: Callable[[], object]) -> _Answer:
    return lambda _: _json(answer())


def _query(desk: Desk | SheetDesk) -> _Answer:
    def answer(request: Request) -> Response:
        try:
            return _json(desk.query(request.path_params["number"]))
        except IndexError:
            return _json({"error": "no such query"}, 404)

    return answer


def _picture(pictures: Pictures) -> _Answer:
    def answer(request: Request) -> Response:
        try:
            found = pictures.webp(request.path_params["image"])
        except KeyError:
            return PlainTextResponse("no such picture", 404, HEADERS)
        return Response(found, 200, {**HEADERS, "Cache-Control": "private"}, "image/webp")

    return answer


def _grade(desk: Any, taken: _Taken) -> Callable[[Request], Awaitable[Response]]:  # noqa: ANN401 (desk and form belong together)
    async def answer(request: Request) -> Response:
        sent = record(await request.body())
        if sent is None:
            return _json({"error": "not a grade"}, 422)
        # A tab may outlive its server, and find somebody else's in its place.
        if (sent["collection"], sent["assessor"]) != (desk.collection, desk.assessor):
            return _json({"error": f"now {desk.assessor} judges {desk.collection} here"}, 409)
        given = graded(sent, taken.form)
        if given is None or not (given[1] is None or taken.fits(given[1])):
            return _json({"error": "not a grade on the scale"}, 422)
        item, grade, seen = given
        try:
            kept = await run_in_threadpool(desk.give, item, grade, seen=seen)
        except KeyError:
            return _json({"error": "not one of those to be judged"}, 422)
        return _json(kept)

    return answer
