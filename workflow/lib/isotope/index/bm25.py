"""Indexes over the words of a collection, one for each pool and side.

BM25's statistics are those of the pool that is searched, so every pool has its own index. A digest
beside it names what it was made of: engine, analysis, documents and their order. An index of
another collection with the same digest is copied instead of built again.

`index_bm25` makes all indexes of a system at once. In shards, `index_digests` first finds out which
of them an earlier collection has, every `index_bm25_shard` indexes its slice of texts and images
for the others, and `index_bm25_gather` merges what the shards made. Both ways give the same digests
and answers. `index_answers` indexes the names of texts, which answers in words are mapped to.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

import polars as pl

from isotope.bm25.names import WORDS, index_names
from isotope.core import store
from isotope.core.grid import SIDES, pool_splits, pools
from isotope.core.lucene import contents
from isotope.core.prepare import NONE
from isotope.core.progress import log
from isotope.core.store import UNDIVIDED, Part, rows_in, write_slice
from isotope.index.engines import ENGINES, SideDocuments

_ROWS = 50_000
_NATIVE = "native"


def index_bm25(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    language: str,
    texts_language: str | None = None,
    fields: Sequence[str] | None = None,
    prepare: str = NONE,
    threads: int,
    engine: str = _NATIVE,
    earlier: Sequence[Path] = (),
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` indexes.

    `language` is that of the captions, `texts_language` that of the texts where it is another one.
    An index of the same words in `earlier`, such folders of another collection, is copied.

    Raises:
        As `engines.IndexEngine.build`.
    """
    reads = Reads(language, texts_language or language, fields, prepare)
    tables = {"texts": texts, "images": images}
    before = _by_setting(earlier)
    with _scratch(folders[0]) as scratch, filled(folders) as parts:
        digests = IndexDigests(reads, parts, splits, engine)
        if before:
            # What is to be copied has to be known first.
            for side in SIDES:
                for words in _frames(tables[side], side, reads, UNDIVIDED, scratch):
                    digests.add(side, words)
        copied = {k for k, d in digests.compared(before).items() if d["copied"]}

        def words_of(side: str) -> Iterator[pl.DataFrame]:
            for words in _frames(tables[side], side, reads, UNDIVIDED, scratch):
                if not before:
                    digests.add(side, words)
                yield words

        sides = (
            SideDocuments(
                words_of(side), reads.language_of(side), digests.places(side, without=copied)
            )
            for side in SIDES
        )
        ENGINES[engine].build(sides, threads=threads)
        for key, digest in digests.compared(before).items():
            index = digests.path_of(key)
            if digest["copied"]:
                setting, _, relative = key.partition("/")
                copy(before[setting] / relative, index)
            write_digest(index, digest["sha256"])


def index_digests(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    digests: Path,
    settings: Sequence[str],
    splits: Sequence[str],
    language: str,
    texts_language: str,
    fields: Sequence[str] | None = None,
    prepare: str = NONE,
    engine: str = _NATIVE,
    earlier: Sequence[Path] = (),
) -> None:
    """Write as JSON the digest of each index that has documents, by `<setting>/<pool>/<side>`.

    `earlier` are `.../<setting>/<system>` folders of another collection. The digests are those of
    `index_bm25`. Memory does not grow with a table.
    """
    reads = Reads(language, texts_language, fields, prepare)
    computed = IndexDigests(reads, {setting: Path(setting) for setting in settings}, splits, engine)
    digests.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(digests) as scratch:
        for side, table in (("texts", texts), ("images", images)):
            for words in _frames(table, side, reads, UNDIVIDED, scratch):
                computed.add(side, words)
    with store.aside(digests) as part:
        compared = computed.compared(_by_setting(earlier))
        part.write_text(json.dumps(compared, indent=1), "utf-8")


def index_bm25_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    digests: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    part: Part,
    language: str,
    texts_language: str,
    fields: Sequence[str] | None = None,
    prepare: str = NONE,
    threads: int,
    engine: str = _NATIVE,
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` indexes of part (i, n).

    What will be copied is not indexed, and a pool without documents in this part has no index.

    Raises:
        As `engines.IndexEngine.build`.
    """
    reads = Reads(language, texts_language, fields, prepare)
    tables = {"texts": texts, "images": images}
    copied = {key for key, digest in _read(digests).items() if digest["copied"]}
    with _scratch(folders[0]) as scratch, filled(folders) as parts:
        places = IndexDigests(reads, parts, splits, engine)
        sides = (
            SideDocuments(
                _frames(tables[side], side, reads, part, scratch),
                reads.language_of(side),
                places.places(side, without=copied),
            )
            for side in SIDES
        )
        ENGINES[engine].build(sides, threads=threads)


def index_bm25_gather(  # noqa: PLR0913
    *,
    pieces: Sequence[Path],
    digests: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    language: str,
    texts_language: str,
    engine: str = _NATIVE,
    earlier: Sequence[Path] = (),
) -> None:
    """Fill the folders with `<pool>/<side>` indexes of all that the shards' folders have.

    The pieces of a setting are in the order of the shards. A digest stands beside each index.

    Raises:
        As `engines.IndexEngine.merge`.
    """
    before, expected = _by_setting(earlier), _read(digests)
    reads = Reads(language, texts_language)
    with filled(folders) as places:
        for setting, pool, folder in pools_of(places, splits):
            pieces_of_setting = [piece for piece in pieces if piece.parts[-2] == setting]
            for side in (s for s in SIDES if f"{setting}/{pool}/{s}" in expected):
                digest = expected[f"{setting}/{pool}/{side}"]
                if digest["copied"]:
                    copy(before[setting] / pool / side, folder / pool / side)
                else:
                    parts = [p / pool / side for p in pieces_of_setting]
                    ENGINES[engine].merge(parts, folder / pool / side, reads.language_of(side))
                write_digest(folder / pool / side, digest["sha256"])


def index_answers(
    *,
    texts: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    tokenizer: str = WORDS,
    threads: int = 1,
) -> None:
    """Fill each `.../<setting>/<system>` folder with a `<pool>/texts` index of the texts' names.

    Raises:
        UnknownModel: as `names.splitter`.
    """
    table = pl.read_parquet(texts, columns=["text_id", "page_title", "split"], glob=False).sort(
        "text_id"
    )
    with filled(folders) as parts:
        for setting, pool, part in pools_of(parts, splits):
            texts_of_pool = table.filter(pl.col("split").is_in(pool_splits(setting, pool)))
            pairs = texts_of_pool.select("text_id", pl.col("page_title").fill_null("")).iter_rows()
            if texts_of_pool.height:
                index = part / pool / "texts"
                index_names(pairs, index, tokenizer=tokenizer, threads=threads)


@dataclass(frozen=True)
class Reads:
    """What BM25 reads: captions in `language`, `fields` of texts in `texts_language`.

    `prepare` is one of `core.prepare`.
    """

    language: str
    texts_language: str
    fields: Sequence[str] | None = None
    prepare: str = NONE

    def language_of(self, side: str) -> str:
        """Return the language of one side."""
        return self.texts_language if side == "texts" else self.language

    def contents(self, side: str, table: Path) -> pl.DataFrame:
        """Return id, split and contents of every row of a side's table, by id."""
        how: dict[str, Any] = {"fields": self.fields, "prepare": self.prepare}
        return contents(side, table, language=self.language, **how)


@contextmanager
def filled(folders: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """Yield a folder to fill for each setting; all get their names when all are complete."""
    with ExitStack() as stack:
        yield {f.parts[-2]: stack.enter_context(store.folder_aside(f)) for f in folders}


def pools_of(parts: Mapping[str, Path], splits: Sequence[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield setting, pool and the folder of the setting, in which that of the pool is made."""
    for setting, part in parts.items():
        for pool in pools(setting, splits):
            (part / pool).mkdir(exist_ok=True)
            yield setting, pool, part


class IndexDigest:
    """SHA-256 of what an index is made of: the analysis, then each document's id and contents."""

    def __init__(self, analysis: str) -> None:
        """Begin with how documents are analysed and stored."""
        self._sha256 = hashlib.sha256(analysis.encode())

    def add(self, documents: pl.DataFrame) -> None:
        """Go on with id and contents of more documents."""
        for key, words in documents.select("id", "contents").iter_rows():
            self._sha256.update(f"{key}\0{words or ''}\0".encode())

    def hexdigest(self) -> str:
        """Return the digest of all that was added."""
        return self._sha256.hexdigest()


class ComparedDigest(TypedDict):
    """A digest, and whether the earlier index at this place has the same."""

    sha256: str
    copied: bool


class IndexDigests:
    """The indexes of a system, by `<setting>/<pool>/<side>`: their splits, places and digests."""

    def __init__(
        self, reads: Reads, folders: Mapping[str, Path], splits: Sequence[str], engine: str
    ) -> None:
        """Begin without documents; `folders` are those of the settings."""
        self._reads, self._folders, self._engine = reads, folders, ENGINES[engine]
        self._splits = {
            f"{setting}/{pool}/{side}": pool_splits(setting, pool)
            for setting in folders
            for pool in pools(setting, splits)
            for side in SIDES
        }
        self._digests = dict[str, IndexDigest]()

    def add(self, side: str, words: pl.DataFrame) -> None:
        """Go on with more documents of a side."""
        analysis = self._engine.analysis(self._reads.language_of(side))
        for key, splits in self._splits.items():
            words_of_index = (
                words.filter(pl.col("split").is_in(splits)) if _side(key) == side else words[:0]
            )
            if words_of_index.height:
                self._digests.setdefault(key, IndexDigest(analysis)).add(words_of_index)

    def path_of(self, key: str) -> Path:
        """Return where an index lies; its folder is made."""
        setting, _, relative = key.partition("/")
        index = self._folders[setting] / relative
        index.parent.mkdir(parents=True, exist_ok=True)
        return index

    def places(self, side: str, *, without: set[str]) -> dict[Path, tuple[str, ...]]:
        """Return where the indexes of a side lie, and their splits, but for some."""
        keys = {key for key in self._splits if _side(key) == side} - without
        return {self.path_of(key): self._splits[key] for key in sorted(keys)}

    def compared(self, before: Mapping[str, Path]) -> dict[str, ComparedDigest]:
        """Return the digest of each index that has documents, beside the earlier one."""
        comparison = dict[str, ComparedDigest]()
        for key, digest in self._digests.items():
            setting, _, relative = key.partition("/")
            sha256 = digest.hexdigest()
            same = setting in before and read_digest(before[setting] / relative) == sha256
            comparison[key] = ComparedDigest(sha256=sha256, copied=same)
        return comparison


def _side(key: str) -> str:
    return key.rpartition("/")[2]


def copy(earlier: Path, index: Path) -> None:
    """Make `index` by copying an earlier one."""
    shutil.copytree(earlier, index)
    log.info("%s copied from %s", index.name, earlier)


def write_digest(index: Path, digest: str) -> None:
    """Write the digest of an index beside it."""
    _beside(index).write_text(digest, "utf-8")


def read_digest(index: Path) -> str:
    """Return the digest that stands beside an index; nothing where there is none, or no index."""
    beside = _beside(index)
    return beside.read_text("utf-8") if beside.is_file() and index.is_dir() else ""


def _beside(index: Path) -> Path:
    return index.with_name(f"{index.name}.sha256")


def _by_setting(folders: Sequence[Path]) -> dict[str, Path]:
    return {folder.parts[-2]: folder for folder in folders}


def _scratch(beside: Path) -> AbstractContextManager[Path]:
    return store.scratch(beside.with_name(f"{beside.name}.words"))


def _frames(
    table: Path, side: str, reads: Reads, part: Part, scratch: Path
) -> Iterator[pl.DataFrame]:
    """Yield `Reads.contents` of part (i, n) of a table, some rows at a time.

    They go through files in a folder. The table is in the order of its ids.
    """
    part_table, some = scratch / f"{side}.part.parquet", scratch / f"{side}.parquet"
    if part != UNDIVIDED:
        write_slice(table, part, part_table)
        table = part_table
    count = -(-rows_in(table) // _ROWS)
    for n in range(count):
        if count > 1:
            write_slice(table, (n, count), some)
        yield reads.contents(side, some if count > 1 else table)


def _read(digests: Path) -> dict[str, ComparedDigest]:
    return cast(dict[str, ComparedDigest], json.loads(digests.read_text("utf-8")))
