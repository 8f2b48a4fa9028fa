"""Images from their URLs to WebP shards, with one ledger row per URL, whatever became of it.

The URLs of a shard are requested host by host, tried again after a pause, decoded and kept.
"""

import asyncio
import hashlib
import heapq
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.core.contact import require_contact
from isotope.core.errors import HostDown, LossyCrawl, ToolFailed
from isotope.core.pixels import write_shard
from isotope.core.progress import Progress
from isotope.crawl.alternates import (
    LOST,
    alternate_url,
    found_elsewhere,
    lost_elsewhere,
    outcome,
)
from isotope.crawl.earlier import IN_BULK, BulkPictures, EarlierCrawl
from isotope.crawl.fetch import BadUrl, Fetcher, mirrored, parse_url
from isotope.crawl.hosts import Budget
from isotope.crawl.ledger import (
    DECIDED_BY,
    FAILURES,
    HOST_DOWN,
    HOST_GONE,
    NEXT_RUN,
    OWN_HOST,
    Row,
    check_share,
    origin,
    remedy,
)
from isotope.crawl.outages import Outages
from isotope.crawl.requests import CrawlResources, PictureRequest, Requests
from isotope.crawl.scratch import Scratch
from isotope.crawl.serve import serving
from isotope.crawl.settle import Stores, check, settle, witnesses_of
from isotope.crawl.sides import may_be_smaller
from isotope.intake.decoders import Decoders
from isotope.params.crawl import Crawl
from isotope.schemas.crawl import LEDGER, PIXELS

# The setting of a scratch that has the share of losses at which the last run failed.
_LOSSY = "lossy"


def crawl_shard(  # noqa: PLR0913, PLR0917
    urls: Path,
    spec: Crawl,
    shard: int,
    outputs: Mapping[str, Path],
    scratch: Path,
    policy: Crawl,
    bulk: Sequence[Path] = (),
) -> None:
    """Download one shard of `urls` (schemas.URLS); write outputs["pixels"] and outputs["ledger"].

    What a killed run had finished is in `scratch` and not requested again. After a run that ended,
    only retryable failures are, or all of them if nothing had succeeded. Rows from another origin,
    and rows that other settings may change, are not used.
    `policy` has the params of crawl.<source> that request no picture. New ones have a shorter
    side of `side_px` at most; others keep theirs until `ledger.gather_ledgers`. With
    `after`, pictures of the crawl of that source, which lies beside this one's folder, are
    taken over where their servers say that they are the same, or without a request where `spec`
    says not to `ask_again`. A host that stopped to answer is gone after some jobs (`outages`). What
    is in the ledgers `bulk` of `crawl.bulk` is not requested, unless `after` has it or, with
    `refetch_smaller`, its original may be larger: it is taken where that request fails.

    Raises:
        NoContact: requests to Wikimedia without a contact.
        BudgetSpent: the source's bytes or hours are used up.
        HostDown: a host that had answered, or every host, stopped to; run again later.
        LossyCrawl: more than `lost_share` of the URLs brought no picture.
        DiskFull: no room; what was committed stays.
    """
    spec = spec.joined(policy)
    urls_of_shard = pl.read_parquet(urls, glob=False).filter(pl.col("shard") == shard).drop("shard")
    folder = outputs["ledger"].parent.parent / spec.after if spec.after else None
    before = EarlierCrawl(folder, urls_of_shard, origin(spec), spec.side_px) if folder else None
    stock = BulkPictures(bulk, urls_of_shard, origin(spec)) if bulk else None
    path = scratch / f"{shard:05d}-{_crawl_id(urls_of_shard, spec)}.sqlite"
    with ExitStack() as stack:
        server = serving(Path(spec.serve)) if spec.serve else nullcontext(spec.mirror)
        mirror = stack.enter_context(server)
        done = stack.enter_context(closing(Scratch(path)))
        asked = spec.model_copy(update={"mirror": mirror})
        ledger = _crawled(urls_of_shard, asked, (done, before, stock))
        _check_losses(ledger, done, spec, outputs["ledger"])
        write_pixels(urls_of_shard, (done, before, stock), ledger, outputs["pixels"])
        store.write(ledger.to_arrow(), outputs["ledger"], LEDGER)
        done.finished = True


def _crawled(
    urls: pl.DataFrame,
    spec: Crawl,
    stores: tuple[Scratch, EarlierCrawl | None, BulkPictures | None],
) -> pl.DataFrame:
    """Crawl what is left, and return the ledger."""
    done, before, bulk = stores
    try:
        outages = Outages(done.path.parent)
        crawl_all(urls, spec, (done, outages), before, bulk)
        ledger = done.ledger()
        demand_all(urls, ledger)
        check(done, spec.mirror)
    except HostDown:
        done.forget(NEXT_RUN)
        raise
    return ledger


def demand_all(urls: pl.DataFrame, ledger: pl.DataFrame) -> None:
    """Check that a shard's ledger has a row of each of its URLs.

    Raises:
        ToolFailed: a URL without an outcome.
    """
    missing = urls.join(ledger, on="image_url", how="anti")
    if missing.height:
        remedy = "delete .isotope/crawl and run again"
        raise ToolFailed("crawl", f"no outcome for {missing['image_url'][0]}", remedy)


def _check_losses(ledger: pl.DataFrame, done: Scratch, spec: Crawl, at: Path) -> None:
    """Check the share of losses, and remember which one was too large."""
    counts = dict(ledger["status"].value_counts().rows())
    try:
        check_share(counts, spec.lost_share, at, remedy(spec, at.parent.name))
    except LossyCrawl:
        done.settings = {_LOSSY: spec.lost_share}
        raise


def _crawl_id(urls: pl.DataFrame, spec: Crawl) -> str:
    """Return a digest of what decides which pictures come: URLs, width, origin, who decodes."""
    parts = [*urls["image_url"], f"width {spec.width}"]
    if (requested_from := origin(spec)) != OWN_HOST:
        parts.append(f"origin {requested_from}")
    if spec.as_img2dataset:
        parts.append("as img2dataset")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def crawl_all(
    urls: pl.DataFrame,
    spec: Crawl,
    stores: tuple[Scratch, Outages],
    earlier: EarlierCrawl | None = None,
    bulk: BulkPictures | None = None,
) -> None:
    """Request every URL that the scratch does not have, or not under these settings."""
    scratch, outages = stores
    _forget_outdated(scratch, spec, earlier, bulk)
    scratch.finished = False
    last = len(_alternates(spec))
    pictures = [
        PictureRequest(i, url, url) for i, url in urls.select("image_id", "image_url").rows()
    ]
    if earlier and spec.ask_again is False:
        _take_over(pictures, scratch.urls(), scratch, earlier)
    if bulk:
        _take_bulk(pictures, scratch, earlier, bulk, spec)
    done = scratch.urls()
    left = [wanted for wanted in pictures if wanted.image_url not in done]
    elsewhere = scratch.untried(LOST, last)
    if left or elsewhere:
        hosts = [mirrored(wanted.address, spec.mirror) for wanted in left]
        require_contact(map(_host, [*hosts, *_alternate_addresses(pictures, spec)]), spec)
        progress = Progress("images", urls.height)
        progress.resume(urls.height - len(left) - len(elsewhere))
        asyncio.run(_crawl(left, spec, Stores(scratch, outages, earlier, progress)))
    if bulk:
        _fall_back(pictures, scratch, bulk)


def _take_over(
    pictures: Sequence[PictureRequest],
    done: Collection[str],
    scratch: Scratch,
    earlier: EarlierCrawl,
) -> None:
    """Use the pictures of the earlier crawl without a request."""
    for wanted in pictures:
        row = None if wanted.image_url in done else earlier.picture_row(wanted.image_url)
        if row is not None:
            scratch.add(wanted.image_id, row, None)
    scratch.commit()


def _take_bulk(
    pictures: Sequence[PictureRequest],
    scratch: Scratch,
    earlier: EarlierCrawl | None,
    bulk: BulkPictures,
    spec: Crawl,
) -> None:
    """Use the pictures of bulk sources for what is not there, or was lost."""
    succeeded = {row["image_url"] for _, row in scratch.rows({"success"})}
    larger = spec.side_px if spec.refetch_smaller else 0
    for wanted in pictures:
        row = None if wanted.image_url in succeeded else bulk.picture_row(wanted.image_url)
        if row is None or (earlier and earlier.picture_row(wanted.image_url)):
            continue
        if not may_be_smaller(row, larger):
            scratch.add(wanted.image_id, row, None)
    scratch.commit()


def _fall_back(pictures: Sequence[PictureRequest], scratch: Scratch, bulk: BulkPictures) -> None:
    """Use the pictures of bulk sources for what was requested in spite of them, and is lost."""
    ids = {wanted.image_url: wanted.image_id for wanted in pictures}
    for _, lost in scratch.rows(FAILURES):
        row = bulk.picture_row(lost["image_url"])
        if row is not None:
            attempts, error = lost["attempts"], f"its own address: {outcome(lost)}"
            row_in_bulk = {**row, "attempts": attempts, "error": error}
            scratch.add(ids[lost["image_url"]], row_in_bulk, None)
    scratch.commit()


def _alternates(spec: Crawl) -> list[str]:
    return spec.alternates or []


def _alternate_addresses(pictures: Sequence[PictureRequest], spec: Crawl) -> list[str]:
    """Return where the alternates of some pictures are requested."""
    addresses = (alternate_url(a, w.image_url) for w in pictures for a in _alternates(spec))
    return [_stand_in(address, spec) for address in addresses if address]


def _stand_in(address: str, spec: Crawl) -> str:
    """Return an alternate's address on the folder that stands in for all hosts, if there is one."""
    return mirrored(address, spec.mirror) if spec.serve else address


def _forget_outdated(
    scratch: Scratch, spec: Crawl, earlier: EarlierCrawl | None, bulk: BulkPictures | None
) -> None:
    """Drop from `scratch` what is to be requested again: see `crawl_shard`."""
    again = set(NEXT_RUN if scratch.finished else {HOST_DOWN})
    if scratch.finished:
        scratch.forget_again()
    if scratch.finished and not scratch.succeeded():
        again |= FAILURES
    accepted = scratch.settings.get(_LOSSY)
    if accepted is not None and spec.lost_share <= accepted:
        # The crawl lost too much, and no more losses are accepted: so the cause is mended.
        again |= FAILURES - {HOST_GONE}
    before, now = scratch.settings, {name: getattr(spec, name) for name in DECIDED_BY}
    changed = [name for name in before.keys() & now.keys() if before[name] != now[name]]
    scratch.forget(again.union(*(DECIDED_BY[name] for name in changed)))
    for image_id, row in scratch.reused():
        in_bulk = row.get(IN_BULK)
        whence = bulk if in_bulk else earlier
        renewed = whence.renewed(row) if whence else None
        larger = in_bulk and not row["attempts"] and spec.refetch_smaller
        if renewed is None or (larger and may_be_smaller(renewed, spec.side_px)):
            scratch.forget_urls([row["image_url"]])
        elif renewed != row:
            scratch.add(image_id, renewed, None)
    scratch.settings = {**now, _LOSSY: None}


def _host(url: str) -> str | None:
    """Return the host as it is connected to: other ways to write its letters are the same."""
    try:
        return parse_url(url).host
    except BadUrl:
        return None


async def _crawl(left: Sequence[PictureRequest], spec: Crawl, stores: Stores) -> None:
    scratch, outages, earlier, progress = stores
    folder = scratch.path.parent
    budget = Budget(folder / "spent", spec.budget_gib, spec.budget_hours)
    witnesses = witnesses_of(scratch, spec.mirror)
    fetcher = Fetcher(spec, spec.mirror, folder.parent / ".hosts", outages, witnesses)
    decoders = Decoders(spec.values())
    to_host = partial(mirrored, mirror=spec.mirror)
    stand_in = partial(_stand_in, spec=spec)
    try:
        await decoders.start()
        resources = CrawlResources(fetcher, decoders, earlier, budget, to_host, stand_in)
        await _request_directly(left, spec, resources, stores)
        # Pictures that an outage hides are not lost.
        await settle(stores, fetcher)
        for number, alternate in enumerate(_alternates(spec), 1):
            await _elsewhere(number, alternate, spec, resources, stores)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        await fetcher.close()
        await decoders.close()
        scratch.commit()
    progress.finish()


async def _request_directly(
    left: Sequence[PictureRequest], spec: Crawl, resources: CrawlResources, stores: Stores
) -> None:
    """Request pictures by their own addresses."""
    has_more = bool(_alternates(spec))

    def keep(image_id: str, row: Row, webp: bytes | None) -> None:
        stores.scratch.add(image_id, row, webp)
        if not (has_more and row["status"] in LOST):
            stores.progress.add()

    await Requests(spec, resources, keep).run(left)


async def _elsewhere(
    number: int, alternate: str, spec: Crawl, resources: CrawlResources, stores: Stores
) -> None:
    """Request what is lost so far by the alternate `number`, from 1."""
    scratch, progress = stores.scratch, stores.progress
    is_last = number == len(_alternates(spec))
    lost = {row["image_url"]: (image_id, row) for image_id, row in scratch.untried(LOST, number)}
    wanted: list[PictureRequest] = []

    def keep(image_id: str, row: Row, webp: bytes | None) -> None:
        _, before = lost[row["image_url"]]
        if row["status"] == "success":
            scratch.add(image_id, found_elsewhere(before, row), webp)
        else:
            address = addresses[row["image_url"]]
            scratch.add(image_id, lost_elsewhere(before, address, row, number), None)
        if is_last or row["status"] == "success":
            progress.add()

    addresses = {url: alternate_url(alternate, url, spec.width) for url in lost}
    for url, (image_id, row) in lost.items():
        address = addresses[url]
        if address is None:
            scratch.add(image_id, lost_elsewhere(row, None, None, number), None)
            progress.add(int(is_last))
        else:
            wanted.append(PictureRequest(image_id, url, address))
    await Requests(spec, resources, keep).run(wanted)


def write_pixels(
    urls: pl.DataFrame,
    stores: tuple[Scratch, EarlierCrawl | None, BulkPictures | None],
    ledger: pl.DataFrame,
    path: Path,
) -> None:
    """Write all pictures as schemas.PIXELS, by image_id: the new ones, and those from elsewhere."""
    success = ledger.filter(pl.col("status") == "success").join(urls, on="image_url")
    sides = [pl.coalesce(f"stored_{side}", side).alias(side) for side in ("width", "height")]
    about = {row[0]: row[1:] for row in success.select("image_id", "image_url", *sides).rows()}
    scratch, earlier, bulk = stores
    published = {image_id for image_id, row in scratch.reused() if row.get(IN_BULK)}
    reused = about.keys() - scratch.with_picture()
    sources = [scratch.pictures()]
    if earlier:
        sources.append(earlier.pictures(sorted(reused - published)))
    if bulk:
        sources.append(bulk.pictures(sorted(reused & published)))
    by_id = heapq.merge(*sources, key=lambda picture: picture[0])
    rows = ((image_id, *about[image_id], webp) for image_id, webp in by_id)
    write_shard(rows, path, PIXELS)
