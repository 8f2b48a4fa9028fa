"""A release is built on request only, and read back it is the same collection."""

import ir_datasets
import polars as pl
import pytest
import yaml

import isotope.irds  # noqa: F401 # pyright: ignore[reportUnusedImport] (registers)
from isotope.core import sql
from isotope.release import irds

pytestmark = pytest.mark.long
OVERLAY = {
    "acquire": {"toy": {"generate": {"pages": 30, "seed": 0, "date": "20230101"}}},
    "crawl": {"toy": {"shards": 1}},
    "models": {"hash": {"kind": "hash", "dim": 16}},
    "systems": {"hash": {"kind": "dense", "model": "hash"}},
    "tabulate": {"system": "random", "diff": []},
    "search": {"systems": ["random", "hash"], "settings": ["small"], "depth": 5},
    # Those of params.yaml, where params/atomic.yaml has what a full-size release needs.
    "shards": {"index": 1, "search": 1, "score": 1},
    "encode": {"shards": 1, "batch": 64, "precision": "float32"},
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
    found = sql.query(sql.SQL / "tabulate/tables/table1.sql", tables, {})
    assert found is not None
    return found


RUNS = [
    f"results/search/{{}}/small/test/{task}/{system}.parquet"
    for system in ("random", "hash")
    for task in ("t2m", "m2t")
]
LEDGER = "results/tables/again/picture_files.md"
PROJECTION = "results/tables/again/projection.md"
REPORT = "results/report/again/index.html"


@pytest.fixture(scope="module")
def of_again(released, shell):
    """Run Snakemake with the release of the small project as a source: `of_again(*words)`."""
    overlay = ["--configfile", "params/atomic.yaml", "small.yaml"]
    root = f"root={released / 'results/release/toy'}"
    line = ["snakemake", "--cores", "2", *overlay, "--config", root, "name=again"]
    return lambda *words: shell(*line, *words, cwd=released)


@pytest.fixture(scope="module")
def again(released, of_again):
    """The release of the small project, built as a collection of its own up to the runs."""
    of_again("--", *(run.format("again") for run in RUNS))
    return released


def test_collect_on_a_release_gives_the_table_1_of_the_collection(again):
    own, read = (table1(again / "data/collect" / name) for name in ("toy", "again"))
    assert own["qrels"].sum() > 0
    assert read.equals(own)
    for table in ("texts", "images", "qrels"):
        one, two = (
            pl.read_parquet(again / f"data/collect/{name}/{table}.parquet")
            for name in ("toy", "again")
        )
        kept = [c for c in one.columns if c not in ("revision_id", "mime_type")]
        assert two.select(kept).equals(one.select(kept)), table


def test_systems_rank_a_release_as_they_rank_the_collection(again):
    for run in RUNS:
        one, two = (pl.read_parquet(again / run.format(c)) for c in ("toy", "again"))
        assert one.height > 0
        assert two.equals(one)


def test_a_release_is_to_have_a_ledger_and_no_projection(of_again):
    told = of_again("-n")
    assert LEDGER in told
    assert PROJECTION not in told
    assert PROJECTION.replace("again", "toy") in of_again("-n", PROJECTION.replace("again", "toy"))
    assert REPORT in told


def test_a_release_has_a_ledger_and_no_projection(again, of_again):
    of_again()
    assert (again / LEDGER).is_file()
    assert not (again / PROJECTION).exists()
    assert (again / REPORT).is_file()


def test_the_small_form_is_one_target_and_reads_back(released, shell, monkeypatch):
    shell("snakemake", "--cores", "2", "lite", "--configfile", "small.yaml", cwd=released)
    monkeypatch.setenv(irds.ROOT_VARIABLE, str(released / "results/release"))
    whole, small = (ir_datasets.load(f"isotope/{name}/test/t2m") for name in ("toy", "toy-lite"))
    assert 0 < small.queries_count() <= whole.queries_count()
    assert {q.doc_id for q in small.qrels_iter()} <= {d.doc_id for d in small.docs_iter()}
    assert small.docs_count() <= whole.docs_count()


def test_the_default_target_releases_nothing(released, shell):
    told = shell("snakemake", "-n", "--forceall", "all", cwd=released)
    assert "tabulate_overview" in told
    assert "release_collection" not in told
