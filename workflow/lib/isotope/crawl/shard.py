"""Images from their URLs to WebP shards, with one ledger row per URL, whatever became of it."""

import asyncio
import hashlib
import heapq
import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.errors import HostDown, ToolFailed
from isotope.core.progress import Progress
from isotope.crawl.addresses import BadUrl, asked, require_contact, target
from isotope.crawl.decoders import Decoders
from isotope.crawl.fetch import ARRIVED, NO_NETWORK, UNCHANGED, Answer, Fetcher
from isotope.crawl.hosts import Budget
from isotope.crawl.ledger import (
    DECIDED_BY,
    FAILURES,
    HOST_DOWN,
    LATER,
    MAY_PASS,
    OWN_HOST,
    UNASKED,
    UNREACHED,
    Earlier,
    Row,
    Scratch,
    origin,
)
from isotope.crawl.serve import serving
from isotope.crawl.tables import LEDGER, PIXELS

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


_ROWS = 1_000


def crawl_shard(  # noqa: PLR0913, PLR0917
    urls: Path,
    spec: Mapping[str, Any],
    shard: int,
    outputs: Mapping[str, Path],
    scratch: Path,
    earlier: Mapping[str, str | None] = MappingProxyType({}),
) -> None:
    """Download one shard of `urls` (tables.URLS); write outputs["pixels"] and outputs["ledger"].

    What a killed run had finished is found in `scratch` and not asked for again; after a run that
    ended, only failures that may have passed are, or all where nothing had succeeded. What came
    from another origin is not found there, nor what other settings may turn into something else.
    With earlier["after"], pictures of the crawl of that source, which lies beside this one's
    folder, are taken over where their servers say that they are the same.

    Raises:
        NoContact: Wikimedia would be asked by nobody in particular.
        BudgetSpent: the source's bytes or hours are used up.
        HostDown: a host that had answered, or every host, stopped to; run again later.
        DiskFull: no room; what was committed stays.
    """
    wanted = pl.read_parquet(urls).filter(pl.col("shard") == shard).drop("shard")
    serve, after = spec.get("serve"), earlier.get("after")
    folder = outputs["ledger"].parent.parent / after if after else None
    pictures = Earlier(folder, wanted, origin(spec))
    named = _name(wanted, spec)
    with ExitStack() as stack:
        served = serving(Path(serve)) if serve else nullcontext(spec.get("mirror"))
        mirror = stack.enter_context(served)
        kept = stack.enter_context(closing(Scratch(scratch / f"{shard:05d}-{named}.sqlite")))
        try:
            crawl_all(wanted, {**spec, "mirror": mirror}, kept, pictures)
            ledger = kept.ledger()
            check(ledger, wanted, mirror)
        except HostDown:
            kept.forget(LATER)
            raise
        write_pixels(wanted, (kept, pictures), ledger, outputs["pixels"])
        store.write(ledger.to_arrow(), outputs["ledger"], LEDGER)
        kept.finished = True


def _name(wanted: pl.DataFrame, spec: Mapping[str, Any]) -> str:
    """Return what tells apart the crawls whose pictures are not each other's."""
    told = [*wanted["image_url"], f"width {spec.get('width')}"]
    if (place := origin(spec)) != OWN_HOST:
        told.append(f"origin {place}")
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def mirrored(url: str, mirror: str | None) -> str:
    """Return an http(s) URL with scheme and host of `mirror`; ids go on naming the original."""
    if not mirror or not url.lower().startswith(("http://", "https://")):
        return url
    host = urlsplit(mirror)
    try:
        return urlunsplit(urlsplit(url)._replace(scheme=host.scheme, netloc=host.netloc))
    except ValueError:
        return url


def crawl_all(
    wanted: pl.DataFrame, spec: Mapping[str, Any], kept: Scratch, earlier: Earlier
) -> None:
    """Ask for every URL that `kept` does not have, or not under these settings."""
    _forget_outdated(kept, spec, earlier)
    kept.finished = False
    known = kept.known()
    left = [row for row in wanted.select("image_id", "image_url").rows() if row[1] not in known]
    if left:
        to_host = partial(mirrored, mirror=spec["mirror"])
        require_contact((_host(to_host(url)) for _, url in left), spec)
        asyncio.run(_crawl(left, spec, kept, earlier))


def _forget_outdated(kept: Scratch, spec: Mapping[str, Any], earlier: Earlier) -> None:
    """Drop from `kept` what is to be asked for again: see `crawl_shard`."""
    again = set(LATER if kept.finished else {HOST_DOWN})
    if kept.finished and not kept.succeeded():
        again |= FAILURES
    before, now = kept.settings, {name: spec.get(name) for name in DECIDED_BY}
    changed = [name for name in before.keys() & now.keys() if before[name] != now[name]]
    kept.forget(again.union(*(DECIDED_BY[name] for name in changed)))
    if {"max_mib", "max_pixels"} & {*changed}:
        kept.forget_larger(spec["max_mib"] * 2**20, spec["max_pixels"])
    kept.forget_urls([url for url, digest in kept.reused() if not earlier.has(url, digest)])
    kept.settings = now


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


async def _crawl(
    left: list[tuple[str, str]], spec: Mapping[str, Any], kept: Scratch, earlier: Earlier
) -> None:
    folder = kept.path.parent
    progress = Progress("images", len(left))
    to_host = partial(mirrored, mirror=spec["mirror"])

    def keep(image_id: str, row: Mapping[str, Any], webp: bytes | None) -> None:
        kept.add(image_id, row, webp)
        progress.add()

    budget = Budget(folder / "spent", spec.get("budget_gib"), spec.get("budget_hours"))
    fetcher, decoders = Fetcher(spec, spec["mirror"], folder.parent / ".hosts"), Decoders(spec)
    try:
        await decoders.start()
        await Crawl(spec, Means(fetcher, decoders, earlier, budget, to_host), keep).run(left)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        await fetcher.close()
        await decoders.close()
        kept.commit()
    progress.finish()


def check(ledger: pl.DataFrame, wanted: pl.DataFrame, mirror: str | None) -> None:
    """Hold a shard's ledger against what was wanted, and against an outage.

    Raises:
        ToolFailed: a URL without an outcome.
        HostDown: a host was given up that had answered before, or no host answered at all.
    """
    lost = wanted.join(ledger, on="image_url", how="anti")
    if lost.height:
        remedy = "delete .isotope/crawl and run again"
        raise ToolFailed("crawl", f"no outcome for {lost['image_url'][0]}", remedy)
    again = _unreached(ledger, mirror)
    if again.height:
        found = f"stopped to answer; {again.height} URLs are left; {again['error'][0]}"
        raise HostDown(again["host"][0], found, NO_NETWORK)


def _unreached(ledger: pl.DataFrame, mirror: str | None) -> pl.DataFrame:
    """Return the rows that an outage explains, with their `host`."""
    hosts = pl.Series([_host(mirrored(url, mirror)) or "" for url in ledger["image_url"]])
    known = ledger.with_columns(host=hosts)
    answered = known.filter(pl.col("http_status").is_not_null())
    down = known.filter(pl.col("status") == HOST_DOWN)
    if not answered.is_empty():
        return down.join(answered, on="host", how="semi")
    asked = known.filter(~pl.col("status").is_in(UNASKED))
    unreached = asked.filter(pl.col("status").is_in(UNREACHED))
    return unreached if down.height or unreached.height == asked.height else down


def write_pixels(
    wanted: pl.DataFrame, found: tuple[Scratch, Earlier], ledger: pl.DataFrame, path: Path
) -> None:
    """Write all pictures as tables.PIXELS, by image_id: the new ones, and the earlier crawl's."""
    success = ledger.filter(pl.col("status") == "success").join(wanted, on="image_url")
    about = {row[0]: row[1:] for row in success.select(PIXELS.names[:-1]).rows()}
    kept, earlier = found
    reused = sorted(about.keys() - kept.with_picture())
    by_id = heapq.merge(kept.pictures(), earlier.pictures(reused), key=lambda one: one[0])
    rows = ((image_id, *about[image_id], webp) for image_id, webp in by_id)
    with store.writer(path, PIXELS) as out:
        for batch in _batches(rows):
            out.write_batch(batch)


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, _ROWS)):
        columns = zip(*some, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, PIXELS, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=PIXELS)
