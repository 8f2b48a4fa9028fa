"""Tables: from the rows of a query to csv, Markdown, LaTeX, and to pages.

A query may return cells, rows with a `heading`: `widen` gives each heading a column, so that a row
is a system. `lay_out` formats the values: columns with labels and units, cells with their marks,
words in place of identifiers, which the csv keeps. Beside the printed forms lies an Arrow file of
the same rows: who reads a table back reads that, since a csv does not tell `2023`, a name, from
2,023.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import polars as pl
from tabulate import tabulate as aligned

from isotope.core import sql, store
from isotope.core.errors import CorruptFile, EmptyTable, MissingFile
from isotope.core.grid import TASKS

BEATS = " beats"
# What `write_table` writes, by suffix.
FORMS = ("arrow", "csv", "md", "tex")
_CELL = ("collection", "setting", "split", "task", "system")
_LABELS = {
    "m_per_t": "M/T",
    "t_per_m": "T/M",
    "urls": "URLs",
    "letter": "",
    **{f"success_at_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{"mrr_at_5": "MRR@5", "mrr_at_10": "MRR@10", "mrr": "MRR"},
    **{"ca_share": "CA, %", "ncs": "NCS", "ce": "CE", "sd_share": "SD, %"},
    **{
        "pooled_ca_share": "pooled CA, %",
        "pooled_ncs": "pooled NCS",
        "pooled_sd_share": "pooled SD, %",
    },
    **{"ce_most_common": "commonest CE", "sd_continuous": "continuous SD"},
    **{"seconds": "time, s", "cpu_seconds": "CPU time, s", "memory_mib": "peak memory, MiB"},
    **{"score_q1": "score, lower quartile", "score_q3": "score, upper quartile"},
    **{"queries_share": "of all queries, %"},
    **{task: TASKS[task].title for task in TASKS},
    **{f"{task}_queries": f"{TASKS[task].title}: queries" for task in TASKS},
    **{"score_index_mb": "index, MB", "score_flat_mb": "vectors, MB", "split_percent": "split, %"},
}
_SHARE = re.compile(r"(.*?)_?share")
_SYNSET = re.compile(r"(.+)\.n\.(\d\d)")
_OBJECT = re.compile(r"\{[^{}]*\}")
_SIZES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_DECIMALS = {"seconds": 1, "cpu_seconds": 1, "memory_mib": 0, "split_percent": 1}
# Columns of words that tell a row from others; other words describe what the row is about.
_KEY_NAMES = """
collection setting split task measure kind stratum side field tokenizer step status matched_by
perturbation queries query change letter stage system other phase rule counted label language
captioner first second assessor other_assessor class premise conclusion wiki section found_by
page_title file unanswered over of examples_of pictures_of source_split reason detail decade
judge judged_by relation later feature outcome at rank verdict
"""
# Columns whose values are words of the workflow; those of others are names, and stay as they are.
_WORKFLOW_NAMES = """
step status matched_by side field kind stage change perturbation query queries reason found_by
counted over of unanswered phase rule class premise conclusion examples_of pictures_of
source_split
"""
_KEYS, _WORDED = frozenset(_KEY_NAMES.split()), frozenset(_WORKFLOW_NAMES.split())
_MISSING = "—"
# An underscore within a word marks nothing.
_MARKDOWN = re.compile(r"[\\|*<`]|(?<![^\W_])_|_(?![^\W_])")
_LATEX = {
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
    "±": r"$\pm$", "—": "---", "-": "-{}",
}  # fmt: skip
# Two hyphens would be joined into a dash.
_IN_LATEX = re.compile(r"[&%$#_{}~^\\±—]|-(?=-)")


@dataclass(frozen=True)
class Column:
    """A printed column; columns of one `group` stand under a common heading.

    A `key` is one of the names that tell a row from others. `name` is the column's in the csv.
    """

    label: str
    group: str
    numeric: bool
    key: bool = False
    name: str = ""


@dataclass(frozen=True)
class PrintedCell:
    """Printed text, the letters of the systems that it beats, and whether none is better.

    `length` is that of the bar below a value, from 0 to 1; None for no bar.
    """

    text: str
    beats: str = ""
    best: bool = False
    length: float | None = None


@dataclass(frozen=True)
class Table:
    """What Markdown, LaTeX and HTML print; `rows` are as wide as `columns`."""

    columns: list[Column]
    rows: list[list[PrintedCell]]


def tabulate(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, object], out_stem: Path
) -> None:
    """Write the rows of `sql_file` to `out_stem`.arrow, .csv, .md and .tex.

    A column `x_mean` beside `x_sd` prints as mean ± sd. Rows with a `heading` are cells: they are
    laid out as one row per system, with bold best values and the letters of what they beat; the
    csv keeps those letters in columns of their own, named `... beats`.

    Raises:
        IsotopeError: what `sql.query` raises.
    """
    write_table(rows(sql_file, relations, values), out_stem)


def write_table(cells: pl.DataFrame, out_stem: Path) -> None:
    """Write rows, or cells, to `out_stem`.arrow, .csv, .md and .tex, as `tabulate` does."""
    wide = widen(cells)
    table = lay_out(wide)
    arrow, *printed = (out_stem.with_name(f"{out_stem.name}.{form}") for form in FORMS)
    with store.aside(arrow) as part:
        wide.write_ipc(part, compat_level=pl.CompatLevel.oldest())
    for path, text in zip(printed, (wide.write_csv(), markdown(table), latex(table)), strict=True):
        _write(path, text)


def read_table(arrow: Path) -> pl.DataFrame:
    """Return the rows of a table of `write_table`, typed, from its .arrow file.

    Raises:
        MissingFile: it is not there.
        CorruptFile: it is no Arrow file.
    """
    if not arrow.is_file():
        raise MissingFile(arrow, "no such table", "run the phase tabulate")
    try:
        return pl.scan_ipc(arrow, glob=False).collect()
    except pl.exceptions.PolarsError as error:
        raise CorruptFile(arrow, str(error), "remove it and run the phase tabulate") from error


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
    scored = rows(sql.SQL / "tabulate/tables/metrics.sql", {"scores": scores}, {})
    if scored.is_empty():
        raise EmptyTable(str(scores[0]), "no scores", "run the phase score")
    nested: dict[str, Any] = {}
    for row in scored.iter_rows(named=True):
        inner = nested
        for key in _CELL:
            inner = inner.setdefault(row[key], {})
        inner[row["measure"]] = row["value"]
    return nested


def rows(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, object]
) -> pl.DataFrame:
    """Return the rows of `sql_file` as a frame, an empty one if there are none."""
    frame = sql.query(sql_file, relations, values)
    return pl.DataFrame() if frame is None else frame


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


def widen(cells: pl.DataFrame) -> pl.DataFrame:
    """Give each `heading` its column, and its `beats` a second one; leave other tables alone."""
    if "heading" not in cells.columns:
        return cells
    keys = [c for c in cells.columns if c not in {"heading", "value", "beats"}]
    headings = _headings(cells, keys)
    wide = cells.select(keys).unique(maintain_order=True)
    for column, suffix in (("value", ""), ("beats", BEATS)):
        for heading in headings:
            of_heading = cells.filter(pl.col("heading") == heading)
            named = of_heading.select(*keys, pl.col(column).alias(heading + suffix))
            wide = wide.join(named, on=keys, how="left", maintain_order="left")
    return wide


def lay_out(wide: pl.DataFrame) -> Table:
    """Format a table of `widen`: merge `x_mean` with `x_sd`, mark the best of each pool."""
    printed = [c for c in wide.columns if not c.endswith((BEATS, "_sd"))]
    columns = [_column(wide, name) for name in printed]
    cells = [_cells(wide, name) for name in printed]
    return Table(columns, [list(row) for row in zip(*cells, strict=True)])


def markdown(table: Table) -> str:
    """Return the table with bold best cells and superscript letters."""
    heads = [_in_markdown(f"{c.group} {c.label}".strip()) for c in table.columns]
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
        _latex_row([_in_latex(c.label) for c in table.columns]),
        r"\midrule",
        *(_latex_row(row) for row in body),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def stratum_words(name: str) -> str:
    """Return `decile 1` for 01, the tenth with the lowest values; other strata unchanged."""
    return f"decile {int(name)}" if re.fullmatch(r"\d\d", name) else name


def synset_words(name: str) -> str:
    """Return `box` for WordNet's box.n.01, `box (sense 2)` for box.n.02; other names unchanged."""
    synset = _SYNSET.fullmatch(name)
    if not synset:
        return name
    word, sense = synset[1].replace("_", " "), int(synset[2])
    return word if sense == 1 else f"{word} (sense {sense})"


def spans(columns: list[Column]) -> list[tuple[str, int]]:
    """Return each run of columns under one group heading, with its width."""
    return [(name, len(list(run))) for name, run in groupby(columns, key=lambda c: c.group)]


def _headings(cells: pl.DataFrame, keys: list[str]) -> list[str]:
    """Merge the headings of all rows, each in its order; a row may lack some, the first one too."""
    grouped = cells.group_by(keys, maintain_order=True).agg("heading")
    orders: list[list[str]] = grouped["heading"].unique(maintain_order=True).to_list()
    merged: list[str] = []
    for order in sorted(orders, key=len, reverse=True):
        at = next((merged.index(h) for h in order if h in merged), len(merged))
        for heading in order:
            if heading not in merged:
                merged.insert(at, heading)
            at = merged.index(heading) + 1
    return merged


def _column(wide: pl.DataFrame, name: str) -> Column:
    group, _, label = name.partition(" ") if name + BEATS in wide.columns else ("", "", name)
    values = wide[name]
    numeric = values.dtype.is_numeric()
    key = name in _KEYS and not numeric
    heading = TASKS[group].title if group in TASKS else group
    return Column(_label(label, values), heading, numeric, key, name)


def _label(name: str, values: pl.Series) -> str:
    """Return what stands above a column, with its unit where values have one."""
    if name == "bytes":
        return f"size, {_size_unit(values)}"
    bare = name.removesuffix("_mean")
    words = _LABELS.get(bare, bare.replace("_", " "))
    share = _SHARE.fullmatch(name)
    return words if bare in _LABELS or not share else f"{words.removesuffix(' share')}, %"


def _cells(wide: pl.DataFrame, name: str) -> list[PrintedCell]:
    if name == "bytes":
        size = _SIZES[_size_unit(wide[name])]
        scaled = [None if value is None else value / size for value in wide[name]]
        return [PrintedCell(_MISSING if n is None else f"{n:,.2f}") for n in scaled]
    texts = [_text(name, value) for value in wide[name].to_list()]
    if name.endswith("_mean"):
        spreads = wide[name.removesuffix("_mean") + "_sd"].to_list()
        return [PrintedCell(_with_spread(t, name, s)) for t, s in zip(texts, spreads, strict=True)]
    if name + BEATS in wide.columns:
        beats = wide[name + BEATS].fill_null("").to_list()
        marks = zip(texts, beats, _best(wide, name), wide[name].to_list(), strict=True)
        return [PrintedCell(*cell) for cell in marks]
    return [PrintedCell(text) for text in texts]


def _size_unit(values: pl.Series) -> str:
    """Return the largest unit that the largest of these numbers of bytes has one of."""
    most = max((value for value in values if value is not None), default=0)
    return next((unit for unit, size in reversed(_SIZES.items()) if most >= size), "KiB")


def _best(wide: pl.DataFrame, name: str) -> Sequence[bool]:
    pool = [c for c in ("collection", "setting", "split") if c in wide.columns]
    top = pl.col(name).max().over(pool)
    return wide.select((pl.col(name) == top).fill_null(value=False)).to_series().to_list()


def _with_spread(text: str, name: str, spread: float | None) -> str:
    return text if spread is None else f"{text} ± {_text(name, spread)}"


def _text(name: str, value: object) -> str:
    if value is None:
        return _MISSING
    # DuckDB's sums of integers, and numbers with a point in a query, are decimals.
    if isinstance(value, Decimal):
        value = float(value) if value.as_tuple().exponent else int(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        share = _SHARE.fullmatch(name)
        return f"{100 * value:,.1f}" if share else f"{value:,.{_decimals(name)}f}"
    return _words(name, str(value))


def _words(name: str, value: str) -> str:
    """Return the words for a value of the column `name`."""
    if name == "task":
        return TASKS[value].title if value in TASKS else value
    if name == "parameters":
        titled = re.sub(
            "|".join(TASKS), lambda match: TASKS[match[0]].title + ":", value.replace("}, ", "}; ")
        )
        return _OBJECT.sub(lambda match: _assignments(json.loads(match[0])), titled)
    if name == "label":
        return synset_words(value)
    if name == "stratum":
        return stratum_words(value)
    return value.replace("_", " ") if name in _WORDED else value


def _assignments(values: Mapping[str, object]) -> str:
    """Return `name = value` for each of some parameters."""
    lists = {k: cast("list[object]", v if isinstance(v, list) else [v]) for k, v in values.items()}
    return ", ".join(f"{k.replace('_', ' ')} = {' : '.join(map(str, v))}" for k, v in lists.items())


def _decimals(name: str) -> int:
    usual = 3 if name.endswith("_mean") else 2 if name.startswith("score_") else 4
    return _DECIMALS.get(name, usual)


def _in_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", text)


def _in_latex(text: str) -> str:
    return _IN_LATEX.sub(lambda sign: _LATEX[sign[0]], text)


def _markdown_cell(cell: PrintedCell) -> str:
    text = _in_markdown(cell.text)
    bold = f"**{text}**" if cell.best else text
    return f"{bold}<sup>{cell.beats}</sup>" if cell.beats else bold


def _latex_cell(cell: PrintedCell) -> str:
    text = _in_latex(cell.text)
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
        heads.append(rf"\multicolumn{{{width}}}{{c}}{{{_in_latex(name)}}}")
        if name:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [_latex_row(heads), "".join(rules)]


def _write(path: Path, text: str) -> None:
    with store.aside(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
