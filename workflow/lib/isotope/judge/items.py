"""What an assessor reads: pooled queries and candidates in an order that tells nothing."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from isotope.core.errors import MissingFile
from isotope.core.grid import SIDES, Cell, id_column
from isotope.judge.ledger import Pair

_Value = str | list[str] | None
_FIELDS = {
    "texts": {
        "page_title": "Page",
        "section_title": "Section",
        "hierarchy": "Hierarchy",
        "context_section_description": "Text of the section",
        "context_page_description": "Text of the page",
    },
    "images": {
        "caption_reference_description": "Caption",
        "caption_alt_text_description": "Alternative text",
        "caption_attribution_description": "Attribution",
        "image_url": "File",
    },
}


@dataclass(frozen=True)
class Query:
    """A query with its candidates, in an order that tells nothing."""

    task: str
    query_id: str
    documents: tuple[str, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The query with each of its candidates."""
        return [Pair(self.task, self.query_id, d) for d in self.documents]


@dataclass(frozen=True)
class Items:
    """A pool as people see it; `words` has the fields of each id, by side."""

    pool: pl.DataFrame
    queries: Sequence[Query]
    words: Mapping[str, Mapping[str, Mapping[str, str]]]


def load(collection: str, assessor: str, root: Path = Path()) -> Items:
    """Return the pool of a collection (tables.POOL) with what is to be read.

    Raises:
        MissingFile: no pool, or no table of the collection.
    """
    path = root / f"results/score/{collection}/pool.parquet"
    remedy = "run `snakemake --cores all score --configfile params/track.yaml`"
    if not path.is_file():
        raise MissingFile(path, "no pool to judge", remedy)
    pool = pl.read_parquet(path)
    words = {side: _words(root, collection, side, _ids(pool, side)) for side in SIDES}
    return Items(pool, shuffled(pool, assessor), words)


def _ids(pool: pl.DataFrame, side: str) -> list[str]:
    """Return the pooled texts or images, as queries or as documents, sorted."""
    kept = set[str]()
    for (task,), own in pool.partition_by("task", as_dict=True).items():
        cell = Cell("", "", str(task))
        kept |= set(own["query_id" if cell.query_side == side else "doc_id"])
    return sorted(kept)


def shuffled(pool: pl.DataFrame, assessor: str) -> list[Query]:
    """Return the queries in the order of their ids, so that assessors meet on the first ones.

    Candidates are in an order of the assessor's own, the same each time: neither ranks nor systems
    show in it, and what comes first does not profit twice.
    """
    grouped = pool.sort("task", "query_id").partition_by(
        "task", "query_id", as_dict=True, maintain_order=True
    )
    return [
        Query(str(task), str(query), _in_own_order(own["doc_id"].to_list(), f"{assessor}:{query}"))
        for (task, query), own in grouped.items()
    ]


def _in_own_order(ids: Sequence[str], seed: str) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).digest()))


def _words(root: Path, collection: str, side: str, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    table = root / f"data/collect/{collection}/{side}.parquet"
    if not table.is_file():
        raise MissingFile(table, "no such table", "run `snakemake --cores all collect`")
    key, fields = id_column(side), _FIELDS[side]
    rows = pl.scan_parquet(table).filter(pl.col(key).is_in(ids)).select(key, *fields).collect()
    return {row[key]: _readable(row, fields) for row in rows.iter_rows(named=True)}


def _readable(
    row: Mapping[str, str | list[str] | None], fields: Mapping[str, str]
) -> dict[str, str]:
    told = {name: _joined(row[column]) for column, name in fields.items()}
    if "File" in told:
        told["File"] = unquote(told["File"].rpartition("/")[2]).replace("_", " ")
    return {name: value for name, value in told.items() if value}


def _joined(value: _Value) -> str:
    parts = [value] if isinstance(value, str) else value or []
    return " | ".join(dict.fromkeys(p.strip() for p in parts if p and p.strip()))
