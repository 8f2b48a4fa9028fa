"""An index of postings in blocks of documents: its files, and how it is opened.

A folder. Documents are numbered in the order of their ids, and have internal numbers: the same, or
reordered by the upper bound of their scores (`postings.IndexJob`). Blocks are of at most 65,536
internal numbers. A posting is a document's number in its block, 16 bits, above a code, the number
of the document's pair of term frequency and length in one byte (Lucene's SmallFloat, that norms
have) among the block's pairs. From these Lucene's single-precision weight follows for any k1 and b.
Those of a term in a block are a list. Where internal numbers follow ids the lists lie block after
block, as a batch of queries goes over them, else term after term, as the search for the nearest
document does:

| file | rows | what |
|---|---|---|
| `index.json` | | version, analyzer, sizes; CRC-32 of every other file |
| `documents.arrow` | documents | `id`, rising |
| `terms.arrow` | terms | `term`, rising; `documents` that hold it; `start` of its lists |
| `lists.block`, `.at`, `.size` | | int32, int64, int32: block, first posting, number of postings |
| `postings` | | uint32: number in its block, and code |
| `shifts` | documents, or none | int32: by internal numbers, the document's number less that |
| `words` | documents | 3 int32: by internal numbers, all words, different ones, length byte |
| `blocks.document`, `.pair` | blocks + 1 | int64: where each starts |
| `pairs` | | int32, int32: term frequency, length byte |
"""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.errors import CorruptFile, MissingFile

VERSION = 2
# Bits of a posting's code, and the code alone.
CODE, IS_CODE = np.uint32(16), np.uint32((1 << 16) - 1)
BLOCK = 1 << 16
RAW = {
    **{"lists.block": np.int32, "lists.at": np.int64, "lists.size": np.int32},
    **{"postings": np.uint32, "shifts": np.int32, "words": np.int32, "pairs": np.int32},
    **{"blocks.document": np.int64, "blocks.pair": np.int64},
}
DOCUMENTS, TERMS, DESCRIBED = "documents.arrow", "terms.arrow", "index.json"
_READERS = 2
_CRC_BYTES = 1 << 24
_REMEDY = "build the index again"


def _decoded(byte: int) -> int:
    """Return the length that a byte stands for (Lucene's SmallFloat.byte4ToInt)."""
    free = 255 - _four_bits((1 << 31) - 1)
    return byte if byte < free else free + _integer(byte - free)


def _four_bits(number: int) -> int:
    shift = number.bit_length() - 4
    return number if shift < 0 else (number >> shift) & 0x07 | shift + 1 << 3


def _integer(bits: int) -> int:
    shift = (bits >> 3) - 1
    return bits & 0x07 if shift < 0 else (bits & 0x07 | 0x08) << shift


LENGTHS = np.array([_decoded(byte) for byte in range(256)], np.int64)


def length_bytes(lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the bytes in which Lucene keeps lengths: of the last that is no longer."""
    return (np.searchsorted(LENGTHS, lengths, side="right") - 1).astype(np.uint8)


@dataclass(frozen=True)
class Index:
    """An index that lies in files, mapped; see the module for what each has.

    `with_terms` documents have a term; `length` is the number of all words in them.
    """

    folder: Path
    analyzer: str
    documents: int
    with_terms: int
    length: int
    ids: pl.Series
    terms: pl.DataFrame
    list_block: NDArray[np.int32]
    list_at: NDArray[np.int64]
    list_size: NDArray[np.int32]
    postings: NDArray[np.uint32]
    shifts: NDArray[np.int32]
    words: NDArray[np.int32]
    block_document: NDArray[np.int64]
    block_pair: NDArray[np.int64]
    pairs: NDArray[np.int32]


def describe(folder: Path, analyzer: str, sizes: dict[str, int]) -> None:
    """Write `index.json` for the files of an index, all of which are there."""
    sums = {name: checksum(folder / name) for name in (DOCUMENTS, TERMS, *RAW)}
    described = {"version": VERSION, "analyzer": analyzer, **sizes, "crc32": sums}
    (folder / DESCRIBED).write_text(json.dumps(described, indent=1), "utf-8")


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    crc = 0
    with path.open("rb") as file:
        while part := file.read(_CRC_BYTES):
            crc = zlib.crc32(part, crc)
    return crc


def open_index(index: Path, *, analyzer: str) -> Index:
    """Map an index.

    Raises:
        MissingFile: a file of it is not there.
        CorruptFile: another version, another analyzer, or bytes that were not written so.
    """
    described = _described(index)
    opened_as = (described.get("version"), described.get("analyzer"))
    if opened_as != (VERSION, analyzer):
        problem = (
            f"version {opened_as[0]}, analyzer {opened_as[1]!r}; expected {VERSION}, {analyzer!r}"
        )
        raise CorruptFile(index / DESCRIBED, problem, _REMEDY)
    files = [index / name for name in (DOCUMENTS, TERMS, *RAW)]
    for file in files:
        if not file.is_file():
            raise MissingFile(file, "not there", _REMEDY)
    with ThreadPoolExecutor(_READERS) as pool:
        for file, crc in zip(files, pool.map(checksum, files), strict=True):
            if crc != described["crc32"].get(file.name):
                raise CorruptFile(file, f"its CRC-32 is not that of {DESCRIBED}", _REMEDY)
    ids, terms = (pl.scan_ipc(index / name, glob=False).collect() for name in (DOCUMENTS, TERMS))
    raw: dict[str, Any] = {name: mapped(index / name, dtype) for name, dtype in RAW.items()}
    return Index(
        index,
        *(described[key] for key in ("analyzer", "documents", "with_terms", "length")),
        ids=ids["id"],
        terms=terms,
        pairs=raw.pop("pairs").reshape(-1, 2),
        words=raw.pop("words").reshape(-1, 3),
        **{_field(name): column for name, column in raw.items()},
    )


def mapped(path: Path, dtype: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return a file's numbers, mapped; of an empty file none."""
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)


def _field(file: str) -> str:
    """Return the field of Index that a file fills: `lists.at` is `list_at`."""
    table, _, column = file.partition(".")
    return f"{table.removesuffix('s')}_{column}" if column else table


def _described(index: Path) -> dict[str, Any]:
    path = index / DESCRIBED
    try:
        described = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise MissingFile(path, "not there", _REMEDY) from error
    except ValueError as error:
        raise CorruptFile(path, f"no JSON: {error}", _REMEDY) from error
    if not isinstance(described, dict) or not isinstance(described.get("crc32"), dict):
        raise CorruptFile(path, "it does not describe an index", _REMEDY)
    return described
