"""The style of every image, by zero-shot classification of vectors that a system has anyway."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from isotope import models, store, tables
from isotope.encode_store import load_vectors
from isotope.errors import BadParams
from isotope.models import Encoder
from isotope.progress import Progress

Floats = npt.NDArray[np.float32]
STYLE = "{style}"
_ROWS = 65_536


def class_weights(encoder: Encoder, classes: Sequence[str], prompts: Sequence[str]) -> Floats:
    """Return a unit vector a class, float32 [classes, dim]: the mean of its prompts' vectors.

    This is how CLIP ensembles prompts (Radford et al., ICML 2021, section 3.1.4).

    Raises:
        BadParams: a prompt without `{style}`, or a class whose prompts cancel out.
    """
    if plain := [prompt for prompt in prompts if STYLE not in prompt]:
        raise BadParams("tabulate.styles.prompts", f"{plain[0]!r}", f"write {STYLE} in each")
    asked = [prompt.replace(STYLE, name) for name in classes for prompt in prompts]
    vectors = encoder.encode_texts(asked).reshape(len(classes), len(prompts), -1)
    means = vectors.mean(axis=1, dtype=np.float64)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    if not lengths.all():
        raise BadParams("tabulate.styles.prompts", "prompts that cancel out", "use other prompts")
    return (means / lengths).astype(np.float32)


def styles_table(  # noqa: PLR0913
    vectors: Sequence[Path],
    ids: Sequence[Path],
    *,
    model: Mapping[str, Any],
    weights: Path | None,
    classes: Sequence[str],
    prompts: Sequence[str],
    out: Path,
) -> None:
    """Write tables.STYLES: for every encoded image the nearest class and its cosine.

    `vectors` and `ids` are the shards of the images that `model` encoded; they are mapped, so
    memory does not grow with them. Of equally near classes the first in the list is taken.

    Raises:
        BadParams: see `class_weights`.
        As `isotope.models.load` and `isotope.encode_store.load_vectors`.
    """
    encoded = load_vectors(vectors, ids)
    heads = class_weights(models.load(model, weights=weights), classes, prompts).T
    names = np.array(classes)
    progress = Progress("images classified", len(encoded))
    with store.writer(out, tables.STYLES) as writer:
        for block in encoded.blocks:
            for start in range(0, len(block), _ROWS):
                cosines = block[start : start + _ROWS].astype(np.float32) @ heads
                best = cosines.argmax(axis=1)
                found = {
                    "image_id": encoded.ids.slice(progress.done, len(best)).to_arrow(),
                    "style": pa.array(names[best].tolist(), pa.string()),
                    "score": cosines.max(axis=1).astype(np.float64),
                }
                writer.write_table(pa.table(found).cast(tables.STYLES))
                progress.add(len(best))
    progress.finish()
