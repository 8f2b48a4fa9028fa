"""Rows by id: a column of ids in which some are found without going through all of them."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

ABSENT = -1


class Ids:
    """Distinct ids, mostly in their order, and the row of each."""

    def __init__(self, ids: pl.Series) -> None:
        """Take the ids of all rows; what is not in order is sorted once."""
        self.all, self._rows = ids, np.arange(0)
        self._is_sorted = ids.is_sorted()
        if not self._is_sorted:
            self._rows = ids.arg_sort().to_numpy().astype(np.int64)
        self._sorted = ids if self._is_sorted else ids.gather(self._rows)

    def __len__(self) -> int:
        """Return how many ids there are."""
        return len(self.all)

    def rows(self, ids: pl.Series | Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each id, ABSENT for one that is not there."""
        asked_ids = pl.Series("id", ids, pl.String)
        if not len(self.all) or asked_ids.is_empty():
            return np.full(len(asked_ids), ABSENT, np.int64)
        places = np.minimum(self._sorted.search_sorted(asked_ids).to_numpy(), len(self.all) - 1)
        places = places.astype(np.int64)
        is_there = (self._sorted.gather(places) == asked_ids).to_numpy()
        return np.where(is_there, places if self._is_sorted else self._rows[places], ABSENT)

    def row(self, ident: str) -> int:
        """Return the row of an id, or ABSENT."""
        return int(self.rows([ident])[0])
