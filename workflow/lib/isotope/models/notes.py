"""Notes of weights on disk: what pictures they want, and which activation they learned with.

A weights file of open_clip holds tensors alone. Two forms of notes are read: what `isotope.train`
writes into the metadata of its safetensors, and `open_clip_config.json` in the file's folder, with
which open_clip publishes weights (https://github.com/mlfoundations/open_clip, `push_to_hf_hub`).
"""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.errors import CorruptFile, MissingFile
from isotope.models.open_clip_files import WEIGHTS
from isotope.models.weights import head

BESIDE = "open_clip_config.json"
_SAFE = ".safetensors"
_CHANNELS = 3
_PREPROCESS = ("mean", "std", "interpolation", "resize_mode")


class Notes(NamedTuple):
    """What is known of weights, and from where.

    `preprocess` may have mean and std, three numbers each, interpolation and resize_mode, all in
    open_clip's words.
    """

    source: str
    preprocess: Mapping[str, Any]
    quick_gelu: bool


def notes_of(weights: Path) -> Notes | None:
    """Return the notes of a weights file; None where there are none.

    Raises:
        CorruptFile: a head or a file beside it that does not say what notes say.
    """
    written = _written(weights) if weights.suffix == _SAFE else None
    if written is not None:
        return _of_training(weights, written)
    file = weights.with_name(BESIDE)
    return _of_folder(file) if file.is_file() else None


def beside(names: Iterable[str]) -> list[str]:
    """Return where notes may lie of those names that are weights files; not of tags and ids."""
    files = (Path(name) for name in names)
    return [str(file.with_name(BESIDE)) for file in files if file.suffix in WEIGHTS]


def training_notes(weights: Path) -> dict[str, Any]:
    """Return all that `isotope.train` wrote into the metadata of its weights.

    Raises:
        MissingFile, CorruptFile: weights that are not there, or not isotope's.
    """
    if not weights.is_file():
        raise MissingFile(weights, "no trained weights", "run the train phase")
    written = _written(weights)
    if written is None:
        raise CorruptFile(weights, "not weights of isotope (no notes)", "train again")
    return written


def _written(weights: Path) -> dict[str, Any] | None:
    notes_text = (head(weights).get("__metadata__") or {}).get("isotope")
    if notes_text is None:
        return None
    try:
        notes = json.loads(notes_text)
    except ValueError as error:
        raise CorruptFile(weights, f"notes that are not JSON ({error})", "train again") from error
    if not isinstance(notes, dict):
        raise CorruptFile(weights, f"notes {notes!r}", "train again")
    return notes


def _of_training(weights: Path, notes: Mapping[str, Any]) -> Notes:
    # Models of a configuration are squashed without a note that says so.
    squashed = {"resize_mode": "squash"} if "config" in notes else {}
    preprocess = {**squashed, **(notes.get("preprocess") or {})}
    return _checked(weights, Notes(str(weights), preprocess, bool(notes.get("quick_gelu"))))


def _of_folder(file: Path) -> Notes:
    try:
        described = json.loads(file.read_text(encoding="utf-8"))
        preprocess, model = dict(described.get("preprocess_cfg") or {}), described["model_cfg"]
        quick = bool(model.get("quick_gelu"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"no mapping of model_cfg and preprocess_cfg ({str(error)[:100]})"
        raise CorruptFile(file, problem, "fetch it again, or take it away") from error
    return _checked(file, Notes(str(file), preprocess, quick))


def _checked(file: Path, notes: Notes) -> Notes:
    preprocess = {
        k: notes.preprocess[k] for k in _PREPROCESS if notes.preprocess.get(k) is not None
    }
    for key in ("mean", "std"):
        if key in preprocess and not _is_colour(preprocess[key], key):
            problem = f"{key} {preprocess[key]!r} of pictures"
            raise CorruptFile(file, problem, "three numbers are needed, deviations above 0")
    return notes._replace(preprocess=preprocess)


def _is_colour(value: Any, key: str) -> bool:  # noqa: ANN401
    if not isinstance(value, list | tuple) or len(value) != _CHANNELS:
        return False
    least = 0.0 if key == "std" else -math.inf
    return all(isinstance(n, int | float) and least < n < math.inf for n in value)
