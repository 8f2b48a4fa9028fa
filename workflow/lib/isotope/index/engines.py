"""What indexes the words of a collection: isotope.bm25, or Lucene, the reference implementation.

Both make an index of each pool, with the same answers (`systems.<system>.engine`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl

from isotope.bm25 import format, postings
from isotope.bm25.words import analyzer
from isotope.core import lucene


class SideDocuments(NamedTuple):
    """The documents of one side of a collection, and the indexes to make of them.

    `frames` have columns id, split and contents, by id. The index at a place has the documents of
    its splits; without documents there is none.
    """

    frames: Iterable[pl.DataFrame]
    language: str
    places: Mapping[Path, Sequence[str]]


class IndexEngine(Protocol):
    """What an engine can do."""

    def analysis(self, language: str) -> str:
        """Return what an index in a language depends on besides its documents."""
        ...

    def build(self, sides: Iterable[SideDocuments], *, threads: int) -> None:
        """Make the indexes of all sides."""
        ...

    def merge(self, parts: Sequence[Path], index: Path, language: str) -> None:
        """Make `index` of the documents of all parts, in their order; one may not be there."""
        ...


class Native:
    """The engine of isotope.bm25; Lucene's analyzers find its words."""

    def analysis(self, language: str) -> str:
        """Return engine, version of the format, jar and analyzer."""
        return f"native {format.VERSION} {lucene.jar().name} {analyzer(language)}"

    def build(self, sides: Iterable[SideDocuments], *, threads: int) -> None:
        """Make the indexes of all sides.

        Raises:
            As `postings.write_indexes`.
        """
        for side in sides:
            if side.places:
                counted_side = postings.IndexJob(side.frames, analyzer(side.language), side.places)
                postings.write_indexes(counted_side, threads=threads)

    def merge(self, parts: Sequence[Path], index: Path, language: str) -> None:
        """Make `index` of the documents of all parts.

        Raises:
            As `postings.merge`.
        """
        postings.merge(parts, index, analyzer=analyzer(language))


class Lucene:
    """Anserini's indexer."""

    def analysis(self, language: str) -> str:
        """Return jar and analyzer."""
        return " ".join([lucene.jar().name, *lucene.analysis(language)])

    def build(self, sides: Iterable[SideDocuments], *, threads: int) -> None:
        """Make the indexes of all sides; memory holds the documents of one.

        Raises:
            As `lucene.build_indexes`.
        """
        documents_of_sides = (documents for side in sides for documents in _documents(side))
        lucene.build_indexes(documents_of_sides, threads=threads)

    def merge(self, parts: Sequence[Path], index: Path, language: str) -> None:
        """Make `index` of the documents of all parts.

        Raises:
            As `lucene.merge_indexes`.
        """
        lucene.merge_indexes(parts, index)


def _documents(side: SideDocuments) -> Iterator[lucene.Documents]:
    frames = [frame for frame in side.frames if frame.height] if side.places else []
    for index, splits in side.places.items() if frames else ():
        rows_of_index = pl.concat(frames).filter(pl.col("split").is_in(splits))
        if rows_of_index.height:
            rows = rows_of_index.select("id", "contents").iter_rows()
            yield lucene.Documents(index, rows, side.language)


ENGINES: dict[str, IndexEngine] = {"native": Native(), "lucene": Lucene()}
