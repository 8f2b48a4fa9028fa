"""The printed tables of explained failures and of the human study."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.core import sql
from isotope.tabulate.table import tabulate

_SQL = sql.SQL / "tabulate"
_READS = {
    "explained": "failures",
    "ranking": "ranks",
    "unknown_objects": "rejected",
    "moved": "perturbed",
    "perturbed": "perturbed",
}


def tabulate_explained(
    relations: Mapping[str, Sequence[Path]],
    names: Sequence[str],
    folder: Path,
    systems: Sequence[str] = (),
) -> None:
    """Write `folder`/<name>.{csv,md,tex} for each name: explained, ranking, moved and so on.

    `relations` are failures (tables.FAILURES), ranks and perturbed (tables.RANKS), and rejected.
    `systems` is the order of systems where no measure tells one.

    Raises:
        IsotopeError: what `tabulate` raises.
    """
    order = {"systems": systems}
    for name in names:
        files = list(relations[_READS[name]])
        tabulate(_SQL / f"{name}.sql", {_READS[name]: files}, order, folder / name)


def tabulate_study(
    studied: Path,
    names: Sequence[str],
    rules: Mapping[str, Any],
    folder: Path,
    systems: Sequence[str] = (),
) -> None:
    """Write `folder`/<name>.{csv,md,tex} of tables.STUDIED; `rules` has support and confidence.
    `systems` is as for `tabulate_explained`.

    Raises:
        IsotopeError: what `tabulate` raises.
    """
    for name in names:
        given = {k: rules[k] for k in ("support", "confidence")} if name == "study_rules" else {}
        asked = {**given, "systems": systems}
        tabulate(_SQL / f"{name}.sql", {"studied": studied}, asked, folder / name)
