"""The judged pairs of a split, joined out of core and written image by image."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql
from isotope.tables import FIVE_FIELDS
from isotope.train.packed import packing

_KEYS = ("image_id", "text_id", *FIVE_FIELDS)
_PAIRS = pa.schema([*((k, pa.string()) for k in _KEYS), ("captions", pa.list_(pa.string()))])
_JOIN_MEMORY = "2GB"
_ROWS_PER_READ = 1_024


@dataclass(frozen=True)
class Source:
    """Where a collection's tables and pixels lie, and the language of the captions to use."""

    texts: Path
    images: Path
    qrels: Path
    pixels: Sequence[Path]
    language: str


def write_rows(source: Source, name: str, file: Path) -> None:
    """Write a row of JSON for each image: id, text ids, fields of each text, captions."""
    pairs = file.with_name(f"{file.name}.parquet")
    sql.query(
        sql.SQL / "train" / "pairs.sql",
        {"qrels": source.qrels, "texts": source.texts, "images": source.images},
        {"split": name, "language": source.language},
        out=pairs,
        schema=_PAIRS,
        memory_limit=_JOIN_MEMORY,
    )
    count = sum(1 for _ in groupby(_column(pairs, "image_id")))
    with packing(file, count) as put:
        for i, (image_id, of_image) in enumerate(groupby(_read(pairs), itemgetter(0))):
            of = list(of_image)
            row = [image_id, [r[1] for r in of], [r[2:-1] for r in of], of[0][-1]]
            put(i, json.dumps(row, ensure_ascii=False).encode())
    pairs.unlink()


def _column(pairs: Path, name: str) -> Iterator[str]:
    with pq.ParquetFile(pairs) as table:
        for batch in table.iter_batches(_ROWS_PER_READ, columns=[name]):
            yield from batch.column(0).to_pylist()


def _read(pairs: Path) -> Iterator[tuple[Any, ...]]:
    with pq.ParquetFile(pairs) as table:
        for batch in table.iter_batches(_ROWS_PER_READ):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
