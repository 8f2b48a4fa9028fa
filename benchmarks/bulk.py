"""Claim: pictures that others publish whole come faster than the fastest crawl could bring them.

    python benchmarks/bulk.py [PICTURES] [CRAWLED] [ASKED] [SIDE]     (default 100000 5000 100 32)

Five sources in the columns of their publishers (tests/bulk_world.py) hold PICTURES small pictures,
a tenth of them damaged. isotope reads each source once, matches its rows with what is wanted, and
makes WebP and a ledger. Beside it, by the picture and with the same decoder: isotope's own crawl of
CRAWLED such pictures from a server on loopback whose limits never make it wait, and a query of the
Parquet files for each of ASKED pictures. What was taken, and what was damaged, is compared with
what was published. SIDE is the shorter side of a picture, in pixels: 225 is as large as wit_base's.
"""

import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from common import Claim, Timing, alone, anonymous, machine, timed, verdicts, write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests import bulk_world  # noqa: E402
from tests.bulk_world import Damage, World  # noqa: E402

WITHIN_GIB = 1.0
DECODING = {"max_pixels": 10**6, "decode_s": 10, "decode_mb": 1_500}
WIDE = {"connections": 16, "rate_per_s": 1e5, "megabits_per_s": 1e5}
THOUSAND = 1_000


def by_bulk(world: World, place: Path, side: int) -> Timing:
    """Read all sources; return seconds, memory, and what came and could not."""
    from isotope.crawl.bulk import crawl_bulk  # noqa: PLC0415
    from isotope.params.crawl import Bulk, Crawl  # noqa: PLC0415

    ledgers: list[Path] = []
    decoding = Crawl.of_spec({"shards": 1, "side_px": side})

    def read() -> None:
        for n, item in enumerate(world.bulk):
            folder = place / f"{n:02d}"
            names = {"pixels": "shard-00000", "ledger": "ledger"}
            names |= {"files": "files", "damaged": "damaged"}
            out = {name: folder / f"{file}.parquet" for name, file in names.items()}
            listed = world.listed.get(item.get("source", item.get("crawl", "")))
            told = (Bulk.of_plain(item), out, place / f"scratch/{n:02d}", decoding)
            crawl_bulk(world.urls, *told, ledgers.copy(), listed)
            ledgers.append(out["ledger"])

    with anonymous() as memory:
        seconds, _ = timed(read)
    files = [pl.read_parquet(path.with_name("files.parquet")) for path in ledgers]
    damaged = [pl.read_parquet(path.with_name("damaged.parquet")) for path in ledgers]
    check(world, ledgers, pl.concat(damaged))
    counts = pl.concat(files).sum()
    return {
        "seconds": seconds,
        "memory_gib": memory.peak_gib,
        **{key: int(counts[key][0]) for key in ("rows", "taken", "damaged", "bytes")},
    }


def check(world: World, ledgers: list[Path], damaged: pl.DataFrame) -> None:
    """Compare what came, and what could not be used, with what was published."""
    came = {url for path in ledgers for url in pl.read_parquet(path)["image_url"]}
    assert came == {url for urls in world.of_kind.values() for url in urls} - world.lost
    rows = damaged.select("file", "row", "image_url").rows()
    assert {Damage(*row) for row in rows} == world.damaged


def by_crawl(world: World, place: Path, most: int, side: int) -> Timing:
    """Crawl some of the pictures from loopback; return the seconds for each thousand."""
    from isotope.crawl.shard import crawl_shard  # noqa: PLC0415
    from isotope.params import files  # noqa: PLC0415

    serve = str(bulk_world.serve(world, (side * 4 // 3, side), most))
    more = {**WIDE, "serve": serve, "side_px": side}
    spec = files.load(root=ROOT).crawl["toy"].model_copy(update=more)
    pl.read_parquet(world.urls)[:most].write_parquet(place / "some.parquet")
    out = {name: place / f"{name}.parquet" for name in ("pixels", "ledger")}
    seconds, _ = timed(lambda: crawl_shard(place / "some.parquet", spec, 0, out, place / "s", spec))
    assert pl.read_parquet(out["ledger"]).filter(status="success").height == most
    return {"seconds": seconds / most * THOUSAND}


def by_query(world: World, asked: int) -> Timing:
    """Look pictures up one by one; return the seconds for each thousand."""
    from isotope.intake import convert  # noqa: PLC0415

    files = sorted((world.root / "published/wit_base").glob("*.parquet"))[:-1]
    rows = pl.scan_parquet(files)
    there = rows.select("image_url").drop_nulls().collect()["image_url"].to_list()
    chosen = random.Random(0).sample(there, asked)

    def look_up() -> None:
        for url in chosen:
            found = rows.filter(image_url=url).select("image").head(1).collect()
            convert.answer(found["image"][0]["bytes"] or b"", None, DECODING)

    seconds, _ = timed(look_up)
    return {"seconds": seconds / asked * THOUSAND}


def report(told: list[Claim], found: Timing, given: str) -> str:
    """Return the result in words."""
    rate = found["rows"] / found["seconds"]
    words = (
        f"{given}, JPEG and WebP in five sources, {found['rows']:,} rows. What is whole was taken, "
        f"{found['taken']:,} pictures, and just what is not is named by file and row: "
        f"{found['damaged']:,} rows or files. That took "
        f"{found['seconds']:.0f} s, {rate:.0f} rows a second, with {found['memory_gib']:.2f} GiB "
        "of memory at most, decoders included. Seconds below are for each thousand pictures."
    )
    title = "# Pictures in bulk, beside a crawl and a query a picture"
    return "\n\n".join([title, words, verdicts(told), machine(["polars", "pyarrow", "pillow"])])


def main(pictures: int = 100_000, crawled: int = 5_000, asked: int = 100, side: int = 32) -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        world = bulk_world.make(place / "world", pictures, side)
        found = alone(by_bulk, world, place, side)
        crawl = alone(by_crawl, world, place, min(crawled, pictures), side)
        query = alone(by_query, world, asked)
    given = f"{pictures:,} pictures of {side * 4 // 3} x {side} pixels, a tenth damaged"
    ours = found["seconds"] / pictures * THOUSAND
    peak: Any = (found["memory_gib"], WITHIN_GIB)
    told = [
        Claim("crawl", given, "a crawl from loopback", ours, crawl["seconds"], 1.0, *peak),
        Claim("crawl", given, "a query a picture", ours, query["seconds"], 1.0, *peak),
    ]
    write("bulk", report(told, found, given), told)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
