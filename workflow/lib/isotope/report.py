"""One self-contained page about a collection, and its headline for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from isotope import sql, store
from isotope.errors import MissingFile
from isotope.report_examples import Cell, Example, examples
from isotope.report_templates import environment
from isotope.tabulate import rows
from isotope.tabulate_layout import BEATS, Table, lay_out
from isotope.tabulate_layout import Cell as Printed

PER_VERDICT = 3
TASKS = {
    "t2m": ("Image suggestion", "Given a section, find the picture that illustrates it."),
    "m2t": ("Image promotion", "Given a picture, find the section that it illustrates."),
}


@dataclass(frozen=True)
class Pool:
    """The rows of Table 3 for one setting and split; `chosen` if the page is about it."""

    setting: str
    split: str
    rows: list[list[Printed]]
    chosen: bool


@dataclass(frozen=True)
class Leader:
    """The system with the highest mean of the first measure over the tasks, and its values."""

    system: str
    measure: str
    values: list[tuple[str, str]]


def build(  # noqa: PLR0913
    *,
    collection: str,
    source: str | None,
    root: Path,
    system: str,
    setting: str,
    split: str,
    out: Path,
) -> None:
    """Write the page: tables and figures under `root`, examples of `system` in one pool.

    Table 1, Table 3 and the system's runs must be there; the accounts of filters, crawl and
    projection and the figures (corpus_size, curve-<model>) have a place if they exist.
    Same input, same bytes.

    Raises:
        MissingFile: a table or run that must be there.
    """
    cell = Cell(root, collection, source, setting, split, system)
    folder = root / "results/tables" / collection
    table1, table3 = _need(folder / "table1.csv"), _need(folder / "table3.csv")
    page = environment().get_template("report.html.j2")
    html = page.render(
        cell=cell,
        sizes=table1,
        totals=table1.select(pl.col("texts", "images", "qrels").sum()).row(0, named=True),
        table1=lay_out(table1),
        accounts={n: _have(folder / f"{n}.csv") for n in ("account", "crawl", "projection")},
        columns=lay_out(table3).columns[2:],
        pools=_pools(table3, cell),
        leader=_leader(table3, cell),
        figures=_figures(root / "results/figures" / collection),
        examples=_examples(cell),
        tasks=TASKS,
    )
    with store.aside(out) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def headline(
    scores: Path, *, setting: str, split: str, measures: Sequence[str] = ("MRR@10", "R@10")
) -> str:
    """Return a plain-text table of one pool: a line a system, by the first column."""
    means = rows(sql.SQL / "tabulate" / "metrics.sql", {"scores": scores}, {})
    pool = means.filter(
        pl.col("setting") == setting, pl.col("split") == split, pl.col("measure").is_in(measures)
    )
    columns = [(t, m) for t in TASKS for m in measures]
    value = {(r["system"], r["task"], r["measure"]): r["value"] for r in pool.to_dicts()}
    systems = sorted(set(pool["system"]), key=lambda s: (-value.get((s, *columns[0]), 0.0), s))
    head = [f"{setting}/{split}", *(f"{t} {m}" for t, m in columns)]
    body = [[s, *(_four_digits(value.get((s, *c))) for c in columns)] for s in systems]
    return _aligned([head, *body])


def _four_digits(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [line[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True))]
        for line in lines
    ]
    return "\n".join("  ".join(line) for line in padded)


def _need(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such table", "run the phase tabulate")
    return pl.read_csv(path, infer_schema_length=None)


def _have(path: Path) -> Table | None:
    return lay_out(_need(path)) if path.is_file() else None


def _examples(cell: Cell) -> dict[str, list[Example]]:
    found = {t: examples(cell, t, PER_VERDICT) for t in TASKS if cell.run(t).is_file()}
    if not found:
        raise MissingFile(cell.run("t2m"), "no run of this system", "run the phase search")
    return found


def _pools(table3: pl.DataFrame, cell: Cell) -> list[Pool]:
    laid = lay_out(table3).rows
    keys: list[tuple[str, str]] = table3.select("setting", "split").rows()
    pools: list[Pool] = []
    for setting, split in dict.fromkeys(keys):
        own = [r[2:] for r, key in zip(laid, keys, strict=True) if key == (setting, split)]
        pools.append(Pool(setting, split, own, (setting, split) == (cell.setting, cell.split)))
    return pools


def _leader(table3: pl.DataFrame, cell: Cell) -> Leader:
    measured = [c.removesuffix(BEATS) for c in table3.columns if c.endswith(BEATS)]
    measure = measured[0].partition(" ")[2]
    columns = [c for c in measured if c.partition(" ")[2] == measure]
    pool = table3.filter(pl.col("setting") == cell.setting, pl.col("split") == cell.split)
    best = pool.sort(-pl.mean_horizontal(columns), "system").row(0, named=True)
    values = [(c.partition(" ")[0], f"{best[c]:.3f}") for c in columns]
    return Leader(best["system"], measure, values)


def _figures(folder: Path) -> dict[str, str]:
    """Return the SVG elements of the folder, without prolog, by file stem."""
    found = {p.stem: p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.svg"))}
    return {stem: text[text.index("<svg") :] for stem, text in found.items()}
