"""What became of each URL: its status, and its row in the ledger.

Rows of an earlier crawl spare requests for what has not changed. The ledgers of all shards,
compared with the URLs and the settings of now, become that of the source.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import (
    DeadCrawl,
    LossyCrawl,
    StaleCrawl,
)
from isotope.crawl.identity import finish_respelling, respell
from isotope.crawl.sides import reduce_shards, with_all_columns
from isotope.intake.archives import PICTURES
from isotope.intake.formats import NO_PIXELS
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
# What a network that is down does to every URL.
NO_CONNECTION = frozenset({"connection", "timeout", HOST_DOWN})
# Decided without a request.
NOT_REQUESTED = frozenset({"bad_url", "forbidden_address", HOST_GONE})
# The outcomes that another value of a setting may change.
DECIDED_BY: dict[str, frozenset[str]] = {
    "user_agent": FAILURES,
    "contact": FAILURES,
    "timeout_s": frozenset({"timeout", "truncated"}),
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
        if not _have_all(urls, ledgers):
            differing = _rows("uncrawled.sql", relations | {"urls": urls})
            if differing.height and ledgers:
                respell(urls, ledgers, differing)
                differing = _rows("uncrawled.sql", relations | {"urls": urls})
            _check_urls(differing, ledger.parent)
        if spec.pictures:
            _check_refused(ledgers)
        else:
            outcomes = _outcomes([columns, *ledgers])
            _check_origin(outcomes, spec, ledger.parent)
            _check_pictures(outcomes, spec, ledgers)
            counts = dict[str, int]()
            for status, count in outcomes.select("status", "urls").rows():
                counts[status] = counts.get(status, 0) + count
            hint = remedy(spec, ledger.parent.name)
            check_share(counts, spec.lost_share, ledger, hint)
            reduce_shards(ledgers, spec.side_px, decoding)
        sql.query(_SQL / "ledger.sql", relations, {}, out=ledger, schema=LEDGER)


def _have_all(urls: Path, ledgers: Sequence[Path]) -> bool:
    """Tell whether the ledger of each shard has the URLs of that shard, one shard after another."""
    wanted, rows = pl.scan_parquet(urls, glob=False), 0
    try:
        for shard, ledger in enumerate(ledgers):
            urls_of_ledger = pl.scan_parquet(ledger, glob=False).select("image_url").collect()
            listed = wanted.filter(shard=shard).select("image_url").collect()
            if not urls_of_ledger.sort("image_url").equals(listed.sort("image_url")):
                return False
            rows += urls_of_ledger.height
    except (OSError, pl.exceptions.PolarsError):
        # A table that can't be read is named by the query that compares all of them.
        return False
    return rows == store.rows_in(urls)


def _outcomes(ledgers: Sequence[Path]) -> pl.DataFrame:
    """Return what became of the URLs, the most frequent outcome first, with a URL of each.

    `origin`, where they were requested, is null for pictures that came with a data set and in older
    ledgers.
    """
    keys = ("status", "http_status", "error", "origin")
    parts = [with_all_columns(path).select(*keys, "image_url") for path in ledgers]
    rows = pl.concat(parts, how="vertical_relaxed")
    counted = rows.group_by(keys).agg(urls=pl.len(), image_url=pl.col("image_url").min())
    most_first = [True, *(False for _ in keys)]
    return counted.sort("urls", *keys, descending=most_first, nulls_last=True).collect(
        engine="streaming"
    )


def _check_urls(differing: pl.DataFrame, folder: Path) -> None:
    if differing.height:
        new = int(differing["is_new"].sum())
        problem = (
            f"{new} wanted URLs were never crawled, {differing.height - new} are wanted no more"
        )
        first = f"the first is {differing['image_url'][0]}"
        raise StaleCrawl(folder, f"{problem}; {first}", f"{_rerun(folder)} to crawl anew")


def _check_origin(outcomes: pl.DataFrame, spec: Crawl, folder: Path) -> None:
    """Pictures that came with a data set, and older ledgers, have no origin."""
    now, origins = origin(spec), outcomes.drop_nulls("origin").group_by("origin")
    for crawled_from, count in origins.agg(pl.col("urls").sum()).sort("origin").rows():
        if crawled_from != now:
            problem = (
                f"{count} URLs were asked for at {_name(crawled_from)}, and not at {_name(now)}"
            )
            remedy = f"put `serve` or `mirror` of crawl.{folder.name} back, or {_rerun(folder)}"
            raise StaleCrawl(folder, problem, remedy)


def _name(origin_name: str) -> str:
    return "their own hosts" if origin_name == OWN_HOST else origin_name


def _rerun(folder: Path) -> str:
    return f"`rm -rf {folder}` and run again"


def _check_pictures(outcomes: pl.DataFrame, spec: Crawl, ledgers: Sequence[Path]) -> None:
    total = int(outcomes["urls"].sum())
    if not total or "success" in outcomes["status"].to_list():
        return
    counts = [f"{row['urls']} of {total} URLs {_outcome(row)}" for row in outcomes.rows(named=True)]
    folder = ledgers[0].parent
    problem = f"{', '.join(counts[:_LISTED_OUTCOMES])}; the first is {outcomes['image_url'][0]}"
    for ledger in ledgers:
        ledger.with_name(ledger.name.replace("ledger-", "shard-")).unlink(missing_ok=True)
        ledger.unlink()
    raise DeadCrawl(folder, f"no picture: {problem}", remedy(spec, folder.name))


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
    most_first = sorted(lost.items(), key=lambda status_count: (-status_count[1], status_count[0]))
    outcomes = ", ".join(f"{urls:,} {status}" for status, urls in most_first)
    problem = f"{sum(lost.values()):,} of {total:,} URLs brought no picture: {outcomes}"
    accept = f"or, if there is no more to get, raise crawl.{at.parent.name}.lost_share ({most:g})"
    raise LossyCrawl(at, problem, f"{hint}; {accept}")


def _check_refused(ledgers: Sequence[Path]) -> None:
    columns = ["image_url", "status", "error"]
    entries = pl.concat([pl.read_parquet(path, columns=columns, glob=False) for path in ledgers])
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
