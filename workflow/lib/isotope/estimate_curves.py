"""Measured curves of time over size, which `benchmarks/scaling.py` draws."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("estimate_curves.csv")
COLUMNS = ("phase", "unit", "start_s", "unit_s", "power", "cores", "largest", "machine")


class Curve(NamedTuple):
    """Seconds = start_s + unit_s * units ** power, where `cores` worked (0: cores don't matter)."""

    start_s: float
    unit_s: float
    power: float
    cores: int

    def seconds(self, units: float, cores: int = 1) -> float:
        """Return the seconds for so many units on so many cores.

        ASSUME cores share the work above the start, where they matter at all.
        """
        return self.start_s + self.work(units, cores)

    def work(self, units: float, cores: int = 1) -> float:
        """Return the seconds above the start."""
        share = self.cores / cores if self.cores else 1.0
        return self.unit_s * units**self.power * share


@cache
def curves() -> Mapping[str, Curve]:
    """Return the curve of each phase measured.

    Units: rows of WIT (parse_wit), bytes of XML (parse_dump), pairs (project), texts and images
    (collect), hits (search), hits times measures (score), texts (tabulate).
    """
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        row["phase"]: Curve(
            float(row["start_s"]), float(row["unit_s"]), float(row["power"]), int(row["cores"])
        )
        for row in rows
    }
