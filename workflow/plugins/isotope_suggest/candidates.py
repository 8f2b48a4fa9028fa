"""Candidates: the pictures that may illustrate a section, by five sources.

BM25 over captions, vectors of the section's text, the same section in other languages
(`alignment`), the pages that it links to (`linked`), and Wikidata (`wikidata`). Sections go through
in blocks, sorted by id, each of which is written when it is done: a run that was killed goes on
with the next one.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.bm25.format import DESCRIBED, Index, open_index
from isotope.bm25.search import search_counted
from isotope.bm25.words import counted
from isotope.core import lucene, provenance, store
from isotope.core.errors import BadParams, CorruptFile, MissingFile
from isotope.core.exact import VectorShards, top_k
from isotope.core.progress import Progress, log
from isotope.core.resume import resumable
from isotope.core.runs import empty, ranked
from isotope.core.syntax import located
from isotope.core.vectors import load_vectors
from isotope.params.sections import Section
from isotope_suggest.alignment import align
from isotope_suggest.linked import link
from isotope_suggest.origins import Origins
from isotope_suggest.relations import (
    SOURCE_DEPTH,
    Inputs,
    asked_sections,
    between,
    entity_tables,
    language_links,
    pieces,
    write_relations,
)
from isotope_suggest.schemas import CANDIDATES
from isotope_suggest.wikidata import depict, page_names, said_of, with_names

# Sections of a block; their words are counted by one Java, and the image vectors read once.
BLOCK = 1 << 15
# Sections whose candidates are put together at once.
_PIECE = 1 << 12
_VECTORS_MB = 512
_CALL = "isotope_suggest.candidates:find_candidates"
_ANALYZER = re.compile(r'"analyzer": *"([^"]*)"')
_AGAIN = "run the encode phase again"
_KEY = ["text_id", "image_id"]
# Sources of pictures that pages name; behind their tables stands that of names.
_OF_PAGES = 3
Hits = Callable[[pl.Series, Path], pl.DataFrame]


class Words(Section):
    """How a system of words reads sections and weighs captions, and the language of these."""

    k1: float
    b: float
    fields: list[str]
    prepare: str
    captions: str


def find_candidates(  # noqa: PLR0913, PLR0915
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    sections: Path,
    outlines: Sequence[Path],
    placed: Sequence[Path],
    associations: Sequence[Path],
    manifests: Sequence[Path],
    index: Sequence[Path],
    text_vectors: Sequence[Path],
    text_ids: Sequence[Path],
    image_vectors: Sequence[Path],
    image_ids: Sequence[Path],
    out: Path,
    threads: int,
    origins: Origins,
    minimum_need: float,
    depth: int = SOURCE_DEPTH,
    words: Words | None,
    redirects: Sequence[Path] = (),
    entities: Sequence[Path] = (),
) -> None:
    """Write schemas.CANDIDATES of the sections of `relations.asked_sections`, by text_id, image_id.

    Each source names at most `depth` pictures of a section. `outlines`, `placed` and
    `redirects` (the rejected pages of parse) have a file a source, in the order of
    `origins`. Of `manifests` the part `langlinks` counts, if a source has one; `entities`
    are the tables of Wikidata of the sources that have one, in folders of their names. `index` is
    that of BM25 over the images of the largest pool, or the folder of that setting; without one, or
    without vectors, that source's columns are null. `words` are of the system of the
    index; sections are asked that ought to have a picture by `minimum_need` or more.

    Raises:
        BadParams: neither an index nor vectors.
        MissingFile, CorruptFile, TruncatedFile: a table, index or shard that is absent or damaged,
            a section without a vector, or a vector without a picture.
        ToolFailed: Java could not analyse the sections.
    """
    if not index and not image_vectors:
        remedy = "search with a system of kind bm25 or dense, and name it in suggest.bm25 or .dense"
        raise BadParams("suggest", "neither an index of BM25 nor vectors", remedy)
    one_each = (outlines, placed, associations)
    named = (language_links(manifests, origins), redirects, entity_tables(entities, origins))
    tables = Inputs(texts, images, qrels, sections, *one_each, *named)
    files = [*_files(tables), *index, *text_vectors, *image_vectors]
    sources = list[Hits]()
    if index and words:
        limits = {"hits": depth, "threads": threads}
        sources.append(_ByWords(_images_of(index[0]), texts, words, limits))
    else:
        log.warning("no index of BM25: no candidates by captions")
    if image_vectors:
        pictures = EncodedSide.load(image_vectors, image_ids)
        pictures.demand(
            pl.scan_parquet(images, glob=False).select("image_id").collect()["image_id"]
        )
        sources.append(_Dense(EncodedSide.load(text_vectors, text_ids), pictures, depth))
    else:
        log.warning("no vectors: no candidates by them")
    asked = asked_sections(sections, minimum_need)
    settings = [origins.spec(), depth, minimum_need, words and words.spec()]
    with resumable(out, _digest(files, settings)) as folder:
        by_pages = _named_by_pages(tables, asked, folder, origins, depth)
        parts = _write_blocks(asked["text_id"], sources, by_pages, folder)
        count = store.gather(parts, out, CANDIDATES)
    log.info("%d candidates of %d sections", count, asked.height)


def _files(tables: Inputs) -> list[Path]:
    one_each = (tables.outlines, tables.placed, tables.associations, tables.redirects)
    links = [file for _, file in (*tables.langlinks, *tables.entities)]
    collection_files = [tables.texts, tables.images, tables.qrels, tables.sections]
    all_files = [*collection_files, *chain.from_iterable(one_each), *links]
    for table in all_files:
        if not table.is_file():
            raise MissingFile(table, "no such table", "run the phase that writes it")
    return all_files


def _named_by_pages(
    tables: Inputs, asked: pl.DataFrame, folder: Path, origins: Origins, depth: int
) -> "_ByPages":
    """Return the tables of sources that pages name; an earlier run may have made them.

    They are those of `align` and `link`, and where Wikidata is known those of `depict` and
    `page_names`.
    """
    makers = {"aligned": align, "linked": link}
    if tables.entities:
        makers |= {"depicted": depict, "names": page_names}
    paths = [folder / f"{name}.parquet" for name in makers]
    if not all(path.exists() for path in paths):
        with store.scratch(folder / "pages") as scratch:
            relations = write_relations(tables, asked, scratch, origins)
            for path, make in zip(paths, makers.values(), strict=True):
                make(relations, scratch, depth).replace(path)
    return _ByPages(paths[:_OF_PAGES], paths[_OF_PAGES:], tables.images)


@dataclass(frozen=True)
class _ByPages:
    """Tables of pictures that pages name, and those of the pages' names in Wikidata, if any."""

    pictures: Sequence[Path]
    names: Sequence[Path]
    images: Path

    def beside(self, hits: Sequence[pl.DataFrame], ids: pl.Series) -> pl.DataFrame:
        """Return CANDIDATES of some sections, with the hits of other sources."""
        tables = [between(table.lazy(), ids) for table in hits]
        tables += [between(pl.scan_parquet(table, glob=False), ids) for table in self.pictures]
        joined = union_of(tables)
        for path in self.names:
            names = between(pl.scan_parquet(path, glob=False), ids).collect()
            joined = with_names(joined, names, said_of(self.images, joined["image_id"]))
        return joined.select(CANDIDATES.names)


def _write_blocks(
    asked: pl.Series, sources: Sequence[Hits], by_pages: _ByPages, folder: Path
) -> list[Path]:
    """Write the candidates of each block of sections that no earlier run has written."""
    progress = Progress("sections", len(asked))
    blocks = [*pieces(asked, BLOCK)]
    written = [folder / f"block-{n:05d}.parquet" for n in range(len(blocks))]
    resumed = [len(ids) for ids, path in zip(blocks, written, strict=True) if path.exists()]
    progress.resume(sum(resumed))
    for ids, path in zip(blocks, written, strict=True):
        if not path.exists():
            hits = [find(ids, folder) for find in sources]
            with store.grouped(path, CANDIDATES) as rows:
                for piece in pieces(ids, _PIECE):
                    rows.add(by_pages.beside(hits, piece).to_arrow().cast(CANDIDATES))
                    progress.add(len(piece))
    progress.finish()
    return written


def union_of(tables: Sequence[pl.LazyFrame]) -> pl.DataFrame:
    """Return all pairs of text_id and image_id, sorted, with the columns of each table that has it.

    The columns of CANDIDATES that no table has are null.
    """
    joined = reduce(lambda a, b: a.join(b, on=_KEY, how="full", coalesce=True), tables)
    none = pl.from_arrow(CANDIDATES.empty_table())
    both = pl.concat([cast(pl.DataFrame, none).lazy(), joined], how="diagonal_relaxed")
    return both.select(CANDIDATES.names).sort(_KEY).collect()


class _ByWords:
    """The captions that share words with a section, by isotope.bm25 or Lucene."""

    def __init__(self, folder: Path, texts: Path, words: Words, limits: Mapping[str, int]) -> None:
        self._folder, self._texts, self._words, self._limits = folder, texts, words, limits
        self._index = _opened(folder)

    def __call__(self, ids: pl.Series, folder: Path) -> pl.DataFrame:
        some = folder / "texts.parquet"
        between(pl.scan_parquet(self._texts, glob=False), ids).sink_parquet(some)
        # The language matters to captions only.
        read = self._words
        words = lucene.contents(
            "texts", some, language="", fields=read.fields, prepare=read.prepare
        )
        words = words.select("id", pl.col("contents").fill_null(""))
        some.unlink()
        search = self._by_native if self._index else self._by_lucene
        return _named(search(words, folder), "bm25", self._limits["hits"])

    def _by_native(self, words: pl.DataFrame, folder: Path) -> pl.DataFrame:
        index = cast(Index, self._index)
        topics = map(lucene.topic, words["contents"])
        model, threads = {"k1": self._words.k1, "b": self._words.b}, self._limits["threads"]
        beside = folder / "counts"
        with counted(topics, beside, words=index.analyzer, threads=threads) as counts:
            hits = search_counted(index, words["id"], counts, **model, **self._limits)
            return pl.concat([empty().drop("rank"), *hits])

    def _by_lucene(self, words: pl.DataFrame, _: Path) -> pl.DataFrame:
        model = lucene.Bm25Parameters(self._words.k1, self._words.b, language=self._words.captions)
        return lucene.search(self._folder, words.iter_rows(), model, **self._limits)


def _opened(folder: Path) -> Index | None:
    """Open an index of isotope.bm25; of one of Lucene there is nothing to open.

    Raises:
        As `open_index`.
    """
    if any(folder.glob("segments_*")):
        return None
    described = folder / DESCRIBED
    text = described.read_text("utf-8") if described.is_file() else ""
    # Whatever is wrong with the rest, open_index says.
    analyzer = _ANALYZER.search(text)
    return open_index(folder, analyzer=analyzer[1] if analyzer else "")


def _images_of(index: Path) -> Path:
    """Return the index of the images, where the folder of the largest setting is named."""
    inside = index / "all" / "images"
    return inside if inside.is_dir() else index


@dataclass(frozen=True)
class EncodedSide:
    """Vectors of one side, the ids of their rows, and where they lie."""

    shards: VectorShards
    ids: pl.Series
    where: Path

    @classmethod
    def load(cls, vectors: Sequence[Path], ids: Sequence[Path]) -> "EncodedSide":
        """Map shards.

        Raises:
            As `load_vectors`.
        """
        rows = load_vectors(vectors, ids).ids
        return cls(VectorShards(vectors), rows, vectors[0])

    def demand(self, ids: pl.Series) -> None:
        """Check that the vectors are those of a table.

        Raises:
            CorruptFile: as many others, and the first one.
        """
        if self.ids.equals(ids):
            return
        strange = self.ids.filter(~self.ids.is_in(ids.implode()))
        if len(strange):
            problem = f"vectors of {len(strange)} other items, the first is {strange[0]}"
            raise CorruptFile(self.where, problem, _AGAIN)


class _Dense:
    """The pictures whose vectors have the greatest inner products with a section's."""

    def __init__(self, texts: EncodedSide, images: EncodedSide, depth: int) -> None:
        self._texts, self._images, self._depth = texts, images, depth

    def __call__(self, ids: pl.Series, _: Path) -> pl.DataFrame:
        if not len(self._images.ids):
            return _named(empty().drop("rank"), "dense", self._depth)
        queries = self._texts.shards.take(self._rows(ids))
        rows = np.arange(len(self._images.ids))
        scores, nearest = top_k(queries, self._images.shards, rows, self._depth, _VECTORS_MB)
        width = nearest.shape[1]
        hits = pl.DataFrame(
            {
                "query_id": ids.gather(np.repeat(np.arange(len(ids)), width)),
                "doc_id": self._images.ids.gather(nearest.ravel()),
                "score": scores.ravel().astype(np.float64),
            }
        )
        return _named(hits, "dense", self._depth)

    def _rows(self, ids: pl.Series) -> NDArray[np.int64]:
        places = self._texts.ids.to_frame("id").with_row_index("row")
        at = ids.to_frame("id").join(places, on="id", how="left", maintain_order="left")
        missing = at.filter(pl.col("row").is_null())["id"]
        if len(missing):
            problem = f"{len(missing)} sections have no vector, the first is {missing[0]}"
            raise CorruptFile(self._texts.where, problem, _AGAIN)
        return at["row"].cast(pl.Int64).to_numpy()


def _named(hits: pl.DataFrame, source: str, depth: int) -> pl.DataFrame:
    """Return the hits in trec_eval's order, with the columns of a source."""
    columns = {"query_id": "text_id", "doc_id": "image_id", "score": source}
    return ranked(hits, depth).rename({**columns, "rank": f"{source}_rank"})


def _digest(files: Sequence[Path], settings: Sequence[object]) -> str:
    """Return what tells apart runs whose blocks must not be mixed: inputs, params and code."""
    code = [located(file) for file in provenance.closure(_CALL)]
    stats = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files if f.exists()]
    described = json.dumps([BLOCK, stats, settings], sort_keys=True, default=str).encode()
    return hashlib.sha256(b"".join([described, *(f.read_bytes() for f in code)])).hexdigest()
