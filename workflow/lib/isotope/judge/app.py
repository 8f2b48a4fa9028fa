"""The judging pages as web applications: what one desk answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from isotope.core.errors import IsotopeError
from isotope.judge import grade as judge_given
from isotope.judge.desk import Desk
from isotope.judge.failure_sheets import RATINGS, VERDICTS
from isotope.judge.failures import SheetDesk
from isotope.judge.guard import HEADERS, Guard
from isotope.judge.lines import PAIRS, Form
from isotope.judge.pictures import Pictures
from isotope.report.templates import environment

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
        sent = judge_given.record(await request.body())
        if sent is None:
            return _json({"error": "not a grade"}, 422)
        # A tab may outlive its server, and find somebody else's in its place.
        if (sent["collection"], sent["assessor"]) != (desk.collection, desk.assessor):
            return _json({"error": f"now {desk.assessor} judges {desk.collection} here"}, 409)
        given = judge_given.graded(sent, taken.form)
        if given is None or not (given[1] is None or taken.fits(given[1])):
            return _json({"error": "not a grade on the scale"}, 422)
        item, grade, seen = given
        try:
            kept = await run_in_threadpool(desk.give, item, grade, seen=seen)
        except KeyError:
            return _json({"error": "not one of those to be judged"}, 422)
        return _json(kept)

    return answer
