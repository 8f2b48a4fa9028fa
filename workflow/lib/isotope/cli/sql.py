"""`isotope sql`: one SELECT on the catalog, as a table, csv or json."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import duckdb

from isotope.core.errors import BadQuery
from isotope.core.sql import CATALOG, opened

FORMATS = ("table", "csv", "json")
_WIDEST = 60
Row = Sequence[object]


def sql(query: str, *, form: str = "table", most: int = 100, catalog: Path = CATALOG) -> str:
    """Return the answer to one SELECT; a table shows its first `most` rows and says if more exist.

    Raises:
        BadQuery: more than one statement, anything but a SELECT, or a query that DuckDB refuses.
        MissingFile: no catalog.
    """
    with opened(catalog) as con:
        found = con.execute(_only_select(con, query))
        columns = [column[0] for column in found.description or []]
        rows = found.fetchmany(most + 1) if form == "table" else found.fetchall()
    if form == "json":
        told = [dict(zip(columns, row, strict=True)) for row in rows]
        return json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"
    if form == "csv":
        return _csv(columns, rows)
    more = f"({most} rows shown, there are more: --rows)\n" if len(rows) > most else ""
    return aligned(columns, rows[:most]) + more


def _only_select(con: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    statements = con.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        remedy = "give one SELECT: the catalog is for reading"
        raise BadQuery("isotope sql", f"no single SELECT in {query!r}", remedy)
    return statements[0]


def _csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def aligned(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Return rows in columns parted by two blanks, numbers to the right, long words cut."""
    lines = [[_short(value) for value in row] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(columns, *lines, strict=True)]
    right = [any(isinstance(row[i], int | float) for row in rows) for i in range(len(columns))]
    form = "  ".join(f"{{:{'>' if r else '<'}{w}}}" for w, r in zip(widths, right, strict=True))
    return "".join(form.format(*line).rstrip() + "\n" for line in [list(columns), *lines])


def _short(value: object) -> str:
    if value is None:
        return "—"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
