"""A Lucene index of the same documents, analysed in the same way, is copied instead of built.

BM25 weighs a word by how many documents have it (Robertson and Zaragoza, The Probabilistic
Relevance Framework, 2009, eq. 3.15), so an index is about all of its documents: where one differs,
all are indexed again.
"""

import hashlib
import shutil
from pathlib import Path

import polars as pl

from isotope import lucene
from isotope.progress import log


def documents_digest(documents: pl.DataFrame, language: str) -> str:
    """Return what an index follows from: id and contents of each document, and the analyzer."""
    told = hashlib.sha256(" ".join([lucene.jar().name, *lucene.analysis(language)]).encode())
    for key, words in documents.select("id", "contents").iter_rows():
        told.update(f"{key}\0{words or ''}\0".encode())
    return told.hexdigest()


def build_or_copy(
    documents: pl.DataFrame, index: Path, earlier: Path | None, *, language: str, threads: int
) -> bool:
    """Make the index of id and contents at `index`, a digest beside it; tell whether by copying.

    Raises:
        EmptyTable, ToolFailed: as `lucene.build_index`.
    """
    told = documents_digest(documents, language)
    copied = earlier is not None and _told(earlier) == told
    if copied and earlier is not None:
        shutil.copytree(earlier, index)
        log.info("%s copied from %s", index.name, earlier)
    else:
        pairs = documents.select("id", "contents").iter_rows()
        lucene.build_index(pairs, index, threads=threads, language=language)
    _beside(index).write_text(told, "utf-8")
    return copied


def _beside(index: Path) -> Path:
    return index.with_name(f"{index.name}.sha256")


def _told(index: Path) -> str:
    beside = _beside(index)
    return beside.read_text("utf-8") if beside.is_file() and index.is_dir() else ""
