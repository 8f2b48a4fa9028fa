"""What the rules of the report call: all pages of one collection, and those of the whole site."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.report import cases
from isotope.report import collection
from isotope.report import costs
from isotope.report import collection as overview
from isotope.report import since
from isotope.report.content import Cell


def write_report(  # noqa: PLR0913
    collection_name: str,
    *,
    cell: Mapping[str, Any],
    facts: Mapping[str, Any],
    case_studies: Mapping[str, Any],
    exhibits: Sequence[Path],
    overlap: Path,
    folder: Path,
    cases_folder: Path,
) -> None:
    """Write the pages of a collection to `folder`, and a page a case study to `cases_folder`.

    `cell` has the pool and the system that the pages are about (the fields of Cell), `facts` what
    `collection.build` is to say of the params, `case_studies` what `cases.build` is to show.
    `exhibits` are the tables and figures, `overlap` the csv of the table of that name.

    Raises:
        As `collection.build` and `cases.build`.
    """
    about = Cell(Path(), collection_name, **cell)
    collection.build(about, exhibits, facts, folder)
    cases.build(about, case_studies, [overlap], page=folder / "cases.html", folder=cases_folder)


def write_site(  # noqa: PLR0913
    collections: Mapping[str, Mapping[str, Any]],
    *,
    ledgers: Mapping[str, Sequence[Path]],
    setting: str,
    split: str,
    groups: Sequence[Path],
    page: Path,
) -> None:
    """Write the front page of the site, and what each collection has cost.

    `collections` are the cells of the collections by name, `ledgers` those of their crawls.
    `groups` are the tables in which the collections of a group stand side by side.

    Raises:
        As `costs.build` and `overview.build`.
    """
    for name, cell in collections.items():
        costs.build(Cell(Path(), name, **cell), ledgers[name], page.parent / name / "costs.html")
    by_group = {p.parent.name: [t for t in groups if t.parent == p.parent] for p in groups}
    overview.build(Path(), setting, split, page, by_group)


def write_changes_page(  # noqa: PLR0913
    collection_name: str,
    earlier: str,
    *,
    before: Sequence[Path],
    later: Sequence[Path],
    before_pixels: Sequence[Path],
    later_pixels: Sequence[Path],
    changes: Path,
    page: Path,
) -> None:
    """Write the page on what has changed in a collection since an earlier one.

    Raises:
        As `since.build`.
    """
    sides = (
        since.Side(earlier, {p.stem: p for p in before}, before_pixels),
        since.Side(collection_name, {p.stem: p for p in later}, later_pixels),
    )
    since.build(*sides, changes, page)
