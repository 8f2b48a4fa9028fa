"""From one month to the next: a new snapshot is one line in params.yaml."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

JANUARY, FEBRUARY = "wiki-20230101", "wiki-20230201"
PAGES = {JANUARY: 30, FEBRUARY: 36}
WIKI = "wiki-{snapshot}"


def params() -> dict[str, Any]:
    """The experiment in January: two systems and their fusion on a small encyclopedia."""
    return {
        "snapshots": ["20230101"],
        "build": [WIKI],
        "acquire": {name: {"generate": {"pages": n, "seed": 0}} for name, n in PAGES.items()},
        "crawl": {name: {"serve": f"data/acquire/{name}/images", "shards": 1} for name in PAGES},
        "project": {name: {"mode": "bm25"} for name in PAGES},
        "collect": {WIKI: {"kind": "wikipedia", "source": WIKI, "language": "en"}},
        "models": {"hash": {"kind": "hash", "dim": 32}},
        "encode": {"shards": 1, "batch": 16},
        "systems": {
            "bm25": {"kind": "bm25"},
            "hashed": {"kind": "dense", "model": "hash"},
            "rrf": {"kind": "rrf", "of": ["bm25", "hashed"]},
        },
        "search": {
            "systems": ["bm25", "hashed", "rrf"],
            "settings": ["large"],
            "splits": ["validation"],
            "tasks": ["t2m", "m2t"],
            "depth": 50,
            "memory_mb": 16,
        },
        "score": {"measures": ["MRR@10", "R@10"]},
        "tabulate": {
            "alpha": 0.05,
            "sizes": [50],
            "system": "bm25",
            "tokenizers": {"words": "toy"},
            "temporal": ["bm25", "hashed", "rrf"],
        },
    }


@pytest.fixture(scope="module")
def february(project, shell) -> tuple[Path, str]:
    """A project with two snapshots, and what was planned when the second came."""
    place = project()
    (place / "params.yaml").write_text(yaml.safe_dump(params(), sort_keys=False))
    shell("snakemake", "--cores", "2", "score", cwd=place)
    file = place / "params.yaml"
    file.write_text(file.read_text().replace("- '20230101'", "- '20230101'\n- '20230201'"))
    wanted = f"results/tables/{FEBRUARY}/since/{JANUARY}/temporal.md"
    told = shell("snakemake", "--cores", "2", wanted, cwd=place)
    return place, told


def test_what_systems_built_in_january_lose_in_february_is_told(february):
    folder = february[0] / f"results/tables/{FEBRUARY}/since/{JANUARY}"
    drops = pl.read_parquet(folder / "temporal.parquet")
    assert set(drops["system"]) == {"bm25", "hashed", "rrf"}
    assert {"all", "surviving", "new"} <= set(drops["stratum"])
    drawn = february[0] / f"results/figures/{FEBRUARY}/since/{JANUARY}/temporal.svg"
    assert "built" in (folder / "temporal.md").read_text()
    assert "<svg" in drawn.read_text()


def test_both_sides_are_what_a_count_by_hand_gives(february):
    place, _ = february
    compared = place / f"results/tables/{FEBRUARY}/since/{JANUARY}"
    drops = pl.read_parquet(compared / "temporal.parquet")
    qrels = pl.read_parquet(place / f"data/collect/{FEBRUARY}/qrels.parquet")
    right = {(r["image_id"], r["text_id"]) for r in qrels.filter(split="validation").to_dicts()}
    known = pl.read_parquet(compared / "identities.parquet")
    later_id = dict(known.select("before_id", "after_id").rows())
    told = drops.filter(stratum="all", task="m2t", system="bm25", measure="MRR@10").row(
        0, named=True
    )
    for side, cell, names in (("earlier", f"since/{JANUARY}/", later_id), ("later", "", None)):
        run = place / f"results/search/{FEBRUARY}/{cell}large/validation/m2t/bm25.parquet"
        first = dict[str, int]()
        for query, doc, rank, _ in pl.read_parquet(run).rows():
            if rank <= 10 and (query, names.get(doc) if names else doc) in right:
                first.setdefault(query, rank)
        queries = {image for image, _ in right}
        assert told["queries"] == len(queries)
        assert told[side] == pytest.approx(sum(1 / r for r in first.values()) / len(queries))
    assert told["earlier"] < told["later"]
    assert told["relative_drop"] == pytest.approx(1 - told["earlier"] / told["later"])


def test_the_old_systems_answer_new_queries_with_old_documents(february):
    place, _ = february
    texts = set(pl.read_parquet(place / f"data/collect/{JANUARY}/texts.parquet")["text_id"])
    cell = f"results/search/{FEBRUARY}/since/{JANUARY}/large/validation/m2t"
    asked = pl.read_parquet(place / f"data/collect/{FEBRUARY}/qrels.parquet")
    asked = set(asked.filter(split="validation")["image_id"])
    for system in ("hashed", "rrf"):
        run = pl.read_parquet(place / cell / f"{system}.parquet")
        assert set(run["query_id"]) == asked
        assert set(run["doc_id"]) <= texts


def test_a_trained_model_asks_with_the_weights_that_it_learned_in_january(february, shell):
    place, _ = february
    recipe = {"epochs": 1, "batch": 16, "learning_rate": 0.001}
    overlay = {
        "models": {"tiny": {"kind": "trained", "config": "tiny-clip", "train": recipe}},
        "systems": {"learned": {"kind": "dense", "model": "tiny"}},
    }
    (place / "learned.yaml").write_text(yaml.safe_dump(overlay))
    wanted = f"results/search/{FEBRUARY}/since/{JANUARY}/large/validation/t2m/learned.parquet"
    plan = ["snakemake", "-n", "--cores", "1", "--configfile", "learned.yaml", "--", wanted]
    told = shell(*plan, cwd=place)
    (place / "learned.yaml").unlink()
    assert f"encode {FEBRUARY} with tiny of {JANUARY}, shard 00000" in told
    assert f"encode {JANUARY} with tiny, shard 00000" in told
    assert f"data/train/{JANUARY}/tiny/model.safetensors" in told
    assert f"data/train/{FEBRUARY}" not in told
