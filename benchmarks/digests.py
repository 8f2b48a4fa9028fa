"""What digests cost: bytes a second, and the share of a built demo's jobs.

    python benchmarks/digests.py [MB] [ROUNDS] [PROJECT]     (default 256 3 .)

A file of random bytes is compared as jobs compare their inputs (XXH128), gets its record as outputs
do (MD5 and XXH128 in one pass), and is checked by its sums as vectors are (CRC-32 a block), beside
SHA-256 of hashlib over the same blocks, which manifests have. The file lies in the page cache: what
a disk adds is the same for all. Of PROJECT, where the demo was built, the logs of its jobs say what
they compared and wrote, and their benchmarks how long they took.
"""

import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import Claim, Timing, machine, rounds, verdicts, write

from isotope.core import crc, digests

_TOLD = re.compile(
    r"digests: [\d,]+ files, ([\d,]+) bytes compared in ([\d.]+) s; .* in ([\d.]+) s"
)


def sha256(path: Path) -> None:
    """Read a file in the blocks that digests are made of."""
    whole = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while block := file.read(1 << 20):
            whole.update(block)


def compare(path: Path) -> None:
    """Compare a file with what was written of it."""
    digests.quick(path)


def summed(path: Path) -> None:
    """Check all sums of a file."""
    crc.demand(path, "")


WAYS: dict[str, Callable[[Path], object]] = {
    "compared": compare,
    "recorded": digests.digest,
    "sums": summed,
    "hashlib": sha256,
}


def run(way: str, path: Path) -> Timing:
    """Return the processor seconds of one way over a file, which other work does not change."""
    start = time.process_time()
    WAYS[way](path)
    return {"s": time.process_time() - start}


def compared(path: Path) -> Timing:
    """Return the seconds of a comparison."""
    return run("compared", path)


def recorded(path: Path) -> Timing:
    """Return the seconds of a record."""
    return run("recorded", path)


def sums(path: Path) -> Timing:
    """Return the seconds of sums."""
    return run("sums", path)


def peer(path: Path) -> Timing:
    """Return the seconds of SHA-256."""
    return run("hashlib", path)


def of_demo(project: Path) -> tuple[int, float, float, float] | None:
    """Return bytes and seconds compared, seconds written, and all seconds of the jobs of a demo."""
    total, compared_s, written_s = 0, 0.0, 0.0
    for path in (project / "logs").rglob("*.log"):
        for size, one, two in _TOLD.findall(path.read_text("utf-8", errors="replace")):
            total += int(size.replace(",", ""))
            compared_s, written_s = compared_s + float(one), written_s + float(two)
    seconds = 0.0
    for path in (project / "logs/benchmarks").rglob("*.tsv"):
        seconds += float(path.read_text("utf-8").splitlines()[1].split("\t")[0])
    return (total, compared_s, written_s, seconds) if compared_s and seconds else None


def main(mb: int = 256, times: int = 3, project: Path = Path()) -> None:
    """Measure, and write the result."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(os.urandom(mb * 1_000_000))
        crc.seal(path)
        tools = {"compared": compared, "recorded": recorded, "sums": sums, "SHA-256": peer}
        found = rounds(tools, path, times=times)
    theirs = found["SHA-256"]["s"]
    named = {"compared": ("collect", 1.0), "recorded": ("encode", None), "sums": ("search", 1.0)}
    size = f"{mb:,} MB"
    claims = [
        Claim(phase, f"{size} {way}", "SHA-256 (hashlib)", found[way]["s"], theirs, least)
        for way, (phase, least) in named.items()
    ]
    lines = [f"# digests: what they cost, {size} in the page cache", ""]
    lines += ["| what | processor s | MB/s |", "|---|---:|---:|"]
    lines += [f"| {way} | {of['s']:.3f} | {mb / of['s']:,.0f} |" for way, of in found.items()]
    lines += ["", verdicts(claims)]
    demo = of_demo(project)
    if demo:
        total, compared_s, written_s, seconds = demo
        share, other = 100 * compared_s / seconds, 100 * written_s / seconds
        lines += [
            f"The jobs of the demo compared {total / 1e6:,.0f} MB, which took {share:.2f} % of "
            f"their {seconds:,.0f} seconds; the records of what they made took {other:.2f} %.",
            "",
        ]
    lines += [machine(["xxhash", "isal"])]
    write("digests", "\n".join(lines), claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), project=Path(*sys.argv[3:4]))
