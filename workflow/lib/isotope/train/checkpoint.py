"""Checkpoints of a training: everything that the next step depends on, replaced atomically."""

import hashlib
import json
import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from torchvision.transforms import Compose, ToTensor

from isotope.core import provenance
from isotope.core.errors import BadParams, MissingFile, UnknownModel
from isotope.core.progress import log
from isotope.core.store import aside
from isotope.models.open_clip import (
    create,
    create_custom,
    create_trained,
    quick_gelu,
    trained_notes,
)
from isotope.train.batches import Epochs
from isotope.train.pictures import Cut
from isotope.train.step import Stepper


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


_UNREADABLE = (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, OSError)


class Rows(Protocol):
    """A split of what is trained on."""

    def rows(self) -> Iterable[Any]:
        """Return what is known of each pair, as JSON can write it."""
        ...


class Checkpoint:
    """One file, valid for one training only, which its fingerprint names."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        """Keep checkpoints at `path`; keep none where it is None."""
        self._path, self._fingerprint = path, fingerprint

    def save(self, stepper: Stepper, batches: Epochs, progress: Mapping[str, Any]) -> None:
        """Replace the checkpoint by the present state; `progress` is the loop's own."""
        if self._path is None:
            return
        state = {
            "fingerprint": self._fingerprint,
            "stepper": stepper.state(),
            "batches": batches.state(),
            "progress": dict(progress),
        }
        with aside(self._path) as part:
            torch.save(state, part)

    def restore(self, stepper: Stepper, batches: Epochs) -> Mapping[str, Any] | None:
        """Put both where the checkpoint left them; return the loop's progress, None without one.

        A checkpoint of another recipe, input or version of this code is left aside, with a warning.
        """
        if self._path is None or not self._path.is_file():
            return None
        try:
            state = torch.load(self._path, map_location="cpu", weights_only=True)
        except _UNREADABLE as error:
            log.warning("%s: not a checkpoint (%s); starting over", self._path, error)
            return None
        if state["fingerprint"] != self._fingerprint:
            log.warning("%s: of another training; starting over", self._path)
            return None
        stepper.restore(state["stepper"])
        batches.restore(state["batches"])
        return state["progress"]

    def clear(self) -> None:
        """Remove the checkpoint; the training is complete."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def fingerprint(
    spec: Mapping[str, object],
    seed: int,
    splits: Iterable[Rows],
    files: Iterable[Path],
    *,
    code: str,
) -> str:
    """Digest what the weights depend on: params, seed, judged pairs, files' sizes, code, torch.

    `code` is the module that trains, whose imports count too. Pixels and weights to start from are
    known by the sizes of their files, not read again.
    """
    digest = hashlib.sha256(json.dumps([spec, seed, torch.__version__], sort_keys=True).encode())
    for split in splits:
        for row in split.rows():
            digest.update(json.dumps(row).encode())
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    for file in provenance.closure(code):
        digest.update((provenance.LIBRARY / file).read_bytes())
    return digest.hexdigest()
