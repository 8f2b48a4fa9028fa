"""Pictures of finished crawls by the file that they show, whatever address it had at the time.

A list of URLs may spell an address otherwise than the one that was crawled: another host, a
thumbnail, parameters. Such a picture is not requested again. It gets the address and the id of now.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import digests, store
from isotope.core.pixels import shard_rows
from isotope.core.progress import log
from isotope.core.uploads import CANONICAL, canonical_url
from isotope.crawl.sides import with_all_columns, write_pictures
from isotope.crawl.tables import LEDGER, PIXELS

_PLAIN = f"^(?:{CANONICAL})$"
# Shards and ledgers that are complete and not yet in their places, and the sign that all are there.
_ASIDE, _COMPLETE = ".respelled", ".respelled-complete"
Row = dict[str, Any]


def files_of(urls: pl.Series) -> pl.Series:
    """Return what a picture is by its URL: a file's canonical address, or the URL itself."""
    is_odd = ~urls.str.contains(_PLAIN) & urls.str.to_lowercase().str.contains("wiki", literal=True)
    odd = {url: canonical_url(url) for url in urls.filter(is_odd).unique()}
    return urls.replace(odd) if odd else urls


def matched(earlier: pl.Series, urls: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `urls` whose files are among the URLs `earlier`, as `earlier_url`."""
    was = pl.DataFrame({"earlier_url": earlier, "file": files_of(earlier)})
    now = urls.with_columns(files_of(urls["image_url"]).alias("file"))
    return was.join(now, on="file").drop("file")


def best(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one of the earlier rows of each URL: a picture before none, its own spelling first."""
    order = [pl.col("status") != "success", pl.col("earlier_url") != pl.col("image_url")]
    first = rows.sort(*order, "earlier_url", maintain_order=True)
    return first.unique("image_url", keep="first", maintain_order=True)


def respell(urls: Path, ledgers: Sequence[Path]) -> None:
    """Give finished shards the addresses, ids and shards of `urls`, where only those differ.

    Nothing changes unless every URL has a row, and every row a URL, by the file that they show;
    what else differs, `ledger.gather_ledgers` says. A killed job goes on where it was.

    Raises:
        As `core.pixels.iter_pixels`.
        DiskFull: no room beside a shard.
    """
    if not ledgers:
        return
    folder = ledgers[0].parent
    if not (folder / _COMPLETE).exists():
        wanted = pl.read_parquet(urls)
        had = pl.concat([pl.read_parquet(path, columns=["image_url"]) for path in ledgers])
        pairs = _renamed(had["image_url"], wanted)
        if pairs is None:
            return
        count = pairs.filter(pl.col("earlier_url") != pl.col("image_url")).height
        log.info(
            "%s: %s pictures get the addresses of now, none is requested", folder, f"{count:,}"
        )
        _write_aside(pairs, ledgers)
        (folder / _COMPLETE).touch()
    for path in sorted(folder.glob(f"{_ASIDE}-*.parquet")):
        place = folder / path.name.removeprefix(f"{_ASIDE}-")
        digests.forget(place)
        path.chmod(place.stat().st_mode)
        path.replace(place)
        digests.write_kept(place)
    (folder / _COMPLETE).unlink()


def _renamed(had: pl.Series, wanted: pl.DataFrame) -> pl.DataFrame | None:
    """Return URLs and their earlier spellings; None where the lists are the same, or differ."""
    if wanted.height == had.n_unique() and wanted["image_url"].is_in(had.implode()).all():
        return None
    pairs = matched(had, wanted)
    is_whole = pairs["image_url"].n_unique() == wanted.height and pairs.height == len(had)
    return pairs if is_whole else None


def _write_aside(pairs: pl.DataFrame, ledgers: Sequence[Path]) -> None:
    rows = pl.concat([with_all_columns(path) for path in ledgers]).rename(
        {"image_url": "earlier_url"}
    )
    told = best(rows.join(pairs.lazy(), on="earlier_url").collect())
    for ledger in ledgers:
        own = told.filter(shard=int(ledger.stem.rpartition("-")[2]))
        own_rows = own.sort("image_url").select(LEDGER.names).rows(named=True)
        store.write_rows(own_rows, ledger.with_name(f"{_ASIDE}-{ledger.name}"), LEDGER)
        names = {row["earlier_url"]: row for row in own.iter_rows(named=True)}
        pictures = sorted(_pictures(names, ledgers), key=lambda row: row[0])
        shard = ledger.name.replace("ledger-", "shard-")
        write_pictures(iter(pictures), ledger.with_name(f"{_ASIDE}-{shard}"))


def _pictures(names: Mapping[str, Row], ledgers: Sequence[Path]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of PIXELS with the id and URL of now, from all shards."""
    for ledger in ledgers:
        shard = ledger.with_name(ledger.name.replace("ledger-", "shard-"))
        for rows in shard_rows(shard, PIXELS.names):
            for _, url, *rest in rows:
                if url in names:
                    yield names[url]["image_id"], names[url]["image_url"], *rest
