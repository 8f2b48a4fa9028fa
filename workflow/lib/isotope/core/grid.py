"""The grid that systems are run on: settings, splits and tasks, and where the runs of a cell lie.

A setting names the pool that is searched, a split its queries, a task the direction: texts ask for
images (t2m), or images for texts (m2t). This is the one place that reads a run's path.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.core.errors import BadParams
from isotope.core.store import UNDIVIDED, Part, part_of

JUDGED = ("train", "validation", "test")
# Of a corpus that splits share, an item is in all splits that judge it.
JOINT = ("train+validation", "train+test", "validation+test", "train+validation+test")
SIDES = ("texts", "images")
WITHHELD = "unjudged"
_PARTS = 4
_PART = re.compile(r"(\d+)-of-(\d+)")
_ID = {"texts": "text_id", "images": "image_id"}


class Task(NamedTuple):
    """A direction: the side that queries, the side that is ranked, and what readers call it."""

    queries: str
    documents: str
    title: str
    purpose: str


TASKS: Mapping[str, Task] = {
    "t2m": Task(
        "texts",
        "images",
        "Image suggestion",
        "Given a section, find the picture that illustrates it.",
    ),
    "m2t": Task(
        "images",
        "texts",
        "Image promotion",
        "Given a picture, find the section that it illustrates.",
    ),
}


def task_of(side: str) -> str:
    """Return the task in which the items of `side` query: t2m for `texts`, m2t for `images`."""
    return next(name for name, task in TASKS.items() if task.queries == side)


def query_side(task: str) -> str:
    """Return the side that queries: `texts` for t2m (image suggestion), `images` for m2t."""
    return TASKS[task].queries


def document_side(task: str) -> str:
    """Return the side that is ranked: `images` for t2m, `texts` for m2t (image promotion)."""
    return TASKS[task].documents


def id_columns(task: str) -> tuple[str, str]:
    """Return the columns of a task's queries and documents in qrels, such as text_id, image_id."""
    return id_column(query_side(task)), id_column(document_side(task))


@dataclass(frozen=True)
class RunKey:
    """A cell of the grid: a pool that is searched, and the queries that are asked of it.

    `judged` says whether there are judgements. `part` (i, n) is the slice of the queries.
    """

    setting: str
    split: str
    task: str
    judged: bool = True
    part: Part = UNDIVIDED

    @classmethod
    def from_path(cls, path: Path) -> "RunKey":
        """Read the cell from a run's path, `.../<setting>/<split>/<task>/<system>.parquet`.

        Runs on a split whose answers are withheld lie apart, in a folder `unjudged`; those of a
        part of the queries in a folder `<i>-of-<n>` before that.

        Raises:
            BadParams: a path that is too short, or a task that is neither t2m nor m2t.
        """
        if len(path.parts) < _PARTS or path.parts[-2] not in TASKS:
            remedy = "name it <setting>/<split>/<task>/<system>.parquet, with task t2m or m2t"
            raise BadParams(str(path), "not the path of a run", remedy)
        judged = WITHHELD not in path.parts[-5:-4]
        named = _PART.fullmatch("".join(path.parts[-5:-4] if judged else path.parts[-6:-5]))
        part = (int(named[1]), int(named[2])) if named else UNDIVIDED
        return cls(*path.parts[-4:-1], judged=judged, part=part)

    def labels(self, system: str) -> dict[str, str]:
        """Return the columns by which tables name a system's run in this cell."""
        cell = {"setting": self.setting, "split": self.split, "task": self.task}
        return {**cell, "system": system}

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


def run_order(path: Path) -> tuple[str, ...]:
    """Return the key by which tables sort runs: setting, split, task, system."""
    return tuple(RunKey.from_path(path).labels(path.stem).values())


def pools(setting: str, splits: Sequence[str]) -> list[str]:
    """Return the names of a setting's candidate pools."""
    return list(splits) if setting == "small" else ["all"]


def pool_splits(setting: str, pool: str) -> tuple[str, ...]:
    """Return the splits whose items are candidates, those with items of several splits included."""
    joint = tuple(name for name in JOINT if pool in name.split("+"))
    all_splits = (*JUDGED, *JOINT)
    return {"small": (pool, *joint), "base": all_splits, "large": (*all_splits, "other")}[setting]


def id_column(side: str) -> str:
    """Return the key of `texts` or `images`."""
    return _ID[side]


def query_ids(qrels: Path, cell: RunKey) -> list[str]:
    """Return the judged queries of the cell's part of its split, sorted.

    Of a split whose answers are withheld all items ask; their table lies beside the qrels.
    """
    key = id_column(cell.query_side)
    table = qrels if cell.judged else qrels.with_name(f"{cell.query_side}.parquet")
    ids = (
        pl.scan_parquet(table, glob=False)
        .filter(pl.col("split") == cell.split)
        .select(key)
        .unique()
    )
    return list(part_of(ids.collect()[key].sort().to_list(), cell.part))


def document_ids(table: Path, cell: RunKey) -> list[str]:
    """Return the ids of the cell's candidate pool from the texts or images table, sorted."""
    key = id_column(cell.document_side)
    in_pool = pl.col("split").is_in(pool_splits(cell.setting, cell.pool))
    return (
        pl.scan_parquet(table, glob=False)
        .filter(in_pool)
        .select(key)
        .collect()[key]
        .sort()
        .to_list()
    )
