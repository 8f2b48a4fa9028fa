"""Entries of `models` as jobs get them, recipes, and what is loaded of them."""

from collections.abc import Mapping
from typing import Any

from isotope.models import encoders
from isotope.models.encoders import Encoder
from isotope.models.kinds.trained import Train
from isotope.params.sections import ModelKind

# Keys that a kind must have, for tests to which they are all the same.
_NEEDED: dict[str, dict[str, Any]] = {
    "trained": {"train": {}},
    "sentence": {"images": "captions"},
    "clip2clip": {"of": "clip"},
    "clip_fusion": {"of": "clip"},
}
_TRAIN = {"batch": 64, "learning_rate": 1e-3}


def model_of(spec: Mapping[str, Any]) -> Any:
    """Return an entry as an object of its kind, with what the kind must have."""
    entry = {**_NEEDED.get(spec["kind"], {}), **spec}
    if spec["kind"] == "trained":
        entry["train"] = {**_TRAIN, **entry["train"]}
    return ModelKind.of_spec(entry)


def train_of(**given: Any) -> Train:
    """Return a recipe of a trained model, with a batch and a rate."""
    return Train.of_spec({**_TRAIN, **given})


def loaded(spec: Mapping[str, Any], **given: Any) -> Encoder:
    """Return the encoder of an entry; `given` are learned weights and a device."""
    return encoders.load(model_of(spec), **given)
