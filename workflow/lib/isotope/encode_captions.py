"""Encode the images of a collection by what is said of them: the dense counterpart of the oracle.

An image's vector is the mean of its captions' vectors, L2-normalised, as sentence encoders stand
for images with several captions.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope import models, sql
from isotope.encode import batches, encode_images, slice_ids
from isotope.encode_store import created, write_ids
from isotope.models import Encoder
from isotope.progress import Progress, log

Floats = npt.NDArray[np.float32]
PIXELS, CAPTIONS = "pixels", "captions"
_IMAGES_AT_A_TIME = 4_096


class Spoken(NamedTuple):
    """The language of the captions, how many are encoded at a time, and how vectors are kept."""

    language: str
    batch: int
    precision: str = "float32"


def encode_seen(  # noqa: PLR0913
    *,
    images: Path,
    pixels: Sequence[Path],
    language: str,
    model: Mapping[str, object],
    weights: Path | None,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
    precision: str = "float32",
) -> None:
    """Encode a shard of the images by what stands for them: `model["images"]`, pixels if unsaid.

    Raises:
        As `encode.encode_images` and `encode_captions`.
    """
    if model.get("images", PIXELS) != CAPTIONS:
        common: dict[str, Any] = {"shard": shard, "shards": shards, "batch": batch}
        common |= {"model": model, "weights": weights, "vectors": vectors, "ids": ids}
        encode_images(images=images, pixels=pixels, precision=precision, **common)
        return
    encoder = models.load(model, weights=weights)
    rows = slice_ids(images, "image_id", ("language",), shard, shards, batch)
    encode_captions(images, rows, encoder, Spoken(language, batch, precision), vectors)
    write_ids(rows, ids)


def encode_captions(
    images: Path, rows: pl.Series, encoder: Encoder, spoken: Spoken, vectors: Path
) -> None:
    """Write a vector for each of the images `rows` (sorted ids), [n, dim].

    An image without a caption in the language is encoded as an empty text, as is a text whose
    fields are empty; their number is logged.

    Raises:
        BadParams: an empty batch.
        MissingFile: no such table of images.
    """
    progress, silent = Progress("images encoded by their captions", len(rows)), 0
    with created(vectors, (len(rows), encoder.dim), spoken.precision) as block:
        for ids, captions in _said(images, rows, spoken.language):
            silent += ids.len() - captions["image_id"].n_unique()
            here = slice(progress.done, progress.done + ids.len())
            block[here] = _means(ids, captions, encoder, spoken.batch)
            progress.add(ids.len())
    progress.finish()
    log.info("%d of %d images have no caption in %s", silent, len(rows), spoken.language)


def _said(images: Path, rows: pl.Series, language: str) -> Iterator[tuple[pl.Series, pl.DataFrame]]:
    for start in range(0, len(rows), _IMAGES_AT_A_TIME):
        ids = rows[start : start + _IMAGES_AT_A_TIME]
        asked = {"first": ids[0], "last": ids[-1], "language": language}
        found = sql.query(sql.SQL / "encode/captions.sql", {"images": images}, asked)
        yield ids, pl.DataFrame() if found is None else found


def _means(ids: pl.Series, captions: pl.DataFrame, encoder: Encoder, batch: int) -> Floats:
    every = ids.to_frame().join(captions, on="image_id", how="left", maintain_order="left_right")
    texts = iter(every["caption"].fill_null("").to_list())
    vectors = np.concatenate([encoder.encode_texts(some) for some in batches(texts, batch)])
    first = np.flatnonzero(every["image_id"].is_first_distinct().to_numpy())
    sums = np.add.reduceat(vectors.astype(np.float64), first, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # ASSUME captions that cancel out exactly say nothing; their vector stays zero.
    return (sums / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)
