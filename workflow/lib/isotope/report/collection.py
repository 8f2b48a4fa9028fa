"""A collection's pages (overview, collection, systems, how to cite), and its headline."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql, terminal
from isotope.core.errors import BadArgument, MissingFile
from isotope.report.content import Cell, Example, examples
from isotope.report.content import Shown, exhibits
from isotope.report.site import TASKS, write_page
from isotope.tabulate.table import BEATS
from isotope.tabulate.table import Cell as Printed
from isotope.tabulate.table import rows

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


from isotope.report.content import exhibits
from isotope.report.site import write_page



_DAY = re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(?!\d)")
_MOST = 40


class Upstream(NamedTuple):
    """A file that was fetched or made: its path in the source's folder, size and digest."""

    path: str
    size: int
    sha256: str
    url: str


class Origin(NamedTuple):
    """The first files of a source, how many there are, dates in their names, isotope's version."""

    files: list[Upstream]
    total: int
    dates: list[str]
    version: str


def origin(root: Path, sources: Sequence[str]) -> Origin:
    """Return what the sources' manifests say; nothing for a source that was not acquired."""
    manifests = [root / "data/acquire" / source / "manifest.json" for source in sources]
    told = [json.loads(m.read_text(encoding="utf-8")) for m in manifests if m.is_file()]
    listed = [file for manifest in told for file in manifest["files"]]
    files = [Upstream(f["path"], f["bytes"], f["sha256"], f["url"] or "") for f in listed]
    days = {"-".join(found.groups()) for f in files if (found := _DAY.search(f.path))}
    return Origin(files[:_MOST], len(files), sorted(days), version("isotope-ir"))


def fingerprint(params: Any) -> str:  # noqa: ANN401
    """Return 16 hex digits of the SHA-256 of params, whatever the order of their keys."""
    told = json.dumps(params, sort_keys=True, ensure_ascii=False)
    return sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Pool:
    """The rows of Table 3 for one setting and split; `chosen` if the pages are about it."""

    setting: str
    split: str
    rows: list[list[Printed]]
    chosen: bool


@dataclass(frozen=True)
class Leader:
    """The system with the highest mean of the first measure over the tasks, and its values."""

    system: str
    pool: str
    measure: str
    values: list[tuple[str, str]]


def build(cell: Cell, files: Sequence[Path], told: Mapping[str, Any], out: Path) -> None:
    """Write index.html, collection.html, systems.html and cite.html to the folder `out`.

    `files` are the collection's tables and figures; Table 1, Table 3 and the runs of the cell's
    system must be there. `told` is what the params say of them: alpha, bootstrap, tail, overlap,
    measure, and `built`, an account of what was built. Same input, same bytes.

    Raises:
        MissingFile: a table or run that must be there.
    """
    folder = cell.root / "results/tables" / cell.collection
    table1, table3 = need(folder / "table1.csv"), need(folder / "table3.csv")
    shown = exhibits(files, _words(cell, told))
    common = {"cell": cell, "up": "", "shown": shown, "told": told}
    sizes = {"sizes": table1, "totals": totals(table1)}
    pools, best = _pools(table3, shown["table3"], cell), leader(table3, cell.setting, cell.split)
    source = origin(cell.root, cell.sources)
    write_page("collection", out / "collection.html", **common, **sizes)
    write_page("systems", out / "systems.html", **common, pools=pools)
    write_page("cite", out / "cite.html", **common, origin=source)
    write_page("index", out / "index.html", **common, **sizes, leader=best, examples=_best(cell))


def need(path: Path) -> pl.DataFrame:
    """Return the table at `path`.

    Raises:
        MissingFile: it is not there.
    """
    if not path.is_file():
        raise MissingFile(path, "no such table", "run the phase tabulate")
    return pl.read_csv(path, infer_schema_length=None)


def totals(table1: pl.DataFrame) -> dict[str, int]:
    """Return the texts, images and qrels of all splits."""
    return table1.select(pl.col("texts", "images", "qrels").sum()).row(0, named=True)


def leader(table3: pl.DataFrame, setting: str, split: str) -> Leader:
    """Return the leader of a pool; of the first one where that was not measured.

    A system with a run in some tasks only comes after those with a run in more of them.
    """
    measured = [c.removesuffix(BEATS) for c in table3.columns if c.endswith(BEATS)]
    measure = measured[0].partition(" ")[2]
    columns = [c for c in measured if c.partition(" ")[2] == measure]
    pool = table3.filter(pl.col("setting") == setting, pl.col("split") == split)
    if pool.is_empty():
        return leader(table3, *table3.select("setting", "split").row(0))
    lacks = pl.sum_horizontal(pl.col(columns).is_null())
    best = pool.sort(lacks, -pl.mean_horizontal(columns), "system").row(0, named=True)
    values = [(c.partition(" ")[0], f"{best[c]:.3f}") for c in columns if best[c] is not None]
    return Leader(best["system"], f"{setting}/{split}", measure, values)


def headline(
    scores: Path, *, setting: str, split: str, measures: Sequence[str] = ("MRR@10", "R@10")
) -> str:
    """Return a plain-text table of one pool: a line a system, by the first column.

    Raises:
        BadArgument: a pool that was not measured.
    """
    means = rows(sql.SQL / "tabulate/tables/metrics.sql", {"scores": scores}, {})
    pool = means.filter(
        pl.col("setting") == setting, pl.col("split") == split, pl.col("measure").is_in(measures)
    )
    if pool.is_empty():
        pools: list[tuple[str, str]] = (
            means.select("setting", "split").unique().sort(pl.all()).rows()
        )
        found = f"{scores.stem} was not measured there"
        remedy = f"measured: {', '.join(map('/'.join, pools))}"
        raise BadArgument(f"--setting {setting} --split {split}", found, remedy)
    columns = [(t, m) for t in TASKS for m in measures]
    value = {(r["system"], r["task"], r["measure"]): r["value"] for r in pool.to_dicts()}
    systems = sorted(set(pool["system"]), key=lambda s: (-value.get((s, *columns[0]), 0.0), s))
    head = [f"{setting}/{split}", *(f"{t} {m}" for t, m in columns)]
    body = [[s, *map(_four_digits, (value.get((s, *c)) for c in columns))] for s in systems]
    return terminal.table(body, head, right=range(1, len(head)))


def _four_digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _words(cell: Cell, told: Mapping[str, Any]) -> dict[str, object]:
    drawn = told["bootstrap"]
    return {
        "setting": cell.setting,
        "split": cell.split,
        "measure": told["measure"],
        "overlap": told["overlap"],
        "alpha": f"{told['alpha']:g}",
        "tail": {figure: f"{100 * share:g}%" for figure, share in told["tail"].items()},
        "level": f"{drawn['level']:.0%}",
        "samples": f"{drawn['samples']:,}",
    }


def _best(cell: Cell) -> dict[str, list[Example]]:
    found = {t: examples(cell, t, 1)[:1] for t in TASKS if cell.run(t).is_file()}
    if not found:
        raise MissingFile(cell.run("t2m"), "no run of this system", "run the phase search")
    return found


def _pools(table3: pl.DataFrame, shown: Shown, cell: Cell) -> list[Pool]:
    laid = shown.table.rows if shown.table else []
    keys: list[tuple[str, str]] = table3.select("setting", "split").rows()
    pools: list[Pool] = []
    for setting, split in dict.fromkeys(keys):
        own = [r[2:] for r, key in zip(laid, keys, strict=True) if key == (setting, split)]
        pools.append(Pool(setting, split, own, (setting, split) == (cell.setting, cell.split)))
    return pools


class Entry(NamedTuple):
    """A collection on the front page."""

    name: str
    totals: dict[str, int]
    leader: Leader


def build(
    root: Path,
    setting: str,
    split: str,
    out: Path,
    groups: Mapping[str, Sequence[Path]] | None = None,
) -> None:
    """Write the front page of all collections whose pages and tables are there, by name.

    The pages of snapshots that are there, `<later>/since/<earlier>.html`, are listed too, and
    `groups` are shown: the tables that hold the collections of each group side by side.
    A collection's leader is that of its pool `setting`/`split`, or of its first pool.
    """
    names = sorted(p.parent.name for p in out.parent.glob("*/index.html"))
    folders = [root / "results/tables" / name for name in names]
    entries = [_entry(f, setting, split) for f in folders if (f / "table3.csv").is_file()]
    since = [
        (page.parents[1].name, page.stem) for page in sorted(out.parent.glob("*/since/*.html"))
    ]
    shown = {name: list(exhibits(files, {}).values()) for name, files in (groups or {}).items()}
    told = {"entries": entries, "since": since, "groups": shown}
    write_page("overview", out, **told, up="", cell=None)


def _entry(folder: Path, setting: str, split: str) -> Entry:
    table1, table3 = need(folder / "table1.csv"), need(folder / "table3.csv")
    return Entry(folder.name, totals(table1), leader(table3, setting, split))
