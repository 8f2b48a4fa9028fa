"""Lost pictures of a finished crawl are requested again, or a host is said to be gone."""

from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

import polars as pl

from isotope.core import digests
from isotope.core.errors import BadArgument, MissingFile
from isotope.crawl.ledger import FAILURES, HOST_GONE, NEXT_RUN
from isotope.crawl.outages import Outages
from isotope.crawl.scratch import Scratch

_CRAWLED, _SCRATCH = Path("data/crawl"), Path(".isotope/crawl")
# What may be otherwise another time.
AGAIN = NEXT_RUN | {HOST_GONE}


def recrawl(source: str, statuses: Sequence[str] = ()) -> str:
    """Let the next run request the pictures of a source with these outcomes again (AGAIN).

    The tables of shards that have such a row are removed; what they have besides is in the crawl's
    scratch, and not requested. Hosts that were gone may answer again.

    Raises:
        BadArgument: a status that is none of a lost picture.
        MissingFile: a source that was not crawled, or a shard whose scratch is gone: all of its
            pictures would be requested again.
    """
    chosen = frozenset(statuses) or AGAIN
    if unknown := chosen - FAILURES:
        statuses_known = ", ".join(sorted(FAILURES))
        raise BadArgument(
            "isotope recrawl --status", f"no status {min(unknown)}", f"one of {statuses_known}"
        )
    scratch = _scratch(source)
    hosts = Outages(scratch).forget() if HOST_GONE in chosen else []
    counts: dict[str, int] = {}
    for ledger in sorted((_CRAWLED / source).glob("ledger-*.parquet")):
        rows = pl.read_parquet(ledger, columns=["status"], glob=False)["status"]
        for status, urls in rows.filter(rows.is_in([*chosen])).value_counts().rows():
            counts[status] = counts.get(status, 0) + urls
            _forget(ledger, scratch, chosen)
    for path in scratch.glob("*.sqlite"):
        with closing(Scratch(path)) as done:
            done.forget(chosen)
    return _summary(source, counts, hosts)


def give_up(source: str, host: str) -> str:
    """Take a host for gone: the next run makes its pictures `host_gone` without a request.

    Raises:
        MissingFile: a source that was not crawled.
    """
    outages = Outages(_scratch(source))
    for name in [host] if ":" in host else [f"{host}:80", f"{host}:443"]:
        outages.declare(name.lower())
    return f"{host} is gone: its pictures are lost in the next `snakemake --cores all crawl`\n"


def _scratch(source: str) -> Path:
    scratch = _SCRATCH / source
    if not any(scratch.glob("*.sqlite")):
        raise MissingFile(scratch, "no crawl of this source", "run `snakemake --cores all crawl`")
    return scratch


def _forget(ledger: Path, scratch: Path, chosen: Collection[str]) -> None:
    """Remove the tables of a shard, unless what they have is nowhere else."""
    number = ledger.stem.removeprefix("ledger-")
    if not any(scratch.glob(f"{number}-*.sqlite")):
        remedy = f"remove {ledger.parent} to request every picture again"
        raise MissingFile(scratch, f"what shard {number} had fetched is gone", remedy)
    shard, gathered = (
        ledger.with_name(f"shard-{number}.parquet"),
        ledger.with_name("ledger.parquet"),
    )
    for path in (ledger, shard, gathered):
        digests.forget(path)
        path.unlink(missing_ok=True)


def _summary(source: str, counts: dict[str, int], hosts: Sequence[str]) -> str:
    if not counts:
        return f"{source}: no picture to request again\n"
    listed = ", ".join(f"{urls:,} {status}" for status, urls in sorted(counts.items()))
    also = f"; hosts that were down: {', '.join(hosts)}" if hosts else ""
    return f"{source}: {listed} are requested again by `snakemake --cores all crawl`{also}\n"
