"""What a release's own Parquet files say in words: the input of the forms for text retrieval."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow.parquet as pq

from isotope.core import sql
from isotope.core.grid import JUDGED, SIDES, id_column

SPLITS = (*JUDGED, "other")
_SQL = sql.SQL / "release"
_ROWS = 4096


class Words(NamedTuple):
    """A release `folder`, and the `scratch` folder with its words: `<side>/<split>.parquet`.

    A row has id, title, text and url: the title of a text's page and its other fields, or no title
    and the captions of an image.
    """

    folder: Path
    scratch: Path

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

    def qrels(self, split: str) -> pl.DataFrame:
        """Return the judgements of a split: text_id, image_id, rel."""
        path = self.folder / f"qrels/{split}.parquet"
        return pl.read_parquet(path, columns=["text_id", "image_id", "rel"])

    def judged(self, side: str, splits: Sequence[str] = JUDGED) -> set[str]:
        """Return the ids of a side that are judged in some splits."""
        return {i for split in splits for i in self.qrels(split)[id_column(side)]}


def collect_words(folder: Path, scratch: Path, language: str) -> Words:
    """Write the words of a release to `scratch`; captions are those in `language`.

    Raises:
        MissingFile, CorruptFile: a table of the release that is not there or not readable.
    """
    words = Words(folder, scratch)
    for side, split in ((side, split) for side in SIDES for split in SPLITS):
        params = {"language": language} if side == "images" else {}
        relations: dict[str, sql.Files] = {side: folder / side / f"{split}.parquet"}
        query = _SQL / f"{side.removesuffix('s')}_words.sql"
        sql.query(query, relations, params, out=words.table(side, split))
    return words
