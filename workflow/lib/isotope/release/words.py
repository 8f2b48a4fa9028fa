"""What a release's own Parquet files say in words, and which items its pools have.

All forms for other tools are made of these.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow.parquet as pq

from isotope.core import sql
from isotope.core.grid import JUDGED, SIDES, TASKS, id_column, task_of

SPLITS = (*JUDGED, "other")
_SQL = sql.SQL / "release"
_ROWS = 4096


class Pool(NamedTuple):
    """The queries of a split and direction in a small release, and the documents they have."""

    queries: frozenset[str]
    documents: frozenset[str]


# By split and task.
Pools = Mapping[tuple[str, str], Pool]


def pool_items(pools: Pools, split: str, side: str) -> frozenset[str] | None:
    """Return the texts or images that the queries of a split are asked on.

    They are the documents of one direction and the queries of the other; None where no query of the
    split has a pool: then they are all items of the split.
    """
    pools_of_split = {task: pools[split, task] for task in TASKS if (split, task) in pools}
    if not pools_of_split:
        return None
    members_of_pools = [
        pool.queries if TASKS[t].queries == side else pool.documents
        for t, pool in pools_of_split.items()
    ]
    return frozenset[str]().union(*members_of_pools)


def shared_pool(folder: Path, side: str, splits: Sequence[str]) -> frozenset[str] | None:
    """Return the ids of a pool of splits that has items in other files than theirs.

    Of a corpus that splits share, the items that several splits judge lie in the file `other`.
    None where the files of the splits have all that the splits judge.
    """
    key = id_column(side)
    judged, listed = (
        {i for path in paths for i in pl.read_parquet(path, columns=[key], glob=False)[key]}
        for paths in (
            [folder / f"qrels/{split}.parquet" for split in splits if split in JUDGED],
            [folder / side / f"{split}.parquet" for split in splits],
        )
    )
    return frozenset(judged | listed) if judged - listed else None


class ReleaseWords(NamedTuple):
    """A release `folder`, and the `scratch` folder with its words: `<side>/<split>.parquet`.

    A row has id, title, text and url: the title of a text's page and its other fields, or no title
    and the captions of an image.
    """

    folder: Path
    scratch: Path
    pools: Pools

    def table(self, side: str, split: str) -> Path:
        """Return the words of the texts or images of a split."""
        return self.scratch / side / f"{split}.parquet"

    def rows(self, side: str, splits: Sequence[str] = SPLITS) -> Iterator[dict[str, Any]]:
        """Yield the rows of some splits, split by split, by id."""
        for split in splits:
            with pq.ParquetFile(self.table(side, split)) as file:
                for batch in file.iter_batches(_ROWS):
                    for row in batch.to_pylist():
                        yield {**row, "split": split}

    def qrels(self, split: str, task: str) -> pl.DataFrame:
        """Return the judgements of a direction's queries: text_id, image_id, rel."""
        path = self.folder / f"qrels/{split}.parquet"
        rows = pl.read_parquet(path, columns=["text_id", "image_id", "rel"], glob=False)
        pool = self.pools.get((split, task))
        key = id_column(TASKS[task].queries)
        return rows if pool is None else rows.filter(pl.col(key).is_in(pool.queries))

    def judged(self, side: str) -> set[str]:
        """Return the ids of the texts or images that query."""
        key, task = id_column(side), task_of(side)
        return {i for split in JUDGED for i in self.qrels(split, task)[key]}


def collect_words(folder: Path, scratch: Path, language: str, pools: Pools) -> ReleaseWords:
    """Write the words of a release to `scratch`; captions are those in `language`.

    `pools` are those of a small release, and empty of a whole one.

    Raises:
        MissingFile, CorruptFile: a table of the release that is not there or not readable.
    """
    words = ReleaseWords(folder, scratch, pools)
    for side, split in ((side, split) for side in SIDES for split in SPLITS):
        params = {"language": language} if side == "images" else {}
        relations: dict[str, sql.Files] = {side: folder / side / f"{split}.parquet"}
        query = _SQL / f"{side.removesuffix('s')}_words.sql"
        sql.query(query, relations, params, out=words.table(side, split))
    return words
