"""The Lucene indexes of a collection, made in shards: a slice of its texts and images each.

First the documents of each index are digested, which tells what an earlier collection has already;
then every shard indexes its documents of the rest; last, what the shards made is merged.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import polars as pl

from isotope.core import lucene, store
from isotope.core.grid import SIDES, pool_splits, pools
from isotope.core.lucene import merge_indexes
from isotope.core.shards import Part, rows_in, write_slice
from isotope.index.build import Digest, contents, copy, filled, pools_of, tell, told_beside

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
