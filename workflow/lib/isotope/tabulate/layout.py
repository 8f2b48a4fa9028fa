"""From a query's rows to a printed table: columns with labels, cells with their marks."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

BEATS = " beats"
_LABELS = {
    "m_per_t": "M/T",
    "t_per_m": "T/M",
    "urls": "URLs",
    "letter": "",
    **{f"success_at_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{"mrr_at_5": "MRR@5", "mrr_at_10": "MRR@10", "mrr": "MRR"},
    **{"ca_share": "CA", "ncs": "NCS", "ce": "CE", "sd_share": "SD"},
    **{"ce_most_common": "commonest CE", "sd_continuous": "continuous SD"},
}
_MISSING = "—"


@dataclass(frozen=True)
class Column:
    """A printed column; columns of one `group` stand under a common heading."""

    label: str
    group: str
    numeric: bool


@dataclass(frozen=True)
class Cell:
    """Printed text, the letters of the systems that it beats, and whether none is better."""

    text: str
    beats: str = ""
    best: bool = False


@dataclass(frozen=True)
class Table:
    """What Markdown, LaTeX and HTML print; `rows` are as wide as `columns`."""

    columns: list[Column]
    rows: list[list[Cell]]


def widen(cells: pl.DataFrame) -> pl.DataFrame:
    """Give each `heading` its column, and its `beats` a second one; leave other tables alone."""
    if "heading" not in cells.columns:
        return cells
    keys = [c for c in cells.columns if c not in {"heading", "value", "beats"}]
    headings = _headings(cells, keys)
    wide = cells.select(keys).unique(maintain_order=True)
    for column, suffix in (("value", ""), ("beats", BEATS)):
        for heading in headings:
            one = cells.filter(pl.col("heading") == heading)
            named = one.select(*keys, pl.col(column).alias(heading + suffix))
            wide = wide.join(named, on=keys, how="left", maintain_order="left")
    return wide


def _headings(cells: pl.DataFrame, keys: list[str]) -> list[str]:
    """Merge the headings of all rows, each in its order; a row may lack some, the first one too."""
    grouped = cells.group_by(keys, maintain_order=True).agg("heading")
    each: list[list[str]] = grouped["heading"].unique(maintain_order=True).to_list()
    merged: list[str] = []
    for own in sorted(each, key=len, reverse=True):
        at = next((merged.index(h) for h in own if h in merged), len(merged))
        for heading in own:
            if heading not in merged:
                merged.insert(at, heading)
            at = merged.index(heading) + 1
    return merged


def lay_out(wide: pl.DataFrame) -> Table:
    """Format a table of `widen`: merge `x_mean` with `x_sd`, mark the best of each pool."""
    shown = [c for c in wide.columns if not c.endswith((BEATS, "_sd"))]
    columns = [_column(wide, name) for name in shown]
    printed = [_cells(wide, name) for name in shown]
    return Table(columns, [list(row) for row in zip(*printed, strict=True)])


def _column(wide: pl.DataFrame, name: str) -> Column:
    group, _, label = name.partition(" ") if name + BEATS in wide.columns else ("", "", name)
    bare = label.removesuffix("_mean")
    values = wide[name]
    # A column without a value comes back from CSV as text.
    numeric = values.dtype.is_numeric() or values.null_count() == values.len()
    return Column(_LABELS.get(bare, bare.replace("_", " ")), group, numeric)


def _cells(wide: pl.DataFrame, name: str) -> list[Cell]:
    texts = [_text(name, value) for value in wide[name].to_list()]
    if name.endswith("_mean"):
        spreads = wide[name.removesuffix("_mean") + "_sd"].to_list()
        return [Cell(_with_spread(t, name, s)) for t, s in zip(texts, spreads, strict=True)]
    if name + BEATS in wide.columns:
        beats = wide[name + BEATS].fill_null("").to_list()
        return [Cell(*c) for c in zip(texts, beats, _best(wide, name), strict=True)]
    return [Cell(text) for text in texts]


def _best(wide: pl.DataFrame, name: str) -> Sequence[bool]:
    pool = [c for c in ("collection", "setting", "split") if c in wide.columns]
    top = pl.col(name).max().over(pool)
    return wide.select((pl.col(name) == top).fill_null(value=False)).to_series().to_list()


def _with_spread(text: str, name: str, spread: float | None) -> str:
    return text if spread is None else f"{text} ± {_text(name, spread)}"


def _text(name: str, value: object) -> str:
    if value is None:
        return _MISSING
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.1%}" if name.endswith("share") else f"{value:.{_decimals(name)}f}"
    return str(value)


def _decimals(name: str) -> int:
    return 3 if name.endswith("_mean") else 2 if name.startswith("score_") else 4
