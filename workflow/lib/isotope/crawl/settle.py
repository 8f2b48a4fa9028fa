"""What failures of a crawl an outage explains: a host, or the network, that stopped to answer.

Such pictures are not lost: the job fails, and the next one asks again. They are lost once a host
has been down for so long that it is gone.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from isotope.core.errors import HostDown
from isotope.core.progress import Progress, log
from isotope.crawl.earlier import EarlierCrawl
from isotope.crawl.fetch import NO_NETWORK, Fetcher, authority, mirrored
from isotope.crawl.ledger import (
    FAILURES,
    HOST_DOWN,
    HOST_GONE,
    NO_CONNECTION,
    NOT_REQUESTED,
    OF_THE_HOST,
)
from isotope.crawl.outages import Outages
from isotope.crawl.scratch import Scratch

# Hosts that are tried, one after the other, to learn whether there is a network.
_WITNESSES = 3


class Stores(NamedTuple):
    """What a shard has so far, what an earlier crawl has, and how many URLs are done."""

    scratch: Scratch
    outages: Outages
    earlier: EarlierCrawl | None
    progress: Progress


def witnesses_of(scratch: Scratch, mirror: str | None) -> list[str]:
    """Return a URL of some hosts that have brought pictures."""
    came = (row["image_url"] for _, row in scratch.rows({"success"}) if row.get("attempts"))
    urls = (mirrored(url, mirror) for url in came)
    return list({authority(url): url for url in urls}.values())[:_WITNESSES]


async def settle(stores: Stores, fetcher: Fetcher) -> None:
    """Note hosts that have stopped to answer; the pictures of those that are gone are lost.

    A try counts where the network is there: where any host answers, or takes a connection.

    Raises:
        As `check`.
    """
    scratch, outages, mirror = stores.scratch, stores.outages, fetcher.mirror
    outages.forget(fetcher.recovered())
    down = sorted({host for host, _ in _outage(scratch, mirror)})
    counts = bool(down) and await fetcher.has_network()
    notes = {host: outages.note(host) for host in down} if counts else {}
    for host in notes:
        if why := outages.gone(host):
            _lose(scratch, mirror, host, why)
    check(scratch, mirror, notes)


def check(
    scratch: Scratch, mirror: str | None, notes: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Check that no outage explains a shard's failures.

    `notes` say of hosts how often they were found down.

    Raises:
        HostDown: a host was given up that had answered before, or no host answered at all.
    """
    outage = _outage(scratch, mirror)
    if outage:
        host, error = outage[0]
        left = f"{len(outage)} URLs are left; {error}"
        problem = "; ".join(filter(None, ["stopped to answer", left, notes.get(host)]))
        raise HostDown(host, problem, NO_NETWORK)


def _outage(scratch: Scratch, mirror: str | None) -> list[tuple[str, str | None]]:
    """Return host and error of the rows that an outage explains, by URL."""
    failures = sorted((row for _, row in scratch.rows(FAILURES)), key=lambda row: row["image_url"])
    given_up = scratch.given_up()

    def failed(*statuses: str) -> list[tuple[str, str | None]]:
        rows = [(row["image_url"], row["error"]) for row in failures if row["status"] in statuses]
        return [(given_up.get(u) or authority(mirrored(u, mirror)), error) for u, error in rows]

    down, answered = failed(HOST_DOWN), set[str]()
    for url, end in scratch.answered():
        answered |= {authority(mirrored(url, mirror)), authority(end or "")}
    if answered:
        return [(host, error) for host, error in down if host in answered]
    # What came without a request says nothing of a host.
    has_come = any(row["attempts"] for _, row in scratch.rows({"success"}))
    unreached, requested = failed(*NO_CONNECTION), failed(*FAILURES - NOT_REQUESTED)
    return unreached if down or (unreached == requested and not has_come) else []


def _lose(scratch: Scratch, mirror: str | None, host: str, why: str) -> None:
    """Give up what a host that is gone has not brought."""
    lost = 0
    for image_id, row in scratch.rows({*OF_THE_HOST, HOST_DOWN}):
        if (row.get("host") or authority(mirrored(row["image_url"], mirror))) == host:
            error = "; the last: ".join(filter(None, [why, row["error"]]))
            scratch.add(image_id, {**row, "status": HOST_GONE, "error": error}, None)
            lost += 1
    log.warning("%s: gone, %d pictures are lost: %s", host, lost, why)
