"""`isotope judge`: a session's page as a web application, served on this machine until Ctrl-C."""

import errno
import ipaddress
import json
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from isotope.core.errors import BadParams, IsotopeError
from isotope.judge.display import Pictures
from isotope.judge.ledger import PAIRS, Form, Grade, Item
from isotope.judge.session import PoolSession, SheetSession
from isotope.judge.study import RATINGS, VERDICTS
from isotope.params.phases import Judge
from isotope.params.sections import Params
from isotope.report.site import environment

BODY_BYTES = 16_384
_SHUT_S = 2
_LOOPBACK = "127.0.0.1"
_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_ASSETS = ("judge.css", "judge.svg", "judge.js", "judge_page.js", "judge_sheet.js")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_Session = PoolSession | SheetSession
_Endpoint = Callable[[Request], Response]


@dataclass(frozen=True)
class _Scale:
    """Which grades a page accepts: those that `form` reads and `fits` allows."""

    form: Form[Any, Any]
    fits: Callable[[Any], bool]


def scale(params: Params) -> dict[int, str]:
    """Return the label of each grade: `score.judge.scale`, or its default."""
    labels = params["score"].get("judge", {}).get("scale", Judge.defaults()["scale"])
    return {int(key): label for key, label in sorted(labels.items(), key=lambda item: str(item[0]))}


def pool_app(session: PoolSession, labels: Mapping[int, str], host: str = _LOOPBACK) -> Starlette:
    """Return the application for a pool; `labels` has a text for each grade of the scale.

    `host` is the address that it is served at.
    """
    page = _page("judge.html.j2", session, scale=labels)
    routes = [Route("/", page), Route("/api/agreement", _json_of(session.agreement))]
    return _application(session, _Scale(PAIRS, labels.__contains__), routes, host)


def sheet_app(session: SheetSession, host: str = _LOOPBACK) -> Starlette:
    """Return the application for a sheet of failures; `host` is the address it is served at."""
    sheet = session.sheet
    ratings = RATINGS if sheet.is_rated else []
    page = _page("judge_sheet.html.j2", session, sheet=sheet, ratings=ratings)
    return _application(session, _Scale(VERDICTS, sheet.fits), [Route("/", page)], host)


def _application(session: _Session, accepted: _Scale, routes: list[Route], host: str) -> Starlette:
    common = {
        "/api/query/{number:int}": _query(session.query),
        "/api/after/{number:int}": _query(lambda number: session.query(session.page_after(number))),
        "/api/progress": _json_of(session.progress),
        "/picture/{image:path}": _picture(session.pictures),
        **{f"/{name}": _asset(name) for name in _ASSETS},
    }
    post = Route("/api/grade", _grade(session, accepted), methods=["POST"])
    hosts = own_hosts(host)
    return Starlette(
        routes=[*routes, *(Route(path, endpoint) for path, endpoint in common.items()), post],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            Middleware(SameOrigin),
        ],
        exception_handlers={IsotopeError: _failure},
        max_body_size=BODY_BYTES,
    )


def own_hosts(host: str) -> list[str]:
    """Return the names and addresses of this machine, and `host`, as they stand in Host headers.

    A page elsewhere may point a name of its own at this machine (DNS rebinding), so no other name
    is answered.
    """
    names = {"localhost", socket.gethostname().lower()}
    interfaces = psutil.net_if_addrs().values()
    internet = (socket.AF_INET, socket.AF_INET6)
    addresses = {host, _LOOPBACK, "::1"}
    addresses |= {own.address for each in interfaces for own in each if own.family in internet}
    plain = {address.partition("%")[0].lower() for address in addresses}
    return sorted(names | {f"[{each}]" if ":" in each else each for each in plain})


class SameOrigin:
    """Answers 403 to posts that may come from another site: another Origin, or not JSON."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http" and (reason := _refusal(Request(scope))):
            await PlainTextResponse(reason, 403, HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refusal(request: Request) -> str | None:
    if request.method in {"GET", "HEAD"}:
        return None
    host = request.headers.get("host", "")
    if request.headers.get("origin") != f"{request.url.scheme}://{host}":
        return "grades are taken from this page only"
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return "grades come as JSON"
    return None


def _json(content: object, status: int = 200) -> JSONResponse:
    return JSONResponse(content, status, HEADERS)


def _failure(_: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 500)


def _page(template: str, session: _Session, **more: object) -> _Endpoint:
    values = {"collection": session.collection, "assessor": session.assessor, **more}
    html = environment().get_template(template).render(**values)
    return lambda _: Response(html, 200, HEADERS, "text/html")


def _asset(name: str) -> _Endpoint:
    content = (files("isotope") / "templates" / name).read_bytes()
    return lambda _: Response(content, 200, HEADERS, _TYPES[name.rpartition(".")[2]])


def _json_of(answer: Callable[[], object]) -> _Endpoint:
    return lambda _: _json(answer())


def _query(described: Callable[[int], dict[str, Any]]) -> _Endpoint:
    def answer(request: Request) -> Response:
        try:
            return _json(described(request.path_params["number"]))
        except IndexError:
            return _json({"error": "no such query"}, 404)

    return answer


def _picture(pictures: Pictures) -> _Endpoint:
    def answer(request: Request) -> Response:
        try:
            webp = pictures.webp(request.path_params["image"])
        except KeyError:
            return PlainTextResponse("no such picture", 404, HEADERS)
        return Response(webp, 200, {**HEADERS, "Cache-Control": "private"}, "image/webp")

    return answer


def _grade(session: Any, accepted: _Scale) -> Callable[[Request], Awaitable[Response]]:  # noqa: ANN401 (session and scale belong together)
    async def answer(request: Request) -> Response:
        record = parse_post(await request.body())
        if record is None:
            return _json({"error": "not a grade"}, 422)
        # A tab may still be open when another assessor's server listens at the same port.
        if (record["collection"], record["assessor"]) != (session.collection, session.assessor):
            error = f"now {session.assessor} judges {session.collection} here"
            return _json({"error": error}, 409)
        change = parse_change(record, accepted.form)
        if change is None or not (change[1] is None or accepted.fits(change[1])):
            return _json({"error": "not a grade on the scale"}, 422)
        item, grade, expected = change
        try:
            current = await run_in_threadpool(session.give, item, grade, expected=expected)
        except KeyError:
            return _json({"error": "not one of those to be judged"}, 422)
        return _json(current)

    return answer


def parse_post(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a post, None if it is none with an assessor and a collection."""
    try:
        record: Any = json.loads(body)
        names = [record[name] for name in ("assessor", "collection")]
    except (ValueError, KeyError, TypeError):
        return None
    return record if all(isinstance(name, str) for name in names) else None


def parse_change(
    record: Mapping[str, Any], form: Form[Item, Grade]
) -> tuple[Item, Grade | None, Grade | None] | None:
    """Return an item, its grade and the one that the page showed before; None if it has none."""
    if not {"grade", "expected"} <= record.keys():
        return None
    after, before = form.read(record), form.read({**record, "grade": record["expected"]})
    return None if after is None or before is None else (*after, before[1])


def listen(host: str, port: int, *, remote: bool = False) -> socket.socket:
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


def serve(session: _Session, page: Starlette, listening: socket.socket) -> str:
    """Serve until the process is interrupted; return the session's summary, for the terminal."""
    host, port = listening.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    at = f"http://{name}:{port}/"
    sys.stdout.write(f"{session.assessor} judges {session.collection}: {at} (Ctrl-C ends)\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt), closing(listening):
        uvicorn.Server(_config(page)).run(sockets=[listening])
    return f"{session.summary()}\n"


def _config(page: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        page,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUT_S,
    )
