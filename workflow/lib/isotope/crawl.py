"""Images from their URLs to WebP shards through img2dataset, with one ledger row per URL."""

import hashlib
import time
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import duckdb
import polars as pl

from isotope import store, tables
from isotope.crawl_outcome import COLUMNS, outcome, worth_another_try
from isotope.crawl_tool import PER_FILE, convert
from isotope.errors import ToolFailed
from isotope.progress import log
from isotope.serve import serving

_ROWS = 1_000
_STORED = {"image_url": pl.String, "bytes": pl.Int64, "sha256": pl.String}


def crawl_shard(
    urls: Path, spec: Mapping[str, Any], shard: int, out: Mapping[str, Path], scratch: Path
) -> None:
    """Download one shard of `urls` (tables.URLS); write out["pixels"] and out["ledger"].

    A failure that may pass is tried again, up to spec["attempts"] passes. What a killed run had
    downloaded is found in `scratch` and not asked for again.
    """
    wanted = pl.read_parquet(urls).filter(pl.col("shard") == shard).drop("shard")
    named = hashlib.sha256("\n".join(wanted["image_url"]).encode()).hexdigest()[:16]
    scratch = scratch / f"{shard:05d}-{named}-by-{PER_FILE}"
    serve = spec.get("serve")
    with serving(Path(serve)) if serve else nullcontext(spec.get("mirror")) as mirror:
        outcomes = passes(wanted, spec, mirror, scratch)
    stored = write_pixels(scratch, out["pixels"])
    write_ledger(wanted, outcomes, stored, out["ledger"])


def passes(
    wanted: pl.DataFrame, spec: Mapping[str, Any], mirror: str | None, scratch: Path
) -> pl.DataFrame:
    """Run img2dataset until nothing left is worth another try; return each URL's last outcome."""
    done: list[pl.DataFrame] = []
    left = wanted
    for attempt in range(1, spec["attempts"] + 1):
        if left.is_empty():
            break
        if attempt > 1:
            log.info("pass %d: %d URLs again in %s s", attempt, left.height, spec["wait_s"])
            time.sleep(spec["wait_s"])
        folder = scratch / f"pass-{attempt}"
        outcomes = one_pass(left, spec, mirror, folder).with_columns(
            attempts=pl.lit(attempt, pl.Int32)
        )
        again = worth_another_try(outcomes) if attempt < spec["attempts"] else outcomes.clear()
        done.append(outcomes.join(again, on="image_id", how="anti"))
        left = left.join(again, on="image_id", how="semi")
    return pl.concat(done) if done else outcome(pl.DataFrame(schema=COLUMNS))


def mirrored(url: str, mirror: str | None) -> str:
    """Return `url` with scheme and host of `mirror`; ids go on naming the original."""
    if not mirror:
        return url
    host = urlsplit(mirror)
    return urlunsplit(urlsplit(url)._replace(scheme=host.scheme, netloc=host.netloc))


def one_pass(
    left: pl.DataFrame, spec: Mapping[str, Any], mirror: str | None, folder: Path
) -> pl.DataFrame:
    """Download `left` into `folder`, but for what is there; return one outcome a URL."""
    folder.mkdir(parents=True, exist_ok=True)
    urls = [mirrored(url, mirror) for url in left["image_url"]]
    convert(left.with_columns(pl.Series("url", urls)), folder, spec)
    return pl.concat([read_outcomes(p) for p in sorted(folder.glob("[0-9]*.parquet"))])


def read_outcomes(path: Path) -> pl.DataFrame:
    """Return what became of each URL of one result file, with the file's time."""
    fetched_at = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    found = outcome(pl.read_parquet(path, columns=list(COLUMNS)).cast({**COLUMNS}))
    return found.with_columns(fetched_at=pl.lit(fetched_at))


def write_pixels(scratch: Path, path: Path) -> pl.DataFrame:
    """Write all passes' pictures as tables.PIXELS, by image_id; return sizes and digests."""
    query = """
        SELECT image_id, image_url, width::INTEGER AS width, height::INTEGER AS height, webp
        FROM read_parquet($files)
        WHERE status = 'success'
        ORDER BY image_id
    """
    files = [p.as_posix() for p in sorted(scratch.glob("pass-*/[0-9]*.parquet"))]
    stored: list[tuple[str, int, str]] = []
    with duckdb.connect() as con, store.writer(path, tables.PIXELS) as out:
        batches = con.sql(query, params={"files": files}).to_arrow_reader(_ROWS) if files else []
        for batch in batches:
            out.write_batch(batch.cast(tables.PIXELS))
            for url, webp in zip(batch["image_url"], batch["webp"], strict=True):
                data = webp.as_py()
                stored.append((url.as_py(), len(data), hashlib.sha256(data).hexdigest()))
    return pl.DataFrame(stored, schema=_STORED, orient="row")


def write_ledger(
    wanted: pl.DataFrame, outcomes: pl.DataFrame, stored: pl.DataFrame, path: Path
) -> None:
    """Write one tables.LEDGER row for each wanted URL; `bytes` and `sha256` are of the stored WebP.

    Raises:
        ToolFailed: a URL that img2dataset did not account for.
    """
    lost = wanted.join(outcomes, on="image_id", how="anti")
    twice = outcomes.filter(pl.col("image_id").is_duplicated())
    if twice.height:
        remedy = "delete .isotope/crawl and run again"
        raise ToolFailed("img2dataset", f"two outcomes for {twice['image_url'][0]}", remedy)
    if lost.height:
        remedy = "delete .isotope/crawl and run again"
        raise ToolFailed("img2dataset", f"no outcome for {lost['image_url'][0]}", remedy)
    rows = outcomes.join(stored, on="image_url", how="left").sort("image_url")
    store.write(rows.select(tables.LEDGER.names).to_arrow(), path, tables.LEDGER)
