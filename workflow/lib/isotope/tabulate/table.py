"""Tables from one SQL file each, and the numbers that `dvc metrics` shows."""

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl
from tabulate import tabulate as aligned

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.tabulate.layout import Cell, Column, Table, lay_out, widen

_MARKDOWN = str.maketrans({sign: "\\" + sign for sign in "\\|*<`"})
_LATEX = str.maketrans(
    {
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
        "±": r"$\pm$", "—": "---",
    }
)  # fmt: skip


def markdown(table: Table) -> str:
    """Return the table with bold best cells and superscript letters."""
    heads = [f"{c.group} {c.label}".strip().translate(_MARKDOWN) for c in table.columns]
    rules = ["---:" if c.numeric else "---" for c in table.columns]
    body = [[_markdown_cell(cell) for cell in row] for row in table.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, rules, *body])


def latex(table: Table) -> str:
    """Return a `tabular` for the booktabs package, grouped columns under one heading."""
    kinds = "".join("r" if c.numeric else "l" for c in table.columns)
    body = [[_latex_cell(cell) for cell in row] for row in table.rows]
    lines = [
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        *_latex_groups(table.columns),
        _latex_row([c.label.translate(_LATEX) for c in table.columns]),
        r"\midrule",
        *(_latex_row(row) for row in body),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def spans(columns: list[Column]) -> list[tuple[str, int]]:
    """Return each run of columns under one group heading, with its width."""
    return [(name, len(list(run))) for name, run in groupby(columns, key=lambda c: c.group)]


def _markdown_cell(cell: Cell) -> str:
    text = cell.text.translate(_MARKDOWN)
    bold = f"**{text}**" if cell.best else text
    return f"{bold}<sup>{cell.beats}</sup>" if cell.beats else bold


def _latex_cell(cell: Cell) -> str:
    text = cell.text.translate(_LATEX)
    bold = rf"\textbf{{{text}}}" if cell.best else text
    return rf"{bold}$^{{{cell.beats}}}$" if cell.beats else bold


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_groups(columns: list[Column]) -> list[str]:
    if not any(c.group for c in columns):
        return []
    heads: list[str] = []
    rules: list[str] = []
    start = 1
    for name, width in spans(columns):
        heads.append(rf"\multicolumn{{{width}}}{{c}}{{{name.translate(_LATEX)}}}")
        if name:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [_latex_row(heads), "".join(rules)]


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
    found = rows(sql.SQL / "tabulate/tables/metrics.sql", {"scores": scores}, {})
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


def plain(
    rows: Sequence[Sequence[object]],
    head: Sequence[str] = (),
    *,
    right: Collection[int] | None = None,
) -> str:
    """Return rows as lines of columns, two blanks apart, below the names of `head`; None is a dash.

    `right` are the columns set to the right, by default those in which a number stands.
    """
    count = len(head) or max(map(len, rows), default=0)
    numbers = {n for n in range(count) if any(isinstance(row[n], int | float) for row in rows)}
    chosen = numbers if right is None else right
    # The library would make a column two wider than its head; as the first row it does not.
    text = aligned(
        [head, *rows] if head else rows,
        tablefmt="plain",
        colalign=["right" if n in chosen else "left" for n in range(count)],
        disable_numparse=True,
        missingval="—",
    )
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
