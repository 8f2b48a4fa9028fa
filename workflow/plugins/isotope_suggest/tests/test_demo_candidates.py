"""The demo's candidates are what its systems found, and some of them are right."""

from pathlib import Path

import polars as pl
import pytest

RUNS = Path("results/search/toy/large")
SYSTEMS = {"bm25": "bm25", "dense": "tiny-clip"}


@pytest.mark.parametrize("source", SYSTEMS)
@pytest.mark.parametrize("split", ["validation", "test"])
def test_candidates_are_the_best_hits_of_the_systems(embedded, source, split):
    run = pl.read_parquet(embedded / RUNS / split / "t2m" / f"{SYSTEMS[source]}.parquet")
    rows = pl.read_parquet(embedded / "results/suggest/toy/candidates.parquet")
    joined = rows.drop_nulls(source).join(run, left_on="text_id", right_on="query_id", how="semi")
    depth = joined[f"{source}_rank"].max()
    hits = run.filter(pl.col("rank") <= depth)
    assert hits["query_id"].n_unique() > 50
    assert (
        joined.sort("text_id", f"{source}_rank")
        .select("text_id", "image_id", f"{source}_rank", source)
        .rows()
        == hits.with_columns(pl.col("score").cast(pl.Float32)).rows()
    )


def test_every_source_names_right_pictures_that_were_hidden_or_were_added_later(embedded):
    rows = pl.read_parquet(embedded / "results/suggest/toy/candidates.parquet")
    qrels = pl.read_parquet(embedded / "data/collect/toy/qrels.parquet")
    judged = rows.join(qrels, on=["text_id", "image_id"], how="semi")
    hidden = qrels.filter(pl.col("split").is_in(["validation", "test"])).height
    assert 0.9 * hidden < judged.height <= hidden, "no source finds what no word and no pixel tells"
    for source in ("bm25", "dense", "alignment"):
        assert judged[source].drop_nulls().len() > 20
    # Nobody links to what is hidden; editors add what linked pages show.
    shown, later = (
        pl.read_parquet(embedded / f"data/parse/{edition}/pictures.parquet").select(
            "text_id", "file"
        )
        for edition in ("toy", "toy-later")
    )
    pictures = pl.read_parquet(embedded / "results/suggest/toy/pictures.parquet")
    added = later.join(shown, on=["text_id", "file"], how="anti").join(pictures, on="file")
    right = rows.join(added, on=["text_id", "image_id"], how="semi")
    assert right["links"].drop_nulls().len() > 10
