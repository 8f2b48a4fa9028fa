"""One DuckDB file with a view over every table that the workflow wrote."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from isotope.core import plugins, sql, store
from isotope.core.errors import BadPlugin, IsotopeError
from isotope.core.schemas import RUN
from isotope.schemas.collect import FILTERS, IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER, PIXELS
from isotope.schemas.parse import (
    ASSOCIATIONS,
    CALLED_TEMPLATES,
    ENTITIES,
    INLINKS,
    OUTLINE,
    REJECTED,
    SECTIONS,
)
from isotope.schemas.project import PROJECTION
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.schemas.tabulate import INTERVALS, SUBSETS, TEMPORAL, TOKENS, TOPS

_CURVES = pa.schema(
    [
        pa.field("epoch", pa.int64()),
        pa.field("step", pa.int64()),
        *(pa.field(name, pa.float64()) for name in ("loss", "mrr10_t2m", "mrr10_m2t")),
    ]
)
_CELL = ("collection", "system", "setting", "task", "split", "measure", "parameters")
TUNING = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in _CELL),
        pa.field("value", pa.float64()),
        pa.field("chosen", pa.bool_()),
    ]
)


@dataclass(frozen=True)
class View:
    """A view's files below the project's root, those among them that it leaves out, its columns."""

    glob: str
    schema: pa.Schema
    never: str = ""
    # Only tables with optional columns differ from file to file, and must all be opened first.
    varies: bool = False
    # The folder of its SELECT.
    queries: Path = field(default=sql.SQL / "catalog")


VIEWS: Mapping[str, View] = {
    "texts": View("data/collect/*/texts.parquet", TEXTS, varies=True),
    "images": View("data/collect/*/images.parquet", IMAGES, varies=True),
    "qrels": View("data/collect/*/qrels.parquet", QRELS),
    "filters": View("data/collect/*/filters.parquet", FILTERS),
    "runs": View("results/search/*/*/*/*/*.parquet", RUN),
    "tuning": View("results/search/*/tuning/*.csv", TUNING),
    "scores": View("results/score/*.parquet", SCORES, ".significance.parquet"),
    "significance": View("results/score/*.significance.parquet", SIGNIFICANCE),
    "tokens": View("results/tables/*/tokens.parquet", TOKENS),
    "tops": View("results/tables/*/tops.parquet", TOPS),
    "intervals": View("results/tables/*/intervals.parquet", INTERVALS),
    "subsets": View("results/tables/*/subsets.parquet", SUBSETS),
    "temporal": View("results/tables/*/since/*/temporal.parquet", TEMPORAL),
    "outlines": View("data/parse/*/outline.parquet", OUTLINE),
    "ledger": View("data/crawl/*/ledger.parquet", LEDGER),
    "pixels": View("data/crawl/*/shard-*.parquet", PIXELS),
    "projection": View("data/project/*/projection.parquet", PROJECTION),
    "sections": View("data/parse/*/sections.parquet", SECTIONS),
    "associations": View("data/parse/*/associations.parquet", ASSOCIATIONS),
    "rejected": View("data/parse/*/*.rejected.parquet", REJECTED),
    "inlinks": View("data/parse/*/inlinks.parquet", INLINKS),
    "templates": View("data/parse/*/templates.parquet", CALLED_TEMPLATES),
    "entities": View("data/parse/*/wikidata.parquet", ENTITIES),
    "curves": View("data/train/*/*/curve.csv", _CURVES),
}


@cache
def views() -> Mapping[str, View]:
    """Return all views: VIEWS, and those of plug-ins.

    Raises:
        BadPlugin: a view that bears the name of another one, or that has no query.
    """
    by_name = {**VIEWS}
    for plugin in plugins.registered().values():
        added: Mapping[str, View] = plugin.load(plugin.views) if plugin.views else {}
        plugins.demand_new(plugin, "the view", added, by_name)
        queries = plugin.file("sql/catalog")
        absent = [name for name in added if not queries.joinpath(f"{name}.sql").is_file()]
        if absent:
            remedy = f"add {queries}/{absent[0]}.sql"
            raise BadPlugin(plugin.name, f"the view {absent[0]!r} has no query", remedy)
        by_name |= {name: replace(view, queries=queries) for name, view in added.items()}
    return by_name


# DuckDB tells where it opened a database by where it would spill, which is beside it.
_SPILLED = "catalog.duckdb.tmp"
_SETTING = "current_setting('temp_directory')"
Owners = Mapping[str, Sequence[str]]
# The folders of sources; all others are of collections.
_OF_SOURCES = ("data/parse/", "data/crawl/", "data/project/")


def build(out: Path, root: Path = Path(), *, owners: Owners | None = None) -> None:
    """Write the catalog of what lies under `root`.

    A view finds its files by where the catalog is opened, so that it can be opened from
    any folder, and moved with `root`; attached to another database, by the working directory.

    `owners` are the `collections` and the `sources` whose tables it shows; without them all that
    lie there. The view of a table that no phase has written yet is empty and has the table's
    columns.

    Raises:
        IsotopeError: a view that DuckDB refuses, named by its SQL file.
        DiskFull: no room for the file.
    """
    with (
        store.aside(out) as part,
        TemporaryDirectory(dir=out.parent, prefix=".catalog-") as folder,
    ):
        file = Path(folder) / out.name
        with duckdb.connect(file) as con:
            # Where the file will be opened.
            opened = f"{out.resolve()}.tmp"
            con.execute("SET temp_directory = $opened", {"opened": opened})
            above = os.path.relpath(root.resolve(), out.resolve().parent)
            define(con, views(), root, above, owners=owners)
            # Closing writes the file as well, but is silent when the disk is full.
            con.execute("CHECKPOINT")
        file.replace(part)


def define(
    con: duckdb.DuckDBPyConnection,
    names: Iterable[str],
    root: Path = Path(),
    above: str = "",
    *,
    owners: Owners | None = None,
) -> None:
    """Create some of `views` over what lies under `root`, of `owners` as in `build`.

    Views of a file called catalog.duckdb find their files from its folder, from which `above` leads
    to `root`. Those without `above`, for this connection alone, find them below `root`.

    Raises:
        IsotopeError: a view that DuckDB refuses, named by its SQL file.
    """
    resolved = str(root.resolve())
    con.execute("SET file_search_path = $root", {"root": resolved})
    start = _beside(above) if above else _quoted(f"{escape(resolved)}/")
    for name in names:
        _create(con, name, _patterns(views()[name], root, owners), start)


def _beside(above: str) -> str:
    """Return where files begin: a path from the folder of catalog.duckdb; else the search path's.

    DuckDB looks for a path without wildcards in the working directory first.
    """
    plain = f"regexp_replace(parse_dirpath({_SETTING}), '([*?[])', '[\\1]', 'g')"
    folder = f"{plain} || '/{above}/'"
    return f"CASE WHEN ends_with({_SETTING}, '{_SPILLED}') THEN {folder} ELSE '' END"


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _patterns(view: View, root: Path, owners: Owners | None) -> list[str]:
    """Return the patterns of a view's files that some file has, one an owner where these count."""
    patterns = [view.glob]
    if owners is not None:
        kind = "sources" if view.glob.startswith(_OF_SOURCES) else "collections"
        patterns = [view.glob.replace("*", escape(owner), 1) for owner in owners[kind]]
    return [glob for glob in patterns if any(_is_of(view, path) for path in root.glob(glob))]


def _is_of(view: View, path: Path) -> bool:
    return not (view.never and path.name.endswith(view.never))


def _create(con: duckdb.DuckDBPyConnection, name: str, patterns: Sequence[str], start: str) -> None:
    view = views()[name]
    sql_file = view.queries / f"{name}.sql"
    select = sql_file.read_text(encoding="utf-8")
    files = _files(view, patterns, start)
    try:
        con.execute(f"CREATE VIEW {name} AS WITH files AS ({files})\n{select}")
    except duckdb.Error as error:
        problem = str(error).partition("\n")[0]
        raise IsotopeError(sql_file, problem, f"see whether {view.glob} can be read") from error


def _files(view: View, patterns: Sequence[str], start: str) -> str:
    if not patterns:
        return _nothing(view.schema)
    listed = ", ".join(f"{start} || {_quoted(glob)}" for glob in patterns)
    if view.glob.endswith(".csv"):
        read = f"columns = {_types(view.schema)}, header = true, delim = ',', quote = '\"'"
        return f"FROM read_csv([{listed}], filename = true, {read})"
    # A glob can't leave out a name, so a second table in the folder is left out by its rows.
    without = f" WHERE NOT ends_with(filename, '{view.never}')" if view.never else ""
    union = ", union_by_name = true" if view.varies else ""
    read = f"read_parquet([{listed}], filename = true{union})"
    return f"FROM {read}{without}"


def _nothing(schema: pa.Schema) -> str:
    with duckdb.connect() as con:
        empty = con.from_arrow(schema.empty_table())
        typed = zip(empty.columns, empty.types, strict=True)
        columns = ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in typed)
    return f"SELECT {columns}, '' AS filename WHERE false"


def _types(schema: pa.Schema) -> dict[str, str]:
    return {f.name: _NAMES[str(f.type)] for f in schema}


_NAMES = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "bool": "BOOLEAN"}
