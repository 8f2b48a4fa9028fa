"""Claim: on the embedded snapshot, less than 30 % of the time goes into anything but the jobs.

    python benchmarks/phases.py [ROUNDS]     (default 3)

Runs the default experiment in a new folder, one job at a time, and adds up what Snakemake measured
for each job: wall time, processor time, peak memory. What is left of the whole is orchestration.
"""

import csv
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from common import Claim, machine, verdicts, write

ROOT = Path(__file__).parents[1]
PACKAGES = ("snakemake", "torch", "open_clip_torch", "img2dataset", "pyserini", "duckdb", "polars")
# A share of 30 % for orchestration leaves 70 % for the work of the jobs.
AT_LEAST = 0.7
# Imports come on top of the 90 s of training that the recipe is held to.
TRAINING_S = 180
HEAD = ["phase", "jobs", "wall, s", "CPU, s", "peak RSS, MB", "share of wall"]


def run(folder: Path) -> float:
    """Build everything in `folder`; return the seconds that took."""
    shutil.copy2(ROOT / "params.yaml", folder)
    program = Path(sys.executable).parent / "snakemake"
    start = time.monotonic()
    where = ["--snakefile", ROOT / "Snakefile", "--directory", folder]
    subprocess.run([program, *where, "--cores", "1", "--quiet"], check=True)
    return time.monotonic() - start


def rows(folder: Path) -> list[list[str]]:
    """Return one row a phase; walls add up the jobs, some of which ran side by side."""
    phases = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    jobs: dict[str, list[dict[str, str]]] = {phase: [] for phase in phases}
    for path in sorted((folder / "logs/benchmarks").rglob("*.tsv")):
        rule = path.relative_to(folder / "logs/benchmarks").parts[0]
        with path.open(newline="") as file:
            jobs[rule.split("_")[0]] += csv.DictReader(file, delimiter="\t")
    wall = {phase: sum(float(j["s"]) for j in found) for phase, found in jobs.items()}
    table = []
    for phase, found in jobs.items():
        if not found:
            continue
        cpu = sum(float(j["cpu_time"]) for j in found)
        peak = max(float(j["max_rss"]) for j in found)
        share = wall[phase] / sum(wall.values())
        numbers = [len(found), f"{wall[phase]:.1f}", f"{cpu:.1f}", f"{peak:.0f}", f"{share:.0%}"]
        table.append([phase, *map(str, numbers)])
    return table


def work(folder: Path) -> float:
    """Return the seconds of all jobs together."""
    found = 0.0
    for path in (folder / "logs/benchmarks").rglob("*.tsv"):
        with path.open(newline="") as file:
            found += sum(float(job["s"]) for job in csv.DictReader(file, delimiter="\t"))
    return found


def training(folder: Path) -> float:
    """Return the seconds of the job that trains the model."""
    with (folder / "logs/benchmarks/train_model/toy.tiny-clip.tsv").open(newline="") as file:
        return float(next(csv.DictReader(file, delimiter="\t"))["s"])


def main(times: int = 3) -> None:
    """Write benchmarks/results/phases.md."""
    measured: list[tuple[float, float, list[list[str]]]] = []
    trained: list[float] = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            seconds = run(Path(folder))
            measured.append((seconds, work(Path(folder)), rows(Path(folder))))
            trained.append(training(Path(folder)))
    seconds, busy, table = statistics.median_low(measured)
    claim = Claim("demo", "the embedded snapshot", "its jobs' own work", seconds, busy, AT_LEAST)
    lines = [f"| {' | '.join(r)} |" for r in (HEAD, ["---", *["---:"] * 5], *table)]
    write(
        "phases",
        "# Every phase on the embedded snapshot\n\n"
        f"From start to end {seconds:.0f} s, one job at a time; median of {times} rounds. The jobs"
        f" took {busy:.0f} s of it, their start and imports included: orchestration is"
        f" {1 - busy / seconds:.0%}. Peaks are of the largest job. Training took"
        f" {statistics.median(trained):.0f} s with its imports; under {TRAINING_S} s:"
        f" {'yes' if statistics.median(trained) < TRAINING_S else 'no'}.\n\n{verdicts([claim])}\n"
        + "\n".join(lines)
        + "\n\n"
        + machine(PACKAGES),
        [claim],
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
