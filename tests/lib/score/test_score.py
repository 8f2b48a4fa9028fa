"""Scoring: what counts, what does not, and collections of runs end to end."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from isotope.core import runs, store
from isotope.core.errors import BadParams, EmptyTable, IntegrityError
from isotope.core.grid import RunKey
from isotope.core.measures import score_run
from isotope.core.runs import ranked, write_run
from isotope.schemas import collect as collect_tables
from isotope.schemas.score import SCORES
from isotope.score.score import gather_scores, score_collection, score_runs

HITS = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2", "q9"],
        "doc_id": ["a", "b", "a", "a"],
        "score": [2.0, 1.0, 1.0, 1.0],
    }
)
QRELS = pl.DataFrame(
    {
        "query_id": ["q1", "q2", "q3", "q4"],
        "doc_id": ["b", "b", "a", "a"],
        "relevance": [1, 1, 1, 0],
    }
)


def test_every_judged_query_has_a_value_and_no_other_query_has_one():
    scores = score_run(ranked(HITS), QRELS, ["MRR@10", "MAP"])
    assert scores.rows() == [
        (query, measure, value)
        for measure in ("MAP", "MRR@10")
        for query, value in (("q1", 0.5), ("q2", 0.0), ("q3", 0.0), ("q4", 0.0))
    ]


def test_a_run_without_hits_scores_zero_everywhere():
    scores = score_run(ranked(HITS.clear()), QRELS, ["nDCG@10", "R@1000"])
    assert scores["value"].to_list() == [0.0] * 8


def test_a_measure_asked_for_twice_is_computed_once():
    assert score_run(ranked(HITS), QRELS, ["MAP", "MAP"]).height == 4


def test_a_pair_judged_twice_is_refused():
    with pytest.raises(IntegrityError, match="'q1' judges document 'b' more than once"):
        score_run(ranked(HITS), pl.concat([QRELS, QRELS.head(1)]), ["MAP"])


@pytest.fixture
def results(tmp_path):
    """Two systems on two splits, both tasks: paths of runs, and the path of the qrels."""
    rows = [("t1", "i1", 1, "test"), ("t1", "i2", 1, "test"), ("t2", "i2", 0, "test")]
    rows += [("t3", "i3", 2, "validation")]
    qrels = tmp_path / "qrels.parquet"
    names = collect_tables.QRELS.names
    store.write_rows(
        [dict(zip(names, row, strict=True)) for row in rows], qrels, collect_tables.QRELS
    )
    hits = {
        "t2m": {"query_id": ["t1", "t3"], "doc_id": ["i2", "i3"], "score": [1.0, 1.0]},
        "m2t": {"query_id": ["i1", "i2"], "doc_id": ["t1", "t2"], "score": [1.0, 1.0]},
    }
    paths = []
    for split in ("validation", "test"):
        for task, columns in hits.items():
            for system in ("bm25-k0.9", "random"):
                path = tmp_path / f"search/toy/small/{split}/{task}/{system}.parquet"
                write_run(pl.DataFrame(columns), path)
                paths.append(path)
    return paths, qrels


def test_a_collection_is_scored_by_split_and_task(results, tmp_path):
    paths, qrels = results
    out = tmp_path / "scores.parquet"
    score_collection(
        runs=paths, qrels=qrels, collection="toy", measures=["R@10", "MAP"], scores=out
    )
    assert pq.read_schema(out).equals(SCORES)
    scores = pl.read_parquet(out)
    assert set(scores["collection"]) == {"toy"}
    assert set(scores["system"]) == {"bm25-k0.9", "random"}
    own = scores.filter(system="random", measure="R@10").select(
        "split", "task", "query_id", "value"
    )
    assert own.rows() == [
        ("test", "m2t", "i1", 1.0),
        ("test", "m2t", "i2", 0.0),
        ("test", "t2m", "t1", 0.5),
        ("test", "t2m", "t2", 0.0),
        ("validation", "m2t", "i3", 0.0),
        ("validation", "t2m", "t3", 1.0),
    ]
    order = ["setting", "split", "task", "system", "measure", "query_id"]
    assert scores.equals(scores.sort(order))


def test_the_same_runs_in_any_order_give_the_same_bytes(results, tmp_path):
    paths, qrels = results
    outs = [tmp_path / name for name in ("one.parquet", "two.parquet")]
    for out in outs:
        score_collection(
            runs=paths, qrels=qrels, collection="toy", measures=["MAP", "nDCG@10"], scores=out
        )
        random.Random(1).shuffle(paths)
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_scores_at_once_and_gathered_from_shards_are_the_same_bytes(results, tmp_path):
    paths, qrels = results
    cells: dict[str, Any] = {"qrels": qrels, "collection": "toy", "measures": ["MAP", "nDCG@10"]}
    once, gathered = (
        {name: tmp_path / f"{place}/{name}.parquet" for name in ("scores", "significance")}
        for place in ("once", "gathered")
    )
    score_runs(runs=paths, **cells, **once)
    pieces = [tmp_path / f"pieces/{n}.parquet" for n in range(3)]
    ordered = sorted(paths)
    for piece, runs_of in zip(pieces, (ordered[:3], ordered[3:4], ordered[4:]), strict=True):
        score_collection(runs=runs_of, scores=piece, **cells)
    gather_scores(pieces=pieces, **gathered)
    for name, path in once.items():
        assert path.read_bytes() == gathered[name].read_bytes(), name
    assert pq.ParquetFile(once["scores"]).num_row_groups == 1


def test_a_run_that_fails_leaves_the_old_scores_in_place(results, tmp_path):
    paths, qrels = results
    out = tmp_path / "scores.parquet"
    score_collection(runs=paths, qrels=qrels, collection="toy", measures=["MAP"], scores=out)
    before = out.read_bytes()
    pl.read_parquet(paths[-1]).with_columns(rank=pl.lit(5, pl.Int32)).write_parquet(paths[-1])
    with pytest.raises(IntegrityError, match="does not follow"):
        score_collection(runs=paths, qrels=qrels, collection="toy", measures=["MAP"], scores=out)
    assert out.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_a_split_without_judgements_is_refused(results, tmp_path):
    paths, qrels = results
    stray = tmp_path / "search/toy/small/train/t2m/random.parquet"
    write_run(pl.read_parquet(paths[0]), stray)
    with pytest.raises(EmptyTable, match="'train'"):
        score_collection(
            runs=[stray],
            qrels=qrels,
            scores=tmp_path / "scores.parquet",
            collection="toy",
            measures=["MAP"],
        )


@pytest.mark.parametrize("path", ["small/test/t2t/x.parquet", "test/t2m/x.parquet", "x.parquet"])
def test_a_path_that_names_no_run_is_refused(path):
    with pytest.raises(BadParams, match="not the path of a run"):
        RunKey.from_path(Path(path))


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_a_run_made_of_the_published_qrels_is_perfect(shared, direction):
    """AToMiC, Table 1, validation: 17,173 texts, 16,131 images, 17,801 qrels."""
    qrels = runs.read_trec_qrels(
        shared / f"collections/atomic/qrels.atomic.validation.{direction}.trec.gz"
    )
    assert qrels.height == 17_801
    run = ranked(qrels.with_columns(score=pl.col("relevance").cast(pl.Float64)))
    scores = score_run(run, qrels, ["MAP", "nDCG@10", "MRR@10", "R@1000"])
    queries = {"t2i": 17_173, "i2t": 16_131}[direction]
    assert scores.height == 4 * queries
    assert scores["value"].is_between(1 - 1e-12, 1 + 1e-12).all()


def test_the_published_qrels_scored_backwards_give_the_rank_of_the_only_match(shared):
    """Put three wrong images before the right ones: MRR@10 is 1/4 for every query."""
    qrels = runs.read_trec_qrels(shared / "collections/atomic/qrels.atomic.validation.t2i.trec.gz")
    wrong = qrels.select(pl.col("query_id").unique()).join(
        pl.DataFrame({"doc_id": ["x", "y", "z"], "score": [3.0, 3.0, 3.0]}), how="cross"
    )
    right = qrels.select("query_id", "doc_id", score=pl.lit(1.0))
    scores = score_run(ranked(pl.concat([wrong, right])), qrels, ["MRR@10", "Success@3"])
    assert set(scores.filter(measure="MRR@10")["value"]) == {0.25}
    assert set(scores.filter(measure="Success@3")["value"]) == {0.0}


def test_a_split_whose_answers_are_withheld_is_left_out_and_scored_once_it_has_some(
    results, tmp_path
):
    paths, qrels = results
    stray = tmp_path / "search/toy/small/train/t2m/random.parquet"
    write_run(pl.read_parquet(paths[0]), stray)
    given: dict[str, Any] = {"collection": "toy", "measures": ["MAP"], "withheld": ["train"]}
    out = [tmp_path / f"{n}.parquet" for n in ("judged", "both")]
    score_collection(runs=paths, qrels=qrels, scores=out[0], collection="toy", measures=["MAP"])
    score_collection(runs=[*paths, stray], qrels=qrels, scores=out[1], **given)
    assert out[0].read_bytes() == out[1].read_bytes()
    known = pl.read_parquet(qrels)
    pl.concat([known, known.head(1).with_columns(split=pl.lit("train"))]).write_parquet(qrels)
    score_collection(runs=[*paths, stray], qrels=qrels, scores=out[1], **given)
    assert set(pl.read_parquet(out[1])["split"]) == {"test", "validation", "train"}
