"""Tables and figures that a query, or a function, makes of files: all of a collection in one job.

`templates/exhibits.yaml` has an entry for each; its head describes the keys. The plan decides which
ones a collection or a group has, and from which files and values (`isotope.plan.exhibits`); here
they are written. Captions and titles are for the report alone: no table depends on them.

The one table that a function writes is the paper's Table 5, what training and fusion add to systems
as they come: its rows need the params of the systems as well as their scores.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar, cast

import polars as pl
import pyarrow as pa
import yaml

from isotope.core import plugins, sql, store
from isotope.core.errors import BadPlugin
from isotope.core.progress import Progress
from isotope.core.syntax import located, read
from isotope.params.messages import suggest
from isotope.params.sections import ModelKind, SystemKind
from isotope.tabulate import figures, whiskers
from isotope.tabulate.catalog import TUNING
from isotope.tabulate.table import metrics, tabulate

_Draw = Callable[[Path, Mapping[str, sql.Files], Mapping[str, Any], Path], None]
_Write = Callable[[Mapping[str, sql.Files], Mapping[str, Any], Path], None]
_SQL = sql.SQL / "tabulate/tables"
_NONE: Mapping[str, Any] = {}
_F = TypeVar("_F")
SYSTEMS = pa.schema(
    [
        pa.field("place", pa.int32()),
        *(pa.field(name, pa.string()) for name in ("system", "stage", "made_of", "parameters")),
    ]
)
COMPARISONS = pa.schema([pa.field("comparison", pa.int32()), pa.field("system", pa.string())])
_TUNE = {"text": "text tower", "vision": "vision tower", "both": "both towers"}
_NAMES = {"string": pl.String(), "double": pl.Float64(), "bool": pl.Boolean()}
_TYPES = {field.name: _NAMES[str(field.type)] for field in TUNING}


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
    behind: str = ""


class ExhibitRecipe(NamedTuple):
    """What makes an exhibit: files by relation, values by parameter, and the keys of its entry.

    `looks` are the numbers of the systems' looks (`isotope.tabulate.looks`), for a figure of them.
    """

    relations: Mapping[str, str | Sequence[str]]
    parameters: Mapping[str, Any]
    query: str
    table: bool = True
    draws: str = ""
    drawn_from: str = ""
    written_by: str = ""
    looks: Mapping[str, int] = _NONE


@cache
def described() -> Mapping[str, Exhibit]:
    """Return the entries of exhibits.yaml by name, in the order of the pages; each of plug-ins
    stands behind the one that it names, or last. Their queries lie in sql/tables/ below them.

    Raises:
        BadPlugin: an exhibit that bears the name of another one, stands behind one that is not
            there, or is drawn or written by what is not there.
    """
    text = resources.files("isotope").joinpath("templates/exhibits.yaml").read_text("utf-8")
    entries = {name: _exhibit(name, entry) for name, entry in yaml.safe_load(text).items()}
    for plugin in plugins.registered().values():
        of_plugin = plugin.yaml(plugin.exhibits) if plugin.exhibits else {}
        plugins.demand_new(plugin, "the exhibit", of_plugin, entries)
        for name, entry in of_plugin.items():
            exhibit = _of_plugin(plugin.package, _exhibit(name, entry))
            _demand_functions(plugin, name, exhibit)
            entries = dict(_placed(entries, name, exhibit, plugin.name))
    return entries


def _placed(
    entries: Mapping[str, Exhibit], name: str, exhibit: Exhibit, plugin: str
) -> Iterator[tuple[str, Exhibit]]:
    if exhibit.behind and exhibit.behind not in entries:
        problem = f"exhibit {name!r} stands behind {exhibit.behind!r}, which is not there"
        raise BadPlugin(plugin, problem, suggest(exhibit.behind, entries))
    for other, entry in entries.items():
        yield other, entry
        if other == exhibit.behind:
            yield name, exhibit
    if not exhibit.behind:
        yield name, exhibit


def _demand_functions(plugin: plugins.Plugin, name: str, exhibit: Exhibit) -> None:
    for key, ours in (("draws", DRAWINGS), ("written_by", WRITERS)):
        target = getattr(exhibit, key)
        if not target or target in ours:
            continue
        problem = f"exhibit {name!r}: `{key}: {target}` is not there"
        if ":" in target:
            _demand_function(plugin, target, problem)
            continue
        remedy = f"{suggest(target, ours)}, or name a function: {plugin.package}.drawings:{target}"
        raise BadPlugin(plugin.name, problem, remedy)


def _demand_function(plugin: plugins.Plugin, target: str, problem: str) -> None:
    """Check that a module of a plug-in has a name, without importing what it draws by."""
    module, _, function = target.partition(":")
    try:
        names = read(module).nodes
    except (FileNotFoundError, SyntaxError) as error:
        remedy = f"name a module of {plugin.package}"
        raise BadPlugin(plugin.name, f"{problem}: {error}", remedy) from error
    if function not in names:
        raise BadPlugin(plugin.name, problem, suggest(function, names))


def _of_plugin(package: str, exhibit: Exhibit) -> Exhibit:
    queries = {
        key: f"{package}/{name}"
        for key in ("query", "drawn_from")
        if (name := getattr(exhibit, key))
    }
    return exhibit._replace(**queries)


def recipe(
    name: str, relations: Mapping[str, str | Sequence[str]], values: Mapping[str, Any]
) -> ExhibitRecipe:
    """Return the recipe of an exhibit from the files and values that its entry names.

    Raises:
        KeyError: a relation or value that is not there.
    """
    entry = described()[name]
    order = {"systems": values[entry.order]} if entry.order else {}
    return ExhibitRecipe(
        {relation: relations[source] for relation, source in entry.reads.items()},
        {**{k: values[v] for k, v in entry.parameters.items()}, **entry.constants, **order},
        *(entry.query, entry.table, entry.draws, entry.drawn_from, entry.written_by),
        values["looks"] if entry.draws and entry.order == "systems" else _NONE,
    )


def tabulate_exhibits(
    exhibits: Mapping[str, ExhibitRecipe],
    *,
    tables_folder: Path,
    figures_folder: Path,
    curves: Sequence[Path] = (),
    scores: Path | None = None,
) -> None:
    """Write `tables_folder`/<name>.{csv,md,tex} and `figures_folder`/<name>.svg of `exhibits`.

    `exhibits` are their recipes by name. `curves` are the learning curves
    of trained models, drawn as curve-<model>.svg. From `scores`, a collection's, metrics.json is
    written beside the tables.

    Raises:
        MissingFile: a relation whose file is not there.
        EmptyTable: no scores, or a figure of a query without rows.
        IsotopeError: what `tabulate` raises.
    """
    progress = Progress("tables and figures", len(exhibits) + len(curves))
    for name, exhibit in exhibits.items():
        write_exhibit(exhibit, tables_folder / name, figures_folder / f"{name}.svg")
        progress.add()
    for curve in curves:
        figures.learning_curve(curve, figures_folder / f"curve-{curve.parent.name}.svg")
        progress.add()
    if scores:
        metrics([scores], tables_folder / "metrics.json")
    progress.finish()


def write_exhibit(exhibit: ExhibitRecipe, table: Path, figure: Path) -> None:
    """Write `table`.{csv,md,tex} and `figure`, or the one of them that the recipe has.

    The figure comes first: of what cannot be drawn no table is left.

    Raises:
        MissingFile: a relation whose file is not there.
        EmptyTable: a figure of a query without rows.
        IsotopeError: what `tabulate` raises.
    """
    relations: Mapping[str, sql.Files] = exhibit.relations
    if exhibit.draws:
        drawn = query(exhibit.drawn_from or exhibit.query)
        values = {**exhibit.parameters, "looks": exhibit.looks}
        called(DRAWINGS, exhibit.draws)(drawn, relations, values, figure)
    if exhibit.written_by:
        called(WRITERS, exhibit.written_by)(relations, exhibit.parameters, table)
    elif exhibit.table:
        tabulate(query(exhibit.query), relations, exhibit.parameters, table)


def query(name: str) -> Path:
    """Return the query of an exhibit; not by `/`, as the rule names those of its exhibits.

    That of a plug-in has its package before its name.
    """
    package, _, of_plugin = name.partition("/")
    if package in plugins.packages():
        return located(package).joinpath("sql/tables", f"{of_plugin}.sql")
    return _SQL.joinpath(f"{name}.sql")


def table5(relations: Mapping[str, sql.Files], parameters: Mapping[str, Any], out: Path) -> None:
    """Write `out`.{csv,md,tex}: every measure of the systems, grouped by stage.

    `relations` are scores (schemas.SCORES), significance (schemas.SIGNIFICANCE, paired t-tests),
    and trials, the grids of tuned fusions: their chosen parameters stand in the table, one choice
    for each setting and task. `parameters` are stages (of `system_rows`), alpha and comparisons.
    Each of the comparisons is a list of systems. A letter names a
    system of the same list that is beaten with p below alpha after Bonferroni's correction for the
    list's s(s-1)/2 pairs; with the paper's lists of four that is its "alpha = 6" (Yang et al.,
    SIGIR 2023, Table 5). Rows have the letters a, b, c, ... in the order of the table.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
    """
    with TemporaryDirectory() as folder:
        systems, trials, lists = (Path(folder) / f"{n}.parquet" for n in ("systems", "tried", "of"))
        store.write_rows(parameters["stages"], systems, SYSTEMS)
        store.write_rows(list(_listed(parameters["comparisons"])), lists, COMPARISONS)
        grids = cast("Sequence[str]", relations["trials"])
        rows = [pl.read_csv(path, schema_overrides=_TYPES, glob=False) for path in grids]
        empty = pl.DataFrame(schema=_TYPES)
        store.write(pl.concat([empty, *rows]).to_arrow(), trials, TUNING)
        files = {**relations, "systems": systems, "trials": trials, "comparisons": lists}
        alpha = {"alpha": parameters["alpha"]}
        tabulate(_SQL / "table5.sql", files, alpha, out)


def system_rows(
    systems: Mapping[str, SystemKind | None], models: Mapping[str, ModelKind]
) -> Iterator[dict[str, Any]]:
    """Yield a row of SYSTEMS for each system, in their order; None is one made of no other thing.

    A model trained from random weights is `trained`; one that goes on from pretrained weights, or
    learns heads on frozen towers, `fine-tuned`; any other `zero-shot`, BM25 and random included.
    Fusions are `fused`, and runs whose first hits a model has ordered `reranked`.

    Raises:
        KeyError: a dense system whose model is not among the models.
    """
    for position, (name, entry) in enumerate(systems.items()):
        stage, made_of = _stage(entry, models)
        filled = entry.filled() if entry and stage == "fused" else {}
        fixed = {k: filled[k] for k in ("k", "weights") if k in filled}
        row = {"place": position, "system": name, "stage": stage, "made_of": made_of}
        yield {**row, "parameters": json.dumps(fixed) if fixed else ""}


def _exhibit(name: str, description: Mapping[str, Any]) -> Exhibit:
    named = {key: _by_name(description.get(key, {})) for key in ("reads", "parameters")}
    fields: dict[str, Any] = {"query": name, **description, **named}
    return Exhibit(**fields)


def _by_name(names: Sequence[str] | Mapping[str, str]) -> Mapping[str, str]:
    return names if isinstance(names, Mapping) else {name: name for name in names}


def _listed(comparisons: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    for number, names in enumerate(comparisons):
        yield from ({"comparison": number, "system": name} for name in names)


def _stage(entry: SystemKind | None, models: Mapping[str, ModelKind]) -> tuple[str, str]:
    kind = entry.kind_name() if entry else ""
    parts, named = getattr(entry, "of", None), getattr(entry, "model", "")
    if kind == "rerank":
        return "reranked", f"{parts} by {named}"
    if parts:
        return "fused", f"{kind.upper()} of {' and '.join(parts)}"
    if kind != "dense":
        return "zero-shot", ""
    model = models[getattr(models[named], "weights_of", None) or named]
    if model.has_features:
        return "fine-tuned", "heads on frozen towers"
    if not model.learned:
        return "zero-shot", ""
    goes_on = getattr(model, "from_", None) or not getattr(model, "config", None)
    tune = getattr(getattr(model, "train", None), "tune", "both")
    return "fine-tuned" if goes_on else "trained", _TUNE[tune]


def called(ours: Mapping[str, _F], name: str) -> _F:
    """Return what an entry calls so: a function of ours, or what `module:name` leads to."""
    return resolve_name(name) if ":" in name else ours[name]


# Functions by the names that exhibits.yaml has for them.
DRAWINGS: Mapping[str, _Draw] = {
    "bars": figures.bars,
    "subsets": figures.subsets,
    "corpus_size": figures.corpus_size,
    "popularity": figures.popularity,
    "against": figures.against,
    "strata": whiskers.strata,
    "pools": whiskers.pools,
}
WRITERS: Mapping[str, _Write] = {"table5": table5}
