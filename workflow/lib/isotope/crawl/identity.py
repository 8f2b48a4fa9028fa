"""Pictures of finished crawls by the file that they show, whatever address it had at the time.

A list of URLs may spell an address otherwise than the one that was crawled: another host, a
thumbnail, parameters. Such a picture is not requested again. It gets the address and the id of now.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import digests, store
from isotope.core.pixels import shard_rows, write_shard
from isotope.core.progress import log
from isotope.core.uploads import CANONICAL, canonical_url
from isotope.crawl.sides import with_all_columns
from isotope.schemas.crawl import LEDGER, PIXELS

_PLAIN = f"^(?:{CANONICAL})$"
# Shards and ledgers that are complete and not yet in their places, and the sign that all are there.
_ASIDE, _COMPLETE = ".respelled", ".respelled-complete"
Row = dict[str, Any]


def files_of(urls: pl.Series) -> pl.Series:
    """Return what a picture is by its URL: a file's canonical address, or the URL itself."""
    odd = urls.to_frame("url").filter(_is_odd("url"))["url"].unique()
    return urls.replace({url: canonical_url(url) for url in odd}) if len(odd) else urls


def _is_odd(column: str) -> pl.Expr:
    """Tell which URLs may be a file's, and are not its canonical address."""
    url = pl.col(column)
    return ~url.str.contains(_PLAIN) & url.str.to_lowercase().str.contains("wiki", literal=True)


def earlier_rows(rows: pl.LazyFrame, urls: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of an earlier ledger for the files of `urls`, one for each URL.

    They have the columns of `urls`, among them `image_url`, and their own address as `earlier_url`.
    """
    earlier = rows.rename({"image_url": "earlier_url"})
    now = urls.with_columns(files_of(urls["image_url"]).alias("file"))
    same = earlier.join(now.lazy(), left_on="earlier_url", right_on="file").collect()
    odd = earlier.filter(_is_odd("earlier_url")).collect()
    spelled = odd.with_columns(files_of(odd["earlier_url"]).alias("file"))
    other = spelled.filter(pl.col("file") != pl.col("earlier_url")).join(now, on="file")
    return _best(pl.concat([same, other.select(same.columns)]))


def _best(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one of the earlier rows of each URL: a picture before none, its own spelling first."""
    order = [pl.col("status") != "success", pl.col("earlier_url") != pl.col("image_url")]
    first = rows.sort(*order, "earlier_url", maintain_order=True)
    return first.unique("image_url", keep="first", maintain_order=True)


def respell(urls: Path, ledgers: Sequence[Path], differing: pl.DataFrame) -> None:
    """Give finished shards the addresses, ids and shards of `urls`, where only those differ.

    `differing` are the URLs that either the list or the ledgers lack (image_url, is_new). Nothing
    changes unless each is another spelling of one on the other side; what else differs,
    `ledger.gather_ledgers` says. A killed job goes on where it was (`finish_respelling`).

    Raises:
        As `core.pixels.iter_pixels`.
        DiskFull: no room beside a shard.
    """
    new = files_of(differing.filter("is_new")["image_url"])
    gone = files_of(differing.filter(~pl.col("is_new"))["image_url"])
    wanted = pl.read_parquet(urls, glob=False)
    # An address that goes may be another spelling of one that stays.
    stays = gone.filter(~gone.is_in(new.implode())).is_in(wanted["image_url"].implode())
    if not (new.is_in(gone.implode()).all() and stays.all()):
        return
    folder = ledgers[0].parent
    log.info("%s: %s addresses become those of now, none is requested", folder, f"{len(gone):,}")
    _write_aside(wanted, ledgers)
    (folder / _COMPLETE).touch()
    finish_respelling(ledgers)


def finish_respelling(ledgers: Sequence[Path]) -> None:
    """Put the tables of `respell` in their places, once all are there."""
    folder = ledgers[0].parent if ledgers else Path()
    if not (ledgers and (folder / _COMPLETE).exists()):
        return
    for path in sorted(folder.glob(f"{_ASIDE}-*.parquet")):
        target = folder / path.name.removeprefix(f"{_ASIDE}-")
        digests.forget(target)
        path.chmod(target.stat().st_mode)
        path.replace(target)
        digests.write_kept(target)
    (folder / _COMPLETE).unlink()


def _write_aside(wanted: pl.DataFrame, ledgers: Sequence[Path]) -> None:
    outcomes = earlier_rows(pl.concat([with_all_columns(path) for path in ledgers]), wanted)
    for ledger in ledgers:
        outcomes_of_shard = outcomes.filter(shard=int(ledger.stem.rpartition("-")[2]))
        own_rows = outcomes_of_shard.sort("image_url").select(LEDGER.names).rows(named=True)
        store.write_rows(own_rows, ledger.with_name(f"{_ASIDE}-{ledger.name}"), LEDGER)
        names = {row["earlier_url"]: row for row in outcomes_of_shard.iter_rows(named=True)}
        pictures = sorted(_pictures(names, ledgers), key=lambda row: row[0])
        shard = ledger.name.replace("ledger-", "shard-")
        write_shard(iter(pictures), ledger.with_name(f"{_ASIDE}-{shard}"), PIXELS)


def _pictures(names: Mapping[str, Row], ledgers: Sequence[Path]) -> Iterator[tuple[Any, ...]]:
    """Yield rows of PIXELS with the id and URL of now, from all shards."""
    for ledger in ledgers:
        shard = ledger.with_name(ledger.name.replace("ledger-", "shard-"))
        for rows in shard_rows(shard, PIXELS.names):
            for _, url, *fields in rows:
                if url in names:
                    yield names[url]["image_id"], names[url]["image_url"], *fields
