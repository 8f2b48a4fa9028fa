"""Measured curves of time over size, which `benchmarks/scaling.py` draws."""

import csv
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("estimate_curves.csv")
COLUMNS = ("phase", "unit", "start_s", "unit_s", "power", "cores", "upto", "largest", "machine")


class Curve(NamedTuple):
    """Seconds = start_s + unit_s * units ** power, where `cores` worked (0: cores don't matter).

    `upto` so many units were measured.
    """

    start_s: float
    unit_s: float
    power: float
    cores: int
    upto: float = math.inf

    def seconds(self, units: float, cores: int = 1) -> float:
        """Return the seconds for so many units on so many cores.

        ASSUME cores share the work above the start, where they matter at all; the points of one
        machine do not say.
        """
        return self.start_s + self.work(units, cores)

    def work(self, units: float, cores: int = 1) -> float:
        """Return the seconds above the start.

        ASSUME beyond what was measured a unit costs what it cost there, or more as it did: warm
        caches and code, which make a power below 1, are warm by then; no measurement says.
        """
        share = self.cores / cores if self.cores else 1.0
        within = self.unit_s * min(units, self.upto) ** self.power * share
        return within * max(units / self.upto, 1.0) ** max(self.power, 1.0)


@cache
def curves() -> Mapping[str, Curve]:
    """Return the curve of each phase measured.

    Units: rows of WIT (parse_wit), bytes of XML (parse_dump), pairs (project), texts and images
    (collect), hits (search), hits times measures (score), texts (tabulate).
    """
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("start_s", "unit_s", "power", "cores", "upto")
    numbers = {row["phase"]: [float(row[name]) for name in names] for row in rows}
    return {
        phase: Curve(start, unit, power, int(cores), upto)
        for phase, (start, unit, power, cores, upto) in numbers.items()
    }
