"""What made a vector, as one digest: where two agree, equal contents have equal vectors.

Nothing that is declared tells all of it (a hub's newest revision, a driver, another processor), so
the model is also asked: its vectors of a few fixed items are part of the digest.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from isotope.core import provenance
from isotope.core.progress import log
from isotope.models.encoders import Encoder
from isotope.params.sections import model_kind

FloatArray = npt.NDArray[np.float32]
_T = TypeVar("_T")
_PACKAGES = ("numpy", "pillow", "torch", "torchvision", "open_clip_torch", "transformers", "timm")
_CODE = ("encode/shard.py", "encode/fill.py")
# They choose what is encoded, which the content tells, and not how.
_NOT_HOW = frozenset({"fields", "images", "summary"})
_SENTENCES = ("", "isotope", "Ein Bild, 一张图片")
_SIDES_PX = ((300, 200), (64, 64), (120, 260))


class How(NamedTuple):
    """What stands in the params about the encoding of a collection."""

    model: Mapping[str, object]
    weights: Path | None
    batch: int
    precision: str


def text_key(encoder: Encoder, how: How) -> str:
    """Return the key of the vectors that a model makes of texts; none has it where it is empty."""
    return _key("texts", how, encoder.encode_texts, list(_SENTENCES))


def picture_key(encoder: Encoder, how: How) -> str:
    """Return the key of the vectors that a model makes of pictures; likewise."""
    return _key("pictures", how, encoder.encode_images, [_picture(*px) for px in _SIDES_PX])


def digest(*files: Path) -> str:
    """Return the SHA-256 of files, one after the other."""
    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def _key(of: str, how: How, encode: Callable[[list[_T]], FloatArray], items: list[_T]) -> str:
    answer = _asked(encode, items, how.batch)
    if answer is None:
        log.warning("a vector of %s depends on its place in a batch: none is reused", how.model)
        return ""
    told = {
        "of": of,
        "model": {k: v for k, v in how.model.items() if k not in _NOT_HOW},
        "weights": digest(*_files(how)),
        "batch": how.batch,
        "precision": how.precision,
        "packages": {name: _version(name) for name in _PACKAGES},
        "code": digest(*(provenance.LIBRARY / file for file in _code(how.model))),
        "answer": hashlib.sha256(answer.tobytes()).hexdigest(),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _code(model: Mapping[str, object]) -> list[str]:
    """Return the files that make vectors of a kind of model; no other kind's are among them."""
    own = model_kind(model).code()
    return [*provenance.closure("models.encoders:load", own, "core.pixels"), *_CODE]


def _asked(
    encode: Callable[[list[_T]], FloatArray], items: list[_T], batch: int
) -> FloatArray | None:
    """Return the vectors of the items; None where one differs with its place in the batch."""
    items = items[: max(1, batch // 2)]
    found = encode(list(islice(cycle(items), batch)))
    expected = np.resize(found[: len(items)], found.shape)
    return found[: len(items)] if found.tobytes() == expected.tobytes() else None


def _files(how: How) -> list[Path]:
    """Return the files with a model's weights, where the params name any."""
    named = [Path(str(how.model[k])) for k in ("pretrained", "name") if how.model.get(k)]
    files = [p for each in named for p in ([each] if each.is_file() else sorted(each.rglob("*")))]
    return [p for p in (*([how.weights] if how.weights else []), *files) if p.is_file()]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _picture(width: int, height: int) -> Image.Image:
    ramp = np.add.outer(np.arange(height) * 3, np.arange(width) * 5)
    return Image.fromarray(np.stack([ramp, ramp * 7, ramp // 2], axis=-1).astype(np.uint8))
