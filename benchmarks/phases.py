"""Wall time, processor time and peak memory of every phase on the embedded snapshot.

Runs the default experiment in a new folder and adds up what Snakemake measured for each job.
Command: python benchmarks/phases.py
"""

import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from common import machine, write

ROOT = Path(__file__).parents[1]
PACKAGES = ("snakemake", "torch", "open_clip_torch", "img2dataset", "pyserini", "duckdb", "polars")
HEAD = ["phase", "jobs", "wall, s", "CPU, s", "peak RSS, MB", "share of wall"]


def run(folder: Path) -> float:
    """Build everything in `folder`; return the seconds that took."""
    shutil.copy2(ROOT / "params.yaml", folder)
    program = Path(sys.executable).parent / "snakemake"
    start = time.monotonic()
    where = ["--snakefile", ROOT / "Snakefile", "--directory", folder]
    subprocess.run([program, *where, "--cores", "all", "--quiet"], check=True)
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


def main() -> None:
    """Write benchmarks/results/phases.md."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = run(Path(folder))
        table = rows(Path(folder))
    lines = [f"| {' | '.join(r)} |" for r in (HEAD, ["---", *["---:"] * 5], *table)]
    write(
        "phases",
        "# Every phase on the embedded snapshot\n\n"
        f"From start to end {seconds:.0f} s. Jobs of a phase may overlap, so the column of walls "
        "adds up to more. Peaks are of the largest job.\n\n"
        + "\n".join(lines)
        + "\n\n"
        + machine(PACKAGES),
    )


if __name__ == "__main__":
    main()
