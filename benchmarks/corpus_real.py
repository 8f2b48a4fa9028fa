"""Real text to measure: sections of English Wikipedia and captions of WIT, as numbers of words."""

import gzip
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from lexicon import STOP_WORDS
from numpy.typing import NDArray

from isotope.parse.dump import parse_dump

SHARED = Path(__file__).parents[2] / "shared"
DUMPS = ("raycharles/dump", "minidumps/20211213", "minidumps/20210917", "minidumps/20210122")
CAPTIONS = "collections/atomic/topics.atomic.validation.image-caption.jsonl.gz"
_WORD, _POSSESSIVE = re.compile("\\w+(?:['\u2019]\\w+)*"), re.compile("['\u2019]s$")
_TABLES = ("links", "outline", "rejected", "infoboxes", "pictures", "counts")


class Words(NamedTuple):
    """Texts as words: a rank-like number each, 0 and below for stop words by their order.

    Text t is `ranks[ends[t - 1] : ends[t]]`, and of page `pages[t]`; pages lie together.
    """

    ranks: NDArray[np.int64]
    ends: NDArray[np.int64]
    pages: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return the words of each text."""
        return np.diff(self.ends, prepend=0)

    @property
    def texts(self) -> NDArray[np.int64]:
        """Return for each word its text."""
        return np.repeat(np.arange(len(self.ends)), self.lengths)


def sections() -> dict[int, list[str]]:
    """Return the sections of each page that have words, each page once, as its latest dump has it.

    Pages of the minidumps stand in four dumps; what one of raycharles also has is left out there.
    """
    pages: dict[str, list[str]] = {}
    for dump in sorted(DUMPS, key=lambda d: d.startswith("raycharles")):
        own = _parsed(sorted((SHARED / "snapshots" / dump).glob("*.bz2")))
        new = own.filter(~pl.col("page_title").is_in(list(pages)))
        for title, text in new.iter_rows():
            pages.setdefault(title, []).append(text or "")
    kept = ([text for text in own if _WORD.search(text)] for own in pages.values())
    return {n: own for n, own in enumerate(kept) if own}


def _parsed(files: Sequence[Path]) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as name:
        at: dict[str, Any] = {table: Path(name) / table for table in _TABLES}
        parse_dump(files, out=Path(name) / "sections", workers=1, **at)
        return pl.read_parquet(Path(name) / "sections").select(
            "page_title", "context_section_description"
        )


def captions() -> dict[int, list[str]]:
    """Return AToMiC's captions of validation: what WIT says of a picture, in one text."""
    with gzip.open(SHARED / CAPTIONS, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["title"] for line in file]
    return {n: [text] for n, text in enumerate(texts)}


def numbered(pages: dict[int, list[str]]) -> tuple[Words, list[str]]:
    """Return the words of texts, and what the ranks from 1 on are, the most frequent first."""
    split = [[words(text) for text in own] for own in pages.values()]
    texts = [text for own in split for text in own]
    flat = pl.Series([word for text in texts for word in text])
    counts = flat.value_counts().filter(~pl.col("").is_in(STOP_WORDS))
    order = counts.sort(["count", ""], descending=[True, False])[""].to_list()
    number = {word: n for n, word in enumerate(order, 1)}
    number |= {word: -n for n, word in enumerate(STOP_WORDS)}
    ranks = np.array([number[word] for word in flat], np.int64)
    of_page = [n for n, own in enumerate(split) for _ in own]
    ends = np.cumsum([len(text) for text in texts])
    return Words(ranks, ends, np.array(of_page)), order


def words(text: str) -> list[str]:
    """Return the words of a text in small letters, about as Lucene's tokenizer cuts them."""
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(text.lower())]
