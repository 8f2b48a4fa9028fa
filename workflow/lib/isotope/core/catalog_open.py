"""The catalog, opened for reading; light to import, for commands that answer at once."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb

from isotope.core.errors import BadQuery, CorruptFile, MissingFile

CATALOG = Path("results/catalog.duckdb")
_PARAMETER = re.compile(r"\$([a-z]+)")
_SQL = Path(__file__).parents[3] / "sql"


@contextmanager
def opened(
    catalog: Path = CATALOG, *, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a read-only connection whose views find their files from any working directory.

    DuckDB starts `threads`, one a core where it is None; few rows are looked up fastest with one.

    Raises:
        MissingFile: no catalog there.
        CorruptFile: a file that is no DuckDB database.
        BadQuery: a question that DuckDB refuses.
    """
    if not catalog.is_file():
        raise MissingFile(catalog, "no catalog", "run `snakemake --cores all`")
    try:
        config: dict[str, str | bool | int | float | list[str]] = (
            {} if threads is None else {"threads": threads}
        )
        con = duckdb.connect(catalog, read_only=True, config=config)
    except duckdb.Error as error:
        remedy = "run `snakemake --cores all tabulate`"
        raise CorruptFile(catalog, _cause(error), remedy) from error
    root = catalog.resolve().parent.parent
    try:
        con.execute("SET file_search_path = $root", {"root": str(root)})
        con.execute("SET enable_progress_bar = false")
        con.execute("SET parquet_metadata_cache = true")
        yield con
    except duckdb.Error as error:
        remedy = "see docs/queries.md for the views and their columns"
        raise BadQuery("isotope", _cause(error), remedy) from error
    finally:
        con.close()


def ask(
    con: duckdb.DuckDBPyConnection, name: str, params: Mapping[str, object]
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Run workflow/sql/show/<name>.sql with those of `params` that it names; columns and rows."""
    text = (_SQL / "show" / f"{name}.sql").read_text(encoding="utf-8")
    named = set(_PARAMETER.findall(text))
    found = con.execute(text, {k: v for k, v in params.items() if k in named})
    return [column[0] for column in found.description or []], found.fetchall()


def _cause(error: Exception) -> str:
    return " ".join(str(error).partition("LINE ")[0].split())
