"""Encode a collection as weights of terms: texts by their fields, images by their captions.

The captions of an image are read as one text, a line each, as BM25 reads them; no sparse encoder of
pictures is among those that transformers or sentence-transformers load. A text has the same impacts
in any shard: those of one shape are encoded together, in batches of one size.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from isotope.core.pixels import batches
from isotope.core.progress import Progress, log
from isotope.core.store import grouped as grouped_rows
from isotope.encode.cache import Encoding
from isotope.encode.late import captions
from isotope.encode.shard import iter_texts, slice_ids
from isotope.models.kinds.sparse import SparseModel
from isotope.models.sparse import Impacts, SparseEncoder, grouped
from isotope.schemas.encode import SPARSE

_TEXTS_AT_A_TIME = 4_096


def encode_sparse_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    model: SparseModel,
    language: str,
    shard: int,
    shards: int,
    batch: int,
    outputs: Mapping[str, Path],
) -> None:
    """Write terms and impacts of a shard of the texts, then of the images, as SPARSE.

    `outputs` has text_terms and image_terms.

    Raises:
        MissingFile, MissingColumn: a table or a field that is not there.
        BadParams: a shard outside 0..shards-1, or an empty batch.
        UnknownModel, CorruptFile, FetchFailed: as `models.sparse.SparseEncoder`.
        DiskFull, Unwritable: as `core.store.aside`.
    """
    encoding = Encoding(model, None, batch, shard=shard, shards=shards)
    encoder, fields = SparseEncoder(model.name, model.revision), model.fields
    ids = slice_ids(texts, "text_id", fields, encoding)
    _encode(ids, iter_texts(texts, ids, fields), encoder, encoding, outputs["text_terms"])
    ids = slice_ids(images, "image_id", (), encoding)
    _encode(ids, captions(images, ids, language), encoder, encoding, outputs["image_terms"])


def _encode(
    ids: pl.Series, texts: Iterator[str], encoder: SparseEncoder, encoding: Encoding, path: Path
) -> None:
    progress, empty = Progress(f"texts encoded, {encoding.position}", len(ids)), 0
    with grouped_rows(path, SPARSE) as out:
        for some in batches(texts, _TEXTS_AT_A_TIME):
            ids_of_batch = ids[progress.done : progress.done + len(some)]
            documents, queries = impacts(some, encoder, encoding.batch)
            out.add(_table(ids_of_batch, documents, queries, encoder.terms))
            empty += sum(not len(terms) for terms, _ in documents)
            progress.add(len(some))
    progress.finish()
    log.info("%d of %d texts have no term", empty, len(ids))


def impacts(texts: list[str], encoder: SparseEncoder, batch: int) -> tuple[Impacts, Impacts | None]:
    """Return terms and impacts of texts, and those that they have as queries where these differ."""
    impacts_of: dict[int, Any] = {}
    for shape, places in grouped(encoder.shapes(texts)).items():
        size = encoder.batch(shape, batch)
        for first in range(0, len(places), size):
            batch_places = places[first : first + size]
            read = [texts[n] for n in batch_places]
            filled = read + read[-1:] * (size - len(read))
            impacts_of |= dict(zip(batch_places, encoder.documents(filled), strict=False))
    documents: Impacts = [impacts_of[n] for n in range(len(texts))]
    return documents, encoder.queries(texts) if encoder.has_queries else None


def _table(
    ids: pl.Series, documents: Impacts, queries: Impacts | None, terms: Sequence[str]
) -> pa.Table:
    columns: dict[str, list[Any]] = {"id": ids.to_list()}
    for prefix, rows in (("", documents), ("query_", queries)):
        nothing = [None] * len(ids)
        named = nothing if rows is None else [[terms[n] for n in values] for values, _ in rows]
        columns[f"{prefix}terms"] = named
        columns[f"{prefix}impacts"] = nothing if rows is None else [values for _, values in rows]
    return pa.table({k: pa.array(v, SPARSE.field(k).type) for k, v in columns.items()})
