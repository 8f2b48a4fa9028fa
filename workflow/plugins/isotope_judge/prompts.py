"""What a model is asked about a pair: the words and pictures of a message, and what identifies it.

A message is a list of parts, texts and pictures in turn. It shows what a person sees on the judging
page (`isotope_judge.display`): the fields of a text, or picture and captions of an image, neither
systems nor ranks.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow.parquet as pq

from isotope.core.errors import IntegrityError
from isotope.core.grid import id_column
from isotope.core.schemas import PLACEHOLDER
from isotope_judge.display import table_words

# The one that is asked where the params have none. It names the scale's meanings, asks for one
# grade and leaves no room for reasons: the grade is read from the next token.
PROMPT = """\
You assess the results of a search engine for an encyclopedia. Somebody looks for the picture that \
belongs to a section, or for the section that a picture belongs to. Grade how well the candidate \
fits the query, by what you read and see here and by nothing else.

The grades are:
{scale}

Query:
{query}

Candidate:
{document}

Answer with one grade, a single digit."""
PLACES = ("query", "document", "scale")
# Longest text of an item; what is beyond is cut.
_LETTERS = 4_000
_CUT = " …"
_NONE = "(no picture)"


class MessagePicture(NamedTuple):
    """A picture in a message: the id that the crawl has it under, and a digest of its content."""

    ident: str
    digest: str


class Item(NamedTuple):
    """A text or an image: its fields by label, and its picture, if it should have one.

    `picture` is None for what shows none; one without pixels has an empty digest.
    """

    fields: Mapping[str, str]
    picture: MessagePicture | None

    def parts(self, letters: int) -> "list[str | MessagePicture]":
        """Return the picture, then the fields on lines of their own, cut after so many letters."""
        words = "\n".join(f"{label}: {value}" for label, value in self.fields.items())
        cut = words if len(words) <= letters else words[:letters].rstrip() + _CUT
        if self.picture is None:
            return [cut]
        if not self.picture.digest:
            return [f"{_NONE}\n{cut}"]
        return [self.picture, f"\n{cut}"]


class Message(NamedTuple):
    """The parts of a message, in order; two texts never follow each other."""

    parts: Sequence[str | MessagePicture]

    @property
    def pictures(self) -> list[MessagePicture]:
        """The pictures, in their order."""
        return [part for part in self.parts if isinstance(part, MessagePicture)]

    def key(self, judge: Mapping[str, Any]) -> str:
        """Return what identifies the answer: a digest of the judge and of all that it is shown."""
        shown = [part if isinstance(part, str) else [part.digest] for part in self.parts]
        content = json.dumps([dict(judge), shown], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()


def message(
    prompt: str,
    scale: Mapping[int, str],
    query: Item,
    document: Item,
    letters: int = _LETTERS,
) -> Message:
    """Return the message that asks about a pair; a text is cut after so many letters."""
    meanings = "\n".join(f"{grade}: {means}" for grade, means in sorted(scale.items()))
    filled: Mapping[str, Sequence[str | MessagePicture]] = {
        "query": query.parts(letters),
        "document": document.parts(letters),
        "scale": [meanings],
    }
    parts: list[str | MessagePicture] = []
    for n, piece in enumerate(PLACEHOLDER.split(prompt)):
        # At odd places stand the names of what is filled in.
        for part in filled[piece] if n % 2 else [piece]:
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part:
                parts.append(part)
    return Message(tuple(parts))


def read_items(
    table: Path, side: str, ids: Sequence[str], crawled: frozenset[str]
) -> Mapping[str, Item]:
    """Return the items of one side, texts or images, by id.

    An image shows itself, or its `picture_id` where the table has that column, as texts may, too.
    `crawled` are the ids of the pictures that have pixels.

    Raises:
        MissingFile: no such table.
        IntegrityError: an id that it lacks.
    """
    words = table_words(table, side, ids)
    lacking = [ident for ident in ids if ident not in words]
    if lacking:
        problem = f"no {id_column(side)} {lacking[0]!r}, the first of {len(lacking):,} of the pool"
        raise IntegrityError(table, problem, "run the search phase again")
    pictures = _pictures(table, side, ids, crawled)
    return {ident: Item(words[ident], pictures.get(ident)) for ident in ids}


def _pictures(
    table: Path, side: str, ids: Sequence[str], crawled: frozenset[str]
) -> dict[str, MessagePicture]:
    key, columns = id_column(side), pq.read_schema(table).names
    shown = "picture_id" if "picture_id" in columns else key if side == "images" else None
    if shown is None:
        return {}
    digest = pl.col("sha256") if "sha256" in columns and shown == key else pl.lit(None, pl.String)
    rows = pl.scan_parquet(table, glob=False).filter(pl.col(key).is_in(ids))
    pictures = rows.select(pl.col(key).alias("id"), picture=shown, digest=digest).collect()
    return {
        ident: MessagePicture(picture, (content or picture) if picture in crawled else "")
        for ident, picture, content in pictures.iter_rows()
        if picture is not None
    }
