"""One ledger for a source, from those of its shards."""

from collections.abc import Sequence
from pathlib import Path

from isotope import sql, tables
from isotope.errors import StaleCrawl

_SQL = sql.SQL / "crawl"


def gather_ledgers(urls: Path, ledgers: Sequence[Path], out: Path) -> None:
    """Write the rows of all `ledgers` by URL, after comparing them with the URLs that are wanted.

    Raises:
        StaleCrawl: the list of URLs is not the one that was crawled. Finished shards are never
            fetched again without being asked to, so this is the user's decision.
    """
    relations: dict[str, sql.Files] = {"urls": urls, "ledgers": ledgers}
    differing = sql.query(_SQL / "uncrawled.sql", relations, {})
    if differing is not None and differing.height:
        new = int(differing["is_new"].sum())
        found = f"{new} wanted URLs were never crawled, {differing.height - new} are wanted no more"
        first = f"the first is {differing['image_url'][0]}"
        remedy = f"`rm -rf {out.parent}` and run again to crawl anew"
        raise StaleCrawl(out.parent, f"{found}; {first}", remedy)
    sql.query(_SQL / "ledger.sql", {"ledgers": ledgers}, {}, out=out, schema=tables.LEDGER)
