"""One ledger for a source, from those of its shards."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import DeadCrawl, MissingFile, StaleCrawl
from isotope.core.pixels import iter_pixels
from isotope.crawl.outcome import OF_THE_BYTES, OWN_HOST, origin, share_tags
from isotope.crawl.tables import LEDGER, URLS

Row = dict[str, Any]


class Earlier:
    """The rows of an earlier ledger for the URLs of a shard, and the pictures behind them."""

    def __init__(self, folder: Path | None, wanted: pl.DataFrame, origin: str = OWN_HOST) -> None:
        """Look `wanted` (image_id, image_url) up in a folder of data/crawl; None knows nothing.

        `origin` is where the later crawl asks: what another one has told of its pictures' versions
        says nothing there.

        A success whose picture is not in the folder's shards counts as unknown, and so does a
        failure that was not about the bytes.

        Raises:
            MissingFile: no ledger in the folder.
        """
        self._shards: list[Path] = []
        self._origin = origin
        self._rows: dict[str, Row] = {}
        if folder is None:
            return
        if not (folder / "ledger.parquet").is_file():
            raise MissingFile(folder, "no ledger of an earlier crawl", "crawl that source first")
        self._shards = sorted(folder.glob("shard-*.parquet"))
        rows = _with_all_columns(folder / "ledger.parquet")
        rows = rows.join(wanted.lazy(), on="image_url").collect()
        there = self._there(rows["image_id"])
        stored = (pl.col("status") == "success") & pl.col("image_id").is_in(there)
        kept = rows.filter(stored | pl.col("status").is_in(OF_THE_BYTES))
        self._rows = {row["image_url"]: row for row in kept.rows(named=True)}

    def _there(self, ids: pl.Series) -> list[str]:
        if not self._shards or ids.is_empty():
            return []
        between = pl.col("image_id").is_between(pl.lit(ids.min()), pl.lit(ids.max()))
        listed = pl.scan_parquet(self._shards).filter(between).select("image_id").collect()
        return listed["image_id"].to_list()

    def headers(self, url: str) -> dict[str, str]:
        """Return what makes a request conditional (RFC 9110, 13.1); nothing for what is unknown."""
        row: Mapping[str, Any] = self._rows.get(url, {})
        if not share_tags(row.get("origin"), self._origin):
            return {}
        if row.get("etag"):
            return {"If-None-Match": row["etag"]}
        if row.get("last_modified"):
            return {"If-Modified-Since": row["last_modified"]}
        return {}

    def row(self, url: str) -> Row | None:
        """Return the earlier row of a URL, without id and time."""
        row = self._rows.get(url)
        return row and {k: v for k, v in row.items() if k not in ("image_id", "fetched_at")}

    def has(self, url: str, sha256: str) -> bool:
        """Tell whether the picture of a URL is there, with this digest of its WebP."""
        return self._rows.get(url, {}).get("sha256") == sha256

    def pictures(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (image_id, WebP) of the earlier crawl's pictures, by id."""
        yield from iter_pixels(self._shards, ids)


def _with_all_columns(ledger: Path) -> pl.LazyFrame:
    """Read a ledger, an older one with fewer columns included."""
    rows = pl.scan_parquet(ledger)
    there = rows.collect_schema().names()
    absent = [pl.lit(None).alias(name) for name in LEDGER.names if name not in there]
    return rows.with_columns(absent)


_SQL = sql.SQL / "crawl"
_KINDS_TOLD = 3


def list_urls(listed: Sequence[Path], shards: int, urls: Path) -> None:
    """Write tables.URLS: each `image_url` of the tables once, with its id and its shard."""
    tables = {"associations": listed}
    sql.query(_SQL / "urls.sql", tables, {"shards": shards}, out=urls, schema=URLS)


def gather_ledgers(
    urls: Path, ledgers: Sequence[Path], ledger: Path, spec: Mapping[str, Any] | None = None
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
        store.write(LEDGER.empty_table(), columns, LEDGER)
        relations: dict[str, sql.Files] = {"ledgers": [columns, *ledgers]}
        _check_urls(relations | {"urls": urls}, ledger.parent)
        if spec is not None and not spec.get("pictures"):
            _check_origin(relations, spec, ledger.parent)
            _check_pictures(relations, spec, ledgers)
        sql.query(_SQL / "ledger.sql", relations, {}, out=ledger, schema=LEDGER)


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
