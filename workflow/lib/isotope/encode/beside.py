"""What stands beside a collection's items: the question on an image, the picture of a text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from isotope.core.picture_rows import batches, iter_pictures, shown_by
from isotope.core.progress import Progress
from isotope.core.vectors import created, write_ids
from isotope.encode.shard import iter_texts, slice_ids
from isotope.models import encoders

QUESTION, PICTURE = "question", "picture_id"
_BLACK_PX = 224


def encode_questions(  # noqa: PLR0913
    *,
    images: Path,
    model: Mapping[str, object],
    weights: Path | None,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
) -> None:
    """Encode the `question` on each image of a shard as `encode.encode_images` cuts them.

    An image without one has zeros, which are like nothing.

    Raises:
        As `encode.encode_texts`; MissingColumn: a collection without questions.
    """
    rows = slice_ids(images, "image_id", (QUESTION,), shard, shards, batch)
    encoder = encoders.load(model, weights=weights)
    progress = Progress(f"questions encoded, shard {shard + 1} of {shards}", len(rows))
    with created(vectors, (len(rows), encoder.dim)) as block:
        for some in batches(iter_texts(images, rows, (QUESTION,), "image_id"), batch):
            here = slice(progress.done, progress.done + len(some))
            asked = np.array([[bool(text)] for text in some])
            block[here] = np.where(asked, encoder.encode_texts(some), 0)
            progress.add(len(some))
    write_ids(rows, ids)
    progress.finish()


def encode_pictures(  # noqa: PLR0913
    *,
    texts: Path,
    pixels: Sequence[Path],
    model: Mapping[str, object],
    weights: Path | None,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
) -> None:
    """Encode the picture of each text of a shard as `encode.encode_texts` cuts them.

    A text without one has a black picture, as in OVEN (Hu et al., ICCV 2023, section 5.1).

    Raises:
        As `encode.encode_images`; MissingColumn: a collection whose texts have no pictures.
    """
    rows = slice_ids(texts, "text_id", (PICTURE,), shard, shards, batch)
    encoder = encoders.load(model, weights=weights)
    shown = shown_by(texts, "text_id", rows)
    progress = Progress(f"pictures encoded, shard {shard + 1} of {shards}", len(shown))
    with created(vectors, (len(rows), encoder.dim)) as block:
        block[:] = encoder.encode_images([Image.new("RGB", (_BLACK_PX, _BLACK_PX))])
        for some in iter_pictures(shown, pixels, batch):
            found = encoder.encode_images([image for _, image in some])
            for (picture, _), vector in zip(some, found, strict=True):
                block[shown[picture]] = vector
            progress.add(len(some))
    write_ids(rows, ids)
    progress.finish()
