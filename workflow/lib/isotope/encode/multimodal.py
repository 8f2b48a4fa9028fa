"""Encode both sides of a collection with a CLIP2CLIP or CLIP Fusion that was trained whole."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from PIL import Image

from isotope.core.picture_rows import iter_pictures, shown_by
from isotope.core.progress import Progress
from isotope.core.vectors import FloatArray, created, write_ids
from isotope.encode.beside import PICTURE, QUESTION
from isotope.encode.fill import Batches
from isotope.encode.shard import iter_texts, slice_ids
from isotope.models.multimodal import QUERY, TARGET, MultimodalEncoder

_BLACK_PX = 224


class Part(NamedTuple):
    """A shard of `shards`, in which batches, and the precision of its vectors."""

    shard: int
    shards: int
    batch: int
    precision: str = "float32"


class _Of(NamedTuple):
    table: Path
    side: str
    key: str
    fields: Sequence[str]


def encode_multimodal(  # noqa: PLR0913
    tables: Mapping[str, Path],
    pixels: Sequence[Path],
    fields: Sequence[str],
    *,
    weights: Path,
    part: Part,
    out: Mapping[str, Path],
) -> None:
    """Encode a shard of the images, each with its question, and of the texts with their pictures.

    `tables` has texts and images, `out` texts, texts_ids, images and images_ids, as
    `encode.encode_texts` writes and cuts them. What has no picture has a black one, as in OVEN
    (Hu et al., ICCV 2023, section 5.1).

    Raises:
        MissingColumn: a collection without questions, or whose texts have no pictures.
        As `encode.encode_images` and `models_multimodal.load_multimodal`.
    """
    encoder = MultimodalEncoder(weights)
    sides = {
        "images": _Of(tables["images"], QUERY, "image_id", (QUESTION,)),
        "texts": _Of(tables["texts"], TARGET, "text_id", fields),
    }
    for name, of in sides.items():
        rows = slice_ids(
            of.table, of.key, (*of.fields, PICTURE), part.shard, part.shards, part.batch
        )
        with created(out[name], (len(rows), encoder.dim), part.precision) as block:
            _fill(block, encoder, of, rows, pixels, part)
        write_ids(rows, out[f"{name}_ids"])


def _fill(  # noqa: PLR0913, PLR0917
    block: FloatArray,
    encoder: MultimodalEncoder,
    of: _Of,
    rows: pl.Series,
    pixels: Sequence[Path],
    part: Part,
) -> None:
    words = list(iter_texts(of.table, rows, of.fields, of.key))
    shown = shown_by(of.table, of.key, rows)

    def encode(items: list[Any]) -> FloatArray:
        return encoder.encode(of.side, items)

    waiting, bare = Batches(block, encode, part.batch), np.ones(len(rows), np.bool_)
    progress = Progress(f"{of.side} encoded, shard {part.shard + 1} of {part.shards}", len(rows))
    for some in iter_pictures(shown, pixels, part.batch):
        for picture, image in some:
            for place in shown[picture]:
                bare[place] = False
                waiting.add([place], (image, words[place]))
                progress.add()
    black = Image.new("RGB", (_BLACK_PX, _BLACK_PX))
    for place in np.flatnonzero(bare):
        waiting.add([int(place)], (black, words[place]))
        progress.add()
    waiting.finish()
    progress.finish()
