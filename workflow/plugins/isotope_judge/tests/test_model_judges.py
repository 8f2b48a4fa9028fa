"""A model judges beside people: from the params to the report, and what people's tables keep."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from workflow.plugins.isotope_judge.tests.tiny_vlm import save_vlm

from isotope.core.errors import BadParams, MissingFile
from isotope.models.named_sizes import weights_mb
from isotope.params import files

ROOT = Path(__file__).parents[4]
JUDGE: dict[str, Any] = {"depth": 1, "setting": "small", "split": "test", "measures": ["nDCG@10"]}
MODEL = {"kind": "vlm", "precision": "float32", "own": ["hashed"]}
TINY: dict[str, Any] = {
    "acquire": {"toy": {"generate": {"pages": 40}}},
    "crawl": {"toy": {"shards": 1}},
    "models": {"hash": {"kind": "hash", "dim": 16}},
    "systems": {"hashed": {"kind": "dense", "model": "hash"}},
    "search": {"systems": ["random", "hashed"], "settings": ["small"], "splits": ["test"]},
    "score": {"measures": ["MRR@10"]},
    "judge": JUDGE,
    "tabulate": {"system": "hashed", "diff": []},
}
PEOPLES = [
    *(f"results/score/toy/{t}.parquet" for t in ("graded", "scores", "reuse", "tau", "agreement")),
    *(f"results/tables/toy/{t}.csv" for t in ("graded", "reuse", "tau", "agreement")),
    *("results/score/toy/pool.parquet", "results/score/toy/sheet.csv", "results/score/toy.parquet"),
]
PARAMS = "workflow/plugins/isotope_judge/params"
BY_PEOPLE = ["--configfile", f"{PARAMS}/track.yaml", "tiny.yaml"]
OVERLAY = ["--configfile", f"{PARAMS}/judge.yaml", "tiny.yaml"]
SNAKEMAKE = ["snakemake", "--cores", "all"]


def load(tmp_path: Path, judge: Mapping[str, Any]) -> Any:
    overlay = tmp_path / "judge.yaml"
    overlay.write_text(yaml.safe_dump({"judge": {**JUDGE, **judge}}))
    params = files.load([overlay], root=ROOT)
    files.LocalFiles(params, ROOT).demand()
    return params


@pytest.mark.parametrize(
    ("entry", "error", "message"),
    [
        ({"kind": "vlm"}, BadParams, "judge.models.m: no key 'name'"),
        ({"kind": "llm", "name": "a/b"}, BadParams, "judge.models.m.kind"),
        ({"kind": "vlm", "name": "a/b", "promt": "x"}, BadParams, "did you mean 'prompt'"),
        ({"kind": "vlm", "name": "a/b", "prompt": "{query}"}, BadParams, "no {document}"),
        (
            {"kind": "vlm", "name": "a/b", "prompt": "{query} {document} {rank}"},
            BadParams,
            "{rank}, which nothing fills in",
        ),
        ({"kind": "vlm", "name": "a/b", "own": ["bm52"]}, BadParams, "did you mean 'bm25'"),
        ({"kind": "vlm", "name": "./nowhere"}, MissingFile, "judge.models.m.name"),
    ],
)
def test_a_judge_that_can_not_be_is_refused_before_the_first_job(tmp_path, entry, error, message):
    with pytest.raises(error) as refused:
        load(tmp_path, {"models": {"m": entry}})
    assert message in str(refused.value)


def test_a_judge_gets_the_defaults_of_its_kind(tmp_path):
    params = load(tmp_path, {"models": {"m": {"kind": "vlm", "name": "a/b"}}})
    [entry] = params.judge.models.values()
    assert (entry.precision, entry.prompt) == ("bfloat16", None)


def test_the_weights_of_a_folder_are_counted_and_those_of_a_name_read_from_it(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"0" * 3_000_000)
    assert weights_mb(str(tmp_path), "float32") == 3
    assert [weights_mb("a/b-2.5B-chat", p) for p in ("bfloat16", "float32")] == [5_000, 10_000]


def write_params(folder: Path, models: Mapping[str, Any] | None) -> None:
    judge = JUDGE | ({"models": dict(models)} if models else {})
    (folder / "tiny.yaml").write_text(yaml.safe_dump({**TINY, "judge": judge}))


def grade(folder: Path) -> None:
    """Ann grades every pair: what is known to be relevant gets 3, the rest 0."""
    relevant = set(pl.read_parquet(folder / "data/collect/toy/qrels.parquet")["image_id"])
    sheet = pl.read_csv(folder / "results/score/toy/sheet.csv", infer_schema=False)
    items = sheet.select("query_id", "doc_id").rows()
    grades = ["3" if relevant.intersection(pair) else "0" for pair in items]
    filled = sheet.with_columns(grade=pl.Series(grades), assessor=pl.lit("ann"))
    (folder / "judgements/toy").mkdir(parents=True, exist_ok=True)
    filled.write_csv(folder / "judgements/toy/ann.csv")


@pytest.fixture(scope="module")
def judged(project, shell) -> tuple[Path, dict[str, bytes]]:
    """A tiny collection that people, then a model, have judged; and people's files before."""
    folder = project()
    write_params(folder, None)
    shell(*SNAKEMAKE, "score", *BY_PEOPLE, cwd=folder)
    grade(folder)
    shell(*SNAKEMAKE, "all", *BY_PEOPLE, cwd=folder)
    before = {path: (folder / path).read_bytes() for path in PEOPLES}
    save_vlm(folder / "vlm")
    write_params(folder, {"qwen3-vl": {**MODEL, "name": "./vlm"}})
    shell(*SNAKEMAKE, "all", *OVERLAY, cwd=folder)
    return folder, before


@pytest.mark.long
def test_no_number_of_peoples_tables_changes_by_a_models_grades(judged):
    folder, before = judged
    assert {path: (folder / path).read_bytes() for path in PEOPLES} == before


@pytest.mark.long
def test_the_report_shows_people_model_and_both_and_what_the_judge_does_for_its_own(judged):
    folder, _ = judged
    pool = pl.read_parquet(folder / "results/score/toy/pool.parquet")
    grades = pl.read_parquet(folder / "results/score/toy/models/qwen3-vl.parquet")
    assert grades.select("query_id", "doc_id").equals(pool.select("query_id", "doc_id"))
    lines = (folder / "judgements/toy/models/qwen3-vl.jsonl").read_text().splitlines()
    assert 0 < len(lines) <= pool.height
    tables = {
        name: pl.read_csv(folder / f"results/tables/toy/{name}.csv").to_dicts()
        for name in ("judged", "model_agreement", "model_tau", "circularity")
    }
    assert {r["judged_by"] for r in tables["judged"]} == {"people", "model", "corrected"}
    assert {r["system"] for r in tables["circularity"]} == {"hashed"}
    assert all(r["pairs"] for r in tables["model_agreement"])
    assert (folder / "results/figures/toy/judged.svg").stat().st_size
    page = (folder / "results/report/toy/systems.html").read_text()
    for title in ("By people, by a model, and by both", "A judge of its own systems"):
        assert title in page


@pytest.mark.long
def test_a_new_prompt_asks_again_and_leaves_all_else_alone(judged, shell):
    """Runs last: it changes the params."""
    folder, _ = judged
    again = shell(*SNAKEMAKE, "-n", "all", *OVERLAY, cwd=folder)
    assert "Nothing to be done" in again
    write_params(folder, {"qwen3-vl": {**MODEL, "name": "./vlm", "prompt": "{query}{document}?"}})
    plan = shell(*SNAKEMAKE, "-n", "score", *OVERLAY, cwd=folder)
    rules = {*re.findall(r"^(judge_\w+) +\d+$", plan, re.MULTILINE)}
    assert rules == {"judge_model_grades", "judge_by_models"}
    shutil.rmtree(folder / "vlm")
