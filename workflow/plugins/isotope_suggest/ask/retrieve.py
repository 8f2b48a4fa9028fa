"""Candidates of one text at a time: BM25 over captions and vectors, and the pages' own sources."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from isotope.bm25.format import Index, open_index
from isotope.bm25.search import answers, in_terms, postings_of, table_of
from isotope.bm25.words import analyzer
from isotope.core.errors import MissingFile
from isotope.core.exact import Vectors
from isotope.core.prepare import NONE, joined
from isotope.core.runs import empty, ranked
from isotope_suggest.ask.analyst import Analyst
from isotope_suggest.ask.dense import DenseVectors, Near, Side
from isotope_suggest.ask.language import caption_scripts, mismatch
from isotope_suggest.ask.sources import AskedCollection
from isotope_suggest.candidates import union_of
from isotope_suggest.reasons import language_name
from isotope_suggest.relations import SOURCE_DEPTH

BM25, DENSE = "bm25", "dense"


@dataclass
class Candidates:
    """Rows of schemas.CANDIDATES of one text, and sentences on how they were found."""

    rows: pl.DataFrame
    notes: list[str] = field(default_factory=list[str])


class WordIndex:
    """An index of the words of one side, and the Java that reads texts as it was made."""

    def __init__(self, index: Index, k1: float, b: float, prepare: str = NONE) -> None:
        """Take an index, the parameters of BM25, and how its words were prepared."""
        self._index, self._postings = index, postings_of(index, k1, b)
        self._prepare = prepare
        self.analyst = Analyst(index.analyzer)

    @classmethod
    def load(cls, sources: AskedCollection, side: str) -> "WordIndex | None":
        """Open the index of a side; None where there is none of ours.

        Raises:
            As `open_index`.
        """
        index_folder, system = sources.index(side), sources.bm25
        if index_folder is None or system is None:
            return None
        language = sources.captions if side == "images" else sources.language
        index = open_index(index_folder, analyzer=analyzer(language))
        return cls(index, system.k1, system.b, system.prepare or NONE)

    def start(self) -> None:
        """Start Java, and load what the first search would compile."""
        self.nearest(["isotope"], 1)

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts of its terms."""
        return caption_scripts(self._index.terms["term"])

    def nearest(self, parts: Sequence[str], k: int) -> tuple[pl.DataFrame, tuple[int, int]]:
        """Return query_id (empty), doc_id and score; how many words it knows, of how many.

        `parts` are the fields of a text or the captions of a picture, prepared as the index was.

        Raises:
            As `Analyst.counts`.
        """
        counts = self.analyst.counts(joined(parts, self._prepare))
        terms = in_terms(self._index, counts)
        hits = answers(self._postings, terms, min(k, self._index.documents), threads=1)
        table = table_of(pl.Series("query_id", [""]), self._index, *hits)
        return table, (len(terms.terms), len(counts.terms))


class Retriever:
    """What finds candidates for a text, in memory; `start` loads what takes time in threads."""

    def __init__(self, sources: AskedCollection, cache: Path, threads: int) -> None:
        """Map indexes and vectors.

        Raises:
            MissingFile: neither an index nor vectors.
            As `open_index` and `codes.Codes.load`.
        """
        self._sources = sources
        self._depth = SOURCE_DEPTH
        self.words = WordIndex.load(sources, "images")
        has_vectors = sources.vectors("images") and sources.vector_ids("images")
        self.dense = DenseVectors(sources, cache, threads) if has_vectors else None
        if not self.words and not self.dense:
            problem = "neither an index of BM25 nor vectors of its images"
            remedy = "run `snakemake --cores all search`"
            raise MissingFile(f"collection {sources.collection}", problem, remedy)
        self._pool = ThreadPoolExecutor(2, "start")
        self._lacks_texts = not sources.vectors("texts")

    def start(self, systems: tuple[str, ...]) -> None:
        """Start Java and load the model, beside what follows, where systems need them."""
        if self.words and BM25 in systems:
            self._pool.submit(self.words.start)
        if self.dense and DENSE in systems and self._sources.can_encode:
            self.dense.start()

    def close(self) -> None:
        """End threads and processes."""
        self._pool.shutdown()
        for words in filter(None, (self.words, self.__dict__.get("texts_in_words"))):
            words.analyst.close()
        if self.dense:
            self.dense.close()

    def of_text(self, text: str, systems: tuple[str, ...], *, patient: bool) -> Candidates:
        """Return candidates for a text that need not be a section's, by BM25, dense or both.

        Without `patient` the model is not waited for.

        Raises:
            ToolFailed, or as `models.encoders.load`.
        """
        tables, notes = list[pl.DataFrame](), list[str]()
        of_vectors = list[str]()
        near = self._by_vectors(text, of_vectors, patient=patient) if DENSE in systems else None
        if BM25 in systems:
            tables.append(self._by_words([text], notes))
        if DENSE in systems:
            tables.append(_near(near.result(), DENSE, self._depth) if near else _nothing(DENSE))
        return Candidates(_union(tables, ""), notes + of_vectors)

    def of_section(
        self, text_id: str, parts: Sequence[str], systems: tuple[str, ...]
    ) -> Candidates:
        """Return candidates for a section: those that the phase found, else those found now.

        `parts` are the fields that BM25 reads of it.

        Raises:
            As `of_text`.
        """
        path = self._sources.results / "candidates.parquet"
        if path.is_file():
            candidates = pl.scan_parquet(path, glob=False).filter(pl.col("text_id") == text_id)
            # An earlier isotope knew fewer sources.
            rows = union_of([candidates])
            if len(rows):
                return Candidates(rows)
        tables, notes = list[pl.DataFrame](), list[str]()
        if BM25 in systems:
            tables.append(self._by_words(parts, notes))
        if DENSE in systems:
            tables.append(self._by_own_vector(text_id, notes))
        return Candidates(_union(tables, text_id), notes)

    def _by_words(self, parts: Sequence[str], notes: list[str]) -> pl.DataFrame:
        if not self.words:
            notes.append("no index of BM25: pictures are found by vectors alone")
            return _nothing(BM25)
        hits, counts = self.words.nearest(parts, self._depth)
        text = " ".join(parts)
        sentence = mismatch(
            text, *counts, self.words.scripts, language_name(self._sources.captions)
        )
        notes.extend([sentence] if sentence else [])
        return _named(hits, BM25, self._depth)

    def _by_vectors(self, text: str, notes: list[str], *, patient: bool) -> "Future[Near] | None":
        """Begin to look for pictures by vectors; None, with a note, where that can't be."""
        alone = "pictures are found by the words of their captions alone"
        if not self.dense:
            notes.append(f"the collection has no vectors: {alone}")
        elif not self._sources.can_encode:
            notes.append(f"its model reads no text by itself: {alone}")
        elif not patient and not self.dense.is_ready:
            notes.append(f"the model is being loaded: {alone} until then")
        else:
            return self.dense.nearest(text, self._depth)
        return None

    def _by_own_vector(self, text_id: str, notes: list[str]) -> pl.DataFrame:
        vector = None if not self.dense or self._lacks_texts else self.dense.texts.vector(text_id)
        if vector is None or not self.dense:
            notes.append("the section has no vector: pictures are found by their captions alone")
            return _nothing(DENSE)
        return _near(self.dense.images.nearest(vector, self._depth, 1)[0], DENSE, self._depth)

    # Sections for a picture.

    @cached_property
    def texts_in_words(self) -> WordIndex | None:
        """The index of the words of the texts, opened when it is needed."""
        return WordIndex.load(self._sources, "texts")

    def sections_of_picture(self, vector: Vectors | None, captions: Sequence[str]) -> pl.DataFrame:
        """Return text_id, with `bm25`, `dense` and their ranks, of sections near a picture.

        They are near its vector, or its captions' words; what is not there finds none.

        Raises:
            MissingFile: vectors of the texts are needed, and are not there.
        """
        tables = list[pl.DataFrame]()
        if vector is not None:
            near = self.texts().nearest(vector, self._depth, 1)[0]
            tables.append(_near(near, DENSE, self._depth))
        if captions and self.texts_in_words:
            hits, _ = self.texts_in_words.nearest(captions, self._depth)
            tables.append(_named(hits, BM25, self._depth))
        # What is found stands where a picture stands for a text.
        return _union(tables, "").drop("text_id").rename({"image_id": "text_id"})

    def texts(self) -> Side:
        """Return the vectors of the texts.

        Raises:
            MissingFile: there are none.
        """
        if not self.dense or self._lacks_texts:
            problem = "no vectors, by which pictures are compared with sections"
            remedy = "add a system of kind dense to search.systems and run the phase encode"
            raise MissingFile(f"collection {self._sources.collection}", problem, remedy)
        return self.dense.texts


def fused(rows: pl.DataFrame, key: str = "image_id") -> pl.DataFrame:
    """Return candidates with `score`, best first: reciprocal rank fusion of BM25 and dense, k = 60.

    Source: Cormack, Clarke and Buettcher, Reciprocal Rank Fusion, SIGIR 2009.
    """
    parts = (1 / (60 + pl.col(f"{name}_rank")) for name in (BM25, DENSE))
    scored = rows.with_columns(pl.sum_horizontal(*parts).cast(pl.Float64).alias("score"))
    return scored.sort("score", key, descending=[True, False])


def _near(near: Near, source: str, depth: int) -> pl.DataFrame:
    hits = {"query_id": np.full(len(near.ids), ""), "doc_id": near.ids}
    scores = near.scores.astype(np.float64)
    return _named(pl.DataFrame({**hits, "score": scores}), source, depth)


def _nothing(source: str) -> pl.DataFrame:
    return _named(empty().drop("rank"), source, 0)


def _named(hits: pl.DataFrame, source: str, depth: int) -> pl.DataFrame:
    """Return hits in trec_eval's order with the columns of a source."""
    columns = {"query_id": "text_id", "doc_id": "image_id", "score": source}
    return ranked(hits, depth).rename({**columns, "rank": f"{source}_rank"})


def _union(tables: list[pl.DataFrame], text_id: str) -> pl.DataFrame:
    named = [t.with_columns(pl.lit(text_id).alias("text_id")).lazy() for t in tables]
    nothing = pl.DataFrame(schema={"text_id": pl.String, "image_id": pl.String}).lazy()
    return union_of([nothing, *named])
