"""Sheets for people to sort: failures and first answers, drawn at random and handed out.

A sheet of failures has pictures that a system returned instead of the right ones (COLING 2022,
section 4.2).

A sheet of mistakes has first answers to pictures with questions. OVEN's error analysis (Hu et al.,
ICCV 2023, section 6 and Table 3) takes a random 100 examples of the human set and sorts what the
systems answer: correct; (a) wrong but relevant, of the same granularity; (b) too generic; (c) a
misunderstood query; (d) miscellaneous.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.core.grid import RunKey
from isotope.core.progress import log
from isotope.core.runs import batches
from isotope.tabulate.table import rows
from isotope_explain.resources import SQL
from isotope_explain.schemas import STUDY

_SQL = SQL / "study"
# What people see of a row; they fill in the last three.
_SHEET = ["lot", "task", "query", "truth_url", "found_url", "classes", "rating", "assessor"]
_NO_HITS = pl.DataFrame(schema=dict.fromkeys(("query_id", "doc_id", "system"), pl.String))
_READS = ("texts", "images", "qrels")


def write_sheet(  # noqa: PLR0913
    relations: Mapping[str, Path],
    *,
    seed: int,
    failures: int,
    sample: Path,
    sheet: Path,
    common_words: int = 0,
) -> None:
    """Draw at most `failures` of each system and task: `sample` is schemas.STUDY, `sheet` csv.

    A query that shares fewer than `common_words` words with the captions of its right picture is
    left out: its data are wrong. The sheet is for people and does not name the system that failed;
    `sample` has it for each `lot`, the id of a row.
    `relations` are failures (schemas.FAILURES), texts and images.
    """
    params = {"seed": seed, "failures": failures, "common_words": common_words}
    drawn = sql.query(_SQL / "sheet.sql", dict(relations), params)
    hand_out(pl.DataFrame(STUDY.empty_table()) if drawn is None else drawn, sample, sheet)


def write_mistakes(  # noqa: PLR0913
    runs: Sequence[Path],
    collected: Mapping[str, Path],
    *,
    seed: int,
    examples: int,
    sample: Path,
    sheet: Path,
    subset: str | None = None,
    withheld: Sequence[str] = (),
) -> None:
    """Draw `examples` questions and hand out the first answer of each run to each of them.

    The questions are the same for every system, judged ones of the runs' splits, and of the subset
    `subset` where one is named; fewer if there are fewer. `collected` has texts,
    images (with the column `question`) and qrels. `sample` and `sheet` are as of `hand_out`;
    `query` is the question with the names of the right entity and of the one found, or "nothing",
    and `truth_url` the picture. Where the answers of a split are `withheld`, a sheet without such a
    question is empty.

    Raises:
        EmptyTable: no such question, and no split whose answers are withheld.
        As `runs.batches`.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        top_hits = Path(folder) / "top_hits.parquet"
        pl.concat([_NO_HITS, *(_first_hits(path) for path in runs)]).write_parquet(top_hits)
        relations = {"top_hits": top_hits, **{name: collected[name] for name in _READS}}
        splits = sorted({RunKey.from_path(path).split for path in runs})
        params = {
            **{"seed": seed, "examples": examples, "subset": subset},
            "splits": splits,
            "named": sorted({path.stem for path in runs}),
        }
        drawn = rows(_SQL / "mistakes.sql", relations, params)
    if drawn.is_empty():
        of_subset = f" of the subset {subset}" if subset else ""
        problem = f"no judged question{of_subset} in {', '.join(splits)}"
        if {*splits} & {*withheld}:
            log.warning("the sheet is empty: %s, as answers are withheld", problem)
            return hand_out(drawn, sample, sheet)
        remedy = "mend `explain.mistakes.subset` or `search.splits`"
        raise EmptyTable(str(collected["images"]), problem, remedy)
    return hand_out(drawn, sample, sheet)


def _first_hits(path: Path) -> pl.DataFrame:
    columns = _NO_HITS.drop("system")
    tops = (piece.filter(pl.col("rank") == 1) for piece in batches(path))
    joined = pl.concat([columns, *(top.select(columns.columns) for top in tops)])
    return joined.with_columns(system=pl.lit(path.stem))


def hand_out(drawn: pl.DataFrame, sample: Path, sheet: Path) -> None:
    """Write schemas.STUDY to `sample`, and as csv to `sheet` the columns that people may see."""
    store.write(drawn.to_arrow(), sample, STUDY)
    with store.aside(sheet) as part:
        drawn.select(_SHEET).write_csv(part)
