"""Encode a collection's texts and images into shards of L2-normalised float32 vectors.

The text of a section is its five fields in the order of the paper (Yang et al., AToMiC, SIGIR 2023,
section 5.1): page title, section title, hierarchy, section context, page context.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from isotope import models
from isotope.encode_fill import Batches, Out, filling
from isotope.encode_key import How, picture_key, text_key
from isotope.encode_pictures import batches, iter_pictures, shown_by
from isotope.encode_store import Vectors, load_vectors
from isotope.errors import BadParams, MissingColumn, MissingFile
from isotope.progress import Progress
from isotope.tables import FIVE_FIELDS

__all__ = ["Vectors", "batches", "encode_images", "encode_texts", "load_vectors"]

_TEXTS_PER_READ = 16_384


def encode_texts(  # noqa: PLR0913
    *,
    texts: Path,
    model: Mapping[str, object],
    weights: Path | None,
    fields: Sequence[str] = FIVE_FIELDS,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
    precision: str = "float32",
    earlier: Sequence[Path] = (),
) -> None:
    """Encode shard `shard` of `shards` contiguous slices of the texts in order of text_id.

    `vectors` gets [n, dim] in a precision of encode_store.PRECISIONS, `ids` the text_id of each
    row, and `encode_store.contents_of(vectors)` what the row was made of. A text that `earlier`,
    the vectors of another collection, has already is not encoded again.

    Raises:
        MissingFile, MissingColumn: a table or a field that is not there.
        BadParams: a shard outside 0..shards-1, or an empty batch.
        UnknownModel, CorruptFile, FetchFailed: see `isotope.models.load`.
    """
    rows = slice_ids(texts, "text_id", fields, shard, shards, batch)
    encoder = models.load(model, weights=weights)
    key = text_key(encoder, How(model, weights, batch, precision))
    progress = Progress(f"texts encoded, shard {shard + 1} of {shards}", len(rows))
    with filling(Out(vectors, ids, rows, precision, key), encoder.dim, earlier) as made:
        waiting = Batches(made.block, encoder.encode_texts, batch)
        for some in batches(enumerate(iter_texts(texts, rows, fields)), batch):
            new = [(place, text) for place, text in some if not made.has([place], text.encode())]
            shapes = encoder.shapes([text for _, text in new])
            for (place, text), shape in zip(new, shapes, strict=True):
                waiting.add([place], text, shape)
            progress.add(len(some))
        waiting.finish()
    progress.finish()


def encode_images(  # noqa: PLR0913
    *,
    images: Path,
    pixels: Sequence[Path],
    model: Mapping[str, object],
    weights: Path | None,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
    precision: str = "float32",
    earlier: Sequence[Path] = (),
) -> None:
    """Encode shard `shard` of `shards` contiguous slices of the images in order of image_id.

    `pixels` are the crawl's shards, streamed; an image shows the picture of its `picture_id` where
    the table has that column. `vectors`, `ids`, slices and `earlier` are as for texts.

    Raises:
        MissingFile: a table or shard that is not there, or an image without pixels.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
        BadParams, UnknownModel, FetchFailed: as for texts.
    """
    rows = slice_ids(images, "image_id", (), shard, shards, batch)
    encoder = models.load(model, weights=weights)
    shown = shown_by(images, "image_id", rows)
    key = picture_key(encoder, How(model, weights, batch, precision))
    progress = Progress(f"images encoded, shard {shard + 1} of {shards}", len(shown))
    with filling(Out(vectors, ids, rows, precision, key), encoder.dim, earlier) as made:
        waiting = Batches(made.block, encoder.encode_images, batch)

        def new(picture: str, webp: bytes) -> bool:
            progress.add()
            return not made.has(shown[picture], webp)

        for some in iter_pictures(shown, pixels, batch, new):
            for picture, image in some:
                waiting.add(shown[picture], image)
        waiting.finish()
    progress.finish()


def slice_ids(  # noqa: PLR0913, PLR0917
    table: Path, key: str, fields: Sequence[str], shard: int, shards: int, unit: int = 1
) -> pl.Series:
    """Return the sorted ids of one shard; shards are cut at multiples of `unit` rows.

    They differ in size by at most one unit.

    Raises:
        BadParams: no such shard, or a unit below 1.
        MissingFile, MissingColumn: no such table, or a field that it lacks.
    """
    if not 0 <= shard < shards:
        raise BadParams("encode", f"shard {shard} of {shards}", "count shards from 0")
    if unit < 1:
        raise BadParams("encode", f"batch {unit}", "use 1 or more")
    if not table.is_file():
        raise MissingFile(table, "no such table", "run the collect phase")
    rows = pl.scan_parquet(table)
    missing = {key, *fields} - set(rows.collect_schema().names())
    if missing:
        raise MissingColumn(table, f"no column {min(missing)!r}", "correct the model's `fields`")
    ids = rows.select(key).collect().to_series().sort()
    units = -(-len(ids) // unit)
    start, stop = (unit * (units * i // shards) for i in (shard, shard + 1))
    return ids[start:stop]


def iter_texts(
    table: Path, ids: pl.Series, fields: Sequence[str], key: str = "text_id"
) -> Iterator[str]:
    """Yield the fields of the rows with these sorted ids, joined, a few thousand in memory."""
    filled = [pl.col(f).str.strip_chars().replace("", None) for f in fields]
    joined = pl.concat_str(filled, separator=" ", ignore_nulls=True).fill_null("")
    for start in range(0, len(ids), _TEXTS_PER_READ):
        some = ids[start : start + _TEXTS_PER_READ]
        within = pl.col(key).is_between(pl.lit(some[0]), pl.lit(some[-1]))
        rows = pl.scan_parquet(table).filter(within).sort(key).select(joined.alias("text"))
        yield from rows.collect().to_series().to_list()
