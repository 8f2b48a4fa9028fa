"""The scores of a collection's runs, a row a query and measure, and the tests between systems."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.core.grid import Cell
from isotope.core.measures import parse_all
from isotope.core.scoring import score_cells
from isotope.core.shards import gather
from isotope.score.significance import significance_table
from isotope.score.tables import SCORES


def score_runs(  # noqa: PLR0913
    *,
    runs: Sequence[Path],
    qrels: Path,
    scores: Path,
    significance: Path,
    collection: str,
    measures: Sequence[str],
) -> None:
    """Write the scores of all runs of a collection, and the tests between all systems.

    Raises:
        As `score_collection` and `significance_table`.
    """
    score_collection(
        runs=runs, qrels=qrels, scores=scores, collection=collection, measures=measures
    )
    significance_table(scores, significance)


def score_collection(
    *, runs: Sequence[Path], qrels: Path, scores: Path, collection: str, measures: Sequence[str]
) -> None:
    """Score runs at `.../<setting>/<split>/<task>/<system>.parquet` into tables.SCORES at `scores`.

    Rows are sorted by setting, split, task, system, measure, query_id. A run is read in pieces, so
    memory follows the number of judged queries and not the length of the runs.

    Raises:
        BadParams: an unknown measure, or a task that is neither t2m nor m2t.
        EmptyTable: a split without judgements.
        As `runs.batches`.
    """
    with store.writer(scores, SCORES) as writer:
        for path, values in score_cells(runs, qrels, parse_all(measures)):
            labels = {"collection": collection, **Cell.of(path).labels(path.stem)}
            labelled = values.with_columns(**{key: pl.lit(label) for key, label in labels.items()})
            rows = labelled.select(SCORES.names).to_arrow().cast(SCORES)
            writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)


def gather_scores(*, pieces: Sequence[Path], scores: Path, significance: Path) -> None:
    """Write the scores of all shards in their order, and the tests between all systems.

    Raises:
        As `significance_table`.
    """
    gather(pieces, scores, SCORES)
    significance_table(scores, significance)
