"""What a judging page shows: queries with their candidates, the words of each, and pictures."""

import hashlib
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image

from isotope.core.errors import MissingFile
from isotope.core.grid import SIDES, RunKey, id_column
from isotope.core.pixels import decode, iter_pixels
from isotope.core.schemas import CAPTION_FIELDS, FIVE_FIELDS, STEP
from isotope.core.uploads import decoded_name
from isotope_judge.ledger import GradedPair

SIDE_PX = 480
_QUALITY = 80
_CAPTIONS = dict(zip(CAPTION_FIELDS, ("Caption", "Alternative text", "Attribution"), strict=True))
_Row = Mapping[str, Any]


@dataclass(frozen=True)
class Query:
    """A query with its candidates, in the assessor's own order."""

    task: str
    query_id: str
    documents: tuple[str, ...]

    @property
    def pairs(self) -> list[GradedPair]:
        """The query with each of its candidates."""
        return [GradedPair(self.task, self.query_id, d) for d in self.documents]


@dataclass(frozen=True)
class Items:
    """A pool for display; `words` has the fields of each id, by side."""

    pool: pl.DataFrame
    queries: Sequence[Query]
    words: Mapping[str, Mapping[str, Mapping[str, str]]]


def load_items(
    collection: str, assessor: str, root: Path = Path(), *, by_chance: bool = False
) -> Items:
    """Return the pool of a collection (schemas.POOL) with the words of its items.

    `by_chance` is as in `shuffled`.

    Raises:
        MissingFile: no pool, or no table of the collection.
    """
    path = root / f"results/score/{collection}/pool.parquet"
    remedy = "run `snakemake --cores all score` with `judge` in the params"
    if not path.is_file():
        raise MissingFile(path, "no pool to judge", remedy)
    pool = pl.read_parquet(path, glob=False)
    words = {side: read_words(root, collection, side, _ids(pool, side)) for side in SIDES}
    return Items(pool, shuffled(pool, assessor, by_chance=by_chance), words)


def _ids(pool: pl.DataFrame, side: str) -> list[str]:
    """Return the pooled texts or images, as queries or as documents, sorted."""
    ids = set[str]()
    for (task,), task_pool in pool.partition_by("task", as_dict=True).items():
        cell = RunKey("", "", str(task))
        ids |= set(task_pool["query_id" if cell.query_side == side else "doc_id"])
    return sorted(ids)


def shuffled(pool: pl.DataFrame, assessor: str, *, by_chance: bool = False) -> list[Query]:
    """Return the queries in the order of their ids, so that assessors grade the same ones first.

    `by_chance` takes an order that has nothing to do with what the ids say, the same for all
    assessors: the first queries of each task are then a random sample.

    Candidates are in an order of each assessor's own, the same each time: it shows neither ranks
    nor systems, and which candidates come first differs between assessors.
    """
    grouped = pool.sort("task", "query_id").partition_by(
        "task", "query_id", as_dict=True, maintain_order=True
    )
    queries = [
        Query(
            str(task),
            str(query),
            _in_own_order(query_rows["doc_id"].to_list(), f"{assessor}:{query}"),
        )
        for (task, query), query_rows in grouped.items()
    ]
    return sorted(queries, key=_place_by_chance) if by_chance else queries


def _place_by_chance(query: Query) -> bytes:
    return hashlib.sha256(f"{query.task}:{query.query_id}".encode()).digest()


def _in_own_order(ids: Sequence[str], seed: str) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).digest()))


def read_words(
    root: Path, collection: str, side: str, ids: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the fields of each of `ids`, texts or images by `side`: their labels and values.

    Raises:
        MissingFile: no table of that side.
    """
    return table_words(root / f"data/collect/{collection}/{side}.parquet", side, ids)


def table_words(table: Path, side: str, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the fields of each of `ids` that a table of texts or images, by `side`, has.

    Raises:
        MissingFile: no such table.
    """
    if not table.is_file():
        raise MissingFile(table, "no such table", "run `snakemake --cores all collect`")
    columns, fields = _SIDES[side]
    key = id_column(side)
    rows = (
        pl.scan_parquet(table, glob=False)
        .filter(pl.col(key).is_in(ids))
        .select(key, *columns)
        .collect()
    )
    return {row[key]: fields(row) for row in rows.iter_rows(named=True)}


def text_fields(row: _Row) -> dict[str, str]:
    """Return page, path of the section, and texts; what one text has of the other is left out.

    The text of a page may be, or begin with, that of the section.
    """
    title, section, path, section_text, page_text = (
        _stripped(row[column]) for column in FIVE_FIELDS
    )
    if section_text and _contains(section_text, page_text):
        page_text = ""
    elif section_text and re.match(rf"{re.escape(section_text)}(?!\w)", page_text):
        page_text = f"… {page_text.removeprefix(section_text).strip()}"
    fields = {
        "Page": title,
        "Section": _path(path, section),
        "Text of the section": section_text,
        "Text of the page": page_text,
    }
    return {label: value for label, value in fields.items() if value}


def _path(path: str, section: str) -> str:
    """Return the headings of a hierarchy, `section` being the last of them."""
    if not path or not section or path.rsplit(STEP, maxsplit=1)[-1] == section:
        return path or section
    return f"{path}{STEP}{section}"


def image_fields(row: _Row) -> dict[str, str]:
    """Return captions and name of the file, without what a longer caption or an earlier one has."""
    captions = {label: _parts(row[column]) for column, label in _CAPTIONS.items()}
    all_parts = [part for parts in captions.values() for part in parts]
    fields: dict[str, str] = {}
    shown: list[str] = []
    for label, parts in captions.items():
        before = len(shown)
        for part in parts:
            if not _is_elsewhere(part, all_parts, shown):
                shown.append(part)
        fields[label] = " | ".join(shown[before:])
    name = decoded_name(row["image_url"].rpartition("/")[2])
    stem = name.rpartition(".")[0] or name
    fields["File"] = "" if any(_contains(part, stem) for part in shown) else name
    return {label: value for label, value in fields.items() if value}


def _is_elsewhere(part: str, all_parts: Sequence[str], shown: Sequence[str]) -> bool:
    """Tell whether `part` is in a longer one of `all_parts`, or equals one that is `shown`."""
    longer = (other for other in all_parts if len(_folded(other)) > len(_folded(part)))
    return any(_contains(other, part) for other in (*shown, *longer))


def _contains(text: str, part: str) -> bool:
    """Tell whether the words of `part` stand in `text`, in whatever case, with whatever blanks."""
    words = rf"(?<!\w){re.escape(_folded(part))}(?!\w)"
    return re.search(words, _folded(text)) is not None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _stripped(value: str | None) -> str:
    return (value or "").strip()


def _parts(value: str | Sequence[str | None] | None) -> list[str]:
    parts = [value] if isinstance(value, str) else value or []
    return [stripped for part in parts if (stripped := _stripped(part))]


_SIDES: dict[str, tuple[tuple[str, ...], Callable[[_Row], dict[str, str]]]] = {
    "texts": (FIVE_FIELDS, text_fields),
    "images": ((*_CAPTIONS, "image_url"), image_fields),
}


class PooledPictures:
    """Pooled images as small WebP pictures, from the shards of the crawl."""

    def __init__(self, shards: Sequence[Path], ids: Collection[str]) -> None:
        """Find which shard has each of `ids`."""
        self._shards: dict[str, str] = {}
        if shards:
            lazy = pl.scan_parquet(list(shards), include_file_paths="shard", glob=False).select(
                "image_id", "shard"
            )
            self._shards = dict(lazy.filter(pl.col("image_id").is_in(ids)).collect().iter_rows())

    def __contains__(self, image_id: object) -> bool:
        """Tell whether the picture's pixels were crawled."""
        return image_id in self._shards

    def webp(self, image_id: str) -> bytes:
        """Return the picture within SIDE_PX squared.

        Raises:
            KeyError: no pixels of that image.
            CorruptFile, TruncatedFile, MissingFile: as `pixels`.
        """
        shard = Path(self._shards[image_id])
        _, webp = next(iter_pixels([shard], {image_id}))
        picture, small = decode(webp, where=f"{shard}: {image_id}"), io.BytesIO()
        picture.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS)
        picture.save(small, "WEBP", quality=_QUALITY)
        return small.getvalue()
