"""Encode a collection's texts and images into shards of L2-normalised float32 vectors.

The text of a section is its five fields in the order of the paper (Yang et al., AToMiC, SIGIR 2023,
section 5.1): page title, section title, hierarchy, section context, page context. What stands for
an image is its pixels, or its captions: then its vector is the mean of its captions' vectors, as
the model leaves them, L2-normalised (Lymperaiou et al., COLING 2022, section 3.2).

A shard is a slice of the ids in their order, cut at multiples of the batch, so that every item is
in the same batch whatever the number of shards. Rows that an earlier collection has are copied from
there (`isotope.encode.cache`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.errors import BadParams, MissingColumn, MissingFile
from isotope.core.pixels import batches, iter_pictures, shown_by
from isotope.core.progress import Progress, log
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.vectors import load_vectors
from isotope.encode.cache import Filling, How, Out, filling, picture_key, text_key
from isotope.models import encoders
from isotope.models.encoders import LINES, WHOLE, Batches, Encode, Encoder, lines, means, text_of

PIXELS, CAPTIONS = "pixels", "captions"
_TEXTS_PER_READ = 16_384
_IMAGES_PER_READ = 4_096


def encode_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    pixels: Sequence[Path],
    model: Mapping[str, object],
    weights: Path | None,
    features: Sequence[Path],
    earlier: Sequence[Path],
    fields: Sequence[str],
    language: str,
    shard: int,
    shards: int,
    batch: int,
    precision: str,
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the texts by `fields`, then one of the images by what stands for them.

    `earlier` are the shards of another collection, in folders `texts` and `images`, with the tables
    of their contents. `outputs` has text_vectors and text_ids, image_vectors and image_ids;
    contents lie beside the vectors.

    Raises:
        As `encode_texts` and `encode_shown`.
    """
    how: dict[str, Any] = {"model": model, "weights": weights, "shard": shard, "shards": shards}
    how |= {"batch": batch, "precision": precision}
    encode_texts(
        texts=texts,
        fields=fields,
        earlier=_side(earlier, "texts"),
        vectors=outputs["text_vectors"],
        ids=outputs["text_ids"],
        **how,
    )
    encode_shown(
        images=images,
        pixels=pixels,
        language=language,
        features=features,
        earlier=_side(earlier, "images"),
        vectors=outputs["image_vectors"],
        ids=outputs["image_ids"],
        **how,
    )


def encode_texts_shard(  # noqa: PLR0913
    *,
    texts: Path,
    model: Mapping[str, object],
    weights: Path | None,
    earlier: Sequence[Path],
    fields: Sequence[str],
    shard: int,
    shards: int,
    batch: int,
    precision: str,
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the texts alone, as `encode_shard` does.

    Raises:
        As `encode_texts`.
    """
    encode_texts(
        texts=texts,
        model=model,
        weights=weights,
        fields=fields,
        shard=shard,
        shards=shards,
        batch=batch,
        precision=precision,
        earlier=_side(earlier, "texts"),
        vectors=outputs["text_vectors"],
        ids=outputs["text_ids"],
    )


def _side(earlier: Sequence[Path], side: str) -> list[Path]:
    return [path for path in earlier if path.parent.name == side and path.suffix == ".npy"]


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

    `vectors` gets [n, dim] in a precision of core.vectors.PRECISIONS, `ids` the text_id of each
    row, and `core.vectors.contents_of(vectors)` what the row was made of. A text that `earlier`,
    shards of another collection, has already is not encoded again. Where `model["texts"]` is
    `lines`, a text's vector is the mean of its lines' (`models.fill.means`).

    Raises:
        MissingFile, MissingColumn: a table or a field that is not there.
        BadParams: a shard outside 0..shards-1, or an empty batch.
        UnknownModel, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    rows = slice_ids(texts, "text_id", fields, shard, shards, batch)
    encoder = encoders.load(model, weights=weights)
    key = text_key(encoder, How(model, weights, batch, precision))
    progress = Progress(f"texts encoded, shard {shard + 1} of {shards}", len(rows))
    with filling(Out(vectors, ids, rows, precision, key), encoder.dim, earlier) as filled:
        fill = _fill_lines if model.get("texts", WHOLE) == LINES else _fill_texts
        numbered = batches(enumerate(iter_texts(texts, rows, fields)), batch)
        fill(filled, _new(filled, numbered, progress), encoder, batch)
    progress.finish()


def _new(
    filled: Filling, numbered: Iterable[list[tuple[int, str]]], progress: Progress
) -> Iterator[list[tuple[int, str]]]:
    """Yield what is to be encoded of each batch of texts and their places."""
    for some in numbered:
        yield [(place, text) for place, text in some if not filled.copy([place], text.encode())]
        progress.add(len(some))


def _fill_texts(
    filled: Filling, texts: Iterable[list[tuple[int, str]]], encoder: Encoder, batch: int
) -> None:
    waiting = Batches(filled.block, encoder.encode_texts, batch)
    for new in texts:
        shapes = encoder.shapes([text for _, text in new])
        for (place, text), shape in zip(new, shapes, strict=True):
            waiting.add([place], text, shape)
    waiting.finish()


def _fill_lines(
    filled: Filling, texts: Iterable[list[tuple[int, str]]], encoder: Encoder, batch: int
) -> None:
    for new in filter(None, texts):
        places = [place for place, _ in new]
        filled.block[places] = means([lines(text) for _, text in new], encoder, batch)


def encode_shown(  # noqa: PLR0913
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
    """Encode a shard of the images by what stands for them: `model["images"]`, pixels by default.

    Raises:
        As `encode_images` and `encode_captions`.
    """
    if model.get("images", PIXELS) != CAPTIONS:
        how: dict[str, Any] = {"model": model, "weights": weights, "vectors": vectors, "ids": ids}
        how |= {"shard": shard, "shards": shards, "batch": batch, "precision": precision}
        encode_images(images=images, pixels=pixels, features=features, earlier=earlier, **how)
        return
    encoder = encoders.load(model, weights=weights)
    rows = slice_ids(images, "image_id", ("language",), shard, shards, batch)
    key = text_key(encoder, How(model, weights, batch, precision))
    out = Out(vectors, ids, rows, precision, key)
    encode_captions(images, encoder, Spoken(language, batch), out, earlier)


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
    features: Sequence[Path] = (),
) -> None:
    """Encode shard `shard` of `shards` contiguous slices of the images in order of image_id.

    `pixels` are the crawl's shards, streamed; an image shows the picture of its `picture_id` where
    the table has that column. `vectors`, `ids`, slices and `earlier` are as for texts. `features`,
    a block and its ids, is what `train_heads` has made of pictures: the model's tower encodes none
    of those again.

    Raises:
        MissingFile: a table or shard that is not there, or an image without pixels.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
        BadParams, UnknownModel, FetchFailed: as for texts.
    """
    rows = slice_ids(images, "image_id", (), shard, shards, batch)
    encoder = encoders.load(model, weights=weights)
    shown = shown_by(images, "image_id", rows)
    key = picture_key(encoder, How(model, weights, batch, precision))
    progress = Progress(f"images encoded, shard {shard + 1} of {shards}", len(shown))
    with filling(Out(vectors, ids, rows, precision, key), encoder.dim, earlier) as filled:
        waiting = Batches(filled.block, encoder.encode_images, batch)
        ready = _Features(features, Batches(filled.block, _head(encoder), batch))

        def new(picture: str, webp: bytes) -> bool:
            progress.add()
            copied = filled.copy(shown[picture], webp)
            return not copied and not ready.add(shown[picture], picture)

        for some in iter_pictures(shown, pixels, batch, new):
            for picture, image in some:
                waiting.add(shown[picture], image)
        waiting.finish()
        ready.finish()
    progress.finish()


class _Features:
    """What a frozen tower has made of pictures, on its way through the heads."""

    def __init__(self, features: Sequence[Path], waiting: Batches) -> None:
        self._waiting = waiting
        loaded = load_vectors(features[:1], features[1:]) if features else None
        self._block = loaded.blocks[0] if loaded else None
        self._rows = {picture: row for row, picture in enumerate(loaded.ids)} if loaded else {}

    def add(self, places: Sequence[int], picture: str) -> bool:
        """Fill the rows of a picture that has features; return whether it has."""
        if self._block is None or picture not in self._rows:
            return False
        self._waiting.add(places, self._block[self._rows[picture]])
        return True

    def finish(self) -> None:
        self._waiting.finish()


def _head(encoder: Encoder) -> Encode:
    """Return what makes vectors of features: only a model with heads over a tower can."""
    return getattr(encoder, "encode_features", encoder.encode_images)


class Spoken(NamedTuple):
    """The language of the captions, and how many are encoded at a time."""

    language: str
    batch: int


def encode_captions(
    images: Path, encoder: Encoder, spoken: Spoken, out: Out, earlier: Sequence[Path] = ()
) -> None:
    """Write a vector for each of the images `out.ids` (sorted), [n, dim], by its captions.

    An image without a caption in the language is encoded as an empty text, as is a text whose
    fields are empty; their number is logged.

    Raises:
        BadParams: an empty batch.
        MissingFile: no such table of images.
    """
    progress, silent = Progress("images encoded by their captions", len(out.ids)), 0
    with filling(out, encoder.dim, earlier) as filled:
        for ids, captions in _captions(images, out.ids, spoken.language):
            silent += ids.len() - captions["image_id"].n_unique()
            every = ids.to_frame().join(
                captions, on="image_id", how="left", maintain_order="left_right"
            )
            every = every.with_columns(pl.col("caption").fill_null(""))
            groups = every.group_by("image_id", maintain_order=True).agg("caption")["caption"]
            _fill_captions(filled, progress.done, groups.to_list(), encoder, spoken.batch)
            progress.add(ids.len())
    progress.finish()
    log.info("%d of %d images have no caption in %s", silent, len(out.ids), spoken.language)


def _captions(
    images: Path, rows: pl.Series, language: str
) -> Iterator[tuple[pl.Series, pl.DataFrame]]:
    for start in range(0, len(rows), _IMAGES_PER_READ):
        ids = rows[start : start + _IMAGES_PER_READ]
        params = {"first": ids[0], "last": ids[-1], "language": language}
        captions = sql.query(sql.SQL / "encode/captions.sql", {"images": images}, params)
        yield ids, pl.DataFrame() if captions is None else captions


def _fill_captions(
    filled: Filling, first: int, groups: list[list[str]], encoder: Encoder, batch: int
) -> None:
    """Fill the rows from `first` on: one for each image's captions."""
    numbered = enumerate(groups, first)
    new = [(n, own) for n, own in numbered if not filled.copy([n], json.dumps(own).encode())]
    if new:
        filled.block[[n for n, _ in new]] = means([own for _, own in new], encoder, batch)


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
    """Yield `text_of` the rows with these sorted ids, a few thousand in memory."""
    for start in range(0, len(ids), _TEXTS_PER_READ):
        some = ids[start : start + _TEXTS_PER_READ]
        within = pl.col(key).is_between(pl.lit(some[0]), pl.lit(some[-1]))
        rows = pl.scan_parquet(table).filter(within).sort(key).select(text_of(fields))
        yield from rows.collect().to_series().to_list()
