"""Vectors of pictures with words, for the models that join an image and the question on it.

A mix over frozen vectors needs side inputs of the model that it mixes: the questions on images and
the pictures of texts (`encode_side_inputs`); `encode_mix_shard` makes its vectors of all four. A
model that was trained whole encodes both at once (`encode_multimodal_shard`). What has no picture
has a black one, as in OVEN (Hu et al., ICCV 2023, section 5.1).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from PIL import Image

from isotope.core.exact import VectorShards
from isotope.core.pixels import batches, iter_pictures, places_by_picture
from isotope.core.progress import Progress
from isotope.core.vectors import FloatArray, created, write_ids
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles, iter_texts, slice_ids
from isotope.models import encoders
from isotope.models.encoders import ShapeBatches
from isotope.models.mix import Mix, Rows, load_mix
from isotope.models.multimodal import QUERY, TARGET, MultimodalEncoder
from isotope.params.sections import ModelKind

QUESTION, PICTURE = "question", "picture_id"
_ROWS = 8_192
_BLACK_PX = 224
_SIDE_INPUTS = ("question", "picture")


def encode_side_inputs(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    pixels: Sequence[Path],
    model: ModelKind,
    weights: Path | None,
    shard: int,
    shards: int,
    batch: int,
    outputs: Mapping[str, Path],
) -> None:
    """Encode the questions on a shard of the images, and the pictures of a shard of the texts.

    `outputs` has vectors and ids of `question_` and `picture_`.

    Raises:
        As `encode_questions` and `encode_pictures`.
    """
    encoding = Encoding(model, weights, batch, shard=shard, shards=shards)
    questions, pictures = (
        ShardFiles(outputs[f"{side}_vectors"], outputs[f"{side}_ids"]) for side in _SIDE_INPUTS
    )
    encode_questions(images, encoding, questions)
    encode_pictures(texts, pixels, encoding, pictures)


def encode_questions(images: Path, encoding: Encoding, files: ShardFiles) -> None:
    """Encode the `question` on each image of a shard as `encode_images` cuts them.

    An image without one has zeros, whose similarity to anything is 0.

    Raises:
        As `encode_texts`; MissingColumn: a collection without questions.
    """
    rows = slice_ids(images, "image_id", (QUESTION,), encoding)
    encoder = encoders.load(encoding.model, weights=encoding.weights)
    progress = Progress(f"questions encoded, {encoding.position}", len(rows))
    with created(files.vectors, (len(rows), encoder.dim), ids=rows) as block:
        for some in batches(iter_texts(images, rows, (QUESTION,), "image_id"), encoding.batch):
            span = slice(progress.done, progress.done + len(some))
            has_words = np.array([[bool(text)] for text in some])
            block[span] = np.where(has_words, encoder.encode_texts(some), 0)
            progress.add(len(some))
    write_ids(rows, files.ids)
    progress.finish()


def encode_pictures(
    texts: Path, pixels: Sequence[Path], encoding: Encoding, files: ShardFiles
) -> None:
    """Encode the picture of each text of a shard as `encode_texts` cuts them.

    Raises:
        As `encode_images`; MissingColumn: a collection whose texts have no pictures.
    """
    rows = slice_ids(texts, "text_id", (PICTURE,), encoding)
    encoder = encoders.load(encoding.model, weights=encoding.weights)
    places_of = places_by_picture(texts, "text_id", rows)
    progress = Progress(f"pictures encoded, {encoding.position}", len(places_of))
    with created(files.vectors, (len(rows), encoder.dim), ids=rows) as block:
        block[:] = encoder.encode_images([Image.new("RGB", (_BLACK_PX, _BLACK_PX))])
        for some in iter_pictures(places_of, pixels, encoding.batch):
            vectors = encoder.encode_images([image for _, image in some])
            for (picture, _), vector in zip(some, vectors, strict=True):
                block[places_of[picture]] = vector
            progress.add(len(some))
    write_ids(rows, files.ids)
    progress.finish()


def encode_mix_shard(
    *, weights: Path, inputs: Mapping[str, Path], outputs: Mapping[str, Path]
) -> None:
    """Mix the vectors of a shard: `inputs` has `models.mix.FILES`, one of each.

    `outputs` has vectors and ids of `text_` and `image_`, as `isotope.encode.shard` writes them.
    Rows are unit vectors for clip_fusion; for clip2clip their inner product is the weighted
    similarity.

    Raises:
        As `models.mix.load_mix`.
    """
    mix = load_mix(weights)
    for side, beside in (("images", "questions"), ("texts", "pictures")):
        main, other = VectorShards([inputs[side]]), VectorShards([inputs[beside]])
        ids = pl.read_parquet(inputs[f"{side}_ids"], glob=False)["id"]
        progress, vectors = Progress(f"{side} mixed", len(ids)), outputs[f"{side[:-1]}_vectors"]
        with created(vectors, (len(ids), _width(mix, main.dim)), ids=ids) as block:
            for start in range(0, len(ids), _ROWS):
                rows = np.arange(start, min(start + _ROWS, len(ids)))
                block[rows] = _rows(mix, side, main, other, rows)
                progress.add(len(rows))
        write_ids(ids, outputs[f"{side[:-1]}_ids"])
        progress.finish()


def _rows(
    mix: Mix, side: str, main: VectorShards, other: VectorShards, rows: Rows
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    mixed = mix.queries if side == "images" else mix.texts
    with torch.inference_mode():
        return mixed(torch.from_numpy(main.take(rows)), torch.from_numpy(other.take(rows))).numpy()


def _width(mix: Mix, dim: int) -> int:
    nothing = torch.zeros(1, dim)
    with torch.inference_mode():
        return int(mix.texts(nothing, nothing).shape[1])


def encode_multimodal_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    pixels: Sequence[Path],
    fields: Sequence[str],
    weights: Path,
    shard: int,
    shards: int,
    batch: int,
    precision: str = "float32",
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the images, each with its question, and of the texts with their pictures.

    `outputs` has text_vectors, text_ids, image_vectors and image_ids, as `encode_texts` writes and
    cuts them.

    Raises:
        MissingColumn: a collection without questions, or whose texts have no pictures.
        As `encode_images` and `models.multimodal.load_multimodal`.
    """
    encoder = MultimodalEncoder(weights)
    encoding = Encoding(ModelKind(), weights, batch, precision, shard, shards)
    sides = {
        "image": _Side(images, QUERY, "image_id", (QUESTION,)),
        "text": _Side(texts, TARGET, "text_id", fields),
    }
    for name, side in sides.items():
        columns = (*side.fields, PICTURE)
        rows = slice_ids(side.table, side.key, columns, encoding)
        size = len(rows), encoder.dim
        with created(outputs[f"{name}_vectors"], size, precision) as block:
            _fill(block, encoder, side, rows, (pixels, encoding))
        write_ids(rows, outputs[f"{name}_ids"])


class _Side(NamedTuple):
    table: Path
    encodes_as: str
    key: str
    fields: Sequence[str]


def _fill(
    block: FloatArray,
    encoder: MultimodalEncoder,
    side: _Side,
    rows: pl.Series,
    source: tuple[Sequence[Path], Encoding],
) -> None:
    pixels, encoding = source
    words = list(iter_texts(side.table, rows, side.fields, side.key))
    places_of = places_by_picture(side.table, side.key, rows)

    def encode(items: list[Any]) -> FloatArray:
        return encoder.encode(side.encodes_as, items)

    waiting, unfilled = ShapeBatches(block, encode, encoding.batch), np.ones(len(rows), np.bool_)
    progress = Progress(f"{side.encodes_as} encoded, {encoding.position}", len(rows))
    for some in iter_pictures(places_of, pixels, encoding.batch):
        for picture, image in some:
            for row in places_of[picture]:
                unfilled[row] = False
                waiting.add([row], (image, words[row]))
                progress.add()
    black = Image.new("RGB", (_BLACK_PX, _BLACK_PX))
    for row in np.flatnonzero(unfilled):
        waiting.add([int(row)], (black, words[row]))
        progress.add()
    waiting.finish()
    progress.finish()
