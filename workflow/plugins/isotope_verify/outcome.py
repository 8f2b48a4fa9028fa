"""What a check compared, the largest difference, and where two numbers differ.

A check counts what it compares and what it can't compare: nothing passes in silence.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

_SHOWN = 20


class Difference(NamedTuple):
    """A cell of a published file, what stands there, and what a tool finds."""

    cell: str
    published: str
    recomputed: str


@dataclass(frozen=True)
class ItemSample:
    """A share of all items, drawn by a seed; 1 is all of them."""

    share: float
    seed: str

    def choose(self, items: Iterable[str], key: str) -> list[str]:
        """Return the share of the items, sorted; one at least. `key` names what they belong to.

        The draw is a digest of seed, key and item. The seed is the digest of what was published, so
        nobody can choose numbers by knowing which ones will be looked at.
        """
        ordered = sorted(set(items))
        if self.share >= 1:
            return ordered
        count = max(1, math.ceil(self.share * len(ordered)))
        return sorted(sorted(ordered, key=lambda item: self._draw(key, item))[:count])

    def _draw(self, key: str, item: str) -> bytes:
        return hashlib.sha256(f"{self.seed}\t{key}\t{item}".encode()).digest()


@dataclass
class Check:
    """A comparison by one tool: how many of `total` units were compared, and what differed.

    A difference above `tolerance` counts; `largest` is the largest of all. That of numbers above 1
    is relative. `skipped` has how many units could not be compared, by reason.
    """

    name: str
    tool: str
    unit: str
    tolerance: float = 0.0
    total: int = 0
    compared: int = 0
    largest: float = 0.0
    different: int = 0
    differences: list[Difference] = field(default_factory=list[Difference])
    skipped: dict[str, int] = field(default_factory=dict[str, int])

    def number(self, cell: str, published: float | None, recomputed: float | None) -> None:
        """Compare two numbers; None stands for one that is not there."""
        self.compared += 1
        if published is None or recomputed is None:
            self._differs(published is not recomputed, cell, _word(published), _word(recomputed))
            return
        size = max(1.0, abs(recomputed)) if math.isfinite(recomputed) else 1.0
        distance = 0.0 if published == recomputed else abs(published - recomputed) / size
        distance = math.inf if math.isnan(distance) else distance
        self.largest = max(self.largest, distance)
        self._differs(distance > self.tolerance, cell, _word(published), _word(recomputed))

    def numbers(self, rows: pl.DataFrame) -> None:
        """Compare the columns `published` and `recomputed`, up to 1; the others name the cell.

        A null stands for a number that is not there.
        """
        first, second = pl.col("published"), pl.col("recomputed")
        # Infinite numbers that are equal are no distance apart.
        distance = pl.when(first.eq_missing(second)).then(0.0).otherwise((first - second).abs())
        apart = rows.with_columns(distance=distance.fill_null(math.inf).fill_nan(math.inf))
        both = apart.filter(first.is_not_null() & second.is_not_null())
        self.compared += rows.height
        self.largest = max([self.largest, *both["distance"].to_list()])
        names = [name for name in rows.columns if name not in ("published", "recomputed")]
        for row in apart.filter(pl.col("distance") > self.tolerance).iter_rows(named=True):
            cell = " ".join(str(row[name]) for name in names)
            self._differs(True, cell, _word(row["published"]), _word(row["recomputed"]))

    def words(self, cell: str, published: str | None, recomputed: str | None) -> None:
        """Compare two texts; None stands for one that is not there."""
        self.compared += 1
        first, second = (_nothing(text) for text in (published, recomputed))
        self._differs(published != recomputed, cell, first, second)

    def skip(self, reason: str, count: int = 1) -> None:
        """Count units that can't be compared."""
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def _differs(self, differs: bool, cell: str, published: str, recomputed: str) -> None:
        if differs:
            self.different += 1
            if len(self.differences) < _SHOWN:
                self.differences.append(Difference(cell, published, recomputed))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Check":
        """Return the check that a record was made of, with the differences that it keeps."""
        largest = math.inf if record["largest"] is None else record["largest"]
        differences = [Difference(**fields) for fields in record["differences"]]
        fields: dict[str, Any] = {**record, "largest": largest, "differences": differences}
        return cls(**fields)

    def record(self) -> dict[str, Any]:
        """Return what the record of a verification keeps."""
        return {
            **{name: getattr(self, name) for name in ("name", "tool", "unit", "total", "compared")},
            # JSON has no infinity; later digits follow the order in which threads add.
            "largest": float(f"{self.largest:.1e}") if math.isfinite(self.largest) else None,
            **{name: getattr(self, name) for name in ("tolerance", "different")},
            "differences": [difference._asdict() for difference in self.differences],
            "skipped": self.skipped,
        }


def failed(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that found a difference."""
    return [check for check in checks if check.different]


def _word(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.10g}"


def _nothing(text: str | None) -> str:
    return "nothing" if text is None else text
