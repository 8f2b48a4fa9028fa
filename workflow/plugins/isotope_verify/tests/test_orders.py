"""The order of a run is that of trec_eval 10; where trec_eval 9 differs, it is counted."""

import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from isotope.core.grid import RunKey
from isotope.core.runs import ranked
from isotope_verify import measures
from isotope_verify.measures import check_measures, placed

# It has no wheel for ARM.
pytrec_eval = pytest.importorskip("pytrec_eval")

NAMES = ["MAP", "MRR", "nDCG@10"]


def run_of(scores: dict[str, float], query: str = "q1") -> pl.DataFrame:
    columns = {"query_id": [query] * len(scores), "doc_id": [*scores]}
    return ranked(pl.DataFrame({**columns, "score": [*scores.values()]}))


# Two scores that are one in single precision: the documents stand the other way round there.
CLOSE = {"a": 0.99999999, "b": 0.999999985}


def test_scores_that_are_one_in_single_precision_stand_otherwise_there():
    run = run_of(CLOSE)
    assert run["doc_id"].to_list() == ["a", "b"]
    single = placed(run.rename({"query_id": "query"}), pl.Float32)
    assert single.select("doc_id", "place").rows() == [("b", 1), ("a", 2)]
    judge = pytrec_eval.RelevanceEvaluator({"q1": {"a": 1}}, {"recip_rank"})
    assert judge.evaluate({"q1": CLOSE})["q1"]["recip_rank"] == 0.5


@pytest.mark.parametrize("seed", range(20))
def test_single_precision_orders_as_pytrec_eval_does(seed):
    """Each document alone is judged: its reciprocal rank tells its place."""
    draw = np.random.default_rng(seed)
    scores = {f"d{n}": 1 + float(draw.integers(0, 4)) * 4e-8 for n in range(8)}
    single = placed(run_of(scores).rename({"query_id": "query"}), pl.Float32)
    for document, rank in single.select("doc_id", "place").iter_rows():
        judge = pytrec_eval.RelevanceEvaluator({"q1": {document: 1}}, {"recip_rank"})
        assert judge.evaluate({"q1": scores})["q1"]["recip_rank"] == pytest.approx(1 / rank)


def checks(monkeypatch: pytest.MonkeyPatch, folder: Path, run: pl.DataFrame) -> Any:
    """The checks of one run, that of the order last, without ranx, which compiles for long."""
    monkeypatch.setattr(measures, "TOOLS", {"trec_eval": measures.TOOLS["trec_eval"]})
    queries = run["query_id"].unique().sort().to_list()
    qrels = pl.DataFrame(
        {"query_id": queries, "doc_id": ["a"] * len(queries), "relevance": [1] * len(queries)}
    )
    rows = [
        {"setting": "small", "split": "test", "task": "t2m", "system": "mine", "query_id": q}
        | {"measure": name, "value": 1.0}
        for q in queries
        for name in NAMES
    ]
    pl.DataFrame(rows).write_parquet(folder / "scores.parquet")
    subject = SimpleNamespace(
        scores=folder / "scores.parquet",
        folder=folder,
        runs=lambda: {(RunKey("small", "test", "t2m"), "mine"): folder / "run"},
        qrels=lambda _: qrels,
        hits=lambda _: run,
    )
    sample = SimpleNamespace(choose=lambda ids, _: ids.unique())
    return check_measures(subject, sample)  # pyright: ignore


def test_verify_counts_queries_that_single_precision_orders_otherwise(tmp_path, monkeypatch):
    run = pl.concat([run_of(CLOSE), run_of({"a": 2.0, "b": 1.0}, "q2")])
    *_, ranks, check = checks(monkeypatch, tmp_path, run)
    assert (check.name, check.different) == ("orders", 0)
    assert (check.compared, check.total) == (len(NAMES), 2 * len(NAMES))
    [(reason, lost)] = check.skipped.items()
    assert "single precision" in reason
    assert lost == len(NAMES)
    assert (ranks.compared, ranks.different) == (4, 0)


def test_verify_finds_ranks_that_are_not_those_of_the_scores(tmp_path, monkeypatch):
    run = run_of({"a": 2.0, "b": 1.0})
    swapped = run.with_columns(score=pl.Series([1.0, 2.0]))
    *_, ranks, check = checks(monkeypatch, tmp_path, swapped)
    assert check.different == len(NAMES)
    assert [(d.cell, d.published, d.recomputed) for d in ranks.differences] == [
        ("small test t2m mine q1 b", "2", "1"),
        ("small test t2m mine q1 a", "1", "2"),
    ]


def test_where_trec_eval_is_not_installed_what_it_would_compare_is_counted(tmp_path, monkeypatch):
    def version(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(measures, "version", version)
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    done = checks(monkeypatch, tmp_path, run_of({"a": 2.0, "b": 1.0}))
    left = [check for check in done if check.name in ("measures", "orders")]
    assert len(left) == 2
    for check in left:
        assert (check.compared, check.total) == (0, len(NAMES))
        assert check.skipped == {"pytrec-eval-terrier is not installed": len(NAMES)}
