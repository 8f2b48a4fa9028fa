"""`isotope judge`: a session's page as a web application, served on this machine until Ctrl-C."""

import re
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from isotope.core import terminal
from isotope.core.errors import IsotopeError
from isotope.report.site import environment
from isotope_judge import guards, suggestions
from isotope_judge.display import PooledPictures
from isotope_judge.guards import (
    HEADERS,
    LOOPBACK,
    asset,
    guarded,
    parse_change,
    parse_post,
    refusal,
    reply,
)
from isotope_judge.ledger import PAIRS, LineForm
from isotope_judge.params import Judge
from isotope_judge.session import PoolSession, SheetSession
from isotope_judge.study import RATINGS, VERDICTS
from isotope_judge.suggestion_session import SuggestionSession

BODY_BYTES = 16_384
_SCRIPTS = ("judge.js", "judge_page.js", "judge_sheet.js", "judge_suggestions.js")
_ASSETS = ("judge.css", "judge.svg", *_SCRIPTS)
_Session = PoolSession | SheetSession | SuggestionSession
_Endpoint = Callable[[Request], Response]


@dataclass(frozen=True)
class _Scale:
    """Which grades a page accepts: those that `form` reads and `fits` allows."""

    form: LineForm[Any, Any]
    fits: Callable[[Any], bool]


def scale(judge: Judge | None) -> dict[int, str]:
    """Return the label of each grade, by default that of the class."""
    labels = judge.scale if judge else Judge.defaults()["scale"]
    return {int(key): label for key, label in sorted(labels.items(), key=lambda item: str(item[0]))}


def pool_app(session: PoolSession, labels: Mapping[int, str], host: str = LOOPBACK) -> Starlette:
    """Return the application for a pool; `labels` has a text for each grade of the scale.

    `host` is the address that it is served at.
    """
    page = _page("judge.html.j2", session, scale=labels)
    routes = [Route("/", page), Route("/api/agreement", _json_of(session.agreement))]
    return _application(session, _Scale(PAIRS, labels.__contains__), routes, host)


def sheet_app(session: SheetSession, host: str = LOOPBACK) -> Starlette:
    """Return the application for a sheet of failures; `host` is the address it is served at."""
    sheet = session.sheet
    ratings = RATINGS if sheet.is_rated else []
    page = _page("judge_sheet.html.j2", session, sheet=sheet, ratings=ratings)
    return _application(session, _Scale(VERDICTS, sheet.fits), [Route("/", page)], host)


def suggestions_app(session: SuggestionSession, host: str = LOOPBACK) -> Starlette:
    """Return the application for a sheet of suggestions; `host` is the address it is served at."""
    page = _page("judge_suggestions.html.j2", session, verdicts=suggestions.MEANINGS)
    routes = [Route("/", page), Route("/api/agreement", _json_of(session.agreement))]
    # A verdict is one of those on the page, which asks for no reason.
    accepted = _Scale(suggestions.FORM, lambda verdict: verdict.reason is None)
    return _application(session, accepted, routes, host)


def _application(session: _Session, accepted: _Scale, routes: list[Route], host: str) -> Starlette:
    common = {
        "/api/query/{number}": _query(session.query),
        "/api/after/{number}": _query(lambda number: session.query(session.page_after(number))),
        "/api/progress": _json_of(session.progress),
        "/picture/{image:path}": _picture(session.pictures),
        **{f"/{name}": asset(name) for name in _ASSETS},
    }
    post = Route("/api/grade", _grade(session, accepted), methods=["POST"])
    return Starlette(
        routes=[*routes, *(Route(path, endpoint) for path, endpoint in common.items()), post],
        middleware=guarded(host),
        exception_handlers={IsotopeError: _failure, HTTPException: refusal},
        max_body_size=BODY_BYTES,
    )


def _failure(_: Request, error: Exception) -> Response:
    return reply({"error": str(error)}, 500)


def _page(template: str, session: _Session, **more: object) -> _Endpoint:
    values = {"collection": session.collection, "assessor": session.assessor, **more}
    html = environment().get_template(template).render(**values)
    return lambda _: Response(html, 200, HEADERS, "text/html")


def _json_of(answer: Callable[[], object]) -> _Endpoint:
    return lambda _: reply(answer())


def _query(described: Callable[[int], dict[str, Any]]) -> _Endpoint:
    def answer(request: Request) -> Response:
        number = request.path_params["number"]
        # A longer one is none of a query, and may be longer than Python reads.
        if not re.fullmatch(r"[0-9]{1,9}", number):
            return reply({"error": "not the number of a query"}, 400)
        try:
            return reply(described(int(number)))
        except IndexError:
            return reply({"error": "no such query"}, 404)

    return answer


def _picture(pictures: PooledPictures) -> _Endpoint:
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
            return reply({"error": "not a grade"}, 422)
        # A tab may still be open when another assessor's server listens at the same port.
        if (record["collection"], record["assessor"]) != (session.collection, session.assessor):
            error = f"now {session.assessor} judges {session.collection} here"
            return reply({"error": error}, 409)
        change = parse_change(record, accepted.form)
        if change is None or not (change[1] is None or accepted.fits(change[1])):
            return reply({"error": "not a grade on the scale"}, 422)
        item, grade, expected = change
        try:
            current = await run_in_threadpool(session.give, item, grade, expected=expected)
        except KeyError:
            return reply({"error": "not one of those to be judged"}, 422)
        return reply(current)

    return answer


def serve(session: _Session, page: Starlette, listening: socket.socket) -> str:
    """Serve until the process is interrupted; return the session's summary, for the terminal."""
    at = guards.address(listening)
    terminal.write(f"{session.assessor} judges {session.collection}: {at} (Ctrl-C ends)\n")
    sys.stdout.flush()
    guards.serve(page, listening)
    return f"{session.summary()}\n"
