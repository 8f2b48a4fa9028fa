"""An external run and people's grades go the whole way from files to tables."""

import csv
import gzip
from pathlib import Path

import polars as pl
import pytest
import yaml

TINY = {
    "acquire": {"toy": {"generate": {"pages": 40}}},
    "crawl": {"toy": {"shards": 1}},
    "models": {"hash": {"kind": "hash", "dim": 16}},
    "systems": {"hashed": {"kind": "dense", "model": "hash"}},
    "search": {"systems": ["random", "hashed"], "settings": ["small", "large"], "splits": ["test"]},
    "score": {"measures": ["MRR@10"]},
    "judge": {"depth": 3, "setting": "small", "split": "test", "measures": ["MAP", "bpref"]},
    "tabulate": {"system": "hashed", "diff": []},
}
TABLES = ["graded", "reuse", "tau", "agreement"]
PLACE = "toy/small/test/t2m"
SNAKEMAKE = ["snakemake", "--cores", "all"]
OVERLAY = ["--configfile", "tiny.yaml"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def track(project, shell) -> Path:
    """A tiny collection with two systems of ours, and a copy of one by somebody else."""
    place = project()
    (place / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    shell(*SNAKEMAKE, "score", *OVERLAY, cwd=place)
    shell("isotope", "trec", "toy", "out", cwd=place)
    with gzip.open(place / f"out/runs/{PLACE}/random.trec.gz", "rt") as file:
        lines = file.read()
    (place / "runs" / PLACE).mkdir(parents=True)
    (place / f"runs/{PLACE}/theirs.trec").write_text(lines)
    shell(*SNAKEMAKE, "all", *OVERLAY, cwd=place)
    return place


def grade(place: Path, assessor: str, every: int) -> None:
    """Judge one row in so many: what is known to be relevant gets 2, the rest 0."""
    known = set(pl.read_parquet(place / "data/collect/toy/qrels.parquet")["image_id"])
    sheet = pl.read_csv(place / "results/score/toy/sheet.csv", infer_schema=False)
    grades = [
        ("2" if row["doc_id"] in known else "0") if i % every == 0 else None
        for i, row in enumerate(sheet.iter_rows(named=True))
    ]
    filled = sheet.with_columns(grade=pl.Series(grades), assessor=pl.lit(assessor))
    (place / "judgements/toy").mkdir(parents=True, exist_ok=True)
    filled.write_csv(place / f"judgements/toy/{assessor}.csv")


def test_an_external_run_is_scored_in_the_cell_that_it_has(track):
    means = (
        pl.read_parquet(track / "results/score/toy.parquet")
        .filter(setting="small")
        .group_by("task", "system")
        .agg(pl.col("value").mean())
    )
    found = {(task, system): value for task, system, value in means.iter_rows()}
    assert found["t2m", "theirs"] == found["t2m", "random"]
    assert set(found) - {("t2m", "theirs")} == {
        (task, system) for task in ("t2m", "m2t") for system in ("random", "hashed")
    }


def test_an_external_run_in_one_cell_is_in_the_tables_of_that_cell_alone(track):
    table3 = pl.read_csv(track / "results/tables/toy/table3.csv")
    theirs = table3.filter(system="theirs")
    assert theirs["setting"].to_list() == ["small"]
    assert theirs["m2t MRR@10"].to_list() == [None]
    assert "theirs" in (track / "results/report/toy/systems.html").read_text()
    assert set(pl.read_parquet(track / "results/tables/toy/tops.parquet")["system"]) == {
        "random",
        "hashed",
    }


def test_the_external_system_is_pooled(track):
    pool = pl.read_parquet(track / "results/score/toy/pool.parquet")
    assert set(pool.filter(task="t2m")["systems"].explode()) == {"random", "hashed", "theirs"}


def test_grades_come_back_as_tables(track, shell):
    grade(track, "ann", 1)
    grade(track, "bob", 2)
    shell(*SNAKEMAKE, "results/tables/toy/graded.csv", "score", *OVERLAY, cwd=track)
    for name in TABLES:
        with (track / f"results/tables/toy/{name}.csv").open(newline="") as file:
            assert list(csv.DictReader(file)), name
    agreed = pl.read_csv(track / "results/tables/toy/agreement.csv")
    assert agreed.select("assessor", "other", "same_share").rows() == [("ann", "bob", 1.0)]
    graded = pl.read_csv(track / "results/tables/toy/graded.csv")
    assert set(graded["system"]) == {"random", "hashed", "theirs"}


def test_a_bad_line_stops_the_workflow_before_a_table_changes(track, shell):
    """Runs last: it spoils the external run."""
    before = (track / "results/score/toy.parquet").read_bytes()
    path = track / f"runs/{PLACE}/theirs.trec"
    path.write_text(path.read_text() + "nobody Q0 nothing 1 1.0 random\n")
    told = shell(*SNAKEMAKE, "score", *OVERLAY, cwd=track, check=False)
    assert f"CorruptFile: runs/{PLACE}/theirs.trec:" in told
    assert (track / "results/score/toy.parquet").read_bytes() == before
