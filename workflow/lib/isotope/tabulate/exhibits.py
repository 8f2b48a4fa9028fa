"""Tables and figures that a query, or a function, makes of files: all of a collection in one job.

`templates/exhibits.yaml` has an entry for each; its head describes the keys. The plan decides which
ones a collection or a group has, and from which files and values (`isotope.plan.exhibits`); here
they are written. Captions and titles are for the report alone: no table depends on them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from isotope.core import sql
from isotope.core.progress import Progress
from isotope.tabulate import drawings, figures
from isotope.tabulate.table import metrics, tabulate
from isotope.tabulate.table5 import table5

_SQL = sql.SQL / "tabulate/tables"
_NONE: Mapping[str, Any] = {}
_Draw = Callable[[Path, Mapping[str, sql.Files], Mapping[str, Any], Path], None]
_Write = Callable[[Mapping[str, sql.Files], Mapping[str, Any], Path], None]
DRAWINGS: Mapping[str, _Draw] = {
    "bars": figures.bars,
    "subsets": figures.subsets,
    "corpus_size": figures.corpus_size,
    "popularity": drawings.popularity,
    "against": drawings.against,
}
WRITERS: Mapping[str, _Write] = {"table5": table5}


class Exhibit(NamedTuple):
    """An entry of exhibits.yaml; `reads` and `parameters` by their names in the query."""

    page: str
    number: str
    title: str
    caption: str
    reads: Mapping[str, str] = _NONE
    when: Mapping[str, str] = _NONE
    subjects: Sequence[str] = ("collection",)
    query: str = ""
    parameters: Mapping[str, str] = _NONE
    constants: Mapping[str, object] = _NONE
    order: str = ""
    table: bool = True
    draws: str = ""
    drawn_from: str = ""
    written_by: str = ""


@cache
def described() -> Mapping[str, Exhibit]:
    """Return the entries of exhibits.yaml by name, in the order of the pages."""
    text = resources.files("isotope").joinpath("templates/exhibits.yaml").read_text("utf-8")
    return {name: _exhibit(name, entry) for name, entry in yaml.safe_load(text).items()}


def _exhibit(name: str, entry: Mapping[str, Any]) -> Exhibit:
    named = {key: _by_name(entry.get(key, {})) for key in ("reads", "parameters")}
    fields: dict[str, Any] = {"query": name, **entry, **named}
    return Exhibit(**fields)


def _by_name(names: Sequence[str] | Mapping[str, str]) -> Mapping[str, str]:
    return names if isinstance(names, Mapping) else {name: name for name in names}


class Recipe(NamedTuple):
    """What makes an exhibit: files by relation, values by parameter, and the keys of its entry."""

    relations: Mapping[str, str | Sequence[str]]
    parameters: Mapping[str, Any]
    query: str
    table: bool = True
    draws: str = ""
    drawn_from: str = ""
    written_by: str = ""


def recipe(
    name: str, relations: Mapping[str, str | Sequence[str]], values: Mapping[str, Any]
) -> Recipe:
    """Return the recipe of an exhibit from the files and values that its entry names.

    Raises:
        KeyError: a relation or value that is not there.
    """
    entry = described()[name]
    order = {"systems": values[entry.order]} if entry.order else {}
    return Recipe(
        {relation: relations[source] for relation, source in entry.reads.items()},
        {**{k: values[v] for k, v in entry.parameters.items()}, **entry.constants, **order},
        *(entry.query, entry.table, entry.draws, entry.drawn_from, entry.written_by),
    )


def tabulate_exhibits(
    exhibits: Mapping[str, Mapping[str, Any]],
    *,
    tables_folder: Path,
    figures_folder: Path,
    curves: Sequence[Path] = (),
    scores: Path | None = None,
) -> None:
    """Write `tables_folder`/<name>.{csv,md,tex} and `figures_folder`/<name>.svg of `exhibits`.

    `exhibits` are the fields of a Recipe by the exhibit's name. `curves` are the learning curves
    of trained models, drawn as curve-<model>.svg. From `scores`, a collection's, metrics.json is
    written beside the tables.

    Raises:
        MissingFile: a relation whose file is not there.
        EmptyTable: no scores, or a figure of a query without rows.
        IsotopeError: what `tabulate` raises.
    """
    progress = Progress("tables and figures", len(exhibits) + len(curves))
    for name, fields in exhibits.items():
        write_exhibit(Recipe(**fields), tables_folder / name, figures_folder / f"{name}.svg")
        progress.add()
    for curve in curves:
        figures.learning_curve(curve, figures_folder / f"curve-{curve.parent.name}.svg")
        progress.add()
    if scores:
        metrics([scores], tables_folder / "metrics.json")
    progress.finish()


def write_exhibit(made: Recipe, table: Path, figure: Path) -> None:
    """Write `table`.{csv,md,tex} and `figure`, or the one of them that the recipe has.

    The figure comes first: of what cannot be drawn no table is left.

    Raises:
        MissingFile: a relation whose file is not there.
        EmptyTable: a figure of a query without rows.
        IsotopeError: what `tabulate` raises.
    """
    relations: Mapping[str, sql.Files] = made.relations
    if made.draws:
        query = _SQL / f"{made.drawn_from or made.query}.sql"
        DRAWINGS[made.draws](query, relations, made.parameters, figure)
    if made.written_by:
        WRITERS[made.written_by](relations, made.parameters, table)
    elif made.table:
        tabulate(_SQL / f"{made.query}.sql", relations, made.parameters, table)
