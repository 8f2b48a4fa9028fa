"""One ledger for a source, from those of its shards."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope import tables
from isotope.core import sql, store
from isotope.core.errors import DeadCrawl, StaleCrawl
from isotope.crawl.origin import OWN_HOST, origin

_SQL = sql.SQL / "crawl"
_KINDS_TOLD = 3


def gather_ledgers(
    urls: Path, ledgers: Sequence[Path], out: Path, spec: Mapping[str, Any] | None = None
) -> None:
    """Write the rows of all `ledgers` by URL, after comparing them with what is wanted.

    `spec` is crawl.<source>; without it, or with pictures that came along, only URLs are compared.

    Raises:
        StaleCrawl: the list of URLs is not the one that was crawled, or it was crawled from another
            origin. Finished shards are never fetched again without being asked to, so this is the
            user's decision.
        DeadCrawl: no URL has brought a picture; the shards, which hold none, are removed.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        # Older ledgers have fewer columns.
        columns = Path(folder) / "columns.parquet"
        store.write(tables.LEDGER.empty_table(), columns, tables.LEDGER)
        relations: dict[str, sql.Files] = {"ledgers": [columns, *ledgers]}
        _check_urls(relations | {"urls": urls}, out.parent)
        if spec is not None and not spec.get("pictures"):
            _check_origin(relations, spec, out.parent)
            _check_pictures(relations, spec, ledgers)
        sql.query(_SQL / "ledger.sql", relations, {}, out=out, schema=tables.LEDGER)


def _check_urls(relations: Mapping[str, sql.Files], folder: Path) -> None:
    differing = _rows("uncrawled.sql", relations)
    if differing.height:
        new = int(differing["is_new"].sum())
        found = f"{new} wanted URLs were never crawled, {differing.height - new} are wanted no more"
        first = f"the first is {differing['image_url'][0]}"
        raise StaleCrawl(folder, f"{found}; {first}", f"{_again(folder)} to crawl anew")


def _check_origin(
    relations: Mapping[str, sql.Files], spec: Mapping[str, Any], folder: Path
) -> None:
    now = origin(spec)
    for place, count in _rows("origins.sql", relations).rows():
        if place != now:
            found = f"{count} URLs were asked for at {_place(place)}, and not at {_place(now)}"
            remedy = f"put `serve` or `mirror` of crawl.{folder.name} back, or {_again(folder)}"
            raise StaleCrawl(folder, found, remedy)


def _check_pictures(
    relations: Mapping[str, sql.Files], spec: Mapping[str, Any], ledgers: Sequence[Path]
) -> None:
    outcomes = _rows("outcomes.sql", relations)
    total = int(outcomes["urls"].sum())
    if not total or "success" in outcomes["status"].to_list():
        return
    told = [f"{row['urls']} of {total} URLs {_outcome(row)}" for row in outcomes.rows(named=True)]
    folder = ledgers[0].parent
    found = f"{', '.join(told[:_KINDS_TOLD])}; the first is {outcomes['image_url'][0]}"
    for ledger in ledgers:
        ledger.with_name(ledger.name.replace("ledger-", "shard-")).unlink(missing_ok=True)
        ledger.unlink()
    raise DeadCrawl(folder, f"no picture: {found}", _mend(spec, folder.name))


def _outcome(row: Mapping[str, Any]) -> str:
    if row["http_status"] is not None:
        arrived = f" with {row['status']}" if row["http_status"] == 200 else ""  # noqa: PLR2004
        return f"answered {row['http_status']}{arrived}"
    return f"failed with {row['status']}" + (f" ({row['error']})" if row["error"] else "")


def _mend(spec: Mapping[str, Any], source: str) -> str:
    """Say which setting decides where the pictures are looked for."""
    key = next((k for k in ("serve", "mirror") if spec.get(k)), None)
    if key == "serve":
        layout = "it holds pictures under their upload paths (wikipedia/commons/a/ab/X.jpg)"
        return f"see that crawl.{source}.serve is right ({spec[key]}: {layout}), and run again"
    if key == "mirror":
        return f"see that crawl.{source}.mirror is right ({spec[key]}), and run again"
    return f"open the first URL in a browser, check crawl.{source}.contact, and run again"


def _rows(query: str, relations: Mapping[str, sql.Files]) -> pl.DataFrame:
    found = sql.query(_SQL / query, relations, {})
    return pl.DataFrame() if found is None else found


def _place(place: str) -> str:
    return "their own hosts" if place == OWN_HOST else place


def _again(folder: Path) -> str:
    return f"`rm -rf {folder}` and run again"
