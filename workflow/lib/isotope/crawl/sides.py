"""How large a crawl's pictures are stored: one side for all, without a further request.

A crawl that was made at a larger side, or at full size, is reduced from the pictures that it has.
One that was made at a smaller side keeps them, which is said.
"""

import hashlib
import math
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import digests, store
from isotope.core.pixels import shard_rows, write_shard
from isotope.core.progress import Progress, log
from isotope.intake.decoders import Converted
from isotope.intake.pictures import PictureDecoders
from isotope.params.crawl import Crawl
from isotope.schemas.crawl import LEDGER, PIXELS

# What the ledger says of a stored picture; the rest of a row is about what was fetched.
STORED = ("bytes", "sha256", "stored_width", "stored_height", "trait")
# A word of the ledger's trait: made of the WebP of an earlier crawl, not of the bytes that came.
REDUCED = "reduced"
# Another one: a copy that others publish, who do not say how large its original is.
UNSIZED = "unsized"
Row = dict[str, Any]
# A row of PIXELS.
Picture = tuple[Any, ...]


def stored_side() -> pl.Expr:
    """Return the shorter side of a stored picture, in px; in older ledgers it is the picture's."""
    sides = ("width", "height")
    return pl.min_horizontal(pl.coalesce(f"stored_{side}", side) for side in sides)


def is_smaller(side_px: int | None) -> pl.Expr:
    """Tell of rows of a ledger whether a picture was stored smaller than it would be now."""
    shorter = pl.min_horizontal("width", "height")
    wanted = shorter if side_px is None else pl.min_horizontal(shorter, pl.lit(side_px))
    return (pl.col("status") == "success") & (stored_side() < wanted)


def may_be_smaller(row: Mapping[str, Any], side_px: int | None) -> bool:
    """Tell whether a picture's original may be larger than it is stored, up to `side_px`."""
    stored = min(row["stored_width"], row["stored_height"])
    if side_px is not None and stored >= side_px:
        return False
    return UNSIZED in (row["trait"] or "").split() or stored < min(row["width"], row["height"])


def with_all_columns(ledger: Path) -> pl.LazyFrame:
    """Read a ledger, an older one with fewer columns included."""
    rows = pl.scan_parquet(ledger, glob=False)
    columns = rows.collect_schema()
    kinds = pl.DataFrame(LEDGER.empty_table()).schema
    absent = [pl.lit(None, kinds[n]).alias(n) for n in LEDGER.names if n not in columns]
    return rows.with_columns(absent)


def reduce_shards(ledgers: Sequence[Path], side_px: int | None, decoding: Crawl) -> None:
    """Bring the pictures of a crawl's shards to a shorter side of at most `side_px` pixels.

    What is larger is made smaller from its WebP, in its shard beside each ledger, and its row
    follows: trait REDUCED, or the reason why it can't be resized. A killed job goes on where it
    was. What is smaller than it could be is counted in the log. `decoding` has the limits of
    decoders, as `crawl.<source>`.

    Raises:
        As `core.pixels.iter_pixels`.
        ToolFailed: a decoder that can't be started.
        DiskFull: no room beside a shard.
    """
    larger = dict[Path, list[str]]()
    smaller = total = 0
    for ledger in ledgers:
        rows = with_all_columns(ledger).filter(pl.col("status") == "success").collect()
        total, smaller = total + rows.height, smaller + rows.filter(is_smaller(side_px)).height
        urls = rows.filter(stored_side() > (side_px or math.inf))["image_url"]
        if len(urls):
            larger[ledger] = urls.to_list()
    if smaller:
        message = "pictures were stored at a smaller side than crawl.%s.side_px; they are kept"
        log.warning(f"%s of %s {message}", f"{smaller:,}", f"{total:,}", ledgers[0].parent.name)
    if not larger or side_px is None:
        return
    count = sum(map(len, larger.values()))
    log.info("%s pictures are reduced to a side of %d px, none is requested", f"{count:,}", side_px)
    progress = Progress("pictures reduced", count)
    limits = {**decoding.values(), "side_px": side_px, "keep_webp": True}
    with PictureDecoders(limits) as decoders:
        for ledger, urls in larger.items():
            _reduce(ledger, frozenset(urls), decoders, progress)
    progress.finish()


def _reduce(
    ledger: Path, urls: Collection[str], decoders: PictureDecoders, progress: Progress
) -> None:
    """Write a shard anew, and then its ledger by the pictures that are there."""
    shard = ledger.with_name(ledger.name.replace("ledger-", "shard-"))
    changes = dict[str, Row]()

    def pictures() -> Iterator[Picture]:
        for rows in shard_rows(shard, PIXELS.names):
            large = [(url, partial(bytes, webp)) for _, url, *_, webp in rows if url in urls]
            converted = {url: result for url, _, result in decoders.convert_all(large)}
            changes.update({url: _change(*result) for url, result in converted.items()})
            progress.add(len(converted))
            yield from (_picture(row, converted.get(row[1])) for row in rows)

    with _keeping_digest(shard):
        write_shard((picture for picture in pictures() if picture[-1]), shard, PIXELS)
    rows = with_all_columns(ledger).collect().rows(named=True)
    with _keeping_digest(ledger):
        mended_rows = [_mended(row, changes.get(row["image_url"])) for row in rows]
        store.write_rows(mended_rows, ledger, LEDGER)


def _change(outcome: Row, webp: bytes) -> Row:
    """Return what the ledger says of a picture that was reduced, or why it was not."""
    if outcome["status"] != "success":
        lost = {"status": outcome["status"], "error": outcome.get("error")}
        return dict.fromkeys(STORED) | lost
    sizes = {key: outcome[key] for key in ("stored_width", "stored_height")}
    return {**sizes, "bytes": len(webp), "sha256": hashlib.sha256(webp).hexdigest()}


def _picture(row: Picture, converted: Converted | None) -> Picture:
    """Return a row of PIXELS, its last column empty where the picture can't be resized."""
    if converted is None:
        return row
    outcome, webp = converted
    return *row[:2], outcome.get("stored_width"), outcome.get("stored_height"), webp


def _mended(row: Row, change: Row | None) -> Row:
    """Return a row of the ledger, changed where its picture was to be reduced."""
    if change is None:
        return row
    traits = dict.fromkeys([*(row["trait"] or "").split(), REDUCED])
    return {**row, "trait": " ".join(traits), **change}


@contextmanager
def _keeping_digest(path: Path) -> Generator[None]:
    """Keep a file's permissions while another takes its place, and write its record anew."""
    mode = path.stat().st_mode
    digests.forget(path)
    yield
    path.chmod(mode)
    digests.write_kept(path)
