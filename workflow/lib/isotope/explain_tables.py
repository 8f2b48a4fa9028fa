"""The printed tables of explained failures and of the human study."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope import sql
from isotope.tabulate import tabulate

_SQL = sql.SQL / "tabulate"
_READS = {
    "explained": "failures",
    "ranking": "ranks",
    "unknown_objects": "rejected",
    "moved": "perturbed",
    "perturbed": "perturbed",
}


def tabulate_explained(
    relations: Mapping[str, Sequence[Path]], names: Sequence[str], folder: Path
) -> None:
    """Write `folder`/<name>.{csv,md,tex} for each name: explained, ranking, moved and so on.

    `relations` are failures (tables.FAILURES), ranks and perturbed (tables.RANKS), and rejected.

    Raises:
        IsotopeError: what `tabulate` raises.
    """
    for name in names:
        files = list(relations[_READS[name]])
        tabulate(_SQL / f"{name}.sql", {_READS[name]: files}, {}, folder / name)


def tabulate_study(
    studied: Path, names: Sequence[str], rules: Mapping[str, Any], folder: Path
) -> None:
    """Write `folder`/<name>.{csv,md,tex} of tables.STUDIED; `rules` has support and confidence.

    Raises:
        IsotopeError: what `tabulate` raises.
    """
    for name in names:
        given = {k: rules[k] for k in ("support", "confidence")} if name == "study_rules" else {}
        tabulate(_SQL / f"{name}.sql", {"studied": studied}, given, folder / name)
