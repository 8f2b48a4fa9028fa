"""Claim: on the embedded snapshot, less than 30 % of the time goes into anything but the jobs.

    python benchmarks/phases.py [ROUNDS] [COMMIT [BIN]]     (default 3)

Runs the default experiment in a new folder, one job at a time, and adds up what Snakemake measured
for each job: wall time, processor time, peak memory. What is left of the whole is orchestration.

With a COMMIT, that one is cloned and its demo run in turns with ours on all cores, to compare time
and jobs. BIN is the folder of programs of its environment, by default that of this one.
"""

import csv
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import yaml
from common import Claim, machine, verdicts, write

from isotope.core.plugins import phase_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("snakemake", "torch", "open_clip_torch", "img2dataset", "pyserini", "duckdb", "polars")
# A share of 30 % for orchestration leaves 70 % for the work of the jobs.
AT_LEAST = 0.7
# Imports come on top of the 90 s of training that the recipe is held to.
TRAINING_S = 180
HEAD = ["phase", "jobs", "wall, s", "CPU, s", "peak RSS, MB", "share of wall"]


class Project(NamedTuple):
    """A checkout, and the folder of the programs that run it."""

    root: Path
    programs: Path


class Demo(NamedTuple):
    """What a demo took."""

    seconds: float
    jobs: int


OURS = Project(ROOT, Path(sys.executable).parent)


def snakemake(project: Project, folder: Path, *arguments: str) -> str:
    """Run Snakemake on the default experiment in `folder`; return what it printed."""
    if not (folder / "params.yaml").exists():
        shutil.copy2(project.root / "params.yaml", folder)
    path = os.pathsep.join([str(project.programs), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(project.root / "workflow/lib")}
    where = ["--snakefile", project.root / "Snakefile", "--directory", folder]
    command = [project.programs / "snakemake", *where, *arguments]
    merged = subprocess.STDOUT
    # Where it is called from, Snakemake looks for a default profile.
    return subprocess.check_output(command, env=env, text=True, stderr=merged, cwd=project.root)


def run(folder: Path, project: Project = OURS, cores: str = "1") -> float:
    """Build everything in `folder`; return the seconds that took."""
    start = time.monotonic()
    snakemake(project, folder, "--cores", cores, "--quiet", "all")
    return time.monotonic() - start


def demo(project: Project) -> Demo:
    """Plan and run the default experiment on all cores in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        plan = snakemake(project, place, "--cores", "all", "--dry-run", "--quiet", "rules")
        [jobs] = {int(number) for number in re.findall(r"^total +(\d+)$", plan, re.MULTILINE)}
        return Demo(run(place, project, "all"), jobs)


def beside(commit: str, programs: Path, times: int) -> str:
    """Return a section: the demo of a commit and ours, in turns; medians."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=clone, check=True)
        other = Project(clone, programs)
        rounds = [(demo(other), demo(OURS)) for _ in range(times)]
    table = [["commit", "jobs", "seconds"], ["---", "---:", "---:"]]
    for name, demos in zip((commit, "here"), zip(*rounds, strict=True), strict=True):
        seconds = statistics.median(one.seconds for one in demos)
        table.append([name, str(demos[0].jobs), f"{seconds:.0f}"])
    lines = "\n".join(f"| {' | '.join(row)} |" for row in table)
    return (
        f"## Beside {commit}\n\nThe demo on all cores, in turns; median of {times}.\n\n{lines}\n\n"
    )


def rows(folder: Path) -> list[list[str]]:
    """Return one row a phase; walls add up the jobs, some of which ran side by side."""
    phases = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    jobs: dict[str, list[dict[str, str]]] = {phase: [] for phase in phases}
    for path in sorted((folder / "logs/benchmarks").rglob("*.tsv")):
        rule = path.relative_to(folder / "logs/benchmarks").parts[0]
        with path.open(newline="") as file:
            jobs[phase_of(rule)] += csv.DictReader(file, delimiter="\t")
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


def main(times: int = 3, commit: str = "", programs: Path = OURS.programs) -> None:
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
        + (beside(commit, programs, times) if commit else "")
        + machine(PACKAGES),
        [claim],
    )


if __name__ == "__main__":
    rounds, commit, programs = [*sys.argv[1:], *("3", "", str(OURS.programs))[len(sys.argv) - 1 :]]
    main(int(rounds), commit, Path(programs))
