"""Claim: the memory that a rule declares is kept, at one size and at ten times that size.

    python benchmarks/memory.py [PAGES]     (default 40)

Builds the default experiment, with an approximate system of each method besides, on embedded
snapshots of PAGES and of ten times PAGES pages, and all up to the scores once more with every phase
cut in two. What Snakemake measured for every job stands beside what the job declared, in
benchmarks/results/memory.md.
"""

import ast
import csv
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import yaml
from common import machine, write

ROOT = Path(__file__).parents[1]
FACTOR = 10
CUT = ("parse", "project", "collect", "index", "search", "score")
HEAD = ["rule", "jobs", "declared, MB", "peak, MB", "read, MB"]
Job = tuple[float, float, float]
Peaks = dict[str, list[Job]]


def overlay(pages: int, shards: int) -> dict[str, object]:
    """Less training than the default, and what the default does not search with."""
    methods = {"ivf": {}, "ivfpq": {"codes": 16}, "hnsw": {}}
    near = {
        name: {"kind": "approximate", "model": "tiny-clip", "method": name, **more}
        for name, more in methods.items()
    }
    recipe = {"epochs": 2, "batch": 32, "learning_rate": 0.001, "seed": 0}
    return {
        "acquire": {name: {"generate": {"pages": pages}} for name in ("toy", "toy-later")},
        "shards": dict.fromkeys(CUT, shards),
        "crawl": {"toy": {"shards": shards}},
        "models": {"tiny-clip": {"train": recipe}},
        "systems": near,
        "search": {"systems": ["random", "bm25", "tiny-clip", "rrf", "wsum", *near]},
    }


def measured(pages: int) -> Peaks:
    """Return declared and peak MB, and MB read, of the jobs of every rule, whole and in shards."""
    peaks: Peaks = defaultdict(list)
    for shards, target in ((1, "all"), (2, "results/score/toy.parquet")):
        for rule, job in built(pages, shards, target):
            peaks[rule].append(job)
    return peaks


def built(pages: int, shards: int, target: str) -> Iterator[tuple[str, Job]]:
    """Build a target, and yield rule and memory of every job."""
    with tempfile.TemporaryDirectory() as place:
        folder, program = Path(place), Path(sys.executable).parent / "snakemake"
        (folder / "size.yaml").write_text(yaml.safe_dump(overlay(pages, shards)))
        where = ["--snakefile", ROOT / "Snakefile", "--directory", folder, "--cores", "2"]
        params = ["--configfile", ROOT / "params.yaml", folder / "size.yaml"]
        options = ["--benchmark-extended", "--quiet", "all"]
        command = [program, *where, *options, *params, "--", target]
        subprocess.run(command, check=True, cwd=folder)
        for path in sorted((folder / "logs/benchmarks").rglob("*.tsv")):
            with path.open(newline="") as file:
                row = next(csv.DictReader(file, delimiter="\t"))
            read = sum(ast.literal_eval(row["input_size_mb"]).values())
            declared = ast.literal_eval(row["resources"])["mem_mb"]
            peak = 0.0 if row["max_rss"] == "NA" else float(row["max_rss"])
            yield row["rule_name"], (declared, peak, read)


def table(sizes: dict[int, Peaks]) -> list[str]:
    """Return a row a rule: the job that came closest to its declaration, at each size."""
    head = [f"{h}, {pages} pages" if h != "rule" else h for pages in sizes for h in HEAD]
    head = [h for i, h in enumerate(head) if i == 0 or h != "rule"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for rule in sorted(set().union(*sizes.values())):
        row = [rule]
        for peaks in sizes.values():
            jobs = peaks.get(rule, [(0.0, 0.0, 0.0)])
            declared, peak, read = min(jobs, key=lambda job: job[0] - job[1])
            row += [str(len(jobs)), f"{declared:,.0f}", f"{peak:,.0f}", f"{read:,.1f}"]
        lines.append(row)
    return [f"| {' | '.join(line)} |" for line in lines]


def main(pages: int = 40) -> None:
    """Measure both sizes, hold them to the declarations, and report."""
    sizes = {size: measured(size) for size in (pages, FACTOR * pages)}
    jobs = [
        (r, *job) for peaks in sizes.values() for r, measures in peaks.items() for job in measures
    ]
    over = [job for job in jobs if job[2] > job[1]]
    closest = max(jobs, key=lambda job: job[2] / job[1])
    lines = table(sizes)
    assert not over, over
    text = [
        "# Memory, declared and taken",
        "",
        f"The embedded snapshot at {pages} and {FACTOR * pages} pages: {len(jobs)} jobs, none took"
        " more than it declares (`mem_mb`, from `workflow/lib/isotope/plan/needs.py`). Closest was"
        f" {closest[0]}, {closest[2]:,.0f} of {closest[1]:,.0f} MB. Peaks are of a job with all its"
        " processes, as Snakemake samples them; a job that ended before the first sample shows 0.",
        "",
        *lines,
        "",
        machine(["snakemake", "polars", "duckdb", "torch", "faiss-cpu"]),
    ]
    write("memory", "\n".join(text))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
