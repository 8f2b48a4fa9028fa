"""What training starts from: random weights, a pretrained model, or one trained before."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import open_clip
from open_clip.transform import PreprocessCfg, image_transform_v2
from torchvision.transforms import Compose, ToTensor

from isotope.core.errors import BadParams, MissingFile, UnknownModel
from isotope.models.open_clip import (
    create,
    create_custom,
    create_trained,
    quick_gelu,
    trained_notes,
)
from isotope.train.pictures import Cut


class Start(NamedTuple):
    """A model to train, its tokenizer, and what must be known to load its weights again."""

    model: Any
    tokenizer: Any
    notes: dict[str, object]


def start(spec: Mapping[str, object], weights: Path | None) -> Start:
    """Make the model that an entry of kind `trained` begins with.

    `config`: from scratch; `name` with `pretrained`: a model of open_clip; with `weights`, those of
    the entry that `from` names, whose `config` or `name` this entry shares.

    Raises:
        BadParams: neither config nor name, or `from` without weights.
        UnknownModel: a name without loader, or a model whose tokenizer is not CLIP's.
        MissingFile, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    if "from" in spec and weights is None:
        remedy = "run the train phase, which trains it first"
        raise MissingFile("models: from", f"no weights of {spec['from']}", remedy)
    key = next((key for key in ("config", "name") if key in spec), None)
    if key is None:
        raise BadParams("models", f"no config, name or from in {dict(spec)}", "add one of them")
    name = str(spec[key])
    made = _custom(name, weights) if key == "config" else _listed(name, spec, weights)
    tokenizer = open_clip.get_tokenizer(name)
    if not isinstance(tokenizer, open_clip.SimpleTokenizer):
        found = f"{name} reads text with {type(tokenizer).__name__}"
        raise UnknownModel("models", found, "train a model with CLIP's own tokenizer")
    return Start(made[0], tokenizer, made[1])


def _custom(name: str, weights: Path | None) -> tuple[Any, dict[str, object]]:
    return create_custom(name, weights), {"config": name}


def _listed(
    name: str, spec: Mapping[str, object], weights: Path | None
) -> tuple[Any, dict[str, object]]:
    if weights is not None:
        given = trained_notes(weights)
        kept = {k: given[k] for k in ("preprocess", "quick_gelu") if k in given}
        return create_trained(name, weights), {"name": name, **kept}
    tag, resize = (None if spec.get(k) is None else str(spec[k]) for k in ("pretrained", "resize"))
    model: Any = create(name, tag, resize)
    settings = model.visual.preprocess_cfg
    kept = {key: settings[key] for key in ("mean", "std", "interpolation", "resize_mode")}
    notes = {"name": name, "preprocess": kept, "quick_gelu": quick_gelu(name, tag)}
    return model, {**notes, "pretrained": tag}


def cut_of(model: Any) -> Cut:  # noqa: ANN401
    """Return how `model` wants pictures cut, as its encoder will cut them."""
    settings = PreprocessCfg(**model.visual.preprocess_cfg)
    whole: Any = image_transform_v2(settings, is_train=False)
    # The steps before ToTensor turn pictures into pictures.
    end = next(i for i, step in enumerate(whole.transforms) if isinstance(step, ToTensor))
    return Cut(int(settings.input_size[-1]), Compose(whole.transforms[:end]))
