"""The overlay for COCO: it plans, and on the real pictures it runs to the known numbers."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import open_clip
import polars as pl
import pytest
import torch
import yaml
from safetensors import safe_open
from safetensors.torch import save_file


def overlay(shared, *more: str) -> list[str]:
    config = ["--configfile", "params/coco.yaml", "--config", f"root={shared / 'collections'}"]
    return ["snakemake", "--cores", "all", *more, *config]


def test_the_overlay_plans_every_phase_and_all_explanations(shared, shell, root):
    told = shell(*overlay(shared, "--dry-run"), cwd=root, check=False)
    for rule in ("collect_tables", "encode_shard", "explain_failures", "explain_perturbed_dense"):
        assert rule in told, told[-3_000:]


def test_the_encyclopedia_is_held_against_coco(shared, shell, root, tmp_path):
    """Fig. 7 of AToMiC: recall here against success there, for the systems that both have."""
    held = {"collection": "coco", "here": "R@10", "there": "Success@10"}
    both = {
        "build": ["toy", "coco"],
        "score": {"measures": ["R@10", "Success@10"]},
        "tabulate": {"against": {"toy": held}},
    }
    (tmp_path / "both.yaml").write_text(yaml.safe_dump(both))
    files = ["--configfile", "params/coco.yaml", str(tmp_path / "both.yaml")]
    root_is = ["--config", f"root={shared / 'collections'}"]
    wanted = "results/figures/toy/against.svg"
    told = shell("snakemake", "-n", "--forceall", wanted, *files, *root_is, cwd=root)
    assert "tabulate toy" in told
    scored = {f"score the runs on {name}" for name in ("toy", "coco")}
    assert scored <= set(re.findall(r"score the runs on \w+", told))


@pytest.mark.long
def test_the_real_pictures_give_the_numbers_of_the_page(project, shared, shell):
    """As the page of the plug-in has them; BM25, random and hashed words are exact everywhere."""
    place = project()
    shell(*overlay(shared), cwd=place)
    tables = place / "results/tables/coco"
    ranking = pl.read_csv(tables / "ranking.csv").select("system", "fails").rows()
    assert ranking == [("bm25", 20), ("words", 30), ("random", 79)]
    explained = pl.read_csv(tables / "explained.csv").filter(system="bm25").row(0, named=True)
    assert explained["ca_share"] == pytest.approx(0.597, abs=5e-4)
    assert explained["ncs"] == pytest.approx(0.1148, abs=5e-5)
    assert explained["ce"] == pytest.approx(4.35)
    unknown = pl.read_csv(tables / "unknown_objects.csv").rows()
    assert unknown == [("unknown synset", "stop_sign.n.01", 3)]
    assert (place / "results/report/coco/failures.html").stat().st_size > 100_000


SMALL = {
    "build": ["coco-test"],
    "snapshots": [],
    "models": {"hash": {"kind": "hash", "dim": 16}},
    "encode": {"shards": 1},
    "systems": {"hash": {"kind": "dense", "model": "hash"}},
    "search": {"systems": ["random", "hash"], "depth": 50},
    "tabulate": {"system": "hash", "diff": [], "facts": {}, "comparisons": []},
}


def publish_karpathy(shared, root):
    """Lay out real pictures as COCO 2014 and Karpathy's split are published: 40 test, 39 val."""
    real, coco = shared / "collections/coco-mini", root / "coco"
    coco.mkdir(parents=True)
    told = json.loads((real / "captions_val2017.json").read_text())
    (coco / "captions_val2014.json").write_text(json.dumps(told))
    split = [
        {"cocoid": picture["id"], "split": "test" if n < 40 else "val", "filepath": "val2014"}
        for n, picture in enumerate(told["images"])
    ]
    (coco / "dataset_coco.json").write_text(json.dumps({"dataset": "coco", "images": split}))
    with zipfile.ZipFile(coco / "val2014.zip", "w") as archive:
        for picture in told["images"]:
            name = picture["file_name"]
            archive.write(real / "images" / name, f"val2014/{name}")
    return root


@pytest.mark.slow
def test_karpathys_split_runs_to_fig_7_and_to_the_coco_row_of_table_2(
    project, shared, shell, tmp_path
):
    """AToMiC, appendix A and Table 2, on 79 pictures of COCO with five captions each."""
    place, root = project(), publish_karpathy(shared, tmp_path)
    (place / "small.yaml").write_text(yaml.safe_dump(SMALL))
    targets = ["results/figures/coco-test/against.svg", "results/tables/coco-test/table2.md"]
    files = ["--configfile", "params/coco-test.yaml", "small.yaml"]
    shell(
        *("snakemake", "--cores", "2", *targets, *files),
        *("--config", f"root={root}", "name=coco-test"),
        cwd=place,
    )
    qrels = pl.read_parquet(place / "data/collect/coco-test/qrels.parquet")
    counted = qrels.group_by("split").agg(pl.len(), pl.col("image_id").n_unique()).sort("split")
    assert counted.rows() == [("test", 5 * 40, 40), ("validation", 5 * 39, 39)]
    drawn = (place / "results/figures/coco-test/against.svg").read_text()
    assert "R@10 on coco-test, validation" in drawn
    assert "Success@10 on coco-test, test" in drawn
    table2 = pl.read_csv(place / "results/tables/coco-test/table2.csv")
    caption = table2.filter(field="context_section_description", tokenizer="clip").row(
        0, named=True
    )
    assert (caption["items"], caption["empty_share"]) == (5 * 79, 0)


TUNED = ("b32-text", "b32-both")
TINY: dict[str, Any] = {
    "name": "ViT-S-32-alt",
    "pretrained": "weights/tiny.safetensors",
    "train": {"steps": 1, "batch": 4, "micro_batch": 2, "threads": 2, "checkpoint_every": None},
}
LITTLE = {
    "acquire": {"toy": {"generate": {"pages": 40}}},
    "snapshots": [],
    "models": {
        "openclip-b32-2b": {k: TINY[k] for k in ("name", "pretrained")},
        **dict.fromkeys(TUNED, TINY),
    },
    "encode": {"shards": 1, "batch": 16},
    "shards": {"search": 1},
    "search": {"systems": ["openclip-b32-2b", *TUNED], "depth": 50},
    "tabulate": {
        "system": "b32-text",
        **{key: [] for key in ("since", "comparisons")},
        "facts": {},
    },
}
PUBLISHED_NOTES = {
    "model_cfg": {},
    "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]},
}


def save_tiny(place: Path) -> None:
    """Random weights of open_clip's smallest model, with notes as its hub has them."""
    place.mkdir()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        save_file(open_clip.create_model(TINY["name"]).state_dict(), place / "tiny.safetensors")
    (place / "open_clip_config.json").write_text(json.dumps(PUBLISHED_NOTES))


@pytest.mark.long
def test_fig_7_has_points_of_models_that_learned_from_the_other_collection(
    project, shared, shell, tmp_path
):
    """AToMiC, appendix A: "the OpenCLIP models fine-tuned on AToMiC", here on the demo's pages."""
    place, root = project(), publish_karpathy(shared, tmp_path)
    save_tiny(place / "weights")
    (place / "little.yaml").write_text(yaml.safe_dump(LITTLE))
    overlays = ("atomic-baselines", "atomic-finetune", "coco-test", "coco-finetuned")
    files = ["--configfile", *(f"params/{name}.yaml" for name in overlays), "little.yaml"]
    shell(
        *("snakemake", "--cores", "2", "score", "train", "results/figures/toy/against.svg", *files),
        *("--config", f"root={root}", "name=toy"),
        cwd=place,
    )
    trained = sorted(path.parent.name for path in (place / "data/train").glob("*/*/*.safetensors"))
    assert trained == sorted(TUNED)
    assert not (place / "data/train/coco-test").exists()
    for model in TUNED:
        with safe_open(place / f"data/train/toy/{model}/model.safetensors", "np") as file:
            notes = json.loads(file.metadata()["isotope"])
        assert notes["preprocess"]["mean"] == PUBLISHED_NOTES["preprocess_cfg"]["mean"]
        assert notes["preprocess"]["resize_mode"] == "squash"
    table = pl.read_csv(place / "results/tables/toy/against.csv")
    assert set(table["system"]) == {"openclip-b32-2b", *TUNED}
    drawn = (place / "results/figures/toy/against.svg").read_text()
    assert "R@10 on toy, validation" in drawn
    assert "Success@10 on coco-test, test" in drawn
