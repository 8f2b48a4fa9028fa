"""Live answers as a page of one file, with small pictures."""

from pathlib import Path

from isotope.core import store
from isotope.core.errors import UnknownId
from isotope.core.pixels import thumbnail
from isotope.report.site import environment
from isotope_suggest.ask.answers import Answer, AnswerList, SectionAnswer
from isotope_suggest.ask.cards import chance
from isotope_suggest.ask.engine import Engine


def write_html(
    answers: AnswerList[Answer] | AnswerList[SectionAnswer], engine: Engine, out: Path
) -> None:
    """Write the page; pictures that were crawled are in it, others are named.

    Raises:
        DiskFull, Unwritable: no room or no right to write it.
        CorruptFile, TruncatedFile: a shard of pictures that can't be read.
    """
    pictures = {
        answer.image_id: uri
        for answer in answers
        if isinstance(answer, Answer) and (uri := _uri(engine, answer.image_id))
    }
    pages = environment()
    pages.filters["chance"] = _chance
    template = pages.get_template("show.answers.html.j2")
    html = template.render(
        collection=engine.collection,
        answers=[answer for answer in answers if isinstance(answer, Answer)],
        places=[answer for answer in answers if isinstance(answer, SectionAnswer)],
        notes=answers.notes,
        pictures=pictures,
    )
    # A folder has no name beside which to write; what it is is said when it should be replaced.
    with store.aside(out.absolute()) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def _uri(engine: Engine, image_id: str) -> str | None:
    try:
        return thumbnail(engine.thumbnail(image_id))
    except UnknownId:
        return None


def _chance(answer: Answer) -> str:
    return chance(answer.probability, answer.low, answer.high)
