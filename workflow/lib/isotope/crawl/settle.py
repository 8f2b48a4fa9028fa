"""What failures of a crawl an outage explains: a host, or the network, that stopped to answer.

Such pictures are not lost: the job fails, and the next one asks again. They are lost once a host
has been down for so long that it is gone.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from isotope.core.errors import HostDown, ToolFailed
from isotope.core.progress import Progress, log
from isotope.crawl.addresses import authority, mirrored
from isotope.crawl.fetch import NO_NETWORK, Fetcher
from isotope.crawl.ledger import (
    HOST_DOWN,
    HOST_GONE,
    NO_CONNECTION,
    NOT_REQUESTED,
    OF_THE_HOST,
    EarlierCrawl,
)
from isotope.crawl.outages import Outages
from isotope.crawl.scratch import Scratch

# Hosts that are tried, one after the other, to learn whether there is a network.
_WITNESSES = 3


class Kept(NamedTuple):
    """What a shard has so far, what an earlier crawl has, and how many URLs are done."""

    scratch: Scratch
    outages: Outages
    earlier: EarlierCrawl
    progress: Progress


def witnesses_of(scratch: Scratch, mirror: str | None) -> list[str]:
    """Return a URL of some hosts that have brought pictures."""
    came = (row["image_url"] for _, row in scratch.rows({"success"}) if row.get("attempts"))
    urls = (mirrored(url, mirror) for url in came)
    return list({authority(url): url for url in urls}.values())[:_WITNESSES]


async def settle(kept: Kept, urls: pl.DataFrame, fetcher: Fetcher) -> None:
    """Note hosts that have stopped to answer; the pictures of those that are gone are lost.

    A try counts where the network is there: where any host answers, or takes a connection.

    Raises:
        As `check`.
    """
    scratch, outages, mirror = kept.scratch, kept.outages, fetcher.mirror
    outages.forget(fetcher.recovered())
    outage = _outage(scratch.ledger(), mirror, scratch.given_up())
    down = outage["host"].unique().to_list()
    counts = bool(down) and await fetcher.has_network()
    notes = {host: outages.note(host) for host in down} if counts else {}
    for host in notes:
        if why := outages.gone(host):
            _lose(scratch, mirror, host, why)
    check(scratch.ledger(), urls, mirror, scratch, notes)


def check(
    ledger: pl.DataFrame,
    urls: pl.DataFrame,
    mirror: str | None,
    scratch: Scratch | None = None,
    notes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Check that a shard's ledger is complete, and that no outage explains its failures.

    `notes` say of hosts how often they were found down.

    Raises:
        ToolFailed: a URL without an outcome.
        HostDown: a host was given up that had answered before, or no host answered at all.
    """
    missing = urls.join(ledger, on="image_url", how="anti")
    if missing.height:
        remedy = "delete .isotope/crawl and run again"
        raise ToolFailed("crawl", f"no outcome for {missing['image_url'][0]}", remedy)
    outage = _outage(ledger, mirror, scratch.given_up() if scratch else {})
    if outage.height:
        host = outage["host"][0]
        left = f"{outage.height} URLs are left; {outage['error'][0]}"
        found = "; ".join(filter(None, ["stopped to answer", left, notes.get(host)]))
        raise HostDown(host, found, NO_NETWORK)


def _outage(ledger: pl.DataFrame, mirror: str | None, given_up: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows that an outage explains, with the `host` that is down."""
    own = [authority(mirrored(url, mirror)) for url in ledger["image_url"]]
    rows = ledger.with_columns(
        own=pl.Series(own, dtype=pl.String),
        host=pl.Series(
            [given_up.get(u) or o for u, o in zip(ledger["image_url"], own, strict=True)],
            dtype=pl.String,
        ),
    )
    answered = rows.filter(pl.col("http_status").is_not_null())
    ends = [authority(url) for url in answered["fetched_from"].drop_nulls()]
    down = rows.filter(pl.col("status") == HOST_DOWN)
    if not answered.is_empty():
        return down.filter(pl.col("host").is_in([*answered["own"], *ends]))
    # What came without a request says nothing of a host.
    taken = (pl.col("status") == "success") & (pl.col("attempts") == 0)
    requested = rows.filter(~taken & ~pl.col("status").is_in(NOT_REQUESTED))
    unreached = requested.filter(pl.col("status").is_in(NO_CONNECTION))
    return unreached if down.height or unreached.height == requested.height else down


def _lose(scratch: Scratch, mirror: str | None, host: str, why: str) -> None:
    """Give up what a host that is gone has not brought."""
    lost = 0
    for image_id, row in scratch.rows({*OF_THE_HOST, HOST_DOWN}):
        if (row.get("host") or authority(mirrored(row["image_url"], mirror))) == host:
            error = "; the last: ".join(filter(None, [why, row["error"]]))
            scratch.add(image_id, {**row, "status": HOST_GONE, "error": error}, None)
            lost += 1
    log.warning("%s: gone, %d pictures are lost: %s", host, lost, why)
