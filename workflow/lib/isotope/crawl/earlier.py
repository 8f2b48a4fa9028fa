"""What an earlier crawl already has, so that a later one asks for what is new or changed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope import tables
from isotope.core.errors import MissingFile
from isotope.core.pixels import iter_pixels
from isotope.crawl.origin import OWN_HOST, share_tags
from isotope.crawl.outcome import OF_THE_BYTES

Row = dict[str, Any]


class Earlier:
    """The rows of an earlier ledger for the URLs of a shard, and the pictures behind them."""

    def __init__(self, folder: Path | None, wanted: pl.DataFrame, origin: str = OWN_HOST) -> None:
        """Look `wanted` (image_id, image_url) up in a folder of data/crawl; None knows nothing.

        `origin` is where the later crawl asks: what another one has told of its pictures' versions
        says nothing there.

        A success whose picture is not in the folder's shards counts as unknown, and so does a
        failure that was not about the bytes.

        Raises:
            MissingFile: no ledger in the folder.
        """
        self._shards: list[Path] = []
        self._origin = origin
        self._rows: dict[str, Row] = {}
        if folder is None:
            return
        if not (folder / "ledger.parquet").is_file():
            raise MissingFile(folder, "no ledger of an earlier crawl", "crawl that source first")
        self._shards = sorted(folder.glob("shard-*.parquet"))
        rows = _with_all_columns(folder / "ledger.parquet")
        rows = rows.join(wanted.lazy(), on="image_url").collect()
        there = self._there(rows["image_id"])
        stored = (pl.col("status") == "success") & pl.col("image_id").is_in(there)
        kept = rows.filter(stored | pl.col("status").is_in(OF_THE_BYTES))
        self._rows = {row["image_url"]: row for row in kept.rows(named=True)}

    def _there(self, ids: pl.Series) -> list[str]:
        if not self._shards or ids.is_empty():
            return []
        between = pl.col("image_id").is_between(pl.lit(ids.min()), pl.lit(ids.max()))
        listed = pl.scan_parquet(self._shards).filter(between).select("image_id").collect()
        return listed["image_id"].to_list()

    def headers(self, url: str) -> dict[str, str]:
        """Return what makes a request conditional (RFC 9110, 13.1); nothing for what is unknown."""
        row: Mapping[str, Any] = self._rows.get(url, {})
        if not share_tags(row.get("origin"), self._origin):
            return {}
        if row.get("etag"):
            return {"If-None-Match": row["etag"]}
        if row.get("last_modified"):
            return {"If-Modified-Since": row["last_modified"]}
        return {}

    def row(self, url: str) -> Row | None:
        """Return the earlier row of a URL, without id and time."""
        row = self._rows.get(url)
        return row and {k: v for k, v in row.items() if k not in ("image_id", "fetched_at")}

    def has(self, url: str, sha256: str) -> bool:
        """Tell whether the picture of a URL is there, with this digest of its WebP."""
        return self._rows.get(url, {}).get("sha256") == sha256

    def pictures(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (image_id, WebP) of the earlier crawl's pictures, by id."""
        yield from iter_pixels(self._shards, ids)


def _with_all_columns(ledger: Path) -> pl.LazyFrame:
    """Read a ledger, an older one with fewer columns included."""
    rows = pl.scan_parquet(ledger)
    there = rows.collect_schema().names()
    absent = [pl.lit(None).alias(name) for name in tables.LEDGER.names if name not in there]
    return rows.with_columns(absent)
