"""Nested subsets: what is said to be exact is what a search of the subset alone gives."""

import numpy as np
import polars as pl
import pytest

from isotope.core import sql, store
from isotope.core.errors import BadParams
from isotope.core.measures import score_run
from isotope.core.runs import ranked, write_run
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.tabulate import runs

SQL = sql.SQL / "tabulate"
DOCUMENTS, QUERIES = 120, 12
SIZES = [30, 60, 90]
MEASURES = ["MRR@10", "R@10", "MAP"]


@pytest.fixture
def collected(tmp_path):
    texts = [{"text_id": f"t{n:03}", "split": "test"} for n in range(QUERIES)]
    images = [
        {"image_id": f"i{n:03}", "split": "test" if n < 20 else "other"} for n in range(DOCUMENTS)
    ]
    qrels = [
        {"text_id": f"t{n:03}", "image_id": f"i{m:03}", "relevance": 1, "split": "test"}
        for n in range(QUERIES)
        for m in (n, n + 3)
    ]
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    store.write_rows(qrels, tmp_path / "qrels.parquet", QRELS)
    return {n: tmp_path / f"{n}.parquet" for n in ("texts", "images", "qrels")}


@pytest.fixture
def hits():
    """What a dense system scores: every query against every document."""
    scores = np.random.default_rng(0).normal(size=(QUERIES, DOCUMENTS))
    return pl.DataFrame(
        [(f"t{q:03}", f"i{d:03}", scores[q, d]) for q in range(QUERIES) for d in range(DOCUMENTS)],
        schema=["query_id", "doc_id", "score"],
        orient="row",
    )


def table(hits, collected, tmp_path, depth):
    path = tmp_path / f"large/test/t2m/dense-{depth}.parquet"
    write_run(ranked(hits, depth).select("query_id", "doc_id", "score"), path)
    out = tmp_path / "subsets.parquet"
    runs.subsets_table([path], collected, runs.Subsets(SIZES, MEASURES, depth), out)
    return pl.read_parquet(out)


def places(collected, tmp_path):
    pool = ["train", "validation", "test", "other"]
    given = {"split": "test", "pool": pool, "positives": False}
    out = tmp_path / "places.parquet"
    sql.query(SQL / "subsets/places.sql", collected, given, out=out)
    return pl.read_parquet(out).filter(pl.col("task") == "t2m")


def searched_alone(hits, collected, tmp_path, size):
    kept = places(collected, tmp_path).filter(pl.col("place") <= size)["doc_id"].implode()
    qrels = pl.read_parquet(collected["qrels"]).select(
        query_id="text_id", doc_id="image_id", relevance="relevance"
    )
    values = score_run(ranked(hits.filter(pl.col("doc_id").is_in(kept))), qrels, MEASURES)
    return dict(values.group_by("measure").agg(pl.col("value").mean()).iter_rows())


@pytest.mark.parametrize("size", [*SIZES, DOCUMENTS])
def test_a_full_run_gives_what_a_search_of_the_subset_gives(hits, collected, tmp_path, size):
    found = table(hits, collected, tmp_path, DOCUMENTS).filter(pl.col("documents") == size)
    assert found["exact"].to_list() == [1.0] * 3
    alone = searched_alone(hits, collected, tmp_path, size)
    assert dict(found.select("measure", "value").iter_rows()) == pytest.approx(alone)


def test_a_cut_run_is_exact_where_it_says_so_and_never_too_good(hits, collected, tmp_path):
    found = table(hits, collected, tmp_path, 40)
    told = 0
    for size in (*SIZES, DOCUMENTS):
        alone = searched_alone(hits, collected, tmp_path, size)
        for row in found.filter(pl.col("documents") == size).iter_rows(named=True):
            if row["exact"] == 1:
                told += 1
                assert row["value"] == pytest.approx(alone[row["measure"]])
            assert row["value"] <= alone[row["measure"]] + 1e-12
    assert 0 < told < found.height
    assert not (found.filter(pl.col("measure") == "MAP")["exact"] == 1).any()


def test_a_query_that_matched_nothing_is_certain(hits, collected, tmp_path):
    found = table(hits.filter(pl.col("query_id") != "t000"), collected, tmp_path, DOCUMENTS)
    assert found["queries"].unique().to_list() == [QUERIES]
    assert found["exact"].unique().to_list() == [1.0]


def test_judged_documents_come_first_and_a_smaller_subset_lies_within_a_larger(collected, tmp_path):
    order = places(collected, tmp_path)
    assert order["place"].to_list() == list(range(1, DOCUMENTS + 1))
    assert order["judged"].to_list() == [True] * 15 + [False] * (DOCUMENTS - 15)
    assert order["doc_id"][15:].to_list() != sorted(order["doc_id"][15:])


def test_of_oven_only_negatives_are_sampled_and_the_smallest_pool_has_none(
    hits, collected, tmp_path
):
    """Fig. 5, section 6: "sub-sampling the negative candidates", "only the positive entities"."""
    qrels = pl.read_parquet(collected["qrels"])
    trained = qrels.head(4).with_columns(
        image_id=pl.Series([f"i{n:03}" for n in range(50, 54)]), split=pl.lit("train")
    )
    pl.concat([qrels, trained]).write_parquet(collected["qrels"])
    path = tmp_path / "large/test/t2m/dense.parquet"
    write_run(hits, path)
    asked = runs.Subsets([16, 50], ["MAP"], DOCUMENTS, positives=True)
    runs.subsets_table([path], collected, asked, tmp_path / "s.parquet")
    found = pl.read_parquet(tmp_path / "s.parquet")
    assert found["documents"].to_list() == [15 + 4, 50, DOCUMENTS]
    positives = [f"i{n:03}" for n in (*range(15), *range(50, 54))]
    alone = ranked(hits.filter(pl.col("doc_id").is_in(positives)))
    judged = qrels.select(query_id="text_id", doc_id="image_id", relevance="relevance")
    assert found["value"][0] == pytest.approx(score_run(alone, judged, ["MAP"])["value"].mean())


@pytest.mark.parametrize(("size", "share"), [(20_000, 0.28), (200_000, 0.965), (1_000_000, 1)])
def test_a_depth_of_100_keeps_the_first_hit_in_the_share_of_pools_that_chance_gives(
    tmp_path, size, share
):
    """OVEN, Fig. 5: of 100 hits in six million a pool keeps one with 1 - (1 - n/N)^100.

    Here six million are 6,000, and what is asked for is not among the first hits.
    """
    pool, depth, asked = 6_000, 100, 400
    assert 1 - (1 - size / 6_063_945) ** depth == pytest.approx(share, abs=0.005)
    rng = np.random.default_rng(1)
    images = [f"i{n:05}" for n in range(pool)]
    texts = [f"t{n:04}" for n in range(asked)]
    judged = {"text_id": texts, "image_id": [images[0]] * asked, "relevance": 1, "split": "test"}
    given = {n: tmp_path / f"{n}.parquet" for n in ("texts", "images", "qrels")}
    pl.DataFrame({"text_id": texts, "split": "test"}).write_parquet(given["texts"])
    pl.DataFrame({"image_id": images, "split": "test"}).write_parquet(given["images"])
    pl.DataFrame(judged).write_parquet(given["qrels"])
    drawn = [images[n] for _ in texts for n in 1 + rng.choice(pool - 1, depth, replace=False)]
    hits = {"query_id": np.repeat(texts, depth), "doc_id": drawn}
    path = tmp_path / "large/test/t2m/dense.parquet"
    write_run(pl.DataFrame(hits | {"score": [*range(depth, 0, -1)] * asked}), path)
    sizes = runs.Subsets([round(size * pool / 6_063_945)], ["Success@1"], depth, positives=True)
    runs.subsets_table([path], given, sizes, tmp_path / "s.parquet")
    found = dict(pl.read_parquet(tmp_path / "s.parquet").select("documents", "exact").iter_rows())
    assert found[sizes.sizes[0]] == pytest.approx(share, abs=0.05)
    assert found[pool] == 1


def test_sizes_that_cannot_be_are_left_out(hits, collected, tmp_path):
    path = tmp_path / "large/test/t2m/dense.parquet"
    write_run(hits, path)
    asked = runs.Subsets([5, 50, 500], ["MAP"], 1000)
    runs.subsets_table([path], collected, asked, tmp_path / "s.parquet")
    assert pl.read_parquet(tmp_path / "s.parquet")["documents"].to_list() == [50, DOCUMENTS]


def test_runs_of_two_pools_are_refused(hits, collected, tmp_path):
    paths = [tmp_path / f"{s}/test/t2m/dense.parquet" for s in ("large", "base")]
    with pytest.raises(BadParams, match="several pools"):
        runs.subsets_table(paths, collected, runs.Subsets([], ["MAP"], 9), tmp_path / "s")
