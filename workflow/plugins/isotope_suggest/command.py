"""The command `isotope suggest`: pictures for a text, sections for a picture, or a page of both."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotope.cli.arguments import (
    LOOPBACK,
    Configured,
    Host,
    Overlays,
    Pairs,
    Port,
    Remote,
    filled,
    integer_between,
    one_of,
)
from isotope.core.errors import BadArgument, BadQuery, MissingFile, Unreadable

if TYPE_CHECKING:
    from isotope_suggest.ask.answers import Answer, AnswerList, SectionAnswer
    from isotope_suggest.ask.engine import Engine

_COMMAND = "isotope suggest"
_STDIN = "-"
SYSTEMS = ("suggest", "wikimedia", "bm25", "dense")
_MOST = 10
# More than any text that is read, in bytes.
_TEXT_BYTES = 1 << 20
_WIDEST = 48
_Ask = Callable[["Engine"], "AnswerList[Answer] | AnswerList[SectionAnswer]"]


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Configured)(suggest)


def suggest(  # noqa: PLR0913 (one each for what the command takes)
    collection: Annotated[str, typer.Argument(help="A built collection.", parser=filled)],
    source: Annotated[
        str | None,
        typer.Argument(
            help="- reads a text from standard input.", metavar="-", parser=one_of([_STDIN])
        ),
    ] = None,
    *,
    section: Annotated[
        str | None,
        typer.Option(help="A section: pictures for it.", metavar="ID", parser=filled),
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="A text: pictures for it.", metavar="FILE")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            help="A picture: sections for it. A file, or an id or URL of the collection.",
            metavar="FILE|URL|ID",
            parser=filled,
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            help="Most answers, up to 10.", parser=integer_between(1, _MOST), metavar="NUMBER"
        ),
    ] = _MOST,
    system: Annotated[
        str,
        typer.Option(help="Who answers.", parser=one_of(SYSTEMS), metavar="|".join(SYSTEMS)),
    ] = "suggest",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="A page to write, with pictures.", metavar="FILE")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve a page that asks, until Ctrl-C.")
    ] = False,
    assessor: Annotated[
        str, typer.Option(help="Whose verdicts the page saves.", metavar="NAME")
    ] = "me",
    host: Host = LOOPBACK,
    port: Port = 8001,
    remote: Remote = False,
    configfile: Overlays,
    config: Pairs,
) -> str:
    """Suggest pictures for a text, or sections for a picture."""
    from isotope.params.files import load  # noqa: PLC0415

    asked = {"--section": section, "--text": text, "-": source, "--image": image}
    _demand_one([name for name, value in asked.items() if value] + ["--serve"] * serve)
    if serve:
        params = load(configfile, config)
        return _serve((collection, params, system), assessor, (host, port), remote=remote)
    ask = _question(section, text, image, top, is_piped=source is not None)
    from isotope_suggest.ask.engine import Engine  # noqa: PLC0415

    params = load(configfile, config)
    with closing(Engine.load(collection, params, system=system)) as engine:
        answers = ask(engine)
        if html:
            from isotope_suggest.ask.answers_page import write_html  # noqa: PLC0415

            write_html(answers, engine, html)
    return as_record(answers) if as_json else as_text(answers)


def _demand_one(named: Sequence[str]) -> None:
    if len(named) != 1:
        problem = f"{' and '.join(named)} together" if named else "nothing to answer"
        remedy = f"name one of --section, --text, -, --image and --serve; see `{_COMMAND} --help`"
        raise BadArgument(_COMMAND, problem, remedy)


def _serve(
    served: tuple[str, Any, str], assessor: str, at: tuple[str, int], *, remote: bool
) -> str:
    from isotope_judge.guards import listen  # noqa: PLC0415
    from isotope_suggest.ask import app as page  # noqa: PLC0415
    from isotope_suggest.ask.engine import Engine  # noqa: PLC0415

    collection, params, system = served
    with (
        closing(listen(*at, remote=remote)) as listening,
        closing(Engine.load(collection, params, system=system, patient=False)) as engine,
    ):
        return page.serve(engine, collection, assessor, listening)


def _question(
    section: str | None, text: Path | None, image: str | None, top: int, *, is_piped: bool
) -> _Ask:
    """Return what asks the engine; files are read before it is loaded."""
    if section is not None:
        return lambda engine: engine.pictures_of_section(section, top=top)
    if image is not None:
        content = picture(image)
        return lambda engine: engine.sections(content, top=top)
    words = _text(sys.stdin.buffer.read(_TEXT_BYTES), "standard input") if is_piped else None
    if text is not None:
        words = _text(_read(text), str(text))
    return lambda engine: engine.pictures(words or "", top=top)


def picture(name: str) -> bytes | str:
    """Return the bytes of a file, or the name itself if it is no file's."""
    path = Path(name)
    is_path = "://" not in name and path.suffix != ""
    if not is_path and not path.is_file():
        return name
    return _read(path, most=None)


def _read(path: Path, most: int | None = _TEXT_BYTES) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(-1 if most is None else most)
    except FileNotFoundError as error:
        raise MissingFile(path, "no such file", "check the path") from error
    except OSError as error:
        raise Unreadable(path, str(error.strerror).lower(), "check the path") from error


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8", "strict" if len(data) < _TEXT_BYTES else "ignore")
    except UnicodeDecodeError as error:
        raise BadQuery(where, f"no UTF-8 ({error})", "save the text as UTF-8") from error


def as_record(answers: "AnswerList[Answer] | AnswerList[SectionAnswer]") -> str:
    """Return answers as JSON: `notes`, and `answers` with the fields of either kind."""
    record = {"notes": answers.notes, "answers": [asdict(answer) for answer in answers]}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def as_text(answers: "AnswerList[Answer] | AnswerList[SectionAnswer]") -> str:
    """Return answers for a terminal: notes, a table, then what to read whole, paste or open."""
    from isotope.tabulate.table import plain  # noqa: PLC0415
    from isotope_suggest.ask.answers import Answer  # noqa: PLC0415

    rows, lines = list[list[object]](), list[str]()
    for n, answer in enumerate(answers, 1):
        if isinstance(answer, Answer):
            head = ("", "chance", "caption", "page", "reasons")
            cells = [answer.caption, ", ".join(answer.pages[:2])]
            full_caption = (
                [answer.caption] if _short(answer.caption) != _line(answer.caption) else []
            )
            details = [*full_caption, answer.credit, answer.image_url]
        else:
            head = ("", "chance", "section", "picture", "reasons")
            cells = [
                f"{answer.page_title} # {answer.section_title}",
                "none" if answer.is_open else "has",
            ]
            details = [answer.text, answer.text_id, answer.page_url]
        lines.append(f"{n:2d}  " + "\n    ".join(map(_line, filter(None, details))) + "\n")
        why = "; ".join(answer.reasons)
        rows.append(
            [n, chance(answer.probability, answer.low, answer.high), *map(_short, cells), why]
        )
    table = plain(rows, head) if rows else ""  # pyright: ignore[reportPossiblyUnboundVariable]
    notes = "".join(f"note: {note}\n" for note in answers.notes)
    return "\n".join(part for part in (notes, table, "".join(lines)) if part)


def chance(probability: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a probability in per cent with its interval, a dash for none."""
    if probability is None:
        return "—"
    percent = f"{100 * probability:.0f} %"
    return (
        percent
        if low is None or high is None
        else f"{percent} ({100 * low:.0f} to {100 * high:.0f})"
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    from isotope.report.site import excerpt  # noqa: PLC0415

    return excerpt(text, _WIDEST)
