"""One DuckDB file with a view over every table that the workflow wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from isotope import sql, store, tables
from isotope.errors import IsotopeError

_CURVES = pa.schema(
    [
        pa.field("epoch", pa.int64()),
        pa.field("step", pa.int64()),
        *(pa.field(name, pa.float64()) for name in ("loss", "mrr10_t2m", "mrr10_m2t")),
    ]
)


@dataclass(frozen=True)
class _View:
    glob: str
    schema: pa.Schema
    never: str = ""


VIEWS: Mapping[str, _View] = {
    "texts": _View("data/collect/*/texts.parquet", tables.TEXTS),
    "images": _View("data/collect/*/images.parquet", tables.IMAGES),
    "qrels": _View("data/collect/*/qrels.parquet", tables.QRELS),
    "filters": _View("data/collect/*/filters.parquet", tables.FILTERS),
    "runs": _View("results/search/*/*/*/*/*.parquet", tables.RUN),
    "scores": _View("results/score/*.parquet", tables.SCORES, ".significance.parquet"),
    "significance": _View("results/score/*.significance.parquet", tables.SIGNIFICANCE),
    "ledger": _View("data/crawl/*/ledger.parquet", tables.LEDGER),
    "pixels": _View("data/crawl/*/shard-*.parquet", tables.PIXELS),
    "projection": _View("data/project/*/projection.parquet", tables.PROJECTION),
    "sections": _View("data/parse/*/sections.parquet", tables.SECTIONS),
    "associations": _View("data/parse/*/associations.parquet", tables.ASSOCIATIONS),
    "curves": _View("data/train/*/*/curve.csv", _CURVES),
}


def build(out: Path, root: Path = Path()) -> None:
    """Write the catalog of what lies under `root`; its paths are relative to that folder.

    The view of a table that no phase has written yet is empty and has the table's columns.

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
            con.execute("SET file_search_path = $root", {"root": str(root.resolve())})
            for name, view in VIEWS.items():
                _create(con, name, view, root)
            # Closing writes the file as well, but is silent when the disk is full.
            con.execute("CHECKPOINT")
        file.replace(part)


def _create(con: duckdb.DuckDBPyConnection, name: str, view: _View, root: Path) -> None:
    sql_file = sql.SQL / "catalog" / f"{name}.sql"
    select = sql_file.read_text(encoding="utf-8")
    try:
        con.execute(f"CREATE VIEW {name} AS WITH files AS ({_files(view, root)})\n{select}")
    except duckdb.Error as error:
        found = str(error).partition("\n")[0]
        raise IsotopeError(sql_file, found, f"see whether {view.glob} can be read") from error


def _files(view: _View, root: Path) -> str:
    paths = [p for p in root.glob(view.glob) if not (view.never and p.name.endswith(view.never))]
    if not paths:
        return _nothing(view.schema)
    if view.glob.endswith(".csv"):
        return f"FROM read_csv('{view.glob}', filename = true, columns = {_types(_CURVES)})"
    # A glob can't leave out a name, so a second table in the folder is left out by its rows.
    without = f" WHERE NOT ends_with(filename, '{view.never}')" if view.never else ""
    read = f"read_parquet('{view.glob}', filename = true, union_by_name = true)"
    return f"FROM {read}{without}"


def _nothing(schema: pa.Schema) -> str:
    with duckdb.connect() as con:
        empty = con.from_arrow(schema.empty_table())
        typed = zip(empty.columns, empty.types, strict=True)
        columns = ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in typed)
    return f"SELECT {columns}, '' AS filename WHERE false"


def _types(schema: pa.Schema) -> dict[str, str]:
    return {f.name: "BIGINT" if pa.types.is_integer(f.type) else "DOUBLE" for f in schema}
