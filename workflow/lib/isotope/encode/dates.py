"""Encode a collection's texts by their probable years, and its images by their dates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from isotope.core.pixels import batches
from isotope.core.progress import Progress
from isotope.core.vectors import created, write_ids
from isotope.encode.shard import iter_texts, slice_ids
from isotope.models.dates import WHOLE, fold_of, load, years_of

_TEXTS_AT_A_TIME = 4_096


def encode_dates_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    weights: Path,
    fields: Sequence[str],
    column: str,
    shard: int,
    shards: int,
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the texts by `fields` and one of the images by the dates in `column`.

    `outputs` has text_vectors, text_ids, image_vectors and image_ids.

    Raises:
        As `encode_dated_texts` and `encode_dated_images`.
    """
    part = (shard, shards)
    sides = {
        side: {"vectors": outputs[f"{side}_vectors"], "ids": outputs[f"{side}_ids"]}
        for side in ("text", "image")
    }
    encode_dated_texts(texts, fields, weights, part, sides["text"])
    encode_dated_images(images, column, weights, part, sides["image"])


def encode_dated_texts(
    texts: Path, fields: Sequence[str], model: Path, part: tuple[int, int], out: Mapping[str, Path]
) -> None:
    """Encode shard `part` (n, of how many) of the texts; `out` has the paths vectors and ids.

    A training text is judged by a model that has not learned from its fold.

    Raises:
        As `encode_texts` and `models.dates.load`.
    """
    dated = load(model)
    rows = slice_ids(texts, "text_id", fields, *part)
    learned = set(pl.scan_parquet(texts).filter(split="train").collect()["text_id"])
    folds = [fold_of(i, len(dated.counts.texts)) if i in learned else WHOLE for i in rows]
    progress = Progress("texts dated", len(rows))
    with created(out["vectors"], (len(rows), dated.dim)) as block:
        for some in batches(iter_texts(texts, rows, fields), _TEXTS_AT_A_TIME):
            here = slice(progress.done, progress.done + len(some))
            block[here] = dated.encode_texts(some, folds[here])
            progress.add(len(some))
    write_ids(rows, out["ids"])
    progress.finish()


def encode_dated_images(
    images: Path, column: str, model: Path, part: tuple[int, int], out: Mapping[str, Path]
) -> None:
    """Encode shard `part` (n, of how many) of the images by their dates; pixels are not read.

    Raises:
        As `encode_images`, `models.dates.load` and `models.dates.years_of`.
    """
    dated = load(model)
    rows = slice_ids(images, "image_id", (), *part)
    table = pl.read_parquet(images)
    years = table.select("image_id").with_columns(years_of(table, column, images).alias("year"))
    own = rows.to_frame().join(years, on="image_id", how="left", maintain_order="left")
    with created(out["vectors"], (len(rows), dated.dim)) as block:
        block[:] = dated.encode_years(own["year"])
    write_ids(rows, out["ids"])
