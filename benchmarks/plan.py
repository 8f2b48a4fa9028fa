"""Claim: planning the English Wikipedia of today takes under 5 s of a processor.

    python benchmarks/plan.py [ROUNDS]              (default 5)
    python benchmarks/plan.py ROUNDS THIS EARLIER

The second form compares two checkouts, folders in each of which the demo is built and nothing is to
do: `snakemake -n`, in turn. Claim: this one plans the built demo no slower than the earlier one.

`snakemake -n` with params/enwiki.yaml in an empty folder, each round a program of its own. A first
round, which is not counted, lets Python compile its modules. The least counts, as what else the
machine does only adds to it.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

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


def looked_through(folder: Path) -> float:
    """Plan the built demo with the code of its checkout; return the seconds of a processor."""
    program = Path(sys.executable).parent / "snakemake"
    env = {**os.environ, "PYTHONPATH": str(folder / "workflow/lib")}
    before = spent()
    command = [program, "-n", "--cores", "2"]
    done = subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True)
    told = done.stdout + done.stderr
    if "Nothing to be done" not in told:
        raise SystemExit(f"{folder}: the demo is not built:\n{told[-2_000:]}")
    return spent() - before


def compare(rounds: int, this: Path, earlier: Path) -> None:
    """Plan the built demo in two checkouts in turn, hold the claim, and report."""
    folders = {"this": this.resolve(), "earlier": earlier.resolve()}
    for folder in folders.values():
        looked_through(folder)
    taken = [
        {name: looked_through(folder) for name, folder in folders.items()} for _ in range(rounds)
    ]
    lines = ["| round | this, s | earlier, s |", "|---:|---:|---:|"]
    lines += [
        f"| {n + 1} | {each['this']:.2f} | {each['earlier']:.2f} |" for n, each in enumerate(taken)
    ]
    ours, theirs = (median(each[name] for each in taken) for name in folders)
    git = ["git", "-C", str(earlier), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(git, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    claim = (
        f"Medians: {ours:.2f} s of a processor, and {theirs:.2f} s at {commit}; ratio"
        f" {ours / theirs:.2f}. No more than 1: {'yes' if ours <= theirs else 'no'}."
    )
    head = "# Planning the built demo\n\n`snakemake -n`, all built, two commits in turn.\n"
    write("plan_demo", "\n".join([head, *lines, "", claim, "", machine(["snakemake"])]))


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
    if len(sys.argv) > 2:  # noqa: PLR2004
        compare(int(sys.argv[1]), *map(Path, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
