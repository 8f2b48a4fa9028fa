"""Frozen vectors of both sides and of what stands beside them, and the judged pairs of a split."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import torch

from isotope.core.exact import Shards

SIDES = ("images", "questions", "texts", "pictures")
FILES = (*SIDES, "images_ids", "texts_ids")
Rows = npt.NDArray[np.int64]


class Pairs(NamedTuple):
    """Judged pairs: rows of the queries' vectors and rows of the texts', one each a pair."""

    queries: Rows
    texts: Rows

    def __len__(self) -> int:
        return len(self.queries)

    def some(self, chosen: Rows) -> "Pairs":
        """Return the pairs at these places."""
        return Pairs(self.queries[chosen], self.texts[chosen])


class Frozen:
    """The shards of FILES, vectors and ids, of one model."""

    def __init__(self, files: Mapping[str, Sequence[Path]]) -> None:
        """Map the vectors and read the ids."""
        self._shards = {side: Shards(files[side]) for side in SIDES}
        self._ids = {
            side: pl.concat([pl.read_parquet(p) for p in files[f"{side}_ids"]])
            .rename({"id": f"{side[:-1]}_id"})
            .with_row_index(side)
            for side in ("images", "texts")
        }
        self.dim = self._shards["texts"].dim

    def pairs(self, qrels: Path, split: str) -> Pairs:
        """Return the relevant pairs of a split, by image, then text."""
        own = pl.col("split") == split, pl.col("relevance") > 0
        judged = pl.scan_parquet(qrels).filter(*own).select("image_id", "text_id").collect()
        for side in ("images", "texts"):
            judged = judged.join(self._ids[side], on=f"{side[:-1]}_id")
        both = judged.sort("image_id", "text_id")
        return Pairs(*(both[side].cast(pl.Int64).to_numpy() for side in ("images", "texts")))

    def queries(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of images and of the questions on them, each [rows, dim]."""
        return self._take("images", rows), self._take("questions", rows)

    def texts(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of texts and of their pictures, each [rows, dim]."""
        return self._take("texts", rows), self._take("pictures", rows)

    def _take(self, side: str, rows: Rows) -> torch.Tensor:
        return torch.from_numpy(self._shards[side].take(rows))


def sample(pairs: Pairs, most: int) -> Pairs:
    """Return at most `most` pairs, evenly spaced."""
    places = np.linspace(0, len(pairs) - 1, min(most, len(pairs)))
    return pairs.some(np.unique(places.astype(np.int64)))
