"""The answers to slices of the queries become runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from isotope.core.gathered import gather
from isotope.core.grid import Cell
from isotope.core.shards import WHOLE
from isotope.tables import RUN


def search_gather(pieces: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Write each run from the pieces of its cell; slices of sorted queries follow each other."""
    cells = {path: Cell.of(path) for path in pieces}
    for out in outputs:
        own = [p for p, cell in cells.items() if replace(cell, part=WHOLE) == Cell.of(out)]
        gather(sorted(own, key=lambda path: cells[path].part), out, RUN)
