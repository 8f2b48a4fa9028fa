"""What others know of the toy's pages, from (seed, number): predicted topics, page views."""

import csv
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from isotope.core import store
from isotope.toy import wiki
from isotope.toy import words as toy_words
from isotope.toy.edition import Entry

_KINDS = {
    "Culture.Performing_arts": "Theatre",
    "Culture.Philosophy_and_religion": "Abbey Chapel",
    "Culture.Visual_arts.Architecture": "Hall Lodge Tower",
    "Geography.Geographical": "",
    "History_and_Society.Business_and_economics": "Arcade Bakery Dairy Inn Market Mill",
    "History_and_Society.Education": "Library School",
    "History_and_Society.Politics_and_government": "Court",
    "History_and_Society.Transportation": "Bridge Ferry Harbour Station",
    "STEM.Biology": "Garden",
}
_MOST_VIEWS_LOG10 = 5
_NEAR, _SURE = (0.0, 0.45), (0.55, 1.0)
_GEOGRAPHY = 0.3


def write(out: Path, pages: int, seed: int) -> None:
    """Write `topics.csv` and `views.csv` under `out`, a row an article.

    `topics.csv` has the columns of Wikimedia's bulk article-topic predictions (wiki_db, qid, pid,
    num_outlinks, then a probability for each topic); `views.csv` has page_id and views.
    """
    _csv(
        out / "topics.csv", ("wiki_db", "qid", "pid", "num_outlinks", *_KINDS), _topics(pages, seed)
    )
    _csv(out / "views.csv", ("page_id", "views"), _views(pages, seed))


def write_revisions(out: Path, entries: Iterable[Entry]) -> None:
    """Write `revisions.csv` under `out`: page_id and what became of the page, where it changed."""
    changed = ((entry.before or entry.now, entry.revision) for entry in entries if entry.revision)
    lines = ((wiki.page_id(page.number), told) for page, told in changed if page)
    _csv(out / "revisions.csv", ("page_id", "revision"), lines)


def _topics(pages: int, seed: int) -> Iterator[list[object]]:
    for number in range(pages):
        rng = random.Random(f"{seed}/{number}/topics")
        kind = toy_words.title(number).split()
        yield [
            "enwiki",
            f"Q{number + 1}",
            wiki.page_id(number),
            rng.randint(1, 9),
            *_odds(rng, kind),
        ]


def _odds(rng: random.Random, words: Sequence[str]) -> Iterator[str]:
    for kinds in _KINDS.values():
        sure = any(word in kinds.split() for word in words) or (
            not kinds and rng.random() < _GEOGRAPHY
        )
        yield f"{rng.uniform(*(_SURE if sure else _NEAR)):.3f}"


def _views(pages: int, seed: int) -> Iterator[list[object]]:
    for number in range(pages):
        rng = random.Random(f"{seed}/{number}/views")
        yield [wiki.page_id(number), int(10 ** rng.uniform(0, _MOST_VIEWS_LOG10))]


def _csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with store.aside(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(rows)
