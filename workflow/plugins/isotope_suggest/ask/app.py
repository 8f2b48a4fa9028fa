"""`isotope suggest --serve`: live suggestions as a page, served on this machine until Ctrl-C."""

import asyncio
import re
import socket
import sys
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from isotope.core import terminal
from isotope.core.errors import BadArgument, BadQuery, IsotopeError, MissingFile, UnknownId
from isotope.report.site import environment
from isotope_judge import guards
from isotope_judge.guards import (
    HEADERS,
    LOOPBACK,
    asset,
    guarded,
    parse_change,
    parse_json,
    parse_post,
    refusal,
    reply,
)
from isotope_judge.ledger import Ledger
from isotope_judge.suggestions import (
    ACCEPTED,
    FORM,
    PASTED,
    REASONS,
    Suggestion,
    Verdict,
    open_ledger,
    pasted,
    verdict_json,
)
from isotope_suggest.ask.answers import Answer, AnswerList, SectionAnswer
from isotope_suggest.ask.cards import answer_card, section_card
from isotope_suggest.ask.engine import Engine
from isotope_suggest.ask.workers import Abandoned, Busy, Workers

TOP = 10
SECTIONS = 50
PICTURE_BYTES = 20 * 2**20
TEXT_BYTES = 2**18
VERDICT_BYTES = 2**14
# Two cores are enough for as many; an engine may answer those of the moment together.
AT_WORK = 8
WAITING = 32
# Pictures that somebody brings are decoded one after another, each for seconds if it is a bomb.
UPLOADS_AT_WORK, UPLOADS_WAITING = 2, 8
# To look whether an item is there takes no time: verdicts wait for each other only.
VERDICTS_AT_WORK, VERDICTS_WAITING = 2, 256
RETRY_S = 2
# For the whole body of a post.
_BODY_S = 60
_UPLOADS = "/api/sections"
_TYPES = {_UPLOADS: ("image/*", "application/octet-stream")}
_ASSETS = ("report.css", "ask.css", "ask.js", "ask_cards.js", "judge.svg")
_PASTED = re.compile(rf"{PASTED}[0-9a-f]{{64}}")
_STATUS: dict[type[Exception], int] = {
    UnknownId: 404,
    BadQuery: 422,
    BadArgument: 422,
    MissingFile: 422,
}
_GONE = 499
_Verdicts = Ledger[Suggestion, Verdict]


def app(
    engine: Engine,
    ledger: _Verdicts,
    host: str = LOOPBACK,
    workers: Workers | None = None,
) -> Starlette:
    """Return the application over `engine`, whose verdicts go to `ledger`.

    `host` is the address that it is served at.
    """
    page = _Page(engine, ledger, workers or Workers(AT_WORK, WAITING))
    html = (
        environment()
        .get_template("ask.html.j2")
        .render(
            collection=engine.collection,
            assessor=ledger.assessor,
            reasons=REASONS,
            picture_bytes=PICTURE_BYTES,
        )
    )
    gets = {
        "/api/section": page.section,
        "/api/picture": page.picture,
        "/api/unillustrated": page.unillustrated,
        "/api/verdicts": page.verdicts,
        "/thumbnail/{image:path}": page.thumbnail,
        **{f"/{name}": asset(name) for name in _ASSETS},
    }
    posts = {
        "/api/pictures": (page.pictures, TEXT_BYTES),
        _UPLOADS: (page.sections, PICTURE_BYTES),
        "/api/verdict": (page.give, VERDICT_BYTES),
    }
    return Starlette(
        routes=[
            Route("/", lambda _: Response(html, 200, HEADERS, "text/html")),
            *(Route(path, endpoint) for path, endpoint in gets.items()),
            *(
                Route(path, endpoint, methods=["POST"], max_body_size=most)
                for path, (endpoint, most) in posts.items()
            ),
        ],
        middleware=guarded(host, _TYPES),
        exception_handlers={
            IsotopeError: _failure,
            Busy: _busy,
            HTTPException: refusal,
            Abandoned: _gone,
            ClientDisconnect: _gone,
        },
        max_body_size=VERDICT_BYTES,
    )


def _failure(_: Request, error: Exception) -> Response:
    return reply({"error": str(error)}, _STATUS.get(type(error), 500))


def _busy(_: Request, __: Exception) -> Response:
    refused = reply({"error": f"too many questions at once; ask again in {RETRY_S} s"}, 503)
    refused.headers["Retry-After"] = str(RETRY_S)
    return refused


def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=_GONE)


class _Page:
    """Endpoints. Ids come from outside and are looked up, never made a path."""

    def __init__(self, engine: Engine, ledger: _Verdicts, workers: Workers) -> None:
        """Answer from `engine` in the threads of `workers`, uploads and verdicts in their own."""
        self._engine, self._ledger, self._workers = engine, ledger, workers
        self._uploads = Workers(UPLOADS_AT_WORK, UPLOADS_WAITING)
        self._checks = Workers(VERDICTS_AT_WORK, VERDICTS_WAITING)

    async def pictures(self, request: Request) -> Response:
        """Return pictures for a text that somebody types: `{"text": ...}`."""
        text = _text(await _body(request))
        if text is None:
            return reply({"error": "not a text"}, 422)
        answers = await self._ask(request, lambda: self._engine.pictures(text, top=TOP))
        return reply(self._answers(answers, pasted(text)))

    async def section(self, request: Request) -> Response:
        """Return a section of the collection, `?id=`, with pictures for it."""
        text_id = _parameter(request, "id")

        def answer() -> tuple[SectionAnswer, AnswerList[Answer]]:
            section = self._engine.section(text_id)
            answers = self._engine.pictures_of_section(text_id, top=TOP)
            self._ledger.refresh()
            return section, answers

        section, answers = await self._ask(request, answer)
        return reply({"section": section_card(section, "", {}), **self._answers(answers, text_id)})

    async def sections(self, request: Request) -> Response:
        """Return sections for a picture: the body is a file of any kind, which nobody trusts."""
        content = await _body(request)
        ask = self._uploads.run(request, lambda: self._engine.sections(content, top=TOP))
        return reply(self._places(await ask, ""))

    async def picture(self, request: Request) -> Response:
        """Return a picture of the collection, `?id=`, with sections for it."""
        image_id = _parameter(request, "id")

        def answer() -> tuple[Answer, AnswerList[SectionAnswer]]:
            picture = self._engine.picture(image_id)
            sections = self._engine.sections(image_id, top=TOP)
            self._ledger.refresh()
            return picture, sections

        picture, sections = await self._ask(request, answer)
        return reply({"picture": answer_card(picture, "", {}), **self._places(sections, image_id)})

    async def unillustrated(self, request: Request) -> Response:
        """Return open sections that `?search=` finds, from the one after `?after=` on."""
        search = request.query_params.get("search", "")
        after = request.query_params.get("after", "")

        def answer() -> AnswerList[SectionAnswer]:
            return self._engine.unillustrated(search=search, after=after, most=SECTIONS + 1)

        sections = await self._ask(request, answer)
        cards = [section_card(section, "", {}) for section in sections[:SECTIONS]]
        last = sections[SECTIONS - 1].text_id if len(sections) > SECTIONS else None
        return reply({"sections": cards, "notes": sections.notes, "after": last})

    def thumbnail(self, request: Request) -> Response:
        """Return a small picture as WebP."""
        try:
            webp = self._engine.thumbnail(request.path_params["image"])
        except UnknownId:
            return reply({"error": "no such picture"}, 404)
        return Response(webp, 200, {**HEADERS, "Cache-Control": "private"}, "image/webp")

    def verdicts(self, request: Request) -> Response:
        """Return the verdicts on pictures for `?text=`, or on sections for `?picture=`."""
        text_id, image_id = (request.query_params.get(name) for name in ("text", "picture"))
        self._ledger.refresh()
        grades = {
            item.image_id if text_id else item.text_id: verdict_json(verdict)
            for item, verdict in list(self._ledger.grades.items())
            if (text_id and item.text_id == text_id) or (image_id and item.image_id == image_id)
        }
        return reply({"grades": grades})

    async def give(self, request: Request) -> Response:
        """Save a verdict if the suggestion still has the one that the page showed."""
        record = parse_post(await _body(request))
        if record is None:
            return reply({"error": "not a verdict"}, 422)
        # A tab may still be open when another assessor's server listens at the same port.
        target = self._engine.collection, self._ledger.assessor
        if (record["collection"], record["assessor"]) != target:
            return reply({"error": f"now {target[1]} judges {target[0]} here"}, 409)
        change = parse_change(record, FORM)
        if change is None or not _is_of_this_page(change[1]):
            return reply({"error": "not a verdict of this page"}, 422)
        item, verdict, expected = change
        if not await self._checks.run(request, lambda: self._exists(item)):
            return reply({"error": "no such section or picture"}, 422)
        current = await run_in_threadpool(self._ledger.give, item, verdict, expected=expected)
        return reply({"grade": verdict_json(current)})

    def _exists(self, item: Suggestion) -> bool:
        try:
            self._engine.picture(item.image_id)
            if not _PASTED.fullmatch(item.text_id):
                self._engine.section(item.text_id)
        except UnknownId:
            return False
        return True

    async def _ask(self, request: Request, answer: Callable[[], Any]) -> Any:  # noqa: ANN401 (what `answer` returns)
        return await self._workers.run(request, answer)

    def _answers(self, answers: AnswerList[Answer], text_id: str) -> dict[str, Any]:
        grades = dict(self._ledger.grades)
        cards = [answer_card(answer, text_id, grades) for answer in answers]
        return {"answers": cards, "notes": answers.notes, "text_id": text_id}

    def _places(self, sections: AnswerList[SectionAnswer], image_id: str) -> dict[str, Any]:
        grades = dict(self._ledger.grades)
        cards = [section_card(section, image_id, grades) for section in sections]
        return {"sections": cards, "notes": sections.notes, "image_id": image_id}


def _is_of_this_page(verdict: Verdict | None) -> bool:
    """Tell whether the page gives such a verdict: accepted, rejected with a reason, none."""
    return verdict in {None, ACCEPTED} or (verdict is not None and verdict.reason is not None)


async def _body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(_BODY_S):
            return await request.body()
    except TimeoutError as error:
        raise HTTPException(408, f"nothing whole in {_BODY_S} s; send it again") from error


def _text(body: bytes) -> str | None:
    """Return the text of a post, None if it has none; half a surrogate pair is no character."""
    record = parse_json(body)
    try:
        text = record["text"]
        return text.encode().decode() if isinstance(text, str) else None
    except (ValueError, KeyError, TypeError):
        return None


def _parameter(request: Request, name: str) -> str:
    value = request.query_params.get(name, "")
    if not value:
        raise HTTPException(422, f"no {name} in the question")
    return value


def serve(engine: Engine, collection: str, assessor: str, listening: socket.socket) -> str:
    """Serve until the process is interrupted; return what was judged, for the terminal.

    Raises:
        BadParams: an assessor whose name can't be a file's.
        CorruptFile: a file of verdicts that has a line that is none.
    """
    ledger = open_ledger(collection, assessor)
    page = app(engine, ledger, listening.getsockname()[0])
    at = guards.address(listening)
    terminal.write(f"suggestions of {collection} for {assessor}: {at} (Ctrl-C ends)\n")
    sys.stdout.flush()
    guards.serve(page, listening)
    return f"{len(ledger.grades):,} suggestions judged by {assessor} in {ledger.path}\n"
