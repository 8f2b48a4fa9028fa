"""What a checkpoint takes is known before it is loaded: its size, memory, and where it is."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from snakemake.iocontainers import Wildcards
from tests import forkserver
from tests.models import model_of

from isotope.models.families.published import PUBLISHED, in_folder, memory_mb, published
from isotope.params import files as params_files
from isotope.params.root import Params
from isotope.plan.needs import ENCODES, model_mb
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[3]
NEW = ROOT / "params/2026.yaml"
MODELS = ("siglip2-so400m", "jina-clip-v2", "qwen3-vl-2b", "qwen3-vl-8b")


def params(*overlays: Path) -> Params:
    return params_files.load([*overlays], root=ROOT)


def entry(name: str, **keys: Any) -> dict[str, Any]:
    return {"kind": "transformers", "name": name, **keys}


@pytest.fixture
def folder(tmp_path):
    """A checkpoint of two files, 650 elements in all, bf16 and float32."""
    parts: list[dict[str, torch.Tensor]] = [
        {"a": torch.zeros(20, 30, dtype=torch.bfloat16)},
        {"b": torch.zeros(45), "c": torch.zeros(5)},
    ]
    for n, tensors in enumerate(parts):
        save_file(tensors, tmp_path / f"model-{n}.safetensors", {"format": "pt"})
    config = {"model_type": "qwen3_vl", "text_config": {"hidden_size": 48}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def test_the_size_of_a_folder_is_that_of_its_tensors(folder):
    found = in_folder(folder)
    assert found is not None
    assert tuple(found) == ("qwen3_vl", 650, 48)
    assert memory_mb(model_of(entry(str(folder)))) == 4 * 650 / 1e6


@pytest.mark.parametrize("spoiled", ["model-0.safetensors", "config.json"])
def test_a_folder_that_can_not_be_read_has_no_size(folder, spoiled):
    (folder / spoiled).write_bytes(b"\xff" * 40)
    assert published(model_of(entry(str(folder)))) is None
    (folder / spoiled).unlink()
    (folder / "model-1.safetensors").unlink(missing_ok=True)
    assert published(model_of(entry(str(folder)))) is None


def test_what_is_neither_published_nor_here_has_no_size():
    assert published(model_of(entry("somebody/new-model"))) is None
    assert published(model_of({"kind": "sentence", "name": "Qwen/Qwen3-Embedding-8B"})) is None
    assert memory_mb(model_of(entry("somebody/new-model"))) == 0


def test_the_overlay_of_2026_has_models_whose_sizes_are_known():
    full = params(NEW)
    assert [full.models[m].values()["revision"] for m in MODELS] == [None] * 4
    assert [full.systems[m].values()["model"] for m in MODELS] == [*MODELS]
    assert {full.models[m].values()["name"] for m in MODELS} <= {*PUBLISHED}
    assert full.search.systems[:6] == ["random", "bm25", *MODELS]


def test_a_job_of_a_large_model_declares_the_memory_of_its_weights():
    plan = Plan(params(NEW), {})

    def declared(model: str) -> int:
        job = Wildcards(fromdict={"collection": "toy", "model": model})
        needs = plan.jobs.needs(ENCODES, extra_mb=lambda w: model_mb(plan.models[w.model]))
        return needs(job, {})

    assert declared("tiny-clip") == ENCODES.base_mb < declared("siglip2-so400m")
    assert declared("qwen3-vl-8b") - declared("qwen3-vl-2b") == pytest.approx(
        4 * (8_144_793_840 - 2_127_532_032) / 1e6, abs=2
    )


@pytest.mark.long
def test_the_overlay_of_2026_is_planned_with_its_memory(tmp_path):
    command = [forkserver.stand_in("python"), "-m", "snakemake", "--dry-run", "--forceall"]
    command += ["--logger", "isotope", "--cores", "1", "all", "--configfile", "params/2026.yaml"]
    environment = {**os.environ, "ISOTOPE_JOBS": str(tmp_path / "jobs")}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    jobs = [json.loads(line) for line in (tmp_path / "jobs").read_text().splitlines()]
    named = {(job["rule"], job["memory_mb"], *job["wildcards"].items()) for job in jobs}
    declared = {dict(own)["model"]: mb for rule, mb, *own in named if rule == "encode_shard"}
    assert {*declared} == {*MODELS}
    assert declared["qwen3-vl-8b"] > 32_000 > declared["qwen3-vl-2b"] > declared["siglip2-so400m"]
    assert {dict(own)["system"] for rule, _, *own in named if rule == "search_dense"} == {
        *MODELS,
        "colqwen2-pooled",
    }
