"""The judging page as a web application: what one desk answers."""

import json
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

from isotope.errors import IsotopeError
from isotope.judge_desk import Desk
from isotope.judge_guard import HEADERS, Guard
from isotope.judge_lines import Pair
from isotope.report_templates import environment

BODY_BYTES = 16_384
_WORDS = (*Pair._fields, "assessor", "collection")
_KINDS = {"judge.js": "text/javascript", "judge.css": "text/css", "judge.svg": "image/svg+xml"}


def app(desk: Desk, scale: Mapping[int, str]) -> Starlette:
    """Return the application; `scale` has a label for each grade that is taken."""
    pages = {
        "/": _page(desk, scale),
        "/judge.{kind}": _asset,
        "/api/query/{number:int}": _query(desk),
        "/api/progress": _asked(desk.progress),
        "/api/agreement": _asked(desk.agreement),
        "/picture/{image:path}": _picture(desk),
    }
    routes = [Route(path, answer) for path, answer in pages.items()]
    routes.append(Route("/api/grade", _grade(desk, scale), methods=["POST"]))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard)],
        exception_handlers={IsotopeError: _told},
        max_body_size=BODY_BYTES,
    )


_Answer = Callable[[Request], Response]


def _json(content: object, status: int = 200) -> JSONResponse:
    return JSONResponse(content, status, HEADERS)


def _told(_: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 500)


def _page(desk: Desk, scale: Mapping[int, str]) -> _Answer:
    shown = {"collection": desk.collection, "assessor": desk.assessor, "scale": scale}
    html = environment().get_template("judge.html.j2").render(**shown)
    return lambda _: Response(html, 200, HEADERS, "text/html")


def _asset(request: Request) -> Response:
    name = f"judge.{request.path_params['kind']}"
    if name not in _KINDS:
        return PlainTextResponse("no such file", 404, HEADERS)
    content = (files("isotope") / "templates" / name).read_bytes()
    return Response(content, 200, HEADERS, _KINDS[name])


def _asked(answer: Callable[[], object]) -> _Answer:
    return lambda _: _json(answer())


def _query(desk: Desk) -> _Answer:
    def answer(request: Request) -> Response:
        try:
            return _json(desk.query(request.path_params["number"]))
        except IndexError:
            return _json({"error": "no such query"}, 404)

    return answer


def _picture(desk: Desk) -> _Answer:
    def answer(request: Request) -> Response:
        try:
            found = desk.pictures.webp(request.path_params["image"])
        except KeyError:
            return PlainTextResponse("no such picture", 404, HEADERS)
        return Response(found, 200, {**HEADERS, "Cache-Control": "private"}, "image/webp")

    return answer


def _grade(desk: Desk, scale: Mapping[int, str]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        given = Given.read(await request.body())
        if given is None or not (given.grade is None or given.grade in scale):
            return _json({"error": "not a grade on the scale"}, 422)
        # A tab may outlive its server, and find somebody else's in its place.
        if (given.collection, given.assessor) != (desk.collection, desk.assessor):
            return _json({"error": f"now {desk.assessor} judges {desk.collection} here"}, 409)
        try:
            kept = await run_in_threadpool(desk.give, given.pair, given.grade, seen=given.seen)
        except KeyError:
            return _json({"error": "not a pair of the pool"}, 422)
        return _json(kept)

    return answer


@dataclass(frozen=True)
class Given:
    """A grade as the page sends it; `seen` is the one that it showed before."""

    pair: Pair
    grade: int | None
    seen: int | None
    assessor: str
    collection: str

    @classmethod
    def read(cls, body: bytes) -> "Given | None":
        """Return what JSON says, None if it is not a grade."""
        try:
            given: Any = json.loads(body)
            words: list[Any] = [given[name] for name in _WORDS]
            grades: list[Any] = [given[name] for name in ("grade", "seen")]
        except (ValueError, KeyError, TypeError):
            return None
        fits = all(isinstance(word, str) for word in words)
        if not fits or not all(grade is None or type(grade) is int for grade in grades):
            return None
        return cls(Pair(*words[:3]), *grades, *words[3:])
