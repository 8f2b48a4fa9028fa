"""What a run prints at its end: what it has built, what was dropped and why, where to look.

Only what the run's jobs wrote is summed up: of a crawl the pictures, of a collection its pairs. A
run that wrote the catalog, the last of all tables, has everything summed up.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import duckdb

from isotope.core import sql
from isotope.tabulate import catalog
from isotope.tabulate.table import plain

CATALOG = "results/catalog.duckdb"
SITE = "results/report/index.html"
_SQL = sql.SQL / "summary"
_RUNS = "results/search/*/*/*/*/*.parquet"
_BUILT = ("texts", "images", "qrels")
_MOST, _MOST_REASONS = 8, 4


# The queries for what was dropped, and the view that each reads.
LOSSES = {"pictures": "ledger", "projected": "projection", "filtered": "filters"}


def summary(made: Iterable[str | Path], root: Path = Path()) -> str:
    """Return the lines for a run whose jobs wrote the files `made` (paths relative to `root`).

    Raises:
        IsotopeError, duckdb.Error: a table that can't be read.
    """
    files = [str(path) for path in made]
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        parts = {
            "Built": _built(con, files, root),
            "Dropped": _dropped(con, files, root),
            "Look at": _places(files, root),
        }
    return "".join(_headed(head, rows) for head, rows in parts.items())


def _headed(head: str, rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return ""
    lines = plain([["", *row] for row in rows], right=()).splitlines()
    return f"{head}:\n" + "".join(f"{line}\n" for line in lines)


def _named(files: Iterable[str], glob: str, root: Path) -> set[str]:
    """Return the collections, or sources, whose file of a pattern was written; all by CATALOG."""
    if CATALOG in files:
        files = [path.relative_to(root).as_posix() for path in root.glob(glob)]
    place = Path(glob).parts.index("*")
    return {Path(file).parts[place] for file in files if fnmatchcase(file, glob)}


def _rows(
    con: duckdb.DuckDBPyConnection, name: str, params: Mapping[str, object]
) -> list[tuple[Any, ...]]:
    return con.execute((_SQL / f"{name}.sql").read_text(encoding="utf-8"), params).fetchall()


def _built(con: duckdb.DuckDBPyConnection, files: Sequence[str], root: Path) -> list[list[str]]:
    collected = _named(files, catalog.VIEWS["qrels"].glob, root)
    names = collected | _named(files, _RUNS, root)
    if not names:
        return []
    catalog.define(con, _BUILT, root)
    found = _rows(con, "built", {"runs": f"{root.resolve()}/{_RUNS}"})
    lines = [_line(*row) for row in found if row[0] in names]
    return _shortened(lines, "collections")


def _line(name: str, *counts: int) -> list[str]:
    texts, images, judgements, systems, pools = counts
    tables = f"{texts:,} texts, {images:,} images, {judgements:,} judgements"
    runs = f"{_many(systems, 'system')} on {_many(pools, 'pool')}" if systems else "no runs"
    return [name, f"{tables}; {runs}"]


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _dropped(con: duckdb.DuckDBPyConnection, files: Sequence[str], root: Path) -> list[list[str]]:
    lost = list[tuple[int, list[str]]]()
    for name, view in LOSSES.items():
        if owners := _named(files, catalog.VIEWS[view].glob, root):
            counts: dict[str, Counter[str | None]] = {}
            catalog.define(con, [view], root)
            for owner, things, reason, n in _rows(con, name, {}):
                if owner in owners:
                    counts.setdefault(f"{things} of {owner}", Counter())[reason] += n
            lost += [_loss(what, each) for what, each in sorted(counts.items())]
    greatest = sorted((each for each in lost if each[0]), key=lambda each: -each[0])
    return _shortened([line for _, line in greatest], "lists")


def _loss(what: str, counts: Counter[str | None]) -> tuple[int, list[str]]:
    """Return how many were dropped, and the line; what was kept has no reason."""
    reasons = Counter({reason: n for reason, n in counts.items() if reason and n})
    ordered = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    lost = reasons.total()
    words = [f"{reason}: {n:,}" for reason, n in ordered[:_MOST_REASONS]]
    if more := sum(n for _, n in ordered[_MOST_REASONS:]):
        words.append(f"other reasons: {more:,}")
    return lost, [what, f"{lost:,} of {counts.total():,} ({', '.join(words)})"]


def _shortened(lines: list[list[str]], things: str) -> list[list[str]]:
    more = len(lines) - _MOST
    return lines if more < 1 else [*lines[:_MOST], ["…", f"and {more} more {things}"]]


def _places(files: Sequence[str], root: Path) -> list[list[str]]:
    places = [[SITE, "the report, in a browser"]] if (root / SITE).is_file() else []
    if CATALOG in files:
        places.append(["isotope report", "the main scores"])
        places.append(['isotope sql "FROM filters"', "any of the tables; docs/queries.md"])
    return places if CATALOG in files or SITE in files else []
