"""All URLs of a shard, host by host: asked, tried again after a pause, decoded and kept."""

import asyncio
import hashlib
import heapq
import itertools
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from isotope.crawl.addresses import BadUrl, asked, target
from isotope.crawl.decoders import Decoders
from isotope.crawl.fetch import ARRIVED, UNCHANGED, Answer, Fetcher
from isotope.crawl.hosts import Budget
from isotope.crawl.ledger import Earlier
from isotope.crawl.outcome import MAY_PASS, Row, origin

_LONGEST_WAIT_S = 900.0
_ACCOUNT_EVERY_S = 1.0
_TOO_WIDE = 400
_WORKERS_A_CONNECTION = 2
Keep = Callable[[str, Row, bytes | None], None]


@dataclass(order=True)
class Errand:
    """A URL to ask for, not before `due_s` (monotonic)."""

    due_s: float
    number: int
    image_id: str = field(compare=False)
    image_url: str = field(compare=False)
    url: str = field(compare=False)
    attempts: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Means:
    """What a crawl works with."""

    fetcher: Fetcher
    decoders: Decoders
    earlier: Earlier
    budget: Budget
    mirrored: Callable[[str], str]


class Crawl:
    """Takes every URL to its last outcome."""

    def __init__(self, spec: Mapping[str, Any], means: Means, keep: Keep) -> None:
        """`keep` gets image_id, a row of the ledger, and the WebP of a picture that is new."""
        self._spec, self._means, self._keep = spec, means, keep
        self._origin = origin(spec)
        self._hosts: dict[str, list[Errand]] = {}
        self._charged = (0, time.monotonic())

    async def run(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Ask for all (image_id, image_url).

        Raises:
            BudgetSpent: no bytes or hours are left; what was kept stays.
            HostDown: no host answers at all; likewise.
        """
        for number, (image_id, image_url) in enumerate(wanted):
            url = self._means.mirrored(asked(image_url, self._spec.get("width")))
            errand = Errand(0.0, number, image_id, image_url, url)
            self._hosts.setdefault(_host(url), []).append(errand)
        self._means.budget.check()
        try:
            async with asyncio.TaskGroup() as tasks:
                accounts = tasks.create_task(self._account())
                visits = [tasks.create_task(self._visit(e)) for e in self._visits()]
                await asyncio.gather(*visits)
                accounts.cancel()
        finally:
            self._charge()

    def _visits(self) -> Iterable[list[Errand]]:
        connections = self._spec["threads" if self._spec.get("serve") else "connections"]
        most = _WORKERS_A_CONNECTION * min(connections, self._spec["threads"])
        for errands in self._hosts.values():
            yield from itertools.repeat(errands, min(most, len(errands)))

    async def _account(self) -> None:
        while True:
            await asyncio.sleep(_ACCOUNT_EVERY_S)
            self._charge()
            self._means.budget.check()
            self._means.fetcher.check_network()

    def _charge(self) -> None:
        now = (self._means.fetcher.received, time.monotonic())
        self._means.budget.add(now[0] - self._charged[0], now[1] - self._charged[1])
        self._charged = now

    async def _visit(self, errands: list[Errand]) -> None:
        while errands:
            errand = heapq.heappop(errands)
            if (early := errand.due_s - time.monotonic()) > 0:
                await asyncio.sleep(early)
            row, webp = await self._attempt(errand)
            if row["status"] in MAY_PASS and errand.attempts < self._spec["attempts"]:
                heapq.heappush(errands, errand)
            else:
                about = {"image_url": errand.image_url, "attempts": errand.attempts}
                about["origin"] = self._origin
                self._keep(errand.image_id, {**row, **about, "fetched_at": int(time.time())}, webp)

    async def _attempt(self, errand: Errand) -> tuple[Row, bytes | None]:
        fresh = errand.attempts == 0
        headers = self._means.earlier.headers(errand.image_url)
        async with self._means.fetcher.fetched(errand.url, headers, fresh=fresh) as answer:
            errand.attempts += answer.status not in ("host_down", "bad_url")
            errand.due_s = time.monotonic() + self._wait_s(errand.attempts, answer)
            if answer.http_status != _TOO_WIDE or not self._spec.get("width"):
                return await self._judged(errand.image_url, answer)
        # Wikimedia makes no thumbnail that is wider than its picture.
        original = self._means.mirrored(asked(errand.image_url, None))
        async with self._means.fetcher.fetched(original, headers, fresh=False) as answer:
            return await self._judged(errand.image_url, answer)

    def _wait_s(self, attempts: int, answer: Answer) -> float:
        """Return twice the pause of the time before, shortened by chance, or what was asked for."""
        backoff = min(self._spec["wait_s"] * 2.0 ** (attempts - 1), _LONGEST_WAIT_S)
        jittered = backoff * random.uniform(0.5, 1.0)
        return max(jittered, answer.retry_after_s or 0.0)

    async def _judged(self, image_url: str, answer: Answer) -> tuple[Row, bytes | None]:
        earlier = self._means.earlier.row(image_url)
        if answer.status == UNCHANGED and earlier:
            return {**earlier, "http_status": answer.http_status}, None
        told = _told(answer)
        if answer.status != ARRIVED:
            return told, None
        if _differs(answer):
            return {**told, "status": "checksum", "error": "not the digest that was told"}, None
        told["upstream_sha256"] = hashlib.sha256(answer.body).hexdigest()
        told["upstream_bytes"] = len(answer.body)
        if earlier and earlier["upstream_sha256"] == told["upstream_sha256"]:
            return {**earlier, **told, "status": earlier["status"], "error": earlier["error"]}, None
        found, webp = await self._means.decoders.convert(answer.body, answer.content_type)
        if found["status"] != "success":
            return {**told, **found}, None
        digest = hashlib.sha256(webp).hexdigest()
        return {**told, **found, "bytes": len(webp), "sha256": digest}, webp


def _host(url: str) -> str:
    try:
        return target(url).authority
    except BadUrl:
        return ""


def _told(answer: Answer) -> Row:
    names = ("status", "http_status", "error", "content_type", "etag", "last_modified")
    return {name: getattr(answer, name) for name in (*names, "commons_sha1")}


def _differs(answer: Answer) -> bool:
    """Tell whether an original is not what Wikimedia's store says it is."""
    if answer.commons_sha1 is None:
        return False
    return hashlib.sha1(answer.body, usedforsecurity=False).hexdigest() != answer.commons_sha1
