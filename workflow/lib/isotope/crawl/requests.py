"""Requests for URLs, host by host: tried again after a pause, decoded, and their outcome named."""

import asyncio
import hashlib
import heapq
import itertools
import random
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from isotope.core.uploads import CANONICAL, canonical_url, request_url, thumbnail_elsewhere
from isotope.crawl import hosts
from isotope.crawl.earlier import EarlierCrawl
from isotope.crawl.fetch import (
    ARRIVED,
    UNCHANGED,
    Fetcher,
    Response,
    authority,
    mirrored,
    parse_url,
)
from isotope.crawl.hosts import Budget, Host
from isotope.crawl.ledger import HOST_DOWN, HOST_GONE, RETRYABLE, Row, origin
from isotope.intake.decoders import Decoders
from isotope.params.crawl import Crawl

_LONGEST_WAIT_S = 900.0
_WATCH_EVERY_S = 1.0
_TOO_WIDE, _NOT_THERE = 400, 404
# An address that is requested as it stands, unless thumbnails are asked for.
_ORIGINAL = re.compile(CANONICAL)
# Nobody is at an address, which for thumbnails may be the wrong one of two hosts.
_NO_HOST = frozenset({"connection", HOST_DOWN, HOST_GONE})
_WORKERS_A_CONNECTION = 2
Keep = Callable[[str, Row, bytes | None], None]


class PictureRequest(NamedTuple):
    """A picture to request: its id, its own address, and the one to try, which may be another."""

    image_id: str
    image_url: str
    address: str

    @property
    def is_own(self) -> bool:
        """Whether the picture's own address is tried."""
        return self.address == self.image_url


@dataclass(order=True)
class PendingUrl:
    """A URL to request, not before `due_s` (monotonic)."""

    due_s: float
    number: int
    wanted: PictureRequest = field(compare=False)
    url: str = field(compare=False)
    attempts: int = field(default=0, compare=False)


@dataclass(frozen=True)
class CrawlResources:
    """What a crawl works with."""

    fetcher: Fetcher
    decoders: Decoders
    earlier: EarlierCrawl | None
    budget: Budget
    mirrored: Callable[[str], str]
    mirrored_alternate: Callable[[str], str]


class Requests:
    """Requests every URL until it has its last outcome."""

    def __init__(self, spec: Crawl, resources: CrawlResources, keep: Keep) -> None:
        """`keep` gets image_id, a row of the ledger, and the WebP of a picture that is new."""
        self._spec, self._resources, self._keep = spec, resources, keep
        self._origin = origin(spec)
        self._hosts: dict[str, list[PendingUrl]] = {}
        self._charged = (0, time.monotonic())

    async def run(self, pictures: Iterable[PictureRequest]) -> None:
        """Request all of them.

        Raises:
            BudgetSpent: no bytes or hours are left; what was kept stays.
            HostDown: no host answers at all; likewise.
        """
        self._hosts = {}
        for number, wanted in enumerate(pictures):
            url = self._requested(wanted)
            pending = PendingUrl(0.0, number, wanted, url)
            self._hosts.setdefault(authority(url), []).append(pending)
        self._resources.budget.check()
        try:
            async with asyncio.TaskGroup() as tasks:
                watch = tasks.create_task(self._watch())
                workers = [tasks.create_task(self._work(*queue)) for queue in self._queues()]
                await asyncio.gather(*workers)
                watch.cancel()
        finally:
            self._charge()

    def _requested(self, wanted: PictureRequest) -> str:
        if wanted.is_own:
            return self._resources.mirrored(self._own_address(wanted))
        return self._resources.mirrored_alternate(wanted.address)

    def _own_address(self, wanted: PictureRequest) -> str:
        width, url = self._spec.width, wanted.image_url
        return url if width is None and _ORIGINAL.fullmatch(url) else request_url(url, width)

    def _queues(self) -> Iterable[tuple[Host | None, list[PendingUrl]]]:
        """Yield what each worker does: a host, none for what is no URL, and its requests."""
        threads = self._spec.threads
        connections = threads if self._spec.serve else self._spec.connections
        most = _WORKERS_A_CONNECTION * min(connections, threads)
        for name, queue in self._hosts.items():
            host = self._resources.fetcher.host(parse_url(queue[0].url)) if name else None
            yield from itertools.repeat((host, queue), min(most, len(queue)))

    async def _watch(self) -> None:
        """Check the budget and the network, every second."""
        while True:
            await asyncio.sleep(_WATCH_EVERY_S)
            self._charge()
            self._resources.budget.check()
            await self._resources.fetcher.check_network()

    def _charge(self) -> None:
        now = (self._resources.fetcher.received, time.monotonic())
        self._resources.budget.add(now[0] - self._charged[0], now[1] - self._charged[1])
        self._charged = now

    async def _work(self, host: Host | None, queue: list[PendingUrl]) -> None:
        while queue:
            url = heapq.heappop(queue)
            due_s = url.due_s
            if host is not None:
                await host.wait_out(lambda due_s=due_s: due_s - time.monotonic())
            try:
                row, webp = await self._attempt(url)
            except Exception as error:
                # Whatever comes from outside is a row by now: this is a fault of isotope or of
                # the machine.
                error.add_note(f"while {url.url} was requested")
                raise
            if row["status"] in RETRYABLE and url.attempts < self._spec.attempts:
                heapq.heappush(queue, url)
            else:
                about = {"image_url": url.wanted.image_url, "attempts": url.attempts}
                about["origin"] = self._origin
                when = int(time.time())
                self._keep(url.wanted.image_id, {**row, **about, "fetched_at": when}, webp)

    async def _attempt(self, url: PendingUrl) -> tuple[Row, bytes | None]:
        fresh, address, tried = url.attempts == 0, url.url, set[str]()
        earlier = self._resources.earlier if url.wanted.is_own else None
        headers = earlier.headers(url.wanted.image_url) if earlier else {}
        while True:
            async with self._resources.fetcher.fetched(address, headers, fresh=fresh) as answer:
                if not tried:
                    url.attempts += answer.status not in (HOST_DOWN, HOST_GONE, "bad_url")
                url.due_s = time.monotonic() + self._wait_s(url.attempts, answer)
                tried.add(address)
                further = self._further(url.wanted, answer)
                if further is None or further in tried:
                    return await self._outcome(url.wanted, answer)
            address, fresh = further, False

    def _further(self, wanted: PictureRequest, answer: Response) -> str | None:
        """Return where else Wikimedia may have a picture that is not at the address requested.

        Thumbnails are on another host since August 2026, and none is wider than its picture; a list
        may spell a name as MediaWiki does not.
        """
        is_absent, is_too_wide = answer.http_status == _NOT_THERE, answer.http_status == _TOO_WIDE
        if not wanted.is_own or not (is_absent or is_too_wide or answer.status in _NO_HOST):
            return None
        further = None if is_too_wide else thumbnail_elsewhere(self._own_address(wanted))
        if is_too_wide or is_absent:
            further = further or canonical_url(wanted.image_url)
        return further and self._resources.mirrored(further)

    def _wait_s(self, attempts: int, answer: Response) -> float:
        """Return twice the pause before, shortened at random, or what the server asks for."""
        backoff = min(self._spec.wait_s * 2.0 ** (attempts - 1), _LONGEST_WAIT_S)
        jittered = backoff * random.uniform(0.5, 1.0)
        return max(jittered, min(answer.retry_after_s or 0.0, hosts.PATIENCE_S))

    async def _outcome(self, wanted: PictureRequest, answer: Response) -> tuple[Row, bytes | None]:
        before = self._resources.earlier
        earlier = before.row(wanted.image_url) if before else None
        if answer.status == UNCHANGED and earlier:
            return {**earlier, "http_status": answer.http_status}, None
        row = _columns(answer)
        if answer.status != ARRIVED:
            return row, None
        if _differs(answer):
            return {
                **row,
                "status": "checksum",
                "error": "not the digest that the server sent",
            }, None
        row["fetched_from"] = self._fetched_from(wanted, answer)
        row["upstream_sha256"] = hashlib.sha256(answer.body).hexdigest()
        row["upstream_bytes"] = len(answer.body)
        if earlier and earlier["upstream_sha256"] == row["upstream_sha256"]:
            return {**earlier, **row, "status": earlier["status"], "error": earlier["error"]}, None
        picture, webp = await self._resources.decoders.convert(
            answer.body, answer.content_type, wanted.image_url
        )
        if picture["status"] != "success":
            return {**row, **picture}, None
        digest = hashlib.sha256(webp).hexdigest()
        return {**row, **picture, "bytes": len(webp), "sha256": digest}, webp

    def _fetched_from(self, wanted: PictureRequest, answer: Response) -> str | None:
        """Return the address that the bytes came from, if it is not the picture's own.

        A loopback server's port is another one every time, so the host it stands for is named.
        """
        if answer.moved_to is None:
            return None if wanted.is_own else wanted.address
        if authority(answer.moved_to) == authority(self._requested(wanted)):
            return mirrored(answer.moved_to, wanted.address)
        return answer.moved_to


def _columns(answer: Response) -> Row:
    names = ("status", "http_status", "error", "content_type", "etag", "last_modified")
    row = {name: getattr(answer, name) for name in (*names, "commons_sha1")}
    # The host that was given up may be another one, behind a redirect.
    return row if answer.host is None else {**row, "host": answer.host}


def _differs(answer: Response) -> bool:
    """Tell whether an original is not what Wikimedia's store says it is."""
    if answer.commons_sha1 is None:
        return False
    return hashlib.sha1(answer.body, usedforsecurity=False).hexdigest() != answer.commons_sha1
