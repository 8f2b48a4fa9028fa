"""Wrong first answers to pictures with questions, for people to say what kind of mistake each is.

OVEN's error analysis (Hu et al., ICCV 2023, section 5) has four kinds: a wrong concept of the same
granularity, a concept too generic, a query misunderstood, and anything else.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope import sql, study, tables
from isotope.runs import batches
from isotope.tabulate import tabulate

_SQL = sql.SQL / "tabulate"
_NO_HITS = pl.DataFrame(schema=dict.fromkeys(("query_id", "doc_id", "system"), pl.String))
_READS = ("texts", "images", "qrels")


def write_mistakes(
    runs: Sequence[Path],
    collected: Mapping[str, Path],
    spec: Mapping[str, Any],
    *,
    given: Path,
    sheet: Path,
) -> None:
    """Draw at most `spec["failures"]` of each system's run, as `study.write_sheet` does.

    `collected` has texts, images (with the column `question`) and qrels; `query` is the question
    with the names of the right entity and of the one found, `truth_url` the picture. `spec` has a
    seed.

    Raises:
        As `runs.batches`.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        tops = Path(folder) / "tops.parquet"
        pl.concat([_NO_HITS, *(_firsts(path) for path in runs)]).write_parquet(tops)
        relations = {"tops": tops, **{name: collected[name] for name in _READS}}
        params = {name: spec[name] for name in ("seed", "failures")}
        found = sql.query(_SQL / "mistakes.sql", relations, params)
    nothing = pl.DataFrame(tables.STUDY.empty_table())
    study.hand_out(nothing if found is None else found, given, sheet)


def _firsts(path: Path) -> pl.DataFrame:
    firsts = [piece.filter(pl.col("rank") == 1) for piece in batches(path)]
    none = _NO_HITS.drop("system")
    whole = pl.concat([none, *(f.select(none.columns) for f in firsts)])
    return whole.with_columns(system=pl.lit(path.stem))


def tabulate_mistakes(
    sheets: Sequence[Path],
    given: Path,
    classes: Sequence[str],
    stem: Path,
    systems: Sequence[str] = (),
) -> None:
    """Write `stem`.{csv,md,tex}: the share of each system's mistakes of each kind, as judged.

    `systems` is their order; others follow by name.

    Raises:
        As `study.read_sheets`.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        studied = Path(folder) / "studied.parquet"
        study.write_study(sheets, given, classes, studied)
        tabulate(_SQL / "study_classes.sql", {"studied": studied}, {"systems": systems}, stem)
