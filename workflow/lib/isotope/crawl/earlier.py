"""What an earlier crawl and bulk sources have of a shard: pictures, and requests they spare."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core.errors import MissingFile
from isotope.core.pixels import iter_pixels
from isotope.crawl.identity import earlier_rows
from isotope.crawl.ledger import OF_CONTENT, OWN_HOST, Row
from isotope.crawl.sides import STORED, is_smaller, with_all_columns
from isotope.intake.headers import returnable

# Told of a picture that lies with a bulk source, beside the columns of its row.
IN_BULK = "in_bulk"
# A side that no picture is smaller than.
_ANY_SIDE = 1
# What a picture of a bulk source has of the requests that did not bring it.
_OF_REQUESTS = ("attempts", "error")


def share_tags(left: str | None, other: str) -> bool:
    """Tell whether an ETag or date of one origin means the same bytes at another.

    It does at the same one. Folders that are served on loopback share their tags, which are digests
    of the content. A row of a ledger without an origin (None) counts as of the own host.
    """
    left = left or OWN_HOST
    return left == other or (_is_folder(left) and _is_folder(other))


def _is_folder(origin: str) -> bool:
    return origin != OWN_HOST and "://" not in origin


class EarlierCrawl:
    """The rows of an earlier ledger for the URLs of a shard, and the pictures behind them."""

    def __init__(
        self,
        folder: Path,
        urls: pl.DataFrame,
        origin: str = OWN_HOST,
        side_px: int | None = None,
    ) -> None:
        """Look `urls` (image_id, image_url) up in a folder of data/crawl.

        A file of Wikimedia's is found by its identity, whatever address it had then.

        `origin` is where the later crawl requests them: another one's ETags and dates mean nothing
        there. `side_px` is the shorter side at which it stores them.

        A success whose picture is not in the folder's shards, or was stored at a smaller side, is
        left out, and so is a failure that was not about the bytes.

        Raises:
            MissingFile: no ledger in the folder.
        """
        self._origin = origin
        if not (folder / "ledger.parquet").is_file():
            raise MissingFile(folder, "no ledger of an earlier crawl", "crawl that source first")
        self._shards = sorted(folder.glob("shard-*.parquet"))
        rows = with_all_columns(folder / "ledger.parquet").filter(~is_smaller(side_px))
        matches = earlier_rows(rows, urls)
        self._renamed = self._earlier_ids(matches)
        ids = [*self._stored_ids(matches["image_id"]), *self._renamed]
        stored = (pl.col("status") == "success") & pl.col("image_id").is_in(ids)
        usable = matches.filter(stored | pl.col("status").is_in(OF_CONTENT)).drop(
            "earlier_url", "shard", strict=False
        )
        self._rows: dict[str, Row] = {row["image_url"]: row for row in usable.rows(named=True)}

    def _stored_ids(self, ids: pl.Series) -> list[str]:
        if not self._shards or ids.is_empty():
            return []
        between = pl.col("image_id").is_between(pl.lit(ids.min()), pl.lit(ids.max()))
        listed = (
            pl.scan_parquet(self._shards, glob=False).filter(between).select("image_id").collect()
        )
        return listed["image_id"].to_list()

    def _earlier_ids(self, matches: pl.DataFrame) -> dict[str, str]:
        """Return the ids of stored pictures that had another address, by those of now."""
        renamed = matches.filter(pl.col("earlier_url") != pl.col("image_url"))
        if not self._shards or renamed.is_empty():
            return {}
        ids = pl.scan_parquet(self._shards, glob=False).select(
            earlier_id="image_id", earlier_url="image_url"
        )
        stored = renamed.lazy().join(ids, on="earlier_url").select("image_id", "earlier_id")
        return dict(stored.collect().iter_rows())

    def headers(self, url: str) -> dict[str, str]:
        """Return the headers that make a request conditional (RFC 9110, 13.1), if any."""
        row: Mapping[str, Any] = self._rows.get(url, {})
        if not share_tags(row.get("origin"), self._origin):
            return {}
        if tag := returnable(row.get("etag")):
            return {"If-None-Match": tag}
        if date := returnable(row.get("last_modified")):
            return {"If-Modified-Since": date}
        return {}

    def row(self, url: str) -> Row | None:
        """Return the earlier row of a URL, without id and time."""
        row = self._rows.get(url)
        return row and {k: v for k, v in row.items() if k not in ("image_id", "fetched_at")}

    def picture_row(self, url: str) -> Row | None:
        """Return the row of a picture for a crawl that does not request it; None if there is none.

        Its time is that when it was fetched.
        """
        row = self._rows.get(url)
        if row is None or row["status"] != "success":
            return None
        when = {"attempts": 0, "origin": self._origin, "fetched_at": _seconds(row["fetched_at"])}
        return {k: v for k, v in row.items() if k != "image_id"} | when

    def renewed(self, row: Row) -> Row | None:
        """Return a row that was taken over from here, with what is stored of its picture now.

        None if that picture, of the same bytes, is here no more.
        """
        now, came = self._rows.get(row["image_url"], {}), row.get("upstream_sha256")
        if now.get("status") != "success":
            return None
        is_same = now["sha256"] == row["sha256"] or (came and now["upstream_sha256"] == came)
        return row | {key: now[key] for key in STORED} if is_same else None

    def pictures(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (image_id, WebP) of the earlier crawl's pictures, by id."""
        now = {self._renamed[image_id]: image_id for image_id in ids if image_id in self._renamed}
        same = iter_pixels(self._shards, [i for i in ids if i not in self._renamed])
        renamed = sorted((now[i], webp) for i, webp in iter_pixels(self._shards, [*now]))
        yield from heapq.merge(same, renamed, key=lambda picture: picture[0])


class BulkPictures:
    """Pictures that bulk sources have brought, for the URLs of a shard."""

    def __init__(self, ledgers: Sequence[Path], urls: pl.DataFrame, origin: str) -> None:
        """Look `urls` (image_id, image_url) up in the ledgers of `crawl.bulk`, first ones first."""
        crawls = (EarlierCrawl(path.parent, urls, origin, _ANY_SIDE) for path in ledgers)
        self._crawls = [*crawls]

    def __len__(self) -> int:
        return len(self._crawls)

    def picture_row(self, url: str) -> Row | None:
        """Return the row of a picture, of the first source that has it; None if none does."""
        rows = (crawl.picture_row(url) for crawl in self._crawls)
        row = next(filter(None, rows), None)
        return row and {**row, IN_BULK: True}

    def renewed(self, row: Row) -> Row | None:
        """Return a row that was taken from here as it would be taken now; None if it wouldn't."""
        now = self.picture_row(row["image_url"])
        is_same = now is not None and now["sha256"] == row["sha256"]
        return {**now, **{k: row[k] for k in _OF_REQUESTS}} if now and is_same else None

    def pictures(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (image_id, WebP) of these pictures, by id."""
        pictures_of_crawls = (crawl.pictures(ids) for crawl in self._crawls)
        yield from heapq.merge(*pictures_of_crawls, key=lambda picture: picture[0])


def _seconds(when: datetime | None) -> int | None:
    return None if when is None else int(when.timestamp())
