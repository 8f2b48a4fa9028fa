"""Families of checkpoints that kind `transformers` reads, by the `model_type` of their config.json.

A family is a module here with a function `load(checkpoint, settings, device)`. It is found by the
table below and imported by its name, so that no family's code is part of another one's. To read
params this package is imported, so it imports nothing slow.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotope.core.errors import UnknownModel
from isotope.models.families.published import PUBLISHED

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder
    from isotope.models.kinds.transformers import Transformers

# A model_type of transformers, or of a checkpoint's own config, and the module that reads it.
MODULES = {
    "clip": "dual",
    "blip": "dual",
    "flava": "dual",
    "siglip": "siglip",
    "siglip2": "siglip",
    "jina_clip": "jina_clip",
    "qwen2_vl": "qwen_vl",
    "qwen2_5_vl": "qwen_vl",
    "qwen3_vl": "qwen_vl",
    "qwen3": "last_token",
}


def load(model: "Transformers", *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry of kind `transformers`; `weights` are of no use here.

    Raises:
        BadParams: a setting that the family does not have.
        UnknownModel: an architecture that no family reads.
        CorruptFile: weights that do not load, or that leave a part of the model at random.
        FetchFailed: a folder without the files it needs, or a hub that is out of reach.
    """
    from isotope.models.families.checkpoint import CheckpointFiles, CheckpointSettings  # noqa: PLC0415 (torch)

    checkpoint = CheckpointFiles(model.name, model.revision)
    family = import_module(f"{__name__}.{module_of(checkpoint.name, checkpoint.config)}")
    return family.load(checkpoint, CheckpointSettings.from_entry(model), device)


def module_of(name: str, config: Mapping[str, Any]) -> str:
    """Return the module that reads a checkpoint with this config.json.

    Raises:
        UnknownModel: a model_type that no family has.
    """
    kind = str(config.get("model_type"))
    if kind in MODULES:
        return MODULES[kind]
    problem = f"architecture {kind!r}"
    if "auto_map" in config:
        problem += ", which needs code that comes with the checkpoint and is never run"
    remedy = f"use a model of one of {', '.join(MODULES)}"
    raise UnknownModel(f"models: {name}", problem, remedy)


def modules(name: str) -> list[str]:
    """Return the modules that may read a checkpoint, as far as a name tells before it is fetched.

    One for a folder with a config.json and for a published checkpoint of the table, else all.
    """
    kind = folder_config(name).get("model_type")
    if kind is None and name in PUBLISHED:
        kind = PUBLISHED[name].model_type
    return [MODULES[kind]] if kind in MODULES else sorted({*MODULES.values()})


def folder_config(name: str) -> Mapping[str, Any]:
    """Return the config.json of a local folder, empty where there is none that can be read."""
    try:
        config = json.loads((Path(name) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}
