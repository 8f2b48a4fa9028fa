"""The scores of a collection's runs, a row a query and measure, and the tests between systems.

The tests are paired, two-sided t-tests between all systems of a cell, Bonferroni-corrected.
"""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from isotope.core import store
from isotope.core.errors import IntegrityError
from isotope.core.grid import RunKey
from isotope.core.measures import parse_all, score_cells
from isotope.core.progress import Progress, log
from isotope.core.store import gather
from isotope.schemas.score import SCORES, SIGNIFICANCE

_RUNS = ["collection", "setting", "split", "task"]
_CELL = [*_RUNS, "measure"]
_LEAST_PAIRS = 2


def score_runs(  # noqa: PLR0913
    *,
    runs: Sequence[Path],
    qrels: Path,
    scores: Path,
    significance: Path,
    collection: str,
    measures: Sequence[str],
    withheld: Sequence[str] = (),
) -> None:
    """Write the scores of all runs of a collection, and the tests between all systems.

    Raises:
        As `score_collection` and `significance_table`.
    """
    score_collection(
        runs=runs,
        qrels=qrels,
        scores=scores,
        collection=collection,
        measures=measures,
        withheld=withheld,
    )
    significance_table(scores, significance)


def score_collection(  # noqa: PLR0913
    *,
    runs: Sequence[Path],
    qrels: Path,
    scores: Path,
    collection: str,
    measures: Sequence[str],
    withheld: Sequence[str] = (),
) -> None:
    """Score runs at `.../<setting>/<split>/<task>/<system>.parquet`: schemas.SCORES at `scores`.

    Rows are sorted by setting, split, task, system, measure, query_id. A run is read in pieces, so
    memory follows the number of judged queries and not the length of the runs. Of the splits
    `withheld`, whose answers may not be published, one without any judgement is not scored.

    Raises:
        BadParams: an unknown measure, or a task that is neither t2m nor m2t.
        EmptyTable: another split without judgements.
        As `runs.batches`.
    """
    judged = {*pl.scan_parquet(qrels, glob=False).select("split").unique().collect()["split"]}
    unknown = sorted({*withheld} - judged)
    for split in unknown:
        log.info("split %s has no answers: it is searched, and not scored", split)
    runs = [path for path in runs if RunKey.from_path(path).split not in unknown]
    # In row groups that do not depend on the number of runs, like tables gathered from shards.
    with store.grouped(scores, SCORES) as table:
        for path, values in score_cells(runs, qrels, parse_all(measures)):
            labels = {"collection": collection, **RunKey.from_path(path).labels(path.stem)}
            labelled = values.with_columns(**{key: pl.lit(label) for key, label in labels.items()})
            table.add(labelled.select(SCORES.names).to_arrow().cast(SCORES))


def gather_scores(*, pieces: Sequence[Path], scores: Path, significance: Path) -> None:
    """Write the scores of all shards in their order, and the tests between all systems.

    Raises:
        As `significance_table`.
    """
    gather(pieces, scores, SCORES)
    significance_table(scores, significance)


def significance_table(scores: Path, out: Path) -> None:
    """Compare the systems in a file of scores and write schemas.SIGNIFICANCE, sorted, to `out`.

    One (setting, split, task) is in memory at a time.

    Raises:
        As `compare`.
    """
    lazy = pl.scan_parquet(scores, glob=False)
    cells = lazy.select(_RUNS).unique().sort(_RUNS).collect()
    progress = Progress("cells", total=cells.height)
    with store.writer(out, SIGNIFICANCE) as writer:
        for cell in cells.iter_rows(named=True):
            scores_of_cell = lazy.filter(
                pl.col(key) == value for key, value in cell.items()
            ).collect()
            writer.write_table(compare(scores_of_cell).to_arrow().cast(SIGNIFICANCE))
            progress.add()
    progress.finish()


def compare(scores: pl.DataFrame) -> pl.DataFrame:
    """Test every system against every other within one cell of scores (schemas.SCORES).

    One row per ordered pair, so each comparison appears in both directions (schemas.SIGNIFICANCE).
    `difference` is mean(system) - mean(other); `t` and `p` are those of scipy.stats.ttest_rel.
    `p_bonferroni` is min(1, p x m) for m = s(s-1)/2 unordered pairs among the s systems of a cell
    (collection, setting, split, task, measure). Without variance, equal systems have t = 0, p = 1,
    and a constant difference t = ±inf, p = 0; a single query shows nothing: t is null, p = 1.

    Raises:
        IntegrityError: a query that some system of the cell lacks, or has twice.
    """
    cells = scores.sort("system", "query_id").partition_by(_CELL, as_dict=True)
    parts = [_compare_cell(cell).with_columns(_label(key)) for key, cell in sorted(cells.items())]
    return pl.concat([_empty(), *(table.select(SIGNIFICANCE.names) for table in parts)])


def paired_t(differences: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return t and two-sided p of each row of `differences` (comparisons x queries).

    Those of scipy.stats; it leaves rows without variance undefined, which are as in `compare`.
    """
    mean = differences.mean(axis=1)
    if differences.shape[1] < _LEAST_PAIRS:
        return np.full_like(mean, np.nan), np.ones_like(mean)
    t = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    p = np.where(mean == 0, 1.0, 0.0)
    varied = differences.var(axis=1) > 0
    if varied.any():
        with warnings.catch_warnings():
            # Of differences that are nearly constant.
            warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
            t[varied], p[varied] = ttest_1samp(differences[varied], 0.0, axis=1)
    return t, p


def _compare_cell(cell: pl.DataFrame) -> pl.DataFrame:
    wide = cell.pivot("system", index="query_id", values="value", aggregate_function="first")
    systems = wide.columns[1:]
    if cell.height != wide.height * len(systems):
        where = " ".join(name for name in cell.select(_CELL).row(0) if name)
        problem = "systems that were not scored on the same queries, each once"
        raise IntegrityError(where, problem, "score all systems of a cell on the same qrels")
    values = np.ascontiguousarray(wide.select(systems).to_numpy().T)
    return pl.concat([_empty().drop(_CELL), *_comparisons(systems, values)])


def _comparisons(systems: list[str], values: NDArray[np.float64]) -> Iterator[pl.DataFrame]:
    pairs = len(systems) * (len(systems) - 1) // 2
    for i, system in enumerate(systems):
        rivals = [j for j in range(len(systems)) if j != i]
        differences = values[i] - values[rivals]
        t, p = paired_t(differences)
        yield pl.DataFrame(
            {
                "system": [system] * len(rivals),
                "other": [systems[j] for j in rivals],
                "difference": differences.mean(axis=1),
                "t": pl.Series(t).fill_nan(None),
                "p": p,
                "p_bonferroni": np.minimum(1.0, p * pairs),
            }
        )


def _empty() -> pl.DataFrame:
    return pl.DataFrame(SIGNIFICANCE.empty_table())


def _label(key: tuple[object, ...]) -> list[pl.Expr]:
    return [pl.lit(value).alias(name) for name, value in zip(_CELL, key, strict=True)]
