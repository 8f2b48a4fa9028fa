"""Texts or vectors are searched, in a folder that is gone afterwards."""

import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.api.tables import Table, demand_once, texts_of
from isotope.core.errors import BadArgument, EmptyTable, IntegrityError
from isotope.core.extras import named
from isotope.core.runs import empty, ranked

Texts: TypeAlias = Mapping[str, str] | Table
Vectors: TypeAlias = Mapping[str, Sequence[float]] | tuple[Sequence[str], NDArray[np.floating]]

_DEPTH = 1000
_MEMORY_MB = 1024
_THREADS = min(8, os.cpu_count() or 1)
# An analyzer's name, of an index that no other code opens.
_PLAIN = "plain"
# Scripts without spaces: Thai, Lao, Burmese, Khmer, Kana, Han and Hangul have a term a letter.
_LETTERS = (
    r"\x{0e00}-\x{0eff}\x{1000}-\x{109f}\x{1780}-\x{17ff}\x{3040}-\x{30ff}"
    r"\x{3400}-\x{9fff}\x{ac00}-\x{d7a3}\x{20000}-\x{3ffff}"
)
_TERM = rf"[{_LETTERS}]|[\p{{L}}\p{{M}}\p{{N}}&&[^{_LETTERS}]]+"
_MATRIX = 2
_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")


def search(  # noqa: PLR0913 (a parameter each for what BM25 has)
    queries: Texts | Vectors,
    documents: Texts | Vectors,
    *,
    depth: int = _DEPTH,
    k1: float = 0.9,
    b: float = 0.4,
    language: str | None = None,
) -> pl.DataFrame:
    """Search documents for queries: texts by BM25, vectors exactly, by their inner product.

    Args:
        queries: Texts: `{id: text}`, or a table of id and text, such as `Collection.queries`
            returns. Or vectors: `{id: vector}`, or a pair of ids and a matrix [queries, dim].
        documents: The same of what is searched: `Collection.documents`, or a matrix
            [documents, dim] of the same dim. Of vectors of length 1 the score is the cosine.
        depth: Most hits of a query.
        k1: Of BM25, 0 or more: the lower, the less it counts that a document has a word twice.
        b: Of BM25, 0 to 1: the higher, the more a long document pays.
        language: Of BM25: None takes words as they are, in lower case. A code, such as `en`, takes
            the analyzer that Lucene has for the language (stems, stop words), as runs of the
            workflow do; that needs Java, which the extra `lucene` has.

    Returns:
        A run, as `read_run` returns one. A query that shares no word with any document has no hits.

    Raises:
        MissingExtra: BM25 and vectors need the extra `build` (or `pages`), a language `lucene`.
        MissingColumn, IntegrityError: as `read_run`, of id and text; NaN or infinity in a vector.
        EmptyTable: no document.
        BadArgument: texts on one side and vectors on the other, another dim, k1, b or depth, a
            language that is no code.
        ToolFailed: Java could not analyse the words.

    Source: Lucene's BM25Similarity; k1 and b are Anserini's, by which AToMiC was measured (Yang et
    al., SIGIR 2023, section 5.1).

    Examples:
        >>> import isotope
        >>> documents = {"boat": "a red boat", "dogs": "two red dogs", "cat": "a cat"}
        >>> isotope.search({"q": "red dogs"}, documents).select("doc_id", "rank").rows()
        [('dogs', 1), ('boat', 2)]
        >>> isotope.search({"q": [1.0, 0.0]}, {"x": [0.6, 0.8], "y": [1.0, 0.0]}, depth=1).rows()
        [('q', 'y', 1, 1.0)]
    """
    if depth < 1:
        raise BadArgument("depth", f"{depth}", "give 1 or more")
    if not 0 <= k1 < math.inf or not 0 <= b <= 1:
        raise BadArgument("search", f"k1 = {k1}, b = {b}", "give k1 of 0 or more and b of 0 to 1")
    if language is not None and not _CODE.fullmatch(language):
        problem = f"{language!r} is no code of a language"
        raise BadArgument("language", problem, "say en, de, zh, ..., mul for several, or None")
    are_vectors = [_is_vectors(side) for side in (queries, documents)]
    if are_vectors[0] != are_vectors[1]:
        raise BadArgument("search", "texts on one side, vectors on the other", "give either")
    with named(), tempfile.TemporaryDirectory(prefix="isotope-") as scratch:
        if are_vectors[0]:
            return _nearest(_matrix(queries, "queries"), _matrix(documents, "documents"), depth)
        asked, searched = texts_of(queries, "queries"), texts_of(documents, "documents")
        if searched.is_empty():
            raise EmptyTable("documents", "no document", "give one or more")
        hits = _bm25(asked, searched, Path(scratch), language, {"k1": k1, "b": b, "hits": depth})
        return ranked(pl.concat([empty().select("query_id", "doc_id", "score"), *hits]), depth)


def _bm25(
    queries: pl.DataFrame,
    documents: pl.DataFrame,
    scratch: Path,
    language: str | None,
    how: Mapping[str, Any],
) -> Iterator[pl.DataFrame]:
    """Yield query_id, doc_id and score, batch by batch."""
    from isotope.bm25.postings import IndexJob, open_index, write_counted, write_index  # noqa: PLC0415
    from isotope.bm25.search import search as search_words  # noqa: PLC0415
    from isotope.bm25.search import search_counted  # noqa: PLC0415
    from isotope.bm25.words import analyzer  # noqa: PLC0415 (the package needs numba)

    folder = scratch / "index"
    if language is None:
        keys = documents.select("id", split=pl.lit(""))
        side = IndexJob((), _PLAIN, {folder: None})
        write_counted(side, [(keys, _counted(documents["text"]))])
        index = open_index(folder, analyzer=_PLAIN)
        counts = _counted(queries["text"])
        yield from search_counted(index, queries["id"], counts, **how, threads=_THREADS)
    else:
        words = analyzer(language)
        write_index(
            documents.select("id", "text").iter_rows(), folder, analyzer=words, threads=_THREADS
        )
        index = open_index(folder, analyzer=words)
        asked = queries.select("id", "text").iter_rows()
        yield from search_words(index, cast("Any", asked), **how, threads=_THREADS)


def _counted(texts: pl.Series) -> Any:  # noqa: ANN401 (bm25.words.TermCounts, of a package with numba)
    """Count the words of texts, in lower case."""
    from isotope.bm25.words import TermCounts  # noqa: PLC0415 (as above)

    words = texts.str.to_lowercase().str.extract_all(_TERM).alias("term")
    rows = words.to_frame().with_row_index("text").explode("term").drop_nulls()
    pairs = rows.group_by("text", "term", maintain_order=True).len("times").sort("text")
    terms = pairs["term"].unique(maintain_order=True)
    numbered = terms.to_frame().with_row_index("number")
    number = pairs.join(numbered, on="term", how="left", maintain_order="left")["number"]
    owners, times = pairs["text"].to_numpy(), pairs["times"].to_numpy()
    different = np.bincount(owners, minlength=len(texts))
    # Before its pairs stand a text's length and how many pairs it has.
    starts = np.cumsum(2 + 2 * different) - 2 * different
    numbers = np.zeros(2 * len(texts) + 2 * len(owners), np.int32)
    numbers[starts - 2] = np.bincount(owners, times, minlength=len(texts))
    numbers[starts - 1] = different
    firsts = np.cumsum(different) - different
    at = starts[owners] + 2 * (np.arange(len(owners)) - firsts[owners])
    numbers[at], numbers[at + 1] = number.to_numpy(), times
    return TermCounts(terms.cast(pl.String), numbers, starts)


def _nearest(
    queries: tuple[pl.Series, NDArray[np.float32]],
    documents: tuple[pl.Series, NDArray[np.float32]],
    depth: int,
) -> pl.DataFrame:
    from isotope.core.exact import VectorShards, top_k  # noqa: PLC0415 (it needs FAISS)
    from isotope.core.vectors import created  # noqa: PLC0415 (with it)

    (asked, questions), (ids, vectors) = queries, documents
    if questions.shape[1] != vectors.shape[1]:
        problem = f"queries of {questions.shape[1]} components, documents of {vectors.shape[1]}"
        raise BadArgument("search", problem, "encode both by one model")
    # Of equal scores the greater row comes first, which shall be the greater id.
    order = ids.arg_sort()
    with tempfile.TemporaryDirectory(prefix="isotope-") as scratch:
        path = Path(scratch) / "vectors.npy"
        with created(path, vectors.shape, ids=ids.gather(order)) as block:
            block[:] = vectors[order.to_numpy()]
        rows = np.arange(len(ids))
        scores, best = top_k(questions, VectorShards([path]), rows, depth, _MEMORY_MB, device="cpu")
    hits = {
        "query_id": asked.gather(np.repeat(np.arange(len(asked)), best.shape[1])),
        "doc_id": ids.gather(order).gather(best.ravel()),
        "score": scores.ravel().astype(np.float64),
    }
    return ranked(pl.DataFrame(hits), depth)


def _is_vectors(source: object) -> bool:
    if isinstance(source, Mapping):
        first = next(iter(cast("Mapping[str, object]", source).items()), None)
        is_table = first is not None and first[0] in ("id", "text")
        return first is not None and not is_table and not isinstance(first[1], str | type(None))
    return isinstance(source, tuple)


def _matrix(source: Any, where: str) -> tuple[pl.Series, NDArray[np.float32]]:  # noqa: ANN401 (Vectors)
    """Return ids and float32 [ids, dim].

    Raises:
        BadArgument: no matrix, or not one id a row.
        EmptyTable: no vector.
        IntegrityError: an id that is null or there twice, NaN or infinity.
    """
    ids, rows = ([*source], [*source.values()]) if isinstance(source, Mapping) else source
    keys = pl.Series("id", [*ids], strict=False).cast(pl.String)
    try:
        matrix = np.asarray(rows, np.float32)
    except (TypeError, ValueError) as error:
        raise BadArgument(where, f"no vectors ({error})", "give each as many numbers") from error
    if not len(keys):
        raise EmptyTable(where, "no vector", "give one or more")
    if matrix.ndim != _MATRIX or len(matrix) != len(keys) or not matrix.shape[1]:
        problem = f"{len(keys):,} ids, and numbers {matrix.shape}"
        raise BadArgument(where, problem, "give a vector an id, all of one length")
    demand_once(keys, where)
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        problem = f"the vector of {keys[int(bad[0])]!r} is NaN or infinite"
        raise IntegrityError(where, problem, "look at the item and the model")
    return keys, np.ascontiguousarray(matrix)
