"""Tables from one SQL file each, and the numbers that `dvc metrics` shows."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.tabulate.layout import lay_out, widen
from isotope.tabulate.render import latex, markdown

_CELL = ("collection", "setting", "split", "task", "system")


def tabulate(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object], out_stem: Path
) -> None:
    """Write the rows of `sql_file` to `out_stem`.csv, .md and .tex.

    A column `x_mean` beside `x_sd` prints as mean ± sd. Rows with a `heading` are cells: they are
    laid out as one row per system, with bold best values and the letters of what they beat; the
    csv keeps those letters in columns of their own, named `... beats`.

    Raises:
        IsotopeError: what `sql.query` raises.
    """
    wide = widen(rows(sql_file, relations, params))
    table = lay_out(wide)
    _write(out_stem.with_name(out_stem.name + ".csv"), wide.write_csv())
    _write(out_stem.with_name(out_stem.name + ".md"), markdown(table))
    _write(out_stem.with_name(out_stem.name + ".tex"), latex(table))


def metrics(scores: Sequence[Path], out: Path) -> None:
    """Write {collection: {setting: {split: {task: {system: {measure: mean}}}}}} as JSON.

    Raises:
        EmptyTable: no score at all.
    """
    _write(out, json.dumps(means(scores), indent=2, ensure_ascii=False) + "\n")


def means(scores: Sequence[Path]) -> dict[str, Any]:
    """Return {collection: {setting: {split: {task: {system: {measure: mean}}}}}}.

    Raises:
        EmptyTable: no score at all.
    """
    found = rows(sql.SQL / "tabulate" / "metrics.sql", {"scores": scores}, {})
    if found.is_empty():
        raise EmptyTable(str(scores[0]), "no scores", "run the phase score")
    nested: dict[str, Any] = {}
    for row in found.iter_rows(named=True):
        inner = nested
        for key in _CELL:
            inner = inner.setdefault(row[key], {})
        inner[row["measure"]] = row["value"]
    return nested


def rows(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object]
) -> pl.DataFrame:
    """Return the rows of `sql_file` as a frame, an empty one if there are none."""
    found = sql.query(sql_file, relations, params)
    return pl.DataFrame() if found is None else found


def _write(path: Path, text: str) -> None:
    with store.aside(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
