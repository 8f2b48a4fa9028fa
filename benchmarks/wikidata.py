"""Claim: the pages of a wiki are found in Wikidata no slower than a bare loop finds them.

    python benchmarks/wikidata.py [ENTITIES] [ROUNDS]     (default 24000 3)

Invented entities of the size and the form of the public dump's, of which one in sixteen has a page
in the wiki, are read by isotope, which checks and keeps what it reads, and by a loop that parses
every line (as qwikidata's and others' readers do), one process each, gzip and bzip2. What they find
must be the same. From the seconds a byte follows what a whole dump would cost on one core. Written
to benchmarks/results/wikidata.md.
"""

import bz2
import gzip
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from common import Claim, Timing, machine, rounds, timed, verdicts, write

from isotope.parse.wikidata import parse_wikidata

# ASSUME a dump has 115 million entities in 1.5 TB of text (2026; its gzip file has 150 GB), and one
# in sixteen a page of the English Wikipedia; Wikidata's statistics say 7 million of them.
WHOLE_TB, SHARE = 1.5, 16
LANGUAGES, PROPERTIES = 60, (18, 373, *range(1000, 1022))
AT_LEAST = 1.0
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def entities(count: int) -> Iterator[str]:
    """Yield entities as the dump writes them, about 13 KB each."""
    rng = random.Random(0)
    codes = [f"{a}{b}" for a in "abcdefgh" for b in "klmnopqr"][:LANGUAGES]
    for number in range(1, count + 1):
        names = {c: {"language": c, "value": f"name {rng.getrandbits(40):x}"} for c in codes}
        claims = {
            f"P{n}": [
                {
                    "mainsnak": {
                        "snaktype": "value",
                        "property": f"P{n}",
                        "hash": f"{rng.getrandbits(160):040x}",
                        "datavalue": {"value": f"{rng.getrandbits(60):x}.jpg", "type": "string"},
                        "datatype": "commonsMedia",
                    },
                    "type": "statement",
                    "id": f"Q{number}${rng.getrandbits(128):032x}",
                    "rank": "normal",
                }
            ]
            for n in PROPERTIES
        }
        wikis = ["enwiki"] if number % SHARE == 0 else ["dewiki"]
        links = {w: {"site": w, "title": f"Page {number}", "badges": []} for w in wikis}
        yield json.dumps(
            {
                "type": "item",
                "id": f"Q{number}",
                "labels": names,
                "descriptions": names,
                "aliases": {},
                "claims": claims,
                "sitelinks": links,
                "lastrevid": number,
            }
        )


def made(folder: Path, count: int) -> tuple[dict[str, Path], int]:
    """Write the dump in both packings; return the files and the bytes of text."""
    text = "[\n" + ",\n".join(entities(count)) + "\n]\n"
    files = {suffix: folder / f"latest-all.json{suffix}" for suffix in PACKED}
    for suffix, path in files.items():
        with PACKED[suffix](path, "wt", encoding="utf-8") as out:
            out.write(text)
    return files, len(text)


def isotope(path: Path) -> Timing:
    """Find the pages of a wiki, by one worker."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "e.parquet", Path(folder) / "r.parquet"
        work = partial(parse_wikidata, [path], ("enwiki", "en"), *out, workers=1)
        seconds, _ = timed(work)
        return {"s": seconds, "pages": sorted(pl.read_parquet(out[0])["page_title"].to_list())}


def every_line(path: Path) -> Timing:
    """Find them by parsing every line."""

    def work() -> list[str]:
        titles = []
        with PACKED[path.suffix](path, "rt", encoding="utf-8") as file:
            for line in file:
                if len(line) > len("[\n"):
                    links = json.loads(line.rstrip().removesuffix(","))["sitelinks"]
                    titles += [links["enwiki"]["title"]] if "enwiki" in links else []
        return sorted(titles)

    seconds, pages = timed(work)
    return {"s": seconds, "pages": pages}


def main(count: int = 24_000, times: int = 3) -> None:
    """Measure, and write the result."""
    lines = ["# Wikidata", "", "| form | text | isotope | MB/s | a whole dump, one core |"]
    lines.append("|---|---:|---:|---:|---:|")
    claims = list[Claim]()
    with tempfile.TemporaryDirectory() as folder:
        files, size = made(Path(folder), count)
        for suffix, path in files.items():
            found = rounds({"isotope": isotope, "json": every_line}, path, times=times)
            ours, theirs = found["isotope"], found["json"]
            if ours["pages"] != theirs["pages"] or len(ours["pages"]) != count // SHARE:
                raise SystemExit(f"{suffix}: not the same pages")
            hours = ours["s"] * WHOLE_TB * 1e12 / size / 3600
            lines.append(
                f"| {suffix} | {size / 1e6:,.0f} MB | {ours['s']:.2f} s "
                f"| {size / 1e6 / ours['s']:,.0f} | {hours:,.1f} h (assumed) |"
            )
            about = f"{count:,} entities, {suffix}"
            peak = ours["peak_gib"]
            least = AT_LEAST if suffix == ".gz" else None  # bzip2 takes most of either's time
            claims.append(
                Claim("parse", about, "json, every line", ours["s"], theirs["s"], least, peak)
            )
    lines += ["", verdicts(claims)]
    lines += [
        f"A whole dump is assumed to have {WHOLE_TB} TB of text of the same form. Both unpack with "
        "Python's zlib and bz2; isotope parses one line in sixteen, on as many cores as the job "
        f"has. Peak memory was {max(c.peak_gib or 0 for c in claims):.2f} GiB.",
        "",
        machine(["polars", "pyarrow"]),
    ]
    write("wikidata", "\n".join(lines), claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
