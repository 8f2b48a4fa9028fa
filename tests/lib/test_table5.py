"""Table 5 tells zero-shot, trained, fine-tuned and fused systems apart, with what was chosen."""

import polars as pl
import pytest
import yaml

from isotope import params_files, store, tables
from isotope.table5 import described, table5

SYSTEMS = {
    "bm25": {"kind": "bm25"},
    "tuned": {"kind": "wsum", "of": ["bm25", "text"], "tune": {"grid": {"step": 0.5}}},
    "text": {"kind": "dense", "model": "text"},
    "zero": {"kind": "dense", "model": "zero"},
    "rrf": {"kind": "rrf", "of": ["bm25", "zero"], "k": 60},
}
MODELS = {
    "zero": {"kind": "open_clip", "name": "ViT-B-32"},
    "text": {"kind": "trained", "name": "ViT-B-32", "train": {"tune": "text"}},
    "scratch": {"kind": "trained", "config": "tiny-clip", "train": {}},
    "on": {"kind": "trained", "config": "tiny-clip", "from": "scratch", "train": {}},
    "heads": {"kind": "lit"},
    "titles": {"kind": "reuse", "weights_of": "text", "fields": ["page_title"]},
}
HEAD = "collection,system,setting,task,split,measure,parameters,value,chosen\n"


@pytest.mark.parametrize(
    ("model", "stage", "made_of"),
    [
        ("zero", "zero-shot", ""),
        ("text", "fine-tuned", "text tower"),
        ("scratch", "trained", "both towers"),
        ("on", "fine-tuned", "both towers"),
        ("heads", "fine-tuned", "heads on frozen towers"),
        ("titles", "fine-tuned", "text tower"),
    ],
)
def test_a_models_stage_follows_from_where_its_weights_come_from(model, stage, made_of):
    (row,) = described({"s": {"kind": "dense", "model": model}}, MODELS)
    assert (row["stage"], row["made_of"]) == (stage, made_of)


def test_the_papers_recipe_gives_the_papers_rows(root):
    found = params_files.load([root / "params/atomic-finetune.yaml"], root=root)
    names = found["search"]["systems"]
    rows = list(described({s: found["systems"][s] for s in names}, found["models"]))
    assert {r["system"]: (r["stage"], r["made_of"]) for r in rows} == {
        "random": ("zero-shot", ""),
        "bm25": ("zero-shot", ""),
        "clip-b32": ("zero-shot", ""),
        "clip-b32-text": ("fine-tuned", "text tower"),
        "clip-b32-vision": ("fine-tuned", "vision tower"),
        "clip-b32-both": ("fine-tuned", "both towers"),
        "rrf-tuned": ("fused", "RRF of bm25 and clip-b32-both"),
        "wsum-tuned": ("fused", "WSUM of bm25 and clip-b32-both"),
    }


@pytest.fixture
def written(tmp_path):
    cell = {"collection": "c", "setting": "small", "split": "test", "measure": "MRR@10"}
    rows = [
        cell | {"task": task, "system": system, "query_id": q, "value": value}
        for task, more in (("t2m", 0.0), ("m2t", 0.25))
        for n, system in enumerate(SYSTEMS)
        for q, value in (("a", n / 10 + more), ("b", 0.0))
    ]
    store.write_rows(rows, tmp_path / "scores.parquet", tables.SCORES)
    point = "c,tuned,small,{},validation,MRR@10,{},{},{}"
    half, one = (f'"{{""weights"": {w}}}"' for w in ([0.5, 0.5], [1.0, 0.0]))
    trials = [
        point.format("t2m", half, 0.2, "true"),
        point.format("t2m", one, 0.1, "false"),
        point.format("m2t", one, 0.3, "true"),
    ]
    (tmp_path / "tuned.csv").write_text(HEAD + "\n".join(trials) + "\n")

    def write(*grids):
        files = [tmp_path / g for g in grids]
        out = tmp_path / "table5"
        table5(tmp_path / "scores.parquet", files, systems=SYSTEMS, models=MODELS, out=out)
        return pl.read_csv(out.with_suffix(".csv"))

    return write


def test_the_rows_stand_in_the_order_of_the_stages_with_the_means_of_each_task(written):
    found = written("tuned.csv")
    assert found.select("stage", "system", "t2m MRR@10", "m2t MRR@10").rows() == [
        ("zero-shot", "bm25", 0.0, 0.125),
        ("zero-shot", "zero", 0.15, 0.275),
        ("fine-tuned", "text", 0.1, 0.225),
        ("fused", "tuned", 0.05, 0.175),
        ("fused", "rrf", 0.2, 0.325),
    ]


def test_a_tuned_fusion_shows_what_was_chosen_and_a_fixed_one_what_was_given(written):
    told = dict(written("tuned.csv").select("system", "parameters").iter_rows())
    assert told["tuned"] == 't2m {"weights": [0.5, 0.5]}, m2t {"weights": [1.0, 0.0]}'
    assert yaml.safe_load(told["rrf"]) == {"k": 60}
    assert told["zero"] == ""


def test_without_a_tuned_fusion_there_is_no_choice(written):
    assert dict(written().select("system", "parameters").iter_rows())["tuned"] == ""
