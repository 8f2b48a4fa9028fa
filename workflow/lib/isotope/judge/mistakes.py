"""First answers to pictures with questions, for people to say which are right, and what is wrong.

OVEN's error analysis (Hu et al., ICCV 2023, section 6 and Table 3) takes a random 100 examples of
the human set and sorts what the systems answer: correct; (a) wrong but relevant, of the same
granularity; (b) too generic; (c) a misunderstood query; (d) miscellaneous.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql
from isotope.core.errors import EmptyTable
from isotope.core.grid import Cell
from isotope.core.runs import batches
from isotope.judge import study
from isotope.tabulate.table import rows, tabulate

_SQL = sql.SQL / "tabulate"
_NO_HITS = pl.DataFrame(schema=dict.fromkeys(("query_id", "doc_id", "system"), pl.String))
_READS = ("texts", "images", "qrels")


def write_mistakes(
    runs: Sequence[Path],
    collected: Mapping[str, Path],
    spec: Mapping[str, Any],
    *,
    sample: Path,
    sheet: Path,
) -> None:
    """Draw `spec["examples"]` questions and hand out the first answer of each run to each of them.

    The questions are the same for every system, judged ones of the runs' splits, and of the subset
    `spec["subset"]` where there is that key; fewer if there are fewer. `collected` has texts,
    images (with the column `question`) and qrels. `sample` and `sheet` are as of `study.hand_out`;
    `query` is the question with the names of the right entity and of the one found, or "nothing",
    and `truth_url` the picture. `spec` has a seed.

    Raises:
        EmptyTable: no such question.
        As `runs.batches`.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        top_hits = Path(folder) / "top_hits.parquet"
        pl.concat([_NO_HITS, *(_firsts(path) for path in runs)]).write_parquet(top_hits)
        relations = {"top_hits": top_hits, **{name: collected[name] for name in _READS}}
        splits = sorted({Cell.of(path).split for path in runs})
        params = {
            **{name: spec[name] for name in ("seed", "examples")},
            "subset": spec.get("subset"),
            "splits": splits,
            "named": sorted({path.stem for path in runs}),
        }
        drawn = rows(_SQL / "study/mistakes.sql", relations, params)
    if drawn.is_empty():
        found = f"no judged question{_of_subset(spec)} in {', '.join(splits)}"
        remedy = "mend `tabulate.mistakes.subset` or `search.splits`"
        raise EmptyTable(str(collected["images"]), found, remedy)
    study.hand_out(drawn, sample, sheet)


def _of_subset(spec: Mapping[str, Any]) -> str:
    return f" of the subset {spec['subset']}" if "subset" in spec else ""


def _firsts(path: Path) -> pl.DataFrame:
    firsts = [piece.filter(pl.col("rank") == 1) for piece in batches(path)]
    none = _NO_HITS.drop("system")
    whole = pl.concat([none, *(f.select(none.columns) for f in firsts)])
    return whole.with_columns(system=pl.lit(path.stem))


def tabulate_mistakes(
    sheets: Sequence[Path],
    sample: Path,
    classes: Sequence[str],
    stem: Path,
    systems: Sequence[str] = (),
) -> None:
    """Write `stem`.{csv,md,tex}: the share of each system's answers of each class, as judged.

    `incorrect` are the answers whose judgement does not name the class `correct`.

    `systems` is their order; others follow by name.

    Raises:
        As `study.read_sheets`.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        studied = Path(folder) / "studied.parquet"
        study.write_study(sheets, sample, classes, studied)
        query, order = _SQL / "tables/mistakes_sorted.sql", {"systems": systems}
        tabulate(query, {"studied": studied}, order, stem)
