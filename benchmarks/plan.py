"""Claim: planning the English Wikipedia of today takes under 5 s of a processor.

    python benchmarks/plan.py [ROUNDS]      (default 5)

`snakemake -n` with params/enwiki.yaml in an empty folder, each round a program of its own. A first
round, which is not counted, lets Python compile its modules. The least counts, as what else the
machine does only adds to it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from common import machine, spent, timed, write

ROOT = Path(__file__).parents[1]
LIMIT_S = 5


def planned(folder: Path) -> int:
    """Plan from nothing in a folder; return the number of jobs."""
    program = Path(sys.executable).parent / "snakemake"
    where = ["--snakefile", ROOT / "Snakefile", "--directory", folder]
    params = ["--configfile", ROOT / "params.yaml", ROOT / "params/enwiki.yaml"]
    command = [program, "-n", "--cores", "8", "--quiet", "rules", *where, *params]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    total = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("total ")]
    return int(total[0])


def main(rounds: int = 5) -> None:
    """Plan a few times, hold the claim, and report."""
    lines = ["| round | processor, s | clock, s |", "|---:|---:|---:|"]
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        jobs = planned(Path(place))
        for n in range(rounds):
            before = spent()
            seconds, _ = timed(lambda: planned(Path(place)))
            taken.append(spent() - before)
            lines.append(f"| {n + 1} | {taken[-1]:.2f} | {seconds:.2f} |")
    least = min(taken)
    claim = (
        f"{jobs:,} jobs; the least of {rounds} rounds is {least:.2f} s of a processor."
        f" Under {LIMIT_S} s: {'yes' if least < LIMIT_S else 'no'}."
    )
    head = "# Planning at full size\n\n`snakemake -n` with params/enwiki.yaml, nothing built.\n"
    write("plan", "\n".join([head, *lines, "", claim, "", machine(["snakemake"])]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
