"""The style of every image, by zero-shot classification of vectors that a system has anyway."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.progress import Progress
from isotope.core.vectors import load_vectors
from isotope.models import encoders
from isotope.models.encoders import Encoder
from isotope.params.sections import ModelKind
from isotope.schemas.tabulate import STYLES

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
    texts = [prompt.replace(STYLE, name) for name in classes for prompt in prompts]
    vectors = encoder.encode_texts(texts).reshape(len(classes), len(prompts), -1)
    means = vectors.mean(axis=1, dtype=np.float64)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    if not lengths.all():
        raise BadParams("tabulate.styles.prompts", "prompts that cancel out", "use other prompts")
    return (means / lengths).astype(np.float32)


def style_names(classes: Sequence[str]) -> list[str]:
    """Return what stands before the colon of each `<style>: <description>` (AToMiC, section B.1).

    Raises:
        BadParams: two classes of one style.
    """
    names = [name.partition(":")[0].strip() for name in classes]
    if twice := [name for name in names if names.count(name) > 1]:
        problem = f"two classes are called {twice[0]!r}"
        raise BadParams("tabulate.styles.classes", problem, "give each style one class")
    return names


def styles_table(  # noqa: PLR0913
    vectors: Sequence[Path],
    ids: Sequence[Path],
    *,
    model: ModelKind,
    weights: Path | None,
    classes: Sequence[str],
    prompts: Sequence[str],
    out: Path,
) -> None:
    """Write schemas.STYLES: for every encoded image the nearest class and its cosine.

    A class may be `<style>: <description>`; prompts have all of it, the table the style.

    `vectors` and `ids` are the shards of the images that `model` encoded; they are mapped, so
    memory does not grow with them. Of equally near classes the first in the list is taken.

    Raises:
        BadParams: see `class_weights` and `style_names`.
        As `isotope.models.encoders.load` and `isotope.core.vectors.load_vectors`.
    """
    names = np.array(style_names(classes))
    encoded = load_vectors(vectors, ids)
    heads = class_weights(encoders.load(model, weights=weights), classes, prompts).T
    progress = Progress("images classified", len(encoded))
    with store.writer(out, STYLES) as writer:
        for block in encoded.blocks:
            for start in range(0, len(block), _ROWS):
                cosines = block[start : start + _ROWS].astype(np.float32) @ heads
                best = cosines.argmax(axis=1)
                columns = {
                    "image_id": encoded.ids.slice(progress.done, len(best)).to_arrow(),
                    "style": pa.array(names[best].tolist(), pa.string()),
                    "score": cosines.max(axis=1).astype(np.float64),
                }
                writer.write_table(pa.table(columns).cast(STYLES))
                progress.add(len(best))
    progress.finish()
