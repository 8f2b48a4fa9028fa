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
        "project": dict.fromkeys(PAGES, {"mode": "bm25"}),
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
    place, _ = february
    folder = place / f"results/tables/{FEBRUARY}/since/{JANUARY}"
    drops = pl.read_parquet(folder / "temporal.parquet")
    assert set(drops["system"]) == {"bm25", "hashed", "rrf"}
    assert {"all", "surviving", "new"} <= set(drops["stratum"])
    everyone = drops.filter(stratum="all", task="m2t", system="bm25", measure="MRR@10").to_dicts()
    scores = pl.read_parquet(place / f"results/score/{FEBRUARY}.parquet")
    own = scores.filter(task="m2t", system="bm25", measure="MRR@10")
    assert everyone[0]["later"] == pytest.approx(own["value"].mean())
    assert everyone[0]["queries"] == own.height
    # BM25 finds no section of a page that January did not have.
    new = drops.filter(stratum="new", task="m2t", system="bm25", measure="R@10").to_dicts()
    assert (new[0]["earlier"], new[0]["relative_drop"]) == (0.0, 1.0)
    assert (
        "<svg" in (place / f"results/figures/{FEBRUARY}/since/{JANUARY}/temporal.svg").read_text()
    )


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
