"""Encode both sides of a collection with a CLIP2CLIP or CLIP Fusion that was trained whole."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from PIL import Image

from isotope.core.exact import Shards
from isotope.core.pixels import batches, iter_pictures, shown_by
from isotope.core.progress import Progress
from isotope.core.vectors import FloatArray, created, write_ids
from isotope.encode.fill import Batches
from isotope.encode.shard import iter_texts, slice_ids
from isotope.models import encoders
from isotope.models.mix import Mix, Rows, load_mix
from isotope.models.multimodal import QUERY, TARGET, MultimodalEncoder

_ROWS = 8_192


def encode_mix_shard(weights: Path, given: Mapping[str, Path], out: Mapping[str, Path]) -> None:
    """Encode a shard: `given` has `mix_data.FILES`, one of each.

    `out` gets texts, texts_ids, images and images_ids, as `isotope.encode.shard` writes them. Rows
    are unit vectors for clip_fusion; for clip2clip their inner product is the weighted similarity.

    Raises:
        As `models_mix.load_mix`.
    """
    mix = load_mix(weights)
    for side, beside in (("images", "questions"), ("texts", "pictures")):
        main, other = Shards([given[side]]), Shards([given[beside]])
        ids = pl.read_parquet(given[f"{side}_ids"])["id"]
        progress = Progress(f"{side} mixed", len(ids))
        with created(out[side], (len(ids), _width(mix, main.dim))) as block:
            for start in range(0, len(ids), _ROWS):
                rows = np.arange(start, min(start + _ROWS, len(ids)))
                block[rows] = _rows(mix, side, main, other, rows)
                progress.add(len(rows))
        write_ids(ids, out[f"{side}_ids"])
        progress.finish()


def _rows(
    mix: Mix, side: str, main: Shards, other: Shards, rows: Rows
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    mixed = mix.queries if side == "images" else mix.texts
    with torch.inference_mode():
        return mixed(torch.from_numpy(main.take(rows)), torch.from_numpy(other.take(rows))).numpy()


def _width(mix: Mix, dim: int) -> int:
    nothing = torch.zeros(1, dim)
    with torch.inference_mode():
        return int(mix.texts(nothing, nothing).shape[1])


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
