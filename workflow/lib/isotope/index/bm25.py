"""Lucene's indexes over the words of a collection, one for each pool and side.

BM25's statistics are those of the pool that is searched, so every pool has its own index. A digest
beside it names what it was made of: documents, their order and their analysis. An index of another
collection with the same digest is copied instead of built again.

`index_bm25` makes all indexes of a system at once. In shards, `index_digests` first finds out which
of them an earlier collection has, every `index_bm25_shard` indexes its slice of texts and images
for the others, and `index_bm25_gather` merges what the shards made. Both ways give the same digests
and answers. `index_answers` indexes the names of texts, which answers in words are mapped to.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import polars as pl

from isotope.core import lucene, store
from isotope.core.grid import SIDES, pool_splits, pools
from isotope.core.lucene import contents, merge_indexes
from isotope.core.progress import log
from isotope.core.store import Part, rows_in, write_slice

_ROWS = 50_000


def index_bm25(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    language: str,
    texts_language: str | None = None,
    fields: Sequence[str] | None = None,
    threads: int,
    earlier: Sequence[Path] = (),
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` indexes.

    `language` is that of the captions, `texts_language` that of the texts where it is another one.
    An index of the same words in `earlier`, such folders of another collection, is copied.

    Raises:
        EmptyTable, ToolFailed: as `lucene.build_indexes`.
    """
    reads = Reads(language, texts_language or language, fields)
    tables = {"texts": texts, "images": images}
    before = _by_setting(earlier)
    with filled(folders) as parts:

        def changed() -> Iterator[lucene.Documents]:
            for side in SIDES:
                words = reads.contents(side, tables[side])
                for setting, pool, part in pools_of(parts, splits):
                    documents = words.filter(pl.col("split").is_in(pool_splits(setting, pool)))
                    index = part / pool / side
                    other = before[setting] / pool / side if before else None
                    if documents.height and not is_copied(documents, index, other, reads.of(side)):
                        rows = documents.select("id", "contents").iter_rows()
                        yield lucene.Documents(index, rows, reads.of(side))

        lucene.build_indexes(changed(), threads=threads)


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
    earlier: Sequence[Path] = (),
) -> None:
    """Write as JSON the digest of each index that has documents, by `<setting>/<pool>/<side>`.

    `earlier` are `.../<setting>/<system>` folders of another collection. The digests are those of
    `index_bm25`, as tables are in the order of their ids. Memory does not grow with a table.
    """
    reads = Reads(language, texts_language, fields)
    open_digests: dict[str, Digest] = {}
    digests.parent.mkdir(parents=True, exist_ok=True)
    for side, table in (("texts", texts), ("images", images)):
        count = -(-rows_in(table) // _ROWS)
        for n in range(count):
            words = _slice(table, side, reads, (n, count), digests)
            for key, documents in _by_index(words, side, settings, splits):
                open_digests.setdefault(key, Digest(reads.of(side))).add(documents)
    before = _by_setting(earlier)
    compared = {key: _compared(key, each.hexdigest(), before) for key, each in open_digests.items()}
    with store.aside(digests) as part:
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
    threads: int,
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` indexes of part (i, n).

    What will be copied is not indexed, and a pool without documents in this part has no index.

    Raises:
        ToolFailed: as `lucene.build_indexes`.
    """
    reads, tables = Reads(language, texts_language, fields), {"texts": texts, "images": images}
    own = {key for key, digest in _read(digests).items() if not digest["copied"]}
    with filled(folders) as places:

        def documents() -> Iterator[lucene.Documents]:
            for side in sorted({key.rpartition("/")[2] for key in own}):
                words = _slice(tables[side], side, reads, part, folders[0])
                for key, rows in _by_index(words, side, list(places), splits):
                    setting, _, place = key.partition("/")
                    if key in own:
                        pairs = rows.select("id", "contents").iter_rows()
                        yield lucene.Documents(places[setting] / place, pairs, reads.of(side))

        lucene.build_indexes(documents(), threads=threads)


def index_bm25_gather(
    *,
    pieces: Sequence[Path],
    digests: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    earlier: Sequence[Path] = (),
) -> None:
    """Fill the folders with `<pool>/<side>` indexes of all that the shards' folders have.

    The pieces of a setting are in the order of the shards. A digest stands beside each index.

    Raises:
        EmptyTable, ToolFailed: as `merge_indexes`.
    """
    before, expected = _by_setting(earlier), _read(digests)
    with filled(folders) as places:
        for setting, pool, place in pools_of(places, splits):
            own = [piece for piece in pieces if piece.parts[-2] == setting]
            for side in (s for s in SIDES if f"{setting}/{pool}/{s}" in expected):
                digest = expected[f"{setting}/{pool}/{side}"]
                if digest["copied"]:
                    copy(before[setting] / pool / side, place / pool / side)
                else:
                    merge_indexes([p / pool / side for p in own], place / pool / side)
                write_digest(place / pool / side, digest["sha256"])


def index_answers(
    *,
    texts: Path,
    folders: Sequence[Path],
    splits: Sequence[str],
    tokenizer: str = lucene.WORDS,
    threads: int = 1,
) -> None:
    """Fill each `.../<setting>/<system>` folder with a `<pool>/texts` index of the texts' names.

    Raises:
        UnknownModel: as `lucene.splitter`.
    """
    table = pl.read_parquet(texts, columns=["text_id", "page_title", "split"]).sort("text_id")
    with filled(folders) as parts:
        for setting, pool, part in pools_of(parts, splits):
            own = table.filter(pl.col("split").is_in(pool_splits(setting, pool)))
            pairs = own.select("text_id", pl.col("page_title").fill_null("")).iter_rows()
            if own.height:
                place = part / pool / "texts"
                lucene.index_names(pairs, place, tokenizer=tokenizer, threads=threads)


@dataclass(frozen=True)
class Reads:
    """What BM25 reads: captions in `language`, `fields` of texts in `texts_language`."""

    language: str
    texts_language: str
    fields: Sequence[str] | None = None

    def of(self, side: str) -> str:
        """Return the language of one side."""
        return self.texts_language if side == "texts" else self.language

    def contents(self, side: str, table: Path) -> pl.DataFrame:
        """Return id, split and contents of every row of a side's table, by id."""
        return contents(side, table, language=self.language, fields=self.fields)


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


class Digest:
    """SHA-256 of what an index is made of: the analyzer, then each document's id and contents."""

    def __init__(self, language: str) -> None:
        """Begin with how documents in `language` are analysed."""
        analysis = " ".join([lucene.jar().name, *lucene.analysis(language)])
        self._sha256 = hashlib.sha256(analysis.encode())

    def add(self, documents: pl.DataFrame) -> None:
        """Go on with id and contents of more documents."""
        for key, words in documents.select("id", "contents").iter_rows():
            self._sha256.update(f"{key}\0{words or ''}\0".encode())

    def hexdigest(self) -> str:
        """Return the digest of all that was added."""
        return self._sha256.hexdigest()


class Compared(TypedDict):
    """A digest, and whether the earlier index at this place has the same."""

    sha256: str
    copied: bool


def documents_digest(documents: pl.DataFrame, language: str) -> str:
    """Return the Digest of documents that are all at hand."""
    digest = Digest(language)
    digest.add(documents)
    return digest.hexdigest()


def is_copied(documents: pl.DataFrame, index: Path, earlier: Path | None, language: str) -> bool:
    """Copy an earlier index of the same ids and contents, if there is one; return whether it was.

    The digest of the documents is written beside `index` either way.
    """
    digest = documents_digest(documents, language)
    index.parent.mkdir(parents=True, exist_ok=True)
    write_digest(index, digest)
    same = earlier is not None and read_digest(earlier) == digest
    if same and earlier is not None:
        copy(earlier, index)
    return same


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


def _slice(table: Path, side: str, reads: Reads, part: Part, beside: Path) -> pl.DataFrame:
    """Return `Reads.contents` of one slice of a table, by way of a file in the folder `beside`."""
    with tempfile.TemporaryDirectory(dir=beside.parent, prefix=".words-") as folder:
        own = Path(folder) / "part.parquet"
        write_slice(table, part, own)
        return reads.contents(side, own)


def _by_index(
    words: pl.DataFrame, side: str, settings: Sequence[str], splits: Sequence[str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    for setting in settings:
        for pool in pools(setting, splits):
            documents = words.filter(pl.col("split").is_in(pool_splits(setting, pool)))
            if documents.height:
                yield f"{setting}/{pool}/{side}", documents


def _compared(key: str, digest: str, before: Mapping[str, Path]) -> Compared:
    setting, _, place = key.partition("/")
    same = setting in before and read_digest(before[setting] / place) == digest
    return Compared(sha256=digest, copied=same)


def _read(digests: Path) -> dict[str, Compared]:
    return cast(dict[str, Compared], json.loads(digests.read_text("utf-8")))
