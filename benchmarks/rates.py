"""The rates of `isotope estimate`: lines through what was measured, in its table."""

import csv
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from isotope_estimate.sizes import TABLE

# At the largest size so much of the time is held to be work: the rest would cost nothing at any.
LEAST_WORK = 0.1


class Line(NamedTuple):
    """What so many units take: start + slope * units."""

    start: float
    slope: float

    def at(self, units: float) -> float:
        """Return what so many units take."""
        return self.start + self.slope * units


def line(sizes: Sequence[float], taken: Sequence[float], least: float = LEAST_WORK) -> Line:
    """Return the line through the two largest sizes, with no start below nothing; `least` of the
    last is slope. A single size is all slope.
    """
    *before, (most, last) = sorted(zip(sizes, taken, strict=True))
    smaller = [(size, s) for size, s in before if size < most]
    less, first = smaller[-1] if smaller else (0.0, 0.0)
    slope = max((last - first) / (most - less), least * last / most)
    return Line(max(last - slope * most, 0.0), slope)


def keep(measured: Sequence[Mapping[str, object]]) -> None:
    """Put these rows in the place of those of the same name and unit; others stay.

    Raises:
        KeyError: a name and unit that the table does not have: add the row by hand first.
    """
    with TABLE.open(newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        rows: dict[object, dict[str, object]] = {_key(row): {**row} for row in table}
        columns = table.fieldnames or ()
    for row in measured:
        told = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
        rows[_key(row)] |= told
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows.values())


def _key(row: Mapping[str, object]) -> tuple[object, ...]:
    return row["what"], row["unit"]
