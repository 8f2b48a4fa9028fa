"""Settings, splits and tasks: the grid that systems are run on (design, section 1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from isotope.core.shards import WHOLE, Part, part_of

JUDGED = ("train", "validation", "test")
SIDES = ("texts", "images")
APART = "unjudged"
_PART = re.compile(r"(\d+)-of-(\d+)")
_ID = {"texts": "text_id", "images": "image_id"}
# The two directions: the side that queries, and the side that is ranked.
TASKS = {"t2m": ("texts", "images"), "m2t": ("images", "texts")}


def query_side(task: str) -> str:
    """Return the side that queries: `texts` for t2m (image suggestion), `images` for m2t."""
    return TASKS[task][0]


def document_side(task: str) -> str:
    """Return the side that is ranked: `images` for t2m, `texts` for m2t (image promotion)."""
    return TASKS[task][1]


def id_columns(task: str) -> tuple[str, str]:
    """Return the columns of a task's queries and documents in qrels, such as text_id, image_id."""
    return id_column(query_side(task)), id_column(document_side(task))


@dataclass(frozen=True)
class Cell:
    """One run's place: what is searched, and for whom; `judged` if anybody knows the answers.

    Of the cell's queries only those of `part` (i, n) ask.
    """

    setting: str
    split: str
    task: str
    judged: bool = True
    part: Part = WHOLE

    @classmethod
    def of(cls, path: Path) -> "Cell":
        """Read the cell from a run's path, `.../<setting>/<split>/<task>/<system>.parquet`.

        Runs on a split whose answers are withheld lie apart, in a folder `unjudged`; those of a
        part of the queries in a folder `<i>-of-<n>` before that.
        """
        judged = APART not in path.parts[-5:-4]
        found = _PART.fullmatch("".join(path.parts[-5:-4] if judged else path.parts[-6:-5]))
        part = (int(found[1]), int(found[2])) if found else WHOLE
        return cls(*path.parts[-4:-1], judged=judged, part=part)

    @property
    def query_side(self) -> str:
        """The side that queries, as `query_side`."""
        return query_side(self.task)

    @property
    def document_side(self) -> str:
        """The side that is ranked, as `document_side`."""
        return document_side(self.task)

    @property
    def pool(self) -> str:
        """Name of the candidate pool: `small` has one for each split."""
        return self.split if self.setting == "small" else "all"


def pools(setting: str, splits: Sequence[str]) -> list[str]:
    """Return the names of a setting's candidate pools."""
    return list(splits) if setting == "small" else ["all"]


def pool_splits(setting: str, pool: str) -> tuple[str, ...]:
    """Return the splits whose items are candidates."""
    return {"small": (pool,), "base": JUDGED, "large": (*JUDGED, "other")}[setting]


def id_column(side: str) -> str:
    """Return the key of `texts` or `images`."""
    return _ID[side]


def query_ids(qrels: Path, cell: Cell) -> list[str]:
    """Return the judged queries of the cell's part of its split, sorted.

    Of a split whose answers are withheld all items ask; their table lies beside the qrels.
    """
    key = id_column(cell.query_side)
    asking = qrels if cell.judged else qrels.with_name(f"{cell.query_side}.parquet")
    found = pl.scan_parquet(asking).filter(pl.col("split") == cell.split).select(key).unique()
    return list(part_of(found.collect()[key].sort().to_list(), cell.part))


def document_ids(table: Path, cell: Cell) -> list[str]:
    """Return the ids of the cell's candidate pool from the texts or images table, sorted."""
    key = id_column(cell.document_side)
    wanted = pl.col("split").is_in(pool_splits(cell.setting, cell.pool))
    return pl.scan_parquet(table).filter(wanted).select(key).collect()[key].sort().to_list()
