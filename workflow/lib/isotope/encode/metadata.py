"""What stands for an image without its pixels: a summary of its captions, or its date.

A summary is one sentence in place of the captions (Lymperaiou et al., COLING 2022, arXiv
2209.03723): an abstractive summary by T5 or Pegasus, which is then encoded; or a table of summaries
that somebody has made. By the temporal model (`models.dates`) texts have vectors by their
probable years, and images by their dates.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.core.errors import EmptyTable, MissingColumn, MissingFile
from isotope.core.pixels import batches
from isotope.core.progress import Progress
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.vectors import created, write_ids
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles, iter_texts, slice_ids
from isotope.intake.tables import frame
from isotope.models.dates import NO_FOLD, DatesModel, fold_of, load_dates, years_of
from isotope.params.sections import ModelKind
from isotope.params.summary import Summaries
from isotope.schemas.collect import IMAGES

_TEXTS_AT_A_TIME = 4_096
_IMAGES_AT_A_TIME = 1_024
_KEYS = ("image_id", "image_url")


def write_summaries(
    *, images: Path, spec: Summaries, language: str, batch: int, summaries: Path
) -> None:
    """Write IMAGES with one reference caption in `language` each: the summary.

    `spec` has `file`, a csv or Parquet table of image_id or image_url and summary, or the `name` of
    a model (and revision, prefix). An image without captions keeps none.

    Raises:
        MissingFile, MissingColumn, EmptyTable: a table that is not one, or that fits no image.
        IsotopeError: as `models.transformers.Summarizer`.
    """
    ids = pl.read_parquet(images, columns=["image_id", "image_url"], glob=False).sort("image_id")
    if spec.file:
        summary_of = _from_file(Path(spec.file), ids)
    else:
        summary_of = dict(_from_model(images, ids["image_id"], spec, (language, batch)))
    with store.writer(summaries, IMAGES) as file:
        collection = pl.read_parquet(images, columns=IMAGES.names, glob=False).sort("image_id")
        for some in collection.iter_slices(_IMAGES_AT_A_TIME):
            rows = [
                row | _caption(summary_of.get(row["image_id"]), language) for row in some.to_dicts()
            ]
            file.write_table(pa.Table.from_pylist(rows, schema=IMAGES))


def _caption(summary: str | None, language: str) -> dict[str, list[str]]:
    captions = [] if summary is None else [summary]
    empty_fields = {field: ["" for _ in captions] for field in CAPTION_FIELDS[1:]}
    return {
        "language": [language for _ in captions],
        CAPTION_FIELDS[0]: [*captions],
        **empty_fields,
    }


def _from_file(path: Path, ids: pl.DataFrame) -> dict[str, str]:
    if not path.is_file():
        raise MissingFile(path, "no such table", "correct encode.summaries")
    table = frame(path, "give csv or Parquet in encode.summaries")
    key = next((k for k in _KEYS if k in table.columns), None)
    if key is None or "summary" not in table.columns:
        problem = f"columns {', '.join(table.columns)}"
        raise MissingColumn(path, problem, "give image_id or image_url, and summary")
    summaries = ids.join(table.drop_nulls("summary"), on=key).select("image_id", "summary")
    if summaries.is_empty():
        raise EmptyTable(path, "no summary of an image of this collection", "compare the ids")
    return dict(summaries.iter_rows())


def _from_model(
    images: Path, ids: pl.Series, spec: Summaries, how: tuple[str, int]
) -> Iterator[tuple[str, str]]:
    from isotope.models.transformers import Summarizer  # noqa: PLC0415

    language, batch = how
    model, progress = Summarizer(spec), Progress("images summarised", len(ids))
    for start in range(0, len(ids), _IMAGES_AT_A_TIME):
        some = ids[start : start + _IMAGES_AT_A_TIME]
        params = {"first": some[0], "last": some[-1], "language": language}
        rows = sql.query(sql.SQL / "encode/captions.sql", {"images": images}, params)
        captions = pl.DataFrame() if rows is None else rows
        joined = captions.group_by("image_id", maintain_order=True).agg("caption").rows()
        for group in batches(iter(joined), batch):
            texts = [" ".join(map(_sentence, captions)) for _, captions in group]
            yield from zip((key for key, _ in group), model.summarise(texts), strict=True)
        progress.add(len(some))
    progress.finish()


def _sentence(caption: str) -> str:
    return caption if caption.endswith((".", "!", "?")) else f"{caption}."


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
    encoding = Encoding(ModelKind(), weights, 1, shard=shard, shards=shards)
    of_texts, of_images = (
        ShardFiles(outputs[f"{side}_vectors"], outputs[f"{side}_ids"]) for side in ("text", "image")
    )
    encode_dated_texts(texts, fields, encoding, of_texts)
    encode_dated_images(images, column, encoding, of_images)


def encode_dated_texts(
    texts: Path, fields: Sequence[str], encoding: Encoding, files: ShardFiles
) -> None:
    """Encode a shard of the texts by their probable years.

    A training text is dated by a model that has not learned from its fold.

    Raises:
        As `encode_texts` and `models.dates.load_dates`.
    """
    dated = _model(encoding)
    rows = slice_ids(texts, "text_id", fields, encoding)
    learned = set(pl.scan_parquet(texts, glob=False).filter(split="train").collect()["text_id"])
    folds = [fold_of(i, len(dated.counts.texts)) if i in learned else NO_FOLD for i in rows]
    progress = Progress("texts dated", len(rows))
    with created(files.vectors, (len(rows), dated.dim), ids=rows) as block:
        for some in batches(iter_texts(texts, rows, fields), _TEXTS_AT_A_TIME):
            span = slice(progress.done, progress.done + len(some))
            block[span] = dated.encode_texts(some, folds[span])
            progress.add(len(some))
    write_ids(rows, files.ids)
    progress.finish()


def encode_dated_images(images: Path, column: str, encoding: Encoding, files: ShardFiles) -> None:
    """Encode a shard of the images by their dates; pixels are not read.

    Raises:
        As `encode_images`, `models.dates.load_dates` and `models.dates.years_of`.
    """
    dated = _model(encoding)
    rows = slice_ids(images, "image_id", (), encoding)
    table = pl.read_parquet(images, glob=False)
    years = table.select("image_id").with_columns(years_of(table, column, images).alias("year"))
    years_of_rows = rows.to_frame().join(years, on="image_id", how="left", maintain_order="left")
    with created(files.vectors, (len(rows), dated.dim), ids=rows) as block:
        block[:] = dated.encode_years(years_of_rows["year"])
    write_ids(rows, files.ids)


def _model(encoding: Encoding) -> DatesModel:
    if encoding.weights is None:
        raise MissingFile("models", "no weights of a temporal model", "run the train phase")
    return load_dates(encoding.weights)
