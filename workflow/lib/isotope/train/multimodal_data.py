"""Judged pairs of pictures with words: questions on images, and the entities that answer them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from isotope.core import sql
from isotope.core.errors import MissingColumn
from isotope.core.pixels import Cut
from isotope.core.schemas import FIVE_FIELDS
from isotope.models.fill import text_of
from isotope.models.open_clip import unit
from isotope.train.batches import Batch, Epochs, Tokens
from isotope.train.data import (
    Block,
    Decoded,
    Place,
    Source,
    open_pictures,
    taken,
    write_pictures,
)
from isotope.train.processes import Ranks

_ALONE = Ranks()
_JOIN_MEMORY = "2GB"
_TEXT = pa.string()
_QUESTIONS = pa.schema(
    [
        *((name, _TEXT) for name in ("image_id", "picture_id", "question", "subset", "seen")),
        ("place", pa.int64()),
    ]
)
_ENTITIES = pa.schema([(name, _TEXT) for name in ("text_id", "picture_id", *FIVE_FIELDS)])
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """Items of one side: their words, and the places [n] of their pictures, -1 for a black one.

    `pixels`: uint8 [p, side, side, 3], each picture once, mapped or decoded when asked for.
    """

    words: pl.Series
    shown: Ids
    pixels: Block | Decoded
    side: int

    def __len__(self) -> int:
        return len(self.words)

    # A text without a picture has a black one: section 5.1.
    def pictures(self, rows: Ids, then: Ids | None = None) -> torch.Tensor:
        """Return float [n, 3, side, side] in 0..1; rows wanted `then` may be decoded meanwhile.

        Raises:
            CorruptFile: a picture that does not decode.
        """
        block = np.zeros((len(rows), self.side, self.side, 3), np.uint8)
        here = self.shown[rows]
        coming = None if then is None else _there(self.shown[then])
        block[here >= 0] = taken(self.pixels, _there(here), coming)
        return unit(block)

    def tokens(self, rows: Ids, tokens: Tokens) -> torch.Tensor:
        """Return int64 [n, context]."""
        some = [tokens.row([self.words[int(row)]]) for row in rows]
        return torch.from_numpy(np.stack(some))


@dataclass(frozen=True)
class Judged:
    """The judged pairs of a split, by image: a question each, and the place of its entity.

    `known`: subset and seen of each pair. Memory: some 200 bytes a pair.
    """

    questions: Side
    entities: Side
    answers: Ids
    known: pl.DataFrame

    def __len__(self) -> int:
        return len(self.answers)

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Return what is known of each pair, then the entities' words, as JSON can write it."""
        yield from self.known.iter_rows()
        yield from zip(self.entities.words, self.entities.shown.tolist(), strict=True)


class Pairs(Epochs):
    """Shuffled epochs of judged pairs; pictures are not augmented: the paper tells of none."""

    def __init__(
        self, judged: Judged, tokens: Tokens, batch: int, seed: int, ranks: Ranks = _ALONE
    ) -> None:
        """Draw batches of at most as many pairs as there are."""
        super().__init__(len(judged), batch, seed, ranks)
        self._judged, self._tokens = judged, tokens

    def batch(self, rows: Ids) -> Batch:
        """Return this rank's pictures and tokens of the questions, then those of the entities."""
        judged, mine = self._judged, rows[self._ranks.rows(len(rows))]
        coming, answers = self._coming(), judged.answers[mine]
        later = None if coming is None else judged.answers[coming]
        return (
            judged.questions.pictures(mine, coming),
            judged.questions.tokens(mine, self._tokens),
            judged.entities.pictures(answers, later),
            judged.entities.tokens(answers, self._tokens),
        )


def read_judged(
    source: Source, split: str, fields: Sequence[str], cut: Cut, place: Place
) -> Judged:
    """Join the judged pairs of a split, and put tables and pictures in the place's folder.

    Of several ranks the first writes them, and the others read them when they are complete.

    Raises:
        MissingColumn: a collection without questions, whose texts have no pictures, or a field
            that is none of a text's five.
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    _demand_columns(source, fields)
    if place.ranks.first:
        for name, schema in (("questions", _QUESTIONS), ("entities", _ENTITIES)):
            _write_table(source, split, name, schema, place)
    place.ranks.wait()
    asked, answering = (
        pl.read_parquet(_table(place, split, name)) for name in ("questions", "entities")
    )
    words = answering.select(text_of(fields)).to_series()
    return Judged(
        _side(asked["question"], asked["picture_id"], source, cut, (place, f"{split}.seen")),
        _side(words, answering["picture_id"], source, cut, (place, f"{split}.known")),
        asked["place"].to_numpy(),
        asked.drop("place"),
    )


def _write_table(source: Source, split: str, name: str, schema: pa.Schema, place: Place) -> None:
    every = {"qrels": source.qrels, "texts": source.texts, "images": source.images}
    sql.query(
        sql.SQL / "train" / f"{name}.sql",
        {k: v for k, v in every.items() if k != "images" or name == "questions"},
        {"split": split},
        out=_table(place, split, name),
        schema=schema,
        memory_limit=_JOIN_MEMORY,
    )


def _table(place: Place, split: str, name: str) -> Path:
    return place.folder / f"{split}.{name}.parquet"


def _side(
    words: pl.Series, pictures: pl.Series, source: Source, cut: Cut, at: tuple[Place, str]
) -> Side:
    place, name = at
    file = place.folder / f"{name}.pictures"
    ids = pictures.drop_nulls().unique().sort()
    names: list[str] = ids.to_list()
    if place.ranks.first:
        write_pictures(names, source.pixels, cut, place, file)
    place.ranks.wait()
    shown = pictures.to_frame("id").join(
        ids.to_frame("id").with_row_index("place"), on="id", how="left", maintain_order="left"
    )
    places = shown["place"].cast(pl.Int64).fill_null(-1).to_numpy()
    return Side(words, places, open_pictures(names, cut, place, file), cut.side)


def _demand_columns(source: Source, fields: Sequence[str]) -> None:
    needed = ((source.images, {"question", "picture_id"}), (source.texts, {"picture_id", *fields}))
    for table, columns in needed:
        if missing := columns - {*pq.read_schema(table).names}:
            remedy = "train it on a collection of kind oven or oven-labels"
            raise MissingColumn(table, f"no column {min(missing)!r}", remedy)
    if others := {*fields} - {*FIVE_FIELDS}:
        found = f"field {min(others)!r} is none of the five"
        raise MissingColumn(source.texts, found, f"use some of {', '.join(FIVE_FIELDS)}")


def _there(places: Ids) -> Ids:
    return places[places >= 0]
