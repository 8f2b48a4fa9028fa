"""What became of each URL: its status, and its row in the ledger.

Rows of an earlier crawl spare requests for what has not changed. The ledgers of all shards,
compared with the URLs and the settings of now, become that of the source.
"""

import heapq
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import (
    DeadCrawl,
    LossyCrawl,
    MissingFile,
    StaleCrawl,
)
from isotope.core.pixels import iter_pixels
from isotope.crawl.identity import earlier_rows, finish_respelling, respell
from isotope.crawl.sides import STORED, is_smaller, reduce_shards, with_all_columns
from isotope.intake.archives import PICTURES
from isotope.intake.formats import NO_PIXELS
from isotope.intake.headers import returnable
from isotope.intake.limits import demand_share
from isotope.params.crawl import Crawl
from isotope.schemas.crawl import LEDGER, URLS

OWN_HOST = "own host"
STATUSES = (
    "success",
    "not_found",
    "gone",
    "forbidden",
    "rate_limited",
    "server_error",
    "http_error",
    "truncated",
    "timeout",
    "connection",
    "tls",
    "checksum",
    "host_down",
    "host_gone",
    "refused",
    "bad_url",
    "bad_redirect",
    "forbidden_address",
    "too_large",
    "too_many_pixels",
    "wrong_type",
    "polyglot",
    "svg",
    "pdf",
    "not_an_image",
    "unreadable",
    "not_resized",
    "decode_timeout",
    "decoder_died",
)
RETRYABLE = frozenset(
    {"rate_limited", "server_error", "truncated", "timeout", "connection", "checksum"}
)
# Requested again by the next run only.
HOST_DOWN = "host_down"
# Requested again after `isotope recrawl` only: see crawl.outages.
HOST_GONE = "host_gone"
NEXT_RUN = RETRYABLE | {HOST_DOWN}
# What the same bytes lead to every time.
OF_CONTENT = frozenset({"wrong_type", "polyglot", "svg", "pdf", "not_an_image"})
FAILURES = frozenset(STATUSES) - {"success"}
# Told of a picture that lies with a bulk source, beside the columns of its row.
IN_BULK = "in_bulk"
# A side that no picture is smaller than.
_ANY_SIDE = 1
# What a network that is down does to every URL.
NO_CONNECTION = frozenset({"connection", "timeout", HOST_DOWN})
# Decided without a request.
NOT_REQUESTED = frozenset({"bad_url", "forbidden_address", HOST_GONE})
# The outcomes that another value of a setting may change.
DECIDED_BY: dict[str, frozenset[str]] = {
    "user_agent": FAILURES,
    "contact": FAILURES,
    "redirects": frozenset({"bad_redirect"}),
    "timeout_s": frozenset({"timeout", "truncated"}),
    "max_mib": frozenset({"too_large"}),
    "max_pixels": frozenset({"too_many_pixels"}),
    "decode_s": frozenset({"decode_timeout"}),
    "decode_mb": frozenset({"decoder_died"}),
    "alternates": FAILURES,
    **dict.fromkeys(
        ("attempts", "wait_s", "connections", "rate_per_s", "megabits_per_s"), RETRYABLE
    ),
}
# What a host in trouble does to any request.
OF_THE_HOST = frozenset({"rate_limited", "server_error", "timeout", "connection", "tls"})
_BY_CODE = {404: "not_found", 410: "gone", 401: "forbidden", 403: "forbidden", 429: "rate_limited"}
_FIRST_SERVER_ERROR = 500
_SQL = sql.SQL / "crawl"
_LISTED_OUTCOMES = 3
# Fewer may be dead by chance.
_FEW_URLS = 100
Row = dict[str, Any]


def list_urls(listed: Sequence[Path], shards: int, urls: Path) -> None:
    """Write schemas.URLS: each `image_url` of the tables once, with its id and its shard."""
    tables = {"associations": listed}
    sql.query(_SQL / "urls.sql", tables, {"shards": shards}, out=urls, schema=URLS)


def gather_ledgers(
    urls: Path,
    ledgers: Sequence[Path],
    ledger: Path,
    spec: Crawl,
    decoding: Crawl,
) -> None:
    """Write the rows of all `ledgers` by URL, after comparing them with the URLs of now.

    Shards whose URLs differ from those in spelling alone get the latter (`identity.respell`).
    `spec` is crawl.<source>: which origin it asked, and how many may be lost. Of pictures that came
    along only URLs are compared. Downloaded ones that are larger than `spec.side_px` are reduced
    before, by decoders with the limits `decoding`.

    Raises:
        StaleCrawl: the list of URLs is not the one that was crawled, or it was crawled from another
            origin. Finished shards are never fetched again by themselves: the user decides.
        DeadCrawl: no URL has brought a picture; the shards, which hold none, are removed.
        LossyCrawl: more than `spec.lost_share` of the URLs brought none.
        As `sides.reduce_shards`.
        TooManyRefused: more pictures that came along can't be read than `intake.refused`
            allows. Other files beside them, by their names, do not count.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        # Older ledgers have fewer columns.
        columns = Path(folder) / "columns.parquet"
        store.write(LEDGER.empty_table(), columns, LEDGER)
        relations: dict[str, sql.Files] = {"ledgers": [columns, *ledgers]}
        finish_respelling(ledgers)
        differing = _rows("uncrawled.sql", relations | {"urls": urls})
        if differing.height and ledgers:
            respell(urls, ledgers, differing)
            differing = _rows("uncrawled.sql", relations | {"urls": urls})
        _check_urls(differing, ledger.parent)
        if spec.pictures:
            _check_refused(ledgers)
        else:
            outcomes = _rows("outcomes.sql", relations)
            _check_origin(outcomes, spec, ledger.parent)
            _check_pictures(outcomes, spec, ledgers)
            counts = dict[str, int]()
            for status, count in outcomes.select("status", "urls").rows():
                counts[status] = counts.get(status, 0) + count
            hint = remedy(spec, ledger.parent.name)
            check_share(counts, spec.lost_share, ledger, hint)
            reduce_shards(ledgers, spec.side_px, decoding)
        sql.query(_SQL / "ledger.sql", relations, {}, out=ledger, schema=LEDGER)


def _check_urls(differing: pl.DataFrame, folder: Path) -> None:
    if differing.height:
        new = int(differing["is_new"].sum())
        found = f"{new} wanted URLs were never crawled, {differing.height - new} are wanted no more"
        first = f"the first is {differing['image_url'][0]}"
        raise StaleCrawl(folder, f"{found}; {first}", f"{_rerun(folder)} to crawl anew")


def _check_origin(outcomes: pl.DataFrame, spec: Crawl, folder: Path) -> None:
    """Pictures that came with a data set, and older ledgers, have no origin."""
    now, origins = origin(spec), outcomes.drop_nulls("origin").group_by("origin")
    for place, count in origins.agg(pl.col("urls").sum()).sort("origin").rows():
        if place != now:
            found = f"{count} URLs were asked for at {_name(place)}, and not at {_name(now)}"
            remedy = f"put `serve` or `mirror` of crawl.{folder.name} back, or {_rerun(folder)}"
            raise StaleCrawl(folder, found, remedy)


def _name(place: str) -> str:
    return "their own hosts" if place == OWN_HOST else place


def _rerun(folder: Path) -> str:
    return f"`rm -rf {folder}` and run again"


def _check_pictures(outcomes: pl.DataFrame, spec: Crawl, ledgers: Sequence[Path]) -> None:
    total = int(outcomes["urls"].sum())
    if not total or "success" in outcomes["status"].to_list():
        return
    counts = [f"{row['urls']} of {total} URLs {_outcome(row)}" for row in outcomes.rows(named=True)]
    folder = ledgers[0].parent
    found = f"{', '.join(counts[:_LISTED_OUTCOMES])}; the first is {outcomes['image_url'][0]}"
    for ledger in ledgers:
        ledger.with_name(ledger.name.replace("ledger-", "shard-")).unlink(missing_ok=True)
        ledger.unlink()
    raise DeadCrawl(folder, f"no picture: {found}", remedy(spec, folder.name))


def check_share(counts: Mapping[str, int], most: float, at: Path, hint: str) -> None:
    """Check that no larger share of the URLs than `most` is lost; `counts` are those by status.

    `hint` says which setting may be wrong. Drawings and documents, which have no pixels, are not
    lost. A few URLs tell nothing.

    Raises:
        LossyCrawl: with the number of each outcome.
    """
    total = sum(counts.values())
    lost = {s: n for s, n in counts.items() if s != "success" and s not in NO_PIXELS}
    if total < _FEW_URLS or sum(lost.values()) <= most * total:
        return
    most_first = sorted(lost.items(), key=lambda one: (-one[1], one[0]))
    outcomes = ", ".join(f"{urls:,} {status}" for status, urls in most_first)
    found = f"{sum(lost.values()):,} of {total:,} URLs brought no picture: {outcomes}"
    accept = f"or, if there is no more to get, raise crawl.{at.parent.name}.lost_share ({most:g})"
    raise LossyCrawl(at, found, f"{hint}; {accept}")


def _check_refused(ledgers: Sequence[Path]) -> None:
    columns = ["image_url", "status", "error"]
    entries = pl.concat([pl.read_parquet(path, columns=columns) for path in ledgers])
    named = pl.col("image_url").str.to_lowercase()
    is_picture = pl.any_horizontal(named.str.ends_with(e) for e in PICTURES)
    is_other = named.str.contains(r"\.[a-z0-9]{1,5}$") & ~is_picture
    is_read = pl.col("status").is_in(["success", *NO_PIXELS])
    entries = entries.filter(is_read | (pl.col("status") != "not_an_image") | ~is_other)
    refused = entries.filter(~is_read).sort("image_url")
    if refused.is_empty():
        return
    first = refused.row(0, named=True)
    why = first["status"] + (f" ({first['error']})" if first["error"] else "")
    demand_share(refused.height, entries.height, "pictures", (first["image_url"], why))


def _outcome(row: Mapping[str, Any]) -> str:
    if row["http_status"] is not None:
        arrived = f" with {row['status']}" if row["http_status"] == 200 else ""  # noqa: PLR2004
        return f"answered {row['http_status']}{arrived}"
    return f"failed with {row['status']}" + (f" ({row['error']})" if row["error"] else "")


def remedy(spec: Crawl, source: str) -> str:
    """Name the setting that says where the pictures are."""
    if spec.serve:
        layout = "it holds pictures under their upload paths (wikipedia/commons/a/ab/X.jpg)"
        return f"see that crawl.{source}.serve is right ({spec.serve}: {layout}), and run again"
    if spec.mirror:
        return f"see that crawl.{source}.mirror is right ({spec.mirror}), and run again"
    return f"open the first URL in a browser, check crawl.{source}.contact, and run again"


def _rows(query: str, relations: Mapping[str, sql.Files]) -> pl.DataFrame:
    rows = sql.query(_SQL / query, relations, {})
    return pl.DataFrame() if rows is None else rows


def status_of_code(code: int) -> str:
    """Return the status of an HTTP answer that brings no picture."""
    return _BY_CODE.get(code, "server_error" if code >= _FIRST_SERVER_ERROR else "http_error")


def origin(spec: Crawl) -> str:
    """Return what answers the URLs of crawl.<source>: a folder, a mirror, or their own host."""
    if spec.serve:
        return str(PurePath(spec.serve))
    return spec.mirror or OWN_HOST


def share_tags(one: str | None, other: str) -> bool:
    """Tell whether an ETag or date of one origin means the same bytes at another.

    It does at the same one. Folders that are served on loopback share their tags, which are digests
    of the content. A row of a ledger without an origin (None) counts as of the own host.
    """
    one = one or OWN_HOST
    return one == other or (_is_folder(one) and _is_folder(other))


def _is_folder(place: str) -> bool:
    return place != OWN_HOST and "://" not in place


class EarlierCrawl:
    """The rows of an earlier ledger for the URLs of a shard, and the pictures behind them."""

    def __init__(
        self,
        folder: Path | None,
        urls: pl.DataFrame,
        origin: str = OWN_HOST,
        side_px: int | None = None,
    ) -> None:
        """Look `urls` (image_id, image_url) up in a folder of data/crawl; None has no rows.

        A file of Wikimedia's is found by its identity, whatever address it had then.

        `origin` is where the later crawl requests them: another one's ETags and dates mean nothing
        there. `side_px` is the shorter side at which it stores them.

        A success whose picture is not in the folder's shards, or was stored at a smaller side, is
        left out, and so is a failure that was not about the bytes.

        Raises:
            MissingFile: no ledger in the folder.
        """
        self._shards: list[Path] = []
        self._origin = origin
        self._rows: dict[str, Row] = {}
        self._renamed: dict[str, str] = {}
        if folder is None:
            return
        if not (folder / "ledger.parquet").is_file():
            raise MissingFile(folder, "no ledger of an earlier crawl", "crawl that source first")
        self._shards = sorted(folder.glob("shard-*.parquet"))
        rows = with_all_columns(folder / "ledger.parquet").filter(~is_smaller(side_px))
        found = earlier_rows(rows, urls)
        self._renamed = self._earlier_ids(found)
        ids = [*self._stored_ids(found["image_id"]), *self._renamed]
        stored = (pl.col("status") == "success") & pl.col("image_id").is_in(ids)
        kept = found.filter(stored | pl.col("status").is_in(OF_CONTENT)).drop(
            "earlier_url", "shard", strict=False
        )
        self._rows = {row["image_url"]: row for row in kept.rows(named=True)}

    def _stored_ids(self, ids: pl.Series) -> list[str]:
        if not self._shards or ids.is_empty():
            return []
        between = pl.col("image_id").is_between(pl.lit(ids.min()), pl.lit(ids.max()))
        listed = pl.scan_parquet(self._shards).filter(between).select("image_id").collect()
        return listed["image_id"].to_list()

    def _earlier_ids(self, found: pl.DataFrame) -> dict[str, str]:
        """Return the ids of stored pictures that had another address, by those of now."""
        renamed = found.filter(pl.col("earlier_url") != pl.col("image_url"))
        if not self._shards or renamed.is_empty():
            return {}
        ids = pl.scan_parquet(self._shards).select(earlier_id="image_id", earlier_url="image_url")
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
        yield from heapq.merge(same, renamed, key=lambda one: one[0])


class Bulk:
    """Pictures that bulk sources have brought, for the URLs of a shard."""

    def __init__(self, ledgers: Sequence[Path], urls: pl.DataFrame, origin: str) -> None:
        """Look `urls` (image_id, image_url) up in the ledgers of `crawl.bulk`, first ones first."""
        own = (EarlierCrawl(path.parent, urls, origin, _ANY_SIDE) for path in ledgers)
        self._crawls = [*own]

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
        every = (crawl.pictures(ids) for crawl in self._crawls)
        yield from heapq.merge(*every, key=lambda picture: picture[0])


# What a picture of a bulk source has of the requests that did not bring it.
_OF_REQUESTS = ("attempts", "error")


def _seconds(when: datetime | None) -> int | None:
    return None if when is None else int(when.timestamp())
