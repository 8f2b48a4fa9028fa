"""Rerankers in the params: what is refused before the first job, and what is planned."""

import json
from pathlib import Path
from typing import Any

import pytest
from snakemake.iocontainers import Wildcards
from tests import tiny_rerankers as tiny

from isotope.core.errors import BadParams
from isotope.params import files as params_files
from isotope.params.resolve import resolve
from isotope.plan.needs import RERANKS, reranker_mb
from isotope.plan.plan import Plan
from isotope.tabulate.exhibits import system_rows

ROOT = Path(__file__).parents[3]
OVERLAY = ROOT / "params/2026.yaml"
CROSS = {"kind": "reranker", "name": "BAAI/bge-reranker-v2-m3", "images": "captions"}
EYES = {"kind": "reranker", "name": "Qwen/Qwen3-VL-Reranker-2B", "images": "pixels"}


def params(model: dict[str, Any] = CROSS, /, **system: Any) -> dict[str, Any]:
    """The demo with a reranked system; `system` changes its entry."""
    plain = params_files.load(root=ROOT).spec()
    plain["models"] = {**plain["models"], "m": model}
    entry = {"kind": "rerank", "of": "bm25", "model": "m", **system}
    own = {k: v for k, v in entry.items() if v is not None}
    plain["systems"] = {**plain["systems"], "again": own}
    plain["search"] = {**plain["search"], "systems": [*plain["search"]["systems"], "again"]}
    return plain


def planned(model: dict[str, Any] = CROSS, /, **system: Any) -> Plan:
    return Plan(resolve(params(model, **system)), {})


def cell(**names: str) -> Any:
    return Wildcards(fromdict={"collection": "toy", "system": "again", **names})


def test_an_entry_has_a_hundred_hits_read_unless_it_says_otherwise():
    entry = resolve(params()).systems["again"]
    assert entry.filled() == {"kind": "rerank", "of": "bm25", "model": "m", "depth": 100}


@pytest.mark.parametrize(
    ("system", "found"),
    [
        ({"of": "bm52"}, r"systems\.again\.of: unknown name 'bm52'; did you mean 'bm25'"),
        ({"of": "again"}, r"systems\.again\.of: a circle: again > again"),
        ({"of": ["bm25"]}, r"systems\.again\.of"),
        ({"of": None}, r"systems\.again"),
        (
            {"model": "tiny-clpi"},
            r"systems\.again\.model: unknown name .*; did you mean 'tiny-clip'",
        ),
        ({"model": "tiny-clip"}, "makes vectors, and no scores of pairs; name one that does: m"),
        ({"depth": 1_001}, r"1001 hits of runs that have 1000; use 1000 or less"),
        ({"depth": 0}, r"systems\.again\.depth"),
        ({"deep": 5}, r"deep.*depth"),
        ({"kind": "dense", "of": None}, "'m' makes scores of pairs, and no vectors; name"),
        (
            {"kind": "approximate", "of": None, "method": "ivf"},
            "'m' makes scores of pairs, and no vectors",
        ),
        ({"kind": "prompt", "of": None, "templates": ["{text}"]}, "'m' is no encoder of prompts"),
    ],
)
def test_an_entry_that_no_job_could_use_is_refused_with_what_to_do(system, found):
    with pytest.raises(BadParams, match=f"(?s){found}"):
        resolve(params(**system))


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ({**CROSS, "images": "pixls"}, "pixels"),
        ({k: v for k, v in CROSS.items() if k != "images"}, "images"),
        ({**CROSS, "pixels": 100}, r"models\.m\.pixels: a model with images: captions; leave it"),
        ({**CROSS, "instruction": {"t2i": "find"}}, "t2m"),
        ({**CROSS, "instruction": {}}, r"models\.m\.instruction"),
        ({**CROSS, "batch": 0}, r"models\.m\.batch"),
        ({**CROSS, "fields": ["title"]}, r"models\.m\.fields"),
        ({**CROSS, "trust_remote_code": True}, "trust_remote_code"),
    ],
)
def test_a_model_that_says_what_no_reranker_does_is_refused(model, found):
    with pytest.raises(BadParams, match=f"(?s){found}"):
        resolve(params(model))


def test_systems_that_read_each_other_are_a_circle():
    plain = params(of="rrf")
    plain["systems"]["rrf"] = {"kind": "rrf", "of": ["bm25", "again"]}
    with pytest.raises(BadParams, match=r"a circle: (rrf > again > rrf|again > rrf > again)"):
        resolve(plain)


def test_an_image_is_no_reranker_s_to_encode():
    plain = params(EYES)
    plain["models"]["words"] = {"kind": "sentence", "name": "s", "images": "m"}
    with pytest.raises(BadParams, match=r"models\.words\.images: unknown name 'm'"):
        resolve(plain)


def test_a_reranked_system_is_no_system_of_an_earlier_snapshot():
    plain = params()
    plain["tabulate"] = {**plain["tabulate"], "temporal": ["again"]}
    with pytest.raises(BadParams, match="'again' can't be asked for a later collection"):
        resolve(plain)


def test_its_job_reads_the_runs_below_and_pictures_only_where_they_are_seen():
    texts, eyes = planned(), planned(EYES, of="rrf")
    assert texts.systems.reranked_pixels(cell()) == []
    assert eyes.systems.reranked_pixels(cell()) == eyes.collections["toy"].pixels != []
    assert texts.systems.parts(cell()) == texts.systems.runs("toy", "bm25")
    assert eyes.systems.parts(cell()) == eyes.systems.runs("toy", "rrf")
    first = "results/search/{collection}/small/validation/t2m/{system}.parquet"
    assert texts.systems.grid[0] == first


def test_what_it_is_made_of_is_searched_too_and_its_model_has_no_vectors():
    plan = planned(of="rrf")
    systems = plan.systems
    assert {"again", "rrf", "bm25", "tiny-clip"} <= {*systems.used}
    assert "m" in systems.models_of(systems.used)
    assert plan.models["m"].kind.reranks
    assert systems.that(lambda system: system.is_sliced).split("|").count("again") == 1


def test_a_job_may_take_its_model_s_weights_besides():
    small, large = (
        reranker_mb(planned({**EYES, "name": f"Qwen/Qwen3-VL-Reranker-{size}"}).models["m"])
        for size in ("2B", "8B")
    )
    assert RERANKS.mem_mb(0.0, extra_mb=large) > 4 * 8_000 + RERANKS.base_mb
    assert 4 * 2_000 < small < large


def test_shards_count_what_they_score_apart():
    systems = planned().systems
    assert systems.rerank_costs(cell()) == "logs/rerank/toy.again.json"
    part = systems.rerank_costs(cell(part="00001-of-00002"))
    assert part == "logs/rerank/toy.again.00001-of-00002.json"


def test_in_table_5_it_is_reranked():
    own = resolve(params())
    [row] = [r for r in system_rows(own.systems, own.models) if r["system"] == "again"]
    assert (row["stage"], row["made_of"], row["parameters"]) == ("reranked", "bm25 by m", "")


def test_the_overlay_of_2026_resolves_with_its_instructions_and_its_fusion():
    own = params_files.load([OVERLAY], root=ROOT)
    plan = Plan(own, {})
    reranked = [s for s in own.search.systems if plan.systems[s].reranks]
    assert len(reranked) == 4
    for system in reranked:
        model = plan.systems.model(system).spec
        assert model["kind"] == "reranker"
    assert "picture" in own.models["qwen3-vl-reranker"].values()["instruction"]["t2m"]


def test_a_checkpoint_that_is_on_the_disk_changes_what_depends_on_it(tmp_path):
    place = tiny.save(tmp_path / "tiny", "bert")
    plan = planned({**CROSS, "name": str(place)})
    assert str(place / "model.safetensors") in plan.models["m"].configs
    assert json.loads((place / "config.json").read_text())["model_type"] == "bert"
