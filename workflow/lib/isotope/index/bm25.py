"""Indexes: Lucene over words for BM25, row numbers into the vector shards for exact search."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import numpy as np
import polars as pl

from isotope.core import lucene, sql, store
from isotope.core.grid import SIDES, id_column, pool_splits, pools
from isotope.core.lucene import merge_indexes
from isotope.core.progress import log
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.shards import Part, rows_in, write_slice


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


_SQL = sql.SQL / "index"


def contents(
    side: str, table: Path, *, language: str, fields: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return id, split and contents (what BM25 reads) of every text or image, by id.

    Texts give their fields in the paper's order (section 5.1), images their captions in `language`.
    """
    chosen = {"fields": list(fields or FIVE_FIELDS)}
    params = chosen if side == "texts" else {"language": language}
    found = sql.query(_SQL / f"{side}.sql", {side: table}, params)
    return pl.DataFrame() if found is None else found


def index_bm25(  # noqa: PLR0913
    collection: Mapping[str, Path],
    folders: Sequence[Path],
    splits: list[str],
    *,
    language: str,
    fields: Sequence[str] | None,
    threads: int,
    texts_in: str | None = None,
    earlier: Sequence[Path] = (),
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` Lucene indexes.

    BM25's statistics are those of the pool that is searched, so every pool has its own. `language`
    is that of the captions, `texts_in` that of the texts where it is another one. An index of the
    same words in `earlier`, such folders of another collection, is copied.
    """
    there = {folder.parts[-2]: folder for folder in earlier}
    with filled(folders) as parts:
        for side in SIDES:
            words = contents(side, collection[side], language=language, fields=fields)
            for setting, pool, part in pools_of(parts, splits):
                chosen = words.filter(pl.col("split").is_in(pool_splits(setting, pool)))
                if chosen.height:
                    spoken = texts_in or language if side == "texts" else language
                    before = there[setting] / pool / side if there else None
                    where = part / pool / side
                    build_or_copy(chosen, where, before, language=spoken, threads=threads)


@contextmanager
def filled(folders: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """Yield a folder to fill for each setting; all get their names when all are complete."""
    with ExitStack() as stack:
        yield {f.parts[-2]: stack.enter_context(store.folder_aside(f)) for f in folders}


def pools_of(parts: Mapping[str, Path], splits: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield setting, pool and the folder of the setting, in which that of the pool is made."""
    for setting, part in parts.items():
        for pool in pools(setting, splits):
            (part / pool).mkdir(exist_ok=True)
            yield setting, pool, part


def index_dense(
    collection: Mapping[str, Path],
    ids: Mapping[str, Sequence[Path]],
    folders: Sequence[Path],
    splits: list[str],
) -> None:
    """Fill each folder with `<pool>/<side>.npy`: int64 rows of the encoded shards in that pool."""
    with filled(folders) as parts:
        for side in SIDES:
            key = id_column(side)
            encoded = pl.concat([pl.read_parquet(p) for p in ids[side]]).with_row_index("row")
            table = pl.read_parquet(collection[side], columns=[key, "split"])
            rows = encoded.join(
                table, left_on="id", right_on=key, how="inner", maintain_order="left"
            )
            for setting, pool, part in pools_of(parts, splits):
                chosen = rows.filter(pl.col("split").is_in(pool_splits(setting, pool)))["row"]
                np.save(part / pool / f"{side}.npy", chosen.cast(pl.Int64).to_numpy())


_ROWS = 50_000


@dataclass(frozen=True)
class Reads:
    """What BM25 reads: captions in `language`, `fields` of the texts, which are in `texts_in`."""

    language: str
    texts_in: str
    fields: Sequence[str] | None = None

    def of(self, side: str) -> str:
        """Return the language of one side."""
        return self.texts_in if side == "texts" else self.language


class Told(TypedDict):
    """The documents' digest, and whether the earlier index at this place has the same."""

    sha256: str
    copied: bool


def index_digests(  # noqa: PLR0913
    collection: Mapping[str, Path],
    reads: Reads,
    out: Path,
    *,
    settings: Sequence[str],
    splits: list[str],
    earlier: Sequence[Path] = (),
) -> None:
    """Write as JSON the digest of each index that has documents, by `<setting>/<pool>/<side>`.

    `earlier` are `.../<setting>/<system>` folders of another collection. The digests are those of
    `index.index_bm25`, as tables are in the order of their ids. Memory does not grow.
    """
    digests: dict[str, Digest] = {}
    out.parent.mkdir(parents=True, exist_ok=True)
    for side in SIDES:
        count = -(-rows_in(collection[side]) // _ROWS)
        for n in range(count):
            words = _words(collection[side], side, reads, (n, count), out)
            for key, chosen in _by_index(words, side, settings, splits):
                digests.setdefault(key, Digest(reads.of(side))).add(chosen)
    before = {folder.parts[-2]: folder for folder in earlier}
    told = {key: _compared(key, digest.hexdigest(), before) for key, digest in digests.items()}
    with store.aside(out) as part:
        part.write_text(json.dumps(told, indent=1), "utf-8")


def index_bm25_shard(  # noqa: PLR0913
    collection: Mapping[str, Path],
    reads: Reads,
    digests: Path,
    folders: Sequence[Path],
    splits: list[str],
    *,
    threads: int,
    part: Part,
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` indexes of part (i, n).

    What will be copied is not indexed, and a pool without documents in this part has no index.

    Raises:
        ToolFailed: as `lucene.build_index`.
    """
    made = {key for key, told in _read(digests).items() if not told["copied"]}
    with filled(folders) as places:
        for side in sorted({key.rpartition("/")[2] for key in made}):
            words = _words(collection[side], side, reads, part, folders[0])
            for key, chosen in _by_index(words, side, list(places), splits):
                setting, _, place = key.partition("/")
                if key in made:
                    pairs = chosen.select("id", "contents").iter_rows()
                    spoken, where = reads.of(side), places[setting] / place
                    lucene.build_index(pairs, where, threads=threads, language=spoken)


def index_bm25_gather(
    pieces: Sequence[Path],
    digests: Path,
    folders: Sequence[Path],
    splits: list[str],
    earlier: Sequence[Path] = (),
) -> None:
    """Fill the folders with `<pool>/<side>` indexes of all that the shards' folders have.

    The pieces of a setting are in the order of the shards. A digest stands beside each index.

    Raises:
        EmptyTable, ToolFailed: as `merge_indexes`.
    """
    there = {folder.parts[-2]: folder for folder in earlier}
    told = _read(digests)
    with filled(folders) as places:
        for setting, pool, place in pools_of(places, splits):
            own = [piece for piece in pieces if piece.parts[-2] == setting]
            for side in (s for s in SIDES if f"{setting}/{pool}/{s}" in told):
                of = told[f"{setting}/{pool}/{side}"]
                if of["copied"]:
                    copy(there[setting] / pool / side, place / pool / side)
                else:
                    merge_indexes([p / pool / side for p in own], place / pool / side)
                tell(place / pool / side, of["sha256"])


def _words(table: Path, side: str, reads: Reads, part: Part, beside: Path) -> pl.DataFrame:
    with tempfile.TemporaryDirectory(dir=beside.parent, prefix=".words-") as folder:
        own = Path(folder) / "part.parquet"
        write_slice(table, part, own)
        return contents(side, own, language=reads.language, fields=reads.fields)


def _by_index(
    words: pl.DataFrame, side: str, settings: Sequence[str], splits: list[str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    for setting in settings:
        for pool in pools(setting, splits):
            chosen = words.filter(pl.col("split").is_in(pool_splits(setting, pool)))
            if chosen.height:
                yield f"{setting}/{pool}/{side}", chosen


def _compared(key: str, digest: str, before: Mapping[str, Path]) -> Told:
    setting, _, place = key.partition("/")
    known = setting in before and told_beside(before[setting] / place) == digest
    return Told(sha256=digest, copied=known)


def _read(digests: Path) -> dict[str, Told]:
    return cast(dict[str, Told], json.loads(digests.read_text("utf-8")))
