"""A release is built on request only, and read back it is the same collection."""

import polars as pl
import pytest
import yaml

from isotope import sql

OVERLAY = {
    "acquire": {"toy": {"generate": {"pages": 30, "seed": 0, "date": "20230101"}}},
    "crawl": {"toy": {"shards": 1}},
    "tabulate": {"system": "random"},
    "search": {"systems": ["random"], "settings": ["small"], "depth": 5},
}


@pytest.fixture(scope="module")
def released(project, shell):
    """A small project after `snakemake release`."""
    place = project()
    (place / "small.yaml").write_text(yaml.safe_dump(OVERLAY))
    run = ["snakemake", "--cores", "2", "release", "--configfile", "small.yaml"]
    shell(*run, cwd=place)
    return place


def table1(folder) -> pl.DataFrame:
    tables = {t: folder / f"{t}.parquet" for t in ("texts", "images", "qrels")}
    found = sql.query(sql.SQL / "tabulate/table1.sql", tables, {})
    assert found is not None
    return found


def test_collect_on_a_release_gives_the_table_1_of_the_collection(released, shell):
    root = f"root={released / 'results/release/toy'}"
    overlay = ["--configfile", "params/atomic.yaml", "--config", root, "name=again"]
    shell("snakemake", "--cores", "1", "collect", *overlay, cwd=released)
    own, again = (table1(released / "data/collect" / name) for name in ("toy", "again"))
    assert own["qrels"].sum() > 0
    assert again.equals(own)
    for table in ("texts", "qrels"):
        one, two = (
            pl.read_parquet(released / f"data/collect/{name}/{table}.parquet")
            for name in ("toy", "again")
        )
        kept = [c for c in one.columns if c != "revision_id"]
        assert two.select(kept).equals(one.select(kept)), table


def test_the_default_target_releases_nothing(released, shell):
    told = shell("snakemake", "-n", "--forceall", "all", cwd=released)
    assert "tabulate_catalog" in told
    assert "release_collection" not in told
