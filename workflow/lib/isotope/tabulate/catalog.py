"""One DuckDB file with a view over every table that the workflow wrote."""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from isotope.core import sql, store
from isotope.core.errors import IsotopeError
from isotope.tabulate.catalog_views import VIEWS, View


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


def _create(con: duckdb.DuckDBPyConnection, name: str, view: View, root: Path) -> None:
    sql_file = sql.SQL / "catalog" / f"{name}.sql"
    select = sql_file.read_text(encoding="utf-8")
    try:
        con.execute(f"CREATE VIEW {name} AS WITH files AS ({_files(view, root)})\n{select}")
    except duckdb.Error as error:
        found = str(error).partition("\n")[0]
        raise IsotopeError(sql_file, found, f"see whether {view.glob} can be read") from error


def _files(view: View, root: Path) -> str:
    paths = [p for p in root.glob(view.glob) if not (view.never and p.name.endswith(view.never))]
    if not paths:
        return _nothing(view.schema)
    if view.glob.endswith(".csv"):
        read = f"columns = {_types(view.schema)}, header = true, delim = ',', quote = '\"'"
        return f"FROM read_csv('{view.glob}', filename = true, {read})"
    # A glob can't leave out a name, so a second table in the folder is left out by its rows.
    without = f" WHERE NOT ends_with(filename, '{view.never}')" if view.never else ""
    union = ", union_by_name = true" if view.varies else ""
    read = f"read_parquet('{view.glob}', filename = true{union})"
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
