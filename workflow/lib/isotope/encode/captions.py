"""Encode the images of a collection by what is said of them: the dense counterpart of the oracle.

An image's vector is the mean of its captions' vectors, as the model leaves them, L2-normalised:
Lymperaiou et al., COLING 2022, section 3.2.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.progress import Progress, log
from isotope.encode.fill import Filling, Out, filling, means
from isotope.encode.key import How, text_key
from isotope.encode.shard import encode_images, slice_ids
from isotope.models import encoders
from isotope.models.encoders import Encoder

PIXELS, CAPTIONS = "pixels", "captions"
_IMAGES_AT_A_TIME = 4_096


class Spoken(NamedTuple):
    """The language of the captions, and how many are encoded at a time."""

    language: str
    batch: int


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
    earlier: Sequence[Path] = (),
    features: Sequence[Path] = (),
) -> None:
    """Encode a shard of the images by what stands for them: `model["images"]`, pixels if unsaid.

    Raises:
        As `encode.encode_images` and `encode_captions`.
    """
    if model.get("images", PIXELS) != CAPTIONS:
        common: dict[str, Any] = {"shard": shard, "shards": shards, "batch": batch}
        common |= {"model": model, "weights": weights, "vectors": vectors, "ids": ids}
        common |= {"precision": precision, "earlier": earlier}
        encode_images(images=images, pixels=pixels, features=features, **common)
        return
    encoder = encoders.load(model, weights=weights)
    rows = slice_ids(images, "image_id", ("language",), shard, shards, batch)
    key = text_key(encoder, How(model, weights, batch, precision))
    out = Out(vectors, ids, rows, precision, key)
    encode_captions(images, encoder, Spoken(language, batch), out, earlier)


def encode_captions(
    images: Path, encoder: Encoder, spoken: Spoken, out: Out, earlier: Sequence[Path] = ()
) -> None:
    """Write a vector for each of the images `out.ids` (sorted), [n, dim].

    An image without a caption in the language is encoded as an empty text, as is a text whose
    fields are empty; their number is logged.

    Raises:
        BadParams: an empty batch.
        MissingFile: no such table of images.
    """
    progress, silent = Progress("images encoded by their captions", len(out.ids)), 0
    with filling(out, encoder.dim, earlier) as made:
        for ids, captions in _said(images, out.ids, spoken.language):
            silent += ids.len() - captions["image_id"].n_unique()
            every = ids.to_frame().join(
                captions, on="image_id", how="left", maintain_order="left_right"
            )
            every = every.with_columns(pl.col("caption").fill_null(""))
            said = every.group_by("image_id", maintain_order=True).agg("caption")["caption"]
            _fill(made, progress.done, said.to_list(), encoder, spoken.batch)
            progress.add(ids.len())
    progress.finish()
    log.info("%d of %d images have no caption in %s", silent, len(out.ids), spoken.language)


def _said(images: Path, rows: pl.Series, language: str) -> Iterator[tuple[pl.Series, pl.DataFrame]]:
    for start in range(0, len(rows), _IMAGES_AT_A_TIME):
        ids = rows[start : start + _IMAGES_AT_A_TIME]
        asked = {"first": ids[0], "last": ids[-1], "language": language}
        found = sql.query(sql.SQL / "encode/captions.sql", {"images": images}, asked)
        yield ids, pl.DataFrame() if found is None else found


def _fill(made: Filling, first: int, said: list[list[str]], encoder: Encoder, batch: int) -> None:
    """Fill the rows from `first` on: one for each image's captions."""
    told = [(first + n, captions) for n, captions in enumerate(said)]
    new = [each for each in told if not made.has([each[0]], json.dumps(each[1]).encode())]
    if new:
        made.block[[place for place, _ in new]] = means([c for _, c in new], encoder, batch)
