"""A Lucene index of the same documents, analysed in the same way, is copied instead of built.

BM25 weighs a word by how many documents have it (Robertson and Zaragoza, The Probabilistic
Relevance Framework, 2009, eq. 3.15), so an index is about all of its documents: where one differs,
all are indexed again.
"""

import hashlib
import shutil
from pathlib import Path

import polars as pl

from isotope.core import lucene
from isotope.core.progress import log


class Digest:
    """What an index follows from: the analyzer, and each document's id and contents in order."""

    def __init__(self, language: str) -> None:
        """Begin with how documents in `language` are analysed."""
        told = " ".join([lucene.jar().name, *lucene.analysis(language)])
        self._told = hashlib.sha256(told.encode())

    def add(self, documents: pl.DataFrame) -> None:
        """Go on with id and contents of more documents."""
        for key, words in documents.select("id", "contents").iter_rows():
            self._told.update(f"{key}\0{words or ''}\0".encode())

    def hexdigest(self) -> str:
        """Return the digest of all that was added."""
        return self._told.hexdigest()


def documents_digest(documents: pl.DataFrame, language: str) -> str:
    """Return the Digest of documents that are all at hand."""
    told = Digest(language)
    told.add(documents)
    return told.hexdigest()


def build_or_copy(
    documents: pl.DataFrame, index: Path, earlier: Path | None, *, language: str, threads: int
) -> bool:
    """Make the index of id and contents at `index`, a digest beside it; tell whether by copying.

    Raises:
        EmptyTable, ToolFailed: as `lucene.build_index`.
    """
    told = documents_digest(documents, language)
    copied = earlier is not None and told_beside(earlier) == told
    if copied and earlier is not None:
        copy(earlier, index)
    else:
        pairs = documents.select("id", "contents").iter_rows()
        lucene.build_index(pairs, index, threads=threads, language=language)
    tell(index, told)
    return copied


def copy(earlier: Path, index: Path) -> None:
    """Make `index` by copying an earlier one."""
    shutil.copytree(earlier, index)
    log.info("%s copied from %s", index.name, earlier)


def tell(index: Path, digest: str) -> None:
    """Write the digest of an index beside it."""
    _beside(index).write_text(digest, "utf-8")


def told_beside(index: Path) -> str:
    """Return the digest that stands beside an index; nothing where there is none, or no index."""
    beside = _beside(index)
    return beside.read_text("utf-8") if beside.is_file() and index.is_dir() else ""


def _beside(index: Path) -> Path:
    return index.with_name(f"{index.name}.sha256")
