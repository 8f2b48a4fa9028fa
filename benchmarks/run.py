"""Run all benchmarks at their full sizes, and put their claims together.

    python benchmarks/run.py [--small] [NAME ...]     (default: all)

results/benchmarks/ gets benchmarks.csv, benchmarks.md and benchmarks.png, of the latest results in
benchmarks/results. With --small everything runs at sizes that say nothing about speed, in minutes,
and goes to results/benchmarks-small/: it shows that the benchmarks work.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import polars as pl
from common import COLUMNS, ELSEWHERE, RESULTS

HERE = Path(__file__).parent
OUT = HERE.parent / "results/benchmarks"
LIBRARY = {"common", "corpus_fit", "corpus_real", "corpus_report", "curves", "lexicon", "peers"} | {
    "gpu_points",
    "pisa",
    "pool_costs",
    "pools",
    "rates",
    "run",
    "searchers",
}
SMALL = {
    "approximate": "30000 5000",
    "bm25": "--documents 300 2000 3000 --queries 40 --rounds 1",
    "bulk": "400 100 5",
    "calibrate": "0.0003 0.0006",
    "collect_shards": "1000",
    "corpus": "",
    "crawl": "100 1 200",
    "dense": "3000 20 1",
    "digests": "1 1",
    "encode": "64 1",
    "explain": "100 3",
    "fuse": "200 100 1",
    "gpu": "0.02 100 64",
    "incremental": "40 4",
    "install": "zim",
    "memory": "30",
    "pairs": "300 1",
    "parse_dump": "20 1",
    "parse_wit": "3000 1",
    "phases": "1",
    "plan": "1",
    "prepare": "300 1",
    "project": "--sections 300 1000 --beside 1000 --queries 40 --pages 100 --rounds 1",
    "read_templates": "1000 20",
    "scaling": "1000 2000 --pools 1000 2000",
    "score": "200 1000 1",
    "show": "10000",
    "suggest": "2000 2",
    "suggest_calibration": "2",
    "survivors": "",
    "template_pass": "28 1",
    "toy": "10000",
    "train": "60",
    "wikidata": "64 1",
}


def names() -> list[str]:
    """Return the benchmarks there are; the rehearsal, which takes hours, is a target of its own."""
    every = {p.stem for p in HERE.glob("*.py") if not p.stem.startswith("rehearsal")}
    return sorted(every - LIBRARY)


def claims() -> list[dict[str, str]]:
    """Return every claim of the latest results, by phase."""
    found: list[dict[str, str]] = []
    for path in sorted(RESULTS.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) == COLUMNS:
                found += reader
    return found


def markdown(found: list[dict[str, str]]) -> str:
    """Return the table of claims."""
    lines = ["| phase | input | peer | isotope | peer's | ratio | at least | reached |"]
    lines.append("|---|---|---|---:|---:|---:|---:|---|")
    for c in found:
        told = f"{c['ours']} {c['unit']} | {c['theirs']} {c['unit']} | {float(c['ratio']):.2f}"
        end = f"{c['at_least'] or '—'} | {c['reached'] or 'shown as it is'}"
        lines.append(f"| {c['phase']} | {c['input']} | {c['peer']} | {told} | {end} |")
    return "\n".join(lines) + "\n"


def figure(found: list[dict[str, str]], path: Path) -> None:
    """Draw the ratios, and what was claimed."""
    mpl.use("agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    labels = [f"{c['phase']}: {c['peer']}" for c in found]
    ratios = [float(c["ratio"]) for c in found]
    fig, ax = plt.subplots(figsize=(7, 1 + 0.3 * len(found)), layout="constrained")
    colours = {"yes": "tab:blue", "no": "tab:red", "": "tab:gray"}
    ax.barh(labels, ratios, color=[colours[c["reached"]] for c in found])
    claimed = [(n, float(c["at_least"])) for n, c in enumerate(found) if c["at_least"]]
    ax.plot([v for _, v in claimed], [n for n, _ in claimed], "k|", markersize=12, label="claimed")
    ax.set_xscale("log")
    ax.set_xlabel("time of the peer / time of isotope")
    ax.invert_yaxis()
    ax.legend()
    fig.savefig(path)
    plt.close(fig)


def collect(out: Path = OUT) -> None:
    """Write the table and the figure of the latest results."""
    found = claims()
    out.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(found, schema=dict.fromkeys(COLUMNS, pl.String)).write_csv(out / "benchmarks.csv")
    (out / "benchmarks.md").write_text(markdown(found), "utf-8")
    figure(found, out / "benchmarks.png")


def ran(name: str, arguments: str) -> bool:
    """Run one benchmark in a process of its own; tell whether it ended well."""
    print(f"== {name} {arguments}", file=sys.stderr, flush=True)
    command = [sys.executable, str(HERE / f"{name}.py"), *arguments.split()]
    return subprocess.run(command, check=False).returncode == 0


def small(chosen: Sequence[str]) -> int:
    """Run the benchmarks at small sizes; their results go aside. Return an exit status."""
    out = OUT.with_name("benchmarks-small")
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(HERE / "run.py"), *chosen]
    given = {**os.environ, "ISOTOPE_BENCHMARKS": str(out)}
    return subprocess.run(command, env=given, check=False).returncode


def main(*chosen: str) -> None:
    """Run the benchmarks; go on when one fails, and say so at the end."""
    if "--small" in chosen:
        sys.exit(small([name for name in chosen if name != "--small"]))
    failed = [n for n in chosen or names() if not ran(n, SMALL[n] if ELSEWHERE else "")]
    collect(RESULTS if ELSEWHERE else OUT)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
