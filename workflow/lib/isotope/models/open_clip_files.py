"""The models, weights and tokenizers of open_clip, by its own files, and checks against them.

Importing open_clip takes seconds, reading its files milliseconds.
"""

import ast
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from isotope.core import extras
from isotope.core.errors import BadParams
from isotope.params.messages import suggest

CONFIGS = Path(__file__).parent
WEIGHTS = frozenset({".safetensors", ".pt", ".pth", ".bin"})
_NEEDED = {"embed_dim", "vision_cfg", "text_cfg"}
_QUICK = "quick_gelu"
# Of CLIP, where a configuration says nothing.
_PLACES = 77
# A tag, and whether its weights want QuickGELU.
Tags = Mapping[str, bool]


def are_here() -> bool:
    """Tell whether open_clip is installed; a plan demands it, reading what was built does not."""
    return extras.is_installed("open_clip")


def check_architecture(where: str, key: str, name: str) -> None:
    """Check that a name is one of open_clip's models, or a configuration of ours.

    Raises:
        BadParams: it is none.
    """
    names = configs() if key == "config" else architectures()
    if name not in names:
        raise BadParams(f"{where}.{key}", f"unknown name {name!r}", suggest(name, names))


def check_weights(where: str, name: str, tag: str | None) -> None:
    """Check that weights are a file, or a tag that open_clip has for a model.

    Raises:
        BadParams: they are neither.
    """
    tags_of_model = tags(name)
    is_file = any((tag or "").endswith(suffix) for suffix in WEIGHTS)
    if tag is not None and not is_file and tag.replace("-", "_").lower() not in tags_of_model:
        raise BadParams(
            f"{where}.pretrained", f"{name} has no weights {tag!r}", suggest(tag, tags_of_model)
        )


@cache
def architectures() -> list[str]:
    """Return the names of open_clip's models, sorted."""
    files = sorted((_home() / "model_configs").glob("*.json"))
    return [path.stem for path in files if set(_json(path)) >= _NEEDED]


def configs() -> list[str]:
    """Return the configurations that a model can be trained from: ours and open_clip's, sorted."""
    return sorted({*architectures(), *(path.stem for path in CONFIGS.glob("*.json"))})


def tokenizer(name: str) -> str | None:
    """Return whose tokenizer a configuration reads text with; None is CLIP's own.

    As `open_clip.get_tokenizer` has it.
    """
    configured = CONFIGS / f"{name}.json"
    path = configured if configured.is_file() else _home() / "model_configs" / f"{name}.json"
    named = _json(path)["text_cfg"].get("hf_tokenizer_name") if path.is_file() else None
    return named or ("SigLIP" if "siglip" in name.lower() else None)


def has_quick_gelu(name: str) -> bool:
    """Tell whether a model of open_clip has QuickGELU whatever its weights are."""
    return bool(_json(_home() / "model_configs" / f"{name}.json").get(_QUICK))


def places(name: str) -> int:
    """Return how many tokens of a text a model of open_clip has places for."""
    text = _json(_home() / "model_configs" / f"{name}.json")["text_cfg"]
    return int(text.get("context_length", _PLACES))


def tags(name: str) -> list[str]:
    """Return the tags of the weights that open_clip knows for a model, in its order."""
    tags_of = _pretrained()
    if name in tags_of:
        return list(tags_of[name])
    base = tags_of.get(name.removesuffix("-quickgelu"), {})
    return [tag for tag, quick in base.items() if quick and name.endswith("-quickgelu")]


def _home() -> Path:
    return extras.folder("open_clip")


def _json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _pretrained() -> dict[str, Tags]:
    """Read the literals of open_clip's pretrained.py: `_X = dict(tag=...)`, `_PRETRAINED`."""
    tree = ast.parse((_home() / "pretrained.py").read_text(encoding="utf-8"))
    named: dict[str, Tags] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if node.targets[0].id == "_PRETRAINED" and isinstance(node.value, ast.Dict):
            pairs = zip(node.value.keys, node.value.values, strict=True)
            return {str(ast.literal_eval(k)): _tags(v, named) for k, v in pairs if k}
        if isinstance(node.value, ast.Call):
            named[node.targets[0].id] = _tags(node.value, named)
    return {}


def _tags(value: ast.expr, named: Mapping[str, Tags]) -> Tags:
    if isinstance(value, ast.Name):
        return named.get(value.id, {})
    words = value.keywords if isinstance(value, ast.Call) else []
    return {word.arg: _is_quick(word.value) for word in words if word.arg}


def _is_quick(value: ast.expr) -> bool:
    words = value.keywords if isinstance(value, ast.Call) else []
    return any(
        w.arg == _QUICK and isinstance(w.value, ast.Constant) and bool(w.value.value) for w in words
    )
