"""Whether a system is a model judge's own: made by the same weights, or by the same family.

A judge that grades its own finds may prefer them. What a system is made of is told by the names of
the weights behind it, those of its parts included; folders are compared by their content.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from isotope.params.references import local_names
from isotope.params.sections import ModelKind, SystemKind, parts_of

CHECKPOINT, FAMILY, NAMED = "same checkpoint", "same family", "named in the params"
# Models of other models, and systems of other systems, say so under these keys.
_MADE_OF = ("of", "from_", "weights_of", "images")
# What tells the members of a family apart: sizes such as 8B or 72b, and all behind them.
_SIZE = re.compile(r"[-_.]\d+(\.\d+)?[bm]([-_.].*)?$", re.IGNORECASE)


class Origin(NamedTuple):
    """What a system is made of: the systems in it, itself included, and names of weights.

    That of a judge has the systems that are called its own, and its own weights.
    """

    systems: Sequence[str]
    weights: Sequence[str]


def origin(
    system: str, systems: Mapping[str, SystemKind], models: Mapping[str, ModelKind]
) -> Origin:
    """Return what a system of the params is made of, each name once, sorted."""
    inside, waiting, weights = set[str](), [system], set[str]()
    while waiting:
        name = waiting.pop()
        if name in inside:
            continue
        inside.add(name)
        waiting += parts_of(systems[name])
        model: str = getattr(systems[name], "model", None) or ""
        if model in models:
            weights |= _weights(model, models)
    return Origin(sorted(inside & systems.keys()), sorted(weights))


def _weights(model: str, models: Mapping[str, ModelKind]) -> set[str]:
    weights, waiting, visited = set[str](), [model], set[str]()
    while waiting:
        entry = models[name := waiting.pop()]
        visited.add(name)
        weights |= {*local_names(entry)}
        linked = (getattr(entry, key, None) for key in _MADE_OF)
        waiting += [n for n in linked if isinstance(n, str) and n in models and n not in visited]
    return weights


def relation(judge: Origin, system_origin: Origin) -> str | None:
    """Return how a system belongs to a judge; None if it does not."""
    if {*judge.systems} & {*system_origin.systems}:
        return NAMED
    pairs = [*product(judge.weights, system_origin.weights)]
    if any(_same_weights(*pair) for pair in pairs):
        return CHECKPOINT
    return FAMILY if any(_same_family(*pair) for pair in pairs) else None


def _same_weights(first: str, second: str) -> bool:
    if first == second:
        return True
    folders = Path(first), Path(second)
    if not all(folder.is_dir() for folder in folders):
        return False
    files = [sorted(folder.rglob("*.safetensors")) for folder in folders]
    sizes = [sorted(path.stat().st_size for path in folder_files) for folder_files in files]
    if not files[0] or sizes[0] != sizes[1]:
        return False
    digests = [sorted(map(_digest, folder_files)) for folder_files in files]
    return digests[0] == digests[1]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _same_family(first: str, second: str) -> bool:
    names = sorted((family(first), family(second)), key=len)
    return bool(names[0]) and (names[0] == names[1] or names[1].startswith(f"{names[0]}-"))


def family(name: str) -> str:
    """Return a checkpoint's name without its owner, its size and what follows: qwen3-vl."""
    return _SIZE.sub("", name.rstrip("/").rpartition("/")[2]).lower()
