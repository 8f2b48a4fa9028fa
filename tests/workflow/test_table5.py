"""Fine-tuning and tuned fusion on the road: params only, from training to the scores."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from safetensors import safe_open

OVERLAY = {
    "acquire": {"toy": {"generate": {"pages": 40}}},
    "models": {
        "tiny-clip": {"train": {"epochs": 1, "batch": 16}},
        "tiny-clip-text": {
            "kind": "trained",
            "from": "tiny-clip",
            "train": {
                "tune": "text",
                "steps": 3,
                "batch": 16,
                "micro_batch": 8,
                "learning_rate": 0.0001,
                "checkpoint_every": 2,
            },
        },
    },
    "encode": {"shards": 1},
    "systems": {
        "tiny-clip-text": {"kind": "dense", "model": "tiny-clip-text"},
        "tuned": {
            "kind": "wsum",
            "of": ["bm25", "tiny-clip-text"],
            "tune": {"grid": {"step": 0.25}},
        },
    },
    "search": {"systems": ["bm25", "tiny-clip-text", "tuned"], "settings": ["small", "base"]},
    "tabulate": {"system": "tiny-clip-text"},
}


@pytest.mark.slow
def test_a_model_goes_on_from_another_and_a_fusion_is_tuned(project, shell):
    place: Path = project()
    (place / "overlay.yaml").write_text(yaml.safe_dump(OVERLAY))
    targets = ["score", "results/tables/toy/table5.csv"]
    shell("snakemake", "--cores", "2", "--configfile", "overlay.yaml", "--", *targets, cwd=place)
    with safe_open(place / "data/train/toy/tiny-clip-text/model.safetensors", "np") as file:
        notes = json.loads(file.metadata()["isotope"])
    assert (notes["config"], notes["recipe"]["tune"]) == ("tiny-clip", "text")
    trials = place / "results/search/toy/tuning/tuned.csv"
    rows = list(csv.DictReader(trials.read_text().splitlines()))
    chosen = [row for row in rows if row["chosen"] == "true"]
    assert {(row["setting"], row["task"]) for row in chosen} == {
        (setting, task) for setting in ("small", "base") for task in ("t2m", "m2t")
    }
    scores = pl.read_parquet(place / "results/score/toy.parquet")
    for row in chosen:
        cell = {key: row[key] for key in ("setting", "task", "split", "measure")}
        held = scores.filter(
            pl.col("system") == "tuned", *(pl.col(k) == v for k, v in cell.items())
        )
        assert float(row["value"]) == pytest.approx(held["value"].to_numpy().mean(), abs=1e-6)
    table = pl.read_csv(place / "results/tables/toy/table5.csv")
    assert dict(table.select("system", "stage").iter_rows()) == {
        "bm25": "zero-shot",
        "tiny-clip-text": "fine-tuned",
        "tuned": "fused",
    }
    told = table.filter(system="tuned", setting="small", split="test")["parameters"].item()
    assert [row["parameters"] in told for row in chosen if row["setting"] == "small"] == [True] * 2
    assert not (place / ".isotope/train/toy/tiny-clip-text/checkpoint.pt").exists()
