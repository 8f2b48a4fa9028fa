"""Both sides of a collection as vectors: who asks in a cell, and what was found there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core.exact import Rows, Shards
from isotope.core.grid import SIDES, Cell, query_ids
from isotope.core.nearest import Vectors


class Encoded:
    """The shards of vectors (texts, images) and of their ids (texts_ids, images_ids)."""

    def __init__(self, files: Mapping[str, Sequence[Path]]) -> None:
        """Map the vectors and read the ids."""
        self.shards = {side: Shards(files[side]) for side in SIDES}
        self.ids = {
            side: pl.concat([pl.read_parquet(p) for p in files[f"{side}_ids"]])["id"]
            for side in SIDES
        }

    def asked(self, qrels: Path, cell: Cell) -> tuple[pl.Series, Vectors]:
        """Return the ids of the cell's queries and their vectors, float32 [queries, dim]."""
        ids = pl.DataFrame({"id": query_ids(qrels, cell)}, schema={"id": pl.String})
        known = pl.DataFrame({"id": self.ids[cell.query_side]}).with_row_index("row")
        at = ids.join(known, on="id", maintain_order="left")
        rows = at["row"].cast(pl.Int64).to_numpy()
        return at["id"], self.shards[cell.query_side].take(rows)

    def hits(
        self, cell: Cell, queries: pl.Series, scores: npt.NDArray[np.float32], rows: Rows
    ) -> pl.DataFrame:
        """Return query_id, doc_id and score for scores and rows [queries, k]; row -1 is none."""
        found, width = rows.ravel(), rows.shape[1]
        kept = found >= 0
        return pl.DataFrame(
            {
                "query_id": queries.gather(np.repeat(np.arange(len(queries)), width)[kept]),
                "doc_id": self.ids[cell.document_side].gather(found[kept]),
                "score": scores.ravel()[kept].astype(np.float64),
            }
        )
