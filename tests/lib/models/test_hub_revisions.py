"""A revision of the hub is a param: weights that main has as a pickle only come from a branch.

google/pegasus-xsum and facebook/flava-full have safetensors on a pull request (params/*.yaml). The
hub is a stand-in on loopback; a process of its own asks it: the library reads its address when it
is imported, once.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file
from tests import forkserver
from tests.hub import serving
from tests.lib.models.test_models_hf import FAMILIES, squares, tokenizer
from tests.lib.models.test_models_sentence import MEAN, checkpoint
from tests.tiny_models import save_summariser

ASK = r"""
import json, sys

READERS = {"huggingface_hub", "transformers", "sentence_transformers", "isotope"}
for name in [name for name in sys.modules if name.partition(".")[0] in READERS]:
    del sys.modules[name]

from isotope.core.errors import FetchFailed
from isotope.models import encoders
from isotope.models.transformers import Summarizer
from isotope.params.summary import Summaries
from isotope.params.sections import ModelKind

said = {}
for name, spec in json.loads(sys.argv[1]).items():
    try:
        if name.startswith("summaries"):
            said[name] = Summarizer(Summaries(**spec), "cpu").summarise(["a dog runs ."])
        else:
            encoder = encoders.load(ModelKind.of_spec(spec), device="cpu")
            said[name] = encoder.encode_texts(["a"]).shape[0]
    except FetchFailed as error:
        said[name] = f"FetchFailed: {error}"
print(json.dumps(said))
"""


def pickled(folder: Path, place: Path) -> Path:
    """Copy a checkpoint to `place`, its weights as a pickle, as older repositories have them."""
    shutil.copytree(folder, place)
    state = load_file(place / "model.safetensors")
    (place / "model.safetensors").unlink()
    torch.save(state, place / "pytorch_model.bin")
    return place


def flava(place: Path) -> Path:
    make, processor = FAMILIES["flava"]
    make().save_pretrained(place)
    tokenizer().save_pretrained(place)
    squares(processor).save_pretrained(place)
    return place


SUMMARISED = "workflow/plugins/isotope_explain/params/explainable.yaml"


def shipped(root: Path, overlay: str) -> dict[str, Any]:
    return yaml.safe_load((root / overlay).read_text())


@pytest.fixture(scope="module")
def found(tmp_path_factory, root) -> tuple[dict[str, Any], list[str]]:
    """What the shipped specs, and those without a revision, get of the hub; what it was asked."""
    place = tmp_path_factory.mktemp("hub")
    pegasus = shipped(root, SUMMARISED)["encode"]["summaries"]["pegasus"]
    eyes = shipped(root, "params/atomic-baselines.yaml")["models"]["flava"]
    # The little checkpoint has places for fewer tokens.
    del eyes["context"]
    (place / "sentence").mkdir()
    safe = {
        pegasus["name"]: (pegasus["revision"], save_summariser(place / "pegasus", "pegasus")),
        eyes["name"]: (eyes["revision"], flava(place / "flava")),
        "some/sentence": ("v2", checkpoint(place / "sentence", "bert", MEAN)),
    }
    repositories = {
        name: {revision: folder, "main": pickled(folder, place / "main" / name)}
        for name, (revision, folder) in safe.items()
    }
    sentence = {"kind": "sentence", "name": "some/sentence", "revision": "v2"}
    sentence |= {"images": "captions"}
    specs = {"summaries": pegasus, "transformers": eyes, "sentence": sentence}
    newest = {f"{k} of main": {**spec, "revision": None} for k, spec in specs.items()}
    with serving(repositories) as (address, asked):
        environment = {"HF_ENDPOINT": address, "HF_HOME": str(place / "home")}
        environment |= {"DISABLE_SAFETENSORS_CONVERSION": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        told = forkserver.run(
            ["python", "-c", ASK, json.dumps(specs | newest)],
            cwd=place,
            env={**os.environ, **environment, "HF_HUB_OFFLINE": "0"},
            timeout=300,
        )
    assert told.returncode == 0, told.stderr[-3_000:]
    return json.loads(told.stdout.splitlines()[-1]), asked


def test_weights_come_from_the_revision_that_the_params_name(found):
    said, asked = found
    assert said["transformers"] == said["sentence"] == 1
    assert len(said["summaries"]) == 1
    fetched = {each for each in asked if each.endswith("/model.safetensors")}
    assert {
        "google/pegasus-xsum@refs/pr/17/model.safetensors",
        "facebook/flava-full@refs/pr/5/model.safetensors",
        "some/sentence@v2/model.safetensors",
    } <= fetched


@pytest.mark.parametrize("kind", ["summaries", "transformers", "sentence"])
def test_main_without_safetensors_is_refused_whatever_else_it_has(found, kind):
    said, asked = found
    assert said[f"{kind} of main"].startswith("FetchFailed"), said
    assert not [each for each in asked if each.endswith("pytorch_model.bin")]
