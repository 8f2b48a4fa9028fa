"""Writes indexes of postings (`isotope.bm25.format`), in bounded memory.

Terms of texts are counted once for all indexes that have them, some texts at a time; an index gets
its own documents of these, block by block. Terms have numbers in the order in which they come until
an index is finished. Its lists wait in a file till then, and are laid into their places; the
postings of an index by score bound are laid anew, term after term. So memory holds the counts of a
block, the vocabulary, and a few numbers for each term of an index. An index is written aside and
renamed.
"""

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numba as nb
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from isotope.bm25.format import (
    BLOCK,
    CODE,
    DOCUMENTS,
    LENGTHS,
    RAW,
    TERMS,
    Index,
    describe,
    length_bytes,
    mapped,
    open_index,
)
from isotope.bm25.words import CHUNK_BYTES, HEAP_MB, TermCounts, counted
from isotope.core import store
from isotope.core.errors import CorruptFile, EmptyTable
from isotope.core.faults import named_after, naming
from isotope.core.progress import Progress, log
from isotope.core.system import reserve

__all__ = ["BLOCK", "LENGTHS", "Index", "IndexJob", "merge", "open_index", "write_index"]

_PAIRS_PER_BLOCK = 1 << 24
_BYTES_AT_ONCE = CHUNK_BYTES
_FRAMES_AT_ONCE = 8
_COPY_BYTES = 1 << 24
# Each list of a block, in the order of the blocks: its term's number and how many postings it has;
# and these.
_LISTS, _WAITING = "lists", "postings.blocks"
# Written block by block.
_BLOCKS = ("shifts", "words", "pairs")
# Lists and postings that are merged at once, at most.
_LISTS_AT_ONCE, _MERGED = 1 << 20, 1 << 24
# A document's score bound is what so many terms add, with Anserini's b.
_TERMS, _B = 20, 0.4
_FRAME: dict[str, pl.DataType] = {name: pl.String() for name in ("id", "split", "contents")}
_IDS = pa.schema([("id", pa.large_string())])


class IndexJob(NamedTuple):
    """Documents, and the indexes to make of them.

    `frames` have columns id, split and contents; ids rise. The index at a place has the documents
    of its splits, or all of them where it names none. With `by_bound` the documents that are
    counted at once have numbers in the order of their score bound, else of their ids.
    """

    frames: Iterable[pl.DataFrame]
    analyzer: str
    places: Mapping[Path, Collection[str] | None]
    by_bound: bool = False


def write_index(  # noqa: PLR0913
    documents: Iterable[tuple[str, str]],
    index: Path,
    *,
    analyzer: str,
    threads: int,
    memory_mb: int = HEAP_MB,
    by_bound: bool = False,
) -> int:
    """Index (id, contents) pairs, whose ids rise, as an `IndexJob`; return how many.

    Raises:
        EmptyTable: no documents.
        As `write_indexes`.
    """
    side = IndexJob(_framed(documents), analyzer, {index: None}, by_bound)
    sizes = write_indexes(side, threads=threads, memory_mb=memory_mb)
    if not sizes:
        raise EmptyTable(index, "no documents to index", "look at the tables it is made of")
    return sizes[index]


def write_indexes(side: IndexJob, *, threads: int, memory_mb: int = HEAP_MB) -> dict[Path, int]:
    """Make all indexes of a side; return of how many documents. One without documents is not made.

    Raises:
        CorruptFile: an id that does not follow the one before it.
        ToolFailed: Java could not analyse the documents.
        DiskFull, Unwritable: as `store.folder_aside`.
    """
    first = next(iter(side.places))
    return write_counted(side, _counted(side, first, threads, memory_mb))


def write_counted(
    side: IndexJob, pieces: Iterable[tuple[pl.DataFrame, TermCounts]]
) -> dict[Path, int]:
    """Make all indexes of a side of documents whose terms are counted, instead of its frames.

    `pieces` are ids and splits of some documents, and their counts; what `write_indexes` returns.

    Raises:
        CorruptFile: an id that does not follow the one before it.
        DiskFull, Unwritable: as `store.folder_aside`.
    """
    vocabulary, progress = _Vocabulary(), Progress("documents")
    writers = dict[Path, _Writer]()
    with ExitStack() as stack:
        for keys, counts in named_after(pieces, lambda piece: str(piece[0]["id"][-1])):
            piece = _Piece(counts, vocabulary.numbers(counts.terms))
            for index, splits in side.places.items():
                rows = _rows_of(keys, splits)
                if len(rows) and index not in writers:
                    folder = stack.enter_context(store.folder_aside(index))
                    writers[index] = stack.enter_context(_Writer(folder, side))
                if len(rows):
                    ids = keys["id"].gather(rows)
                    with naming(lambda: f"documents {ids[0]} to {ids[-1]}"):  # noqa: B023
                        writers[index].add(ids, piece.take(rows))
            progress.add(keys.height)
        progress.finish()
        for writer in writers.values():
            writer.finish(vocabulary)
    return {index: writer.documents for index, writer in writers.items()}


def _framed(documents: Iterable[tuple[str, str]]) -> Iterator[pl.DataFrame]:
    rows, size = list[tuple[str, str, str]](), 0
    for key, text in documents:
        rows.append((key, "", text))
        size += len(text)
        if size > _BYTES_AT_ONCE // _FRAMES_AT_ONCE:
            yield _frame(rows)
            rows, size = [], 0
    if rows:
        yield _frame(rows)


def _frame(rows: Sequence[tuple[str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, _FRAME, orient="row")


def _counted(
    side: IndexJob, beside: Path, threads: int, memory_mb: int
) -> Iterator[tuple[pl.DataFrame, TermCounts]]:
    """Yield ids and splits of some documents, and the counts of their texts."""
    frames = iter(side.frames)
    for frame in frames:
        keys = list[pl.DataFrame]()
        texts = _texts(chain([frame], frames), keys)
        limits: dict[str, Any] = {"threads": threads, "memory_mb": memory_mb}
        beside.parent.mkdir(parents=True, exist_ok=True)
        with counted(texts, beside, words=side.analyzer, **limits) as counts:
            yield pl.concat(keys), counts


def _texts(frames: Iterable[pl.DataFrame], keys: list[pl.DataFrame]) -> Iterator[str]:
    """Yield the texts of frames until they have `_BYTES_AT_ONCE`; note ids and splits."""
    size = 0
    for frame in frames:
        keys.append(frame.select("id", "split"))
        texts = frame["contents"].fill_null("")
        yield from texts
        size += int(texts.str.len_bytes().sum())
        if size > _BYTES_AT_ONCE:
            return


def _rows_of(keys: pl.DataFrame, splits: Collection[str] | None) -> NDArray[np.int64]:
    if splits is None:
        return np.arange(keys.height)
    return keys["split"].is_in(sorted(splits)).arg_true().cast(pl.Int64).to_numpy()


class _Vocabulary:
    """Numbers terms in the order in which they come."""

    def __init__(self) -> None:
        schema = {"term": pl.String(), "number": pl.UInt32()}
        self._table = pl.DataFrame(schema=schema)

    def numbers(self, terms: pl.Series) -> NDArray[np.uint32]:
        """Return the number of each term; terms are different ones."""
        asked, order = terms.alias("term").to_frame(), "left"
        if self._table.height:
            new = asked.join(self._table, on="term", how="anti", maintain_order=order)
        else:
            new = asked
        first = self._table.height
        self._table = pl.concat([self._table, new.with_columns(number=_numbers(first, new.height))])
        if new.height == asked.height:
            return np.arange(first, first + asked.height, dtype=np.uint32)
        joined = asked.join(self._table, on="term", how="left", maintain_order=order)
        return joined["number"].to_numpy()

    @property
    def terms(self) -> pl.Series:
        """The terms, by their numbers."""
        return self._table["term"]


def _numbers(first: int, size: int) -> pl.Series:
    return pl.int_range(first, first + size, dtype=pl.UInt32, eager=True)


class _Piece:
    """Counted texts whose terms have numbers."""

    def __init__(self, counts: TermCounts, numbers: NDArray[np.uint32]) -> None:
        self.counts, self.numbers = counts, numbers
        self.sorted = counts.terms.arg_sort().to_numpy().astype(np.int32)
        # What `_inverted` counts in.
        self.zeros = np.zeros(len(numbers), np.int64)

    def take(self, rows: NDArray[np.int64]) -> "_Piece":
        """Return some of the texts."""
        other = _Piece.__new__(_Piece)
        other.counts, other.numbers, other.zeros = self.counts.take(rows), self.numbers, self.zeros
        other.sorted = self.sorted
        return other


class _Writer:
    """Appends documents to an index; what needs all of them is made at the end."""

    def __init__(self, folder: Path, side: IndexJob) -> None:
        self.documents = 0
        self._folder, self._analyzer, self._by_bound = folder, side.analyzer, side.by_bound
        self._with_terms = self._length = 0
        self._starts = {"document": [0], "pair": [0]}
        self._lists = list[int]()
        self._last = pl.Series("id", [], pl.String)

    def __enter__(self) -> "_Writer":
        self._open = ExitStack()
        self._files: dict[str, BinaryIO] = {
            name: self._open.enter_context((self._folder / name).open("wb"))
            for name in (*_BLOCKS, _LISTS, _WAITING)
        }
        ids = pa.ipc.new_file(self._folder / DOCUMENTS, _IDS)
        self._ids = self._open.enter_context(ids)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, ids: pl.Series, piece: _Piece) -> None:
        """Append documents whose terms are counted.

        Raises:
            CorruptFile: ids that do not rise.
        """
        check_order(pl.concat([self._last, ids]), self._folder)
        self._last = ids[-1:]
        column = ids.to_arrow().cast(pa.large_string())
        self._ids.write_batch(pa.record_batch([column], schema=_IDS))
        starts, numbers = piece.counts.starts, piece.counts.numbers
        words, different = _words(numbers, starts), numbers[starts - 1]
        if self._by_bound:
            order = np.argsort(score_bound(words, different), kind="stable")
            self._write("shifts", (order - np.arange(len(order))).astype(np.int32))
            starts, words, different = starts[order], words[order], different[order]
        lengths = length_bytes(numbers[starts - 2].astype(np.int64))
        self._write("words", np.stack([words, different, lengths], axis=1).astype(np.int32))
        self.documents += len(starts)
        self._with_terms += int((different > 0).sum())
        self._length += int(words.sum())
        pairs = np.cumsum(different, dtype=np.int64)
        low = 0
        while low < len(starts):
            most = (pairs[low - 1] if low else 0) + _PAIRS_PER_BLOCK
            high = int(np.searchsorted(pairs, most, side="right"))
            high = min(max(high, low + 1), low + BLOCK)
            self._block(piece, starts[low:high], lengths[low:high])
            low = high

    def _block(self, piece: _Piece, starts: NDArray[np.int64], lengths: NDArray[np.uint8]) -> None:
        arrays = piece.sorted, piece.zeros
        present, sizes, positions, keys = _inverted(piece.counts.numbers, starts, lengths, *arrays)
        pairs, codes = np.unique(keys, return_inverse=True)
        if len(pairs) > BLOCK:
            half = len(starts) // 2
            self._block(piece, starts[:half], lengths[:half])
            self._block(piece, starts[half:], lengths[half:])
            return
        both = np.stack([pairs >> 8, pairs & 0xFF], axis=1).astype(np.int32)
        self._write(_WAITING, (positions << CODE) | codes.astype(np.uint32))
        self._write("pairs", both)
        self._write(_LISTS, piece.numbers[present].astype(np.uint32))
        self._write(_LISTS, sizes.astype(np.uint32))
        self._lists.append(len(present))
        added = {"document": len(starts), "pair": len(pairs)}
        for name, size in added.items():
            self._starts[name].append(self._starts[name][-1] + size)

    def _write(self, name: str, numbers: NDArray[Any]) -> None:
        self._files[name].write(np.ascontiguousarray(numbers).data)

    def finish(self, vocabulary: _Vocabulary) -> None:
        """Write what is known at the end: terms, their lists, sizes and sums."""
        self._open.close()
        held, count = (np.zeros(len(vocabulary.terms), np.int64) for _ in range(2))
        for numbers, sizes in self._blocks():
            count[numbers] += 1
            held[numbers] += sizes
        places = _write_terms(self._folder, vocabulary, held, count)
        lists, first = _Lists(self._folder, int(count.sum())), 0
        for block, (numbers, sizes) in enumerate(self._blocks()):
            lists.put(places[numbers], block, first + np.cumsum(sizes) - sizes, sizes)
            places[numbers] += 1
            first += int(sizes.sum())
        (self._folder / _LISTS).unlink()
        waiting, out = self._folder / _WAITING, self._folder / "postings"
        if self._by_bound:
            lists.lay(out, [mapped(waiting, np.uint32)], [len(self._lists)])
            waiting.unlink()
        else:
            waiting.rename(out)
        _write_starts(self._folder, self._starts)
        sizes = {"documents": self.documents, "with_terms": self._with_terms}
        describe(self._folder, self._analyzer, {**sizes, "length": self._length})
        log.info("%d documents indexed", self.documents)

    def _blocks(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        with (self._folder / _LISTS).open("rb") as file:
            for size in self._lists:
                numbers = np.fromfile(file, np.uint32, size)
                yield numbers, np.fromfile(file, np.uint32, size).astype(np.int64)


class _Lists:
    """The files of lists, to be filled in any order."""

    def __init__(self, folder: Path, size: int) -> None:
        names = ("block", "at", "size")
        self._columns = [
            _room(folder / f"lists.{name}", RAW[f"lists.{name}"], size) for name in names
        ]

    def put(
        self,
        places: NDArray[np.int64],
        blocks: int | NDArray[Any],
        at: NDArray[np.int64],
        sizes: NDArray[Any],
    ) -> None:
        """Put lists at places: their blocks, their first postings and how many they are."""
        for column, numbers in zip(self._columns, (blocks, at, sizes), strict=True):
            column[places] = numbers

    def lay(self, path: Path, sources: Sequence[NDArray[np.uint32]], ends: Sequence[int]) -> None:
        """Write the postings list after list, and note where they lie now.

        Those of the blocks before each of `ends` lie in the source beside it.
        """
        block, at, size = self._columns
        low, first = 0, 0
        with path.open("wb") as out:
            while low < len(block):
                ends_of_lists = np.cumsum(size[low : low + _LISTS_AT_ONCE], dtype=np.int64)
                count = max(1, int(np.searchsorted(ends_of_lists, _MERGED, side="right")))
                span = slice(low, low + count)
                to = ends_of_lists[:count] - size[span]
                merged = np.empty(ends_of_lists[count - 1], np.uint32)
                for source, start, end in zip(sources, [0, *ends], ends, strict=False):
                    _copy(source, start, end, block[span], at[span], size[span], to, merged)
                out.write(merged.data)
                at[span] = first + to
                low, first = low + count, first + len(merged)


def _room(path: Path, dtype: Any, size: int) -> NDArray[Any]:  # noqa: ANN401
    """Map a new file for writing; a map of a file without room would end the process (SIGBUS)."""
    with path.open("wb") as file:
        if not size:
            return np.empty(0, dtype)
        reserve(file, 0, size * np.dtype(dtype).itemsize)
    return np.memmap(path, dtype, "r+")


def _write_terms(
    folder: Path, vocabulary: _Vocabulary, held: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Write the terms that have lists; return where the lists of each number begin.

    `held` are the documents of each number, `count` its lists.
    """
    used = np.flatnonzero(count)
    terms = vocabulary.terms.gather(used)
    order = used[terms.arg_sort().to_numpy()]
    start = np.cumsum(count[order]) - count[order]
    columns = {"term": terms.sort(), "documents": held[order], "start": start}
    pl.DataFrame(columns).write_ipc(folder / TERMS)
    places = np.zeros(len(count), np.int64)
    places[order] = start
    return places


def _write_starts(folder: Path, starts: Mapping[str, Sequence[int]]) -> None:
    for name, numbers in starts.items():
        (folder / f"blocks.{name}").write_bytes(np.array(numbers, np.int64).tobytes())


def merge(parts: Sequence[Path], index: Path, *, analyzer: str) -> None:
    """Make `index` of the documents of all parts, in their order; the parts stay.

    It answers as one that `write_index` made of all of them at once. A part that is not there, as
    none is made of no documents, counts for nothing.

    Raises:
        EmptyTable: no part is there.
        CorruptFile, MissingFile: as `open_index`; ids that do not rise; parts in two orders.
        DiskFull, Unwritable: as `store.folder_aside`.
    """
    opened = [open_index(part, analyzer=analyzer) for part in parts if part.is_dir()]
    if not opened:
        raise EmptyTable(index, "no documents to index", "look at the tables it is made of")
    check_order(pl.concat([part.ids for part in opened]), index)
    if len({bool(len(part.shifts)) for part in opened}) > 1:
        problem = "some parts have their documents by score bound, others by id"
        raise CorruptFile(index, problem, "build the parts alike")
    with store.folder_aside(index) as folder:
        for name in _BLOCKS:
            _join([part.folder / name for part in opened], folder / name)
        with pa.ipc.new_file(folder / DOCUMENTS, _IDS) as out:
            for part in opened:
                column = part.ids.to_arrow().cast(pa.large_string())
                out.write_batch(pa.record_batch([column], schema=_IDS))
        _merge_lists(opened, folder)
        sizes = {
            name: sum(getattr(part, name) for part in opened)
            for name in ("documents", "with_terms", "length")
        }
        describe(folder, analyzer, sizes)
    log.info("%s merged from %d parts", index, len(opened))


def _join(files: Iterable[Path], path: Path) -> None:
    with path.open("wb") as out:
        for part in files:
            with part.open("rb") as file:
                shutil.copyfileobj(file, out, _COPY_BYTES)


def _merge_lists(parts: Sequence[Index], folder: Path) -> None:
    vocabulary = _Vocabulary()
    numbers = [vocabulary.numbers(part.terms["term"]) for part in parts]
    held, count = (np.zeros(len(vocabulary.terms), np.int64) for _ in range(2))
    for part, numbers_of_part in zip(parts, numbers, strict=True):
        count[numbers_of_part] += _lists_of(part)
        held[numbers_of_part] += part.terms["documents"].to_numpy()
    places = _write_terms(folder, vocabulary, held, count)
    lists, starts = _Lists(folder, int(count.sum())), {"document": [0], "pair": [0]}
    ends, by_bound, first = list[int](), bool(len(parts[0].shifts)), 0
    for part, numbers_of_part in zip(parts, numbers, strict=True):
        size = _lists_of(part)
        within = np.arange(len(part.list_block)) - np.repeat(part.terms["start"].to_numpy(), size)
        block = len(starts["document"]) - 1
        where = np.repeat(places[numbers_of_part], size) + within
        lists.put(where, part.list_block + block, part.list_at + first, part.list_size)
        first += 0 if by_bound else len(part.postings)
        places[numbers_of_part] += size
        blocks = (part.block_document, part.block_pair)
        for start, more in zip(starts.values(), blocks, strict=True):
            start.extend((more[1:] + start[-1]).tolist())
        ends.append(len(starts["document"]) - 1)
    if by_bound:
        lists.lay(folder / "postings", [part.postings for part in parts], ends)
    else:
        _join([part.folder / "postings" for part in parts], folder / "postings")
    _write_starts(folder, starts)


def _lists_of(index: Index) -> NDArray[np.int64]:
    """Return how many lists each term has."""
    return np.diff(index.terms["start"].to_numpy(), append=len(index.list_block))


def check_order(ids: pl.Series, index: Path) -> None:
    """Refuse ids that do not rise.

    Raises:
        CorruptFile: the first id that does not follow the one before it.
    """
    falls = (ids <= ids.shift(1)).fill_null(value=False)
    if falls.any():
        problem = f"id {ids.filter(falls)[0]!r} does not follow the one before it"
        raise CorruptFile(index, problem, "sort by id, each once")


def score_bound(words: NDArray[Any], different: NDArray[Any]) -> NDArray[np.float64]:
    """Return the largest sum, but for k1, of the factors that 20 terms have in each document.

    Documents have so many words, of which so many are different. Where those of a block are alike
    in this, the search for the nearest document can bound most blocks more closely than the rest.
    """
    counted = words - np.maximum(different.astype(np.float64) - _TERMS, 0)
    return counted / (1 - _B + _B * words / max(1.0, words.mean()))


@nb.njit(cache=True, nogil=True)
def _words(numbers: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many words each text has."""
    counts = np.zeros(len(starts), np.int64)
    for text in range(len(starts)):
        first = starts[text]
        for at in range(first, first + 2 * numbers[first - 1], 2):
            counts[text] += numbers[at + 1]
    return counts


@nb.njit(cache=True, nogil=True)
def _copy(  # noqa: PLR0913, PLR0917
    source: NDArray[np.uint32],
    start: int,
    end: int,
    block: NDArray[np.int32],
    at: NDArray[np.int64],
    size: NDArray[np.int32],
    to: NDArray[np.int64],
    merged: NDArray[np.uint32],
) -> None:
    """Copy the lists of the blocks [start, end) to where they shall be."""
    for n in range(len(block)):
        if start <= block[n] < end:
            merged[to[n] : to[n] + size[n]] = source[at[n] : at[n] + size[n]]


@nb.njit(cache=True, nogil=True)
def _inverted(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    length_bytes: NDArray[np.uint8],
    sorted_terms: NDArray[np.int32],
    per_term: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint32], NDArray[np.int64]]:
    """Return a block's postings, term after term.

    That is: the terms that it has and how many postings each, the documents and the pairs, a term
    frequency above a length byte. `per_term`, zeros, is left as zeros.
    """
    documents = len(length_bytes)
    postings = present = 0
    for document in range(documents):
        first = starts[document]
        for at in range(first, first + 2 * numbers[first - 1], 2):
            present += per_term[numbers[at]] == 0
            per_term[numbers[at]] += 1
            postings += 1
    terms, sizes = np.empty(present, np.int32), np.empty(present, np.int32)
    slot, first = 0, 0
    for term in sorted_terms:
        if per_term[term]:
            terms[slot], sizes[slot] = term, per_term[term]
            per_term[term] = first
            first += sizes[slot]
            slot += 1
    where, pairs = np.empty(postings, np.uint32), np.empty(postings, np.int64)
    for document in range(documents):
        begin = starts[document]
        for at in range(begin, begin + 2 * numbers[begin - 1], 2):
            to = per_term[numbers[at]]
            where[to] = document
            pairs[to] = (np.int64(numbers[at + 1]) << 8) | length_bytes[document]
            per_term[numbers[at]] += 1
    for slot in range(present):
        per_term[terms[slot]] = 0
    return terms, sizes, where, pairs
