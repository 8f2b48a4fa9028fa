"""Claim: what small rehearsals take tells what one three times as large takes.

    python benchmarks/calibrate.py [SHARE ...]     (default 0.004 0.02 0.1 0.3)

Rehearsals (`rehearsal.py`) of these shares run phase by phase, without kills, with as many shards
as the full one. Of each rule the seconds and the peak memory of its jobs make a line over the units
of their work, which `isotope estimate` goes by (workflow/lib/isotope/cli/estimate_rules.csv). Held
against the largest share are lines that have not seen it. What was done stays in
.isotope/calibration-SHARE: after an interruption the same command goes on.
"""

import csv
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import common
import numpy as np
import rehearsal
import yaml
from common import machine, write
from rates import Line, keep, line
from rehearsal import Rehearsal
from rehearsal_watch import benchmarks

from isotope.cli import estimate, estimate_work
from isotope.cli.estimate_sizes import sizes
from isotope.params.files import load

SHARES = (0.004, 0.02, 0.1, 0.3)
# The rehearsal makes no suggestions; their page is of the phase after them.
_SHOWN = rehearsal.PHASES.index("tabulate")
PHASES = (*rehearsal.PHASES[:_SHOWN], "suggest", *rehearsal.PHASES[_SHOWN:], estimate.APART)
# A tenth of the rehearsal's sections asks, as the estimate assumes of a wiki, and its few words are
# certain enough for a feed.
SUGGEST: dict[str, Any] = {
    **{"collections": ["rehearsal"], "ought": 0.3},
    **{"precision": 0.1, "confidence": 0.5},
}
WITHIN = 0.25
# What grows otherwise than rows do is so much less than a job at most.
LEAST = 0.1
CORES = os.cpu_count() or 1
RULE = ["share", "rule", "jobs", "threads", "units", "others_s", "s", "mb"]
PHASE = ["share", "phase", "jobs", "wall_s", "mb"]
Point = Mapping[str, Any]


def rehearsed(share: float) -> tuple[list[Point], list[Point]]:
    """Rehearse a share, or take what is there, and return a point for each rule and phase."""
    place = common.RESULTS.parent if common.ELSEWHERE else rehearsal.ROOT / ".isotope"
    reh = Rehearsal((place / f"calibration-{share:g}").resolve(), share)
    rehearsal.lay_out(reh)
    # The shards are left as those of the full rehearsal, so that its rules run; suggest, too.
    path = reh.folder / "rehearsal.yaml"
    mirror = yaml.safe_load(path.read_text())["crawl"]["rehearsal"]["mirror"]
    overlay = {"crawl": {"rehearsal": {"mirror": mirror}}, "suggest": SUGGEST}
    path.write_text(yaml.safe_dump(overlay))
    rehearsal.make_data(reh)
    for phase in PHASES:
        rehearsal.run_phase(reh, phase, kills=False)
    peaks = Counter[str]()
    for job in (job for phase in PHASES for run in reh.runs(phase) for job in run["jobs"]):
        rule = job["name"].partition("/")[0]
        peaks[rule] = max(peaks[rule], job["anonymous"] * 1024)
    rules = [*_rules(reh, peaks)]
    return rules, [*_phases(reh, rules)]


def _rules(reh: Rehearsal, peaks: Mapping[str, float]) -> Iterator[Point]:
    """Yield of each rule in the estimate's table units, seconds, and those of its other rows."""
    taken = benchmarks(reh.folder)
    with chdir(reh.folder):
        params = load([Path(p) for p in reh.params[1:3]], [str(reh.params[4])])
        jobs, known = estimate.planned([*map(str, reh.params)], CORES), sizes(params)
    every = [estimate.work_of(params, known, job) for job in jobs]
    shards = Counter(work.job.work for work in every)
    for rule, rates in estimate_work.rates().items():
        own = [work for work in every if work.job.rule == rule]
        seconds = [job.seconds for name, job in taken.items() if name.partition("/")[0] == rule]
        if own and seconds:
            shared = shards[own[0].job.work]
            units = [[estimate_work.UNITS[r.unit](w) for w in own] for r in own[0].rates]
            means = [sum(of) / len(own) / shared for of in units]
            threads = max(work.job.threads for work in own)
            # What every shard has whole.
            first = means[0] * (shared if rates[0].unit.startswith("every") else 1)
            others = zip([*own[0].rates][1:], means[1:], strict=True)
            others_s = sum(r.unit_s * n * r.cores / threads for r, n in others)
            told = {"share": reh.share, "rule": rule, "jobs": len(own), "threads": threads}
            mean_s = sum(seconds) / len(seconds)
            yield told | {"units": first, "others_s": others_s, "s": mean_s, "mb": peaks[rule]}


def _phases(reh: Rehearsal, rules: Sequence[Point]) -> Iterator[Point]:
    for phase in PHASES:
        own = [point for point in rules if point["rule"].startswith(f"{phase}_")]
        [run] = [run for run in reh.runs(phase) if run["ended"] == "done"]
        told = {"share": reh.share, "phase": phase, "jobs": sum(p["jobs"] for p in own)}
        peak = max((p["mb"] for p in own), default=0.0)
        yield told | {"wall_s": run["end"] - run["start"], "mb": peak}


def drawn(points: Sequence[Point]) -> dict[str, tuple[Line, Line]]:
    """Return of each rule the lines of its seconds, without its other rows', and of its MB."""
    found: dict[str, tuple[Line, Line]] = {}
    for rule in dict.fromkeys(p["rule"] for p in points):
        own = [p for p in points if p["rule"] == rule]
        units = [p["units"] for p in own]
        seconds = [max(p["s"] - p["others_s"], LEAST * p["s"]) for p in own]
        found[rule] = line(units, seconds), line(units, [p["mb"] for p in own], least=0)
    return found


def of_phase(rules: Sequence[Point], phase: Point) -> list[Point]:
    """Return the points of the rules of a phase, in its rehearsal."""
    start = f"{phase['phase']}_"
    return [p for p in rules if p["share"] == phase["share"] and p["rule"].startswith(start)]


def taken_by(point: Point, of: Line) -> float:
    """Return the seconds of all cores that the jobs of a rule take, as a line says."""
    busy = min(point["threads"], CORES) * point["jobs"] / CORES
    return max(busy, 1) * (of.at(point["units"]) + point["others_s"])


def against(rules: Sequence[Point], phases: Sequence[Point]) -> list[str]:
    """Return a row for each phase of the largest share: measured, and what lines without it say."""
    most = max(p["share"] for p in rules)
    lines = drawn([p for p in rules if p["share"] < most])
    start, each = snakemake(rules, phases)
    head = ["phase", "jobs", "measured, s", "foretold, s", "within 25 %"]
    told = [f"| {' | '.join(head)} |", "|---|---:|---:|---:|---|"]
    for phase in (p for p in phases if p["share"] == most):
        own = of_phase(rules, phase)
        guess = start + each * phase["jobs"] + sum(taken_by(p, lines[p["rule"]][0]) for p in own)
        near = "yes" if abs(guess / phase["wall_s"] - 1) <= WITHIN else "no"
        counted = f"{phase['phase']} | {phase['jobs']} | {phase['wall_s']:,.1f}"
        told.append(f"| {counted} | {guess:,.1f} | {near} |")
    return told


def snakemake(rules: Sequence[Point], phases: Sequence[Point]) -> tuple[float, float]:
    """Return what a call of Snakemake takes besides its jobs: a start, and more for each job."""
    rest: list[float] = []
    for phase in phases:
        own = of_phase(rules, phase)
        jobs = (max(min(p["threads"], CORES) * p["jobs"] / CORES, 1) * p["s"] for p in own)
        rest.append(phase["wall_s"] - sum(jobs))
    each, start = np.polyfit([p["jobs"] for p in phases], rest, 1)
    return float(start), max(float(each), 0.0)


def report(rules: Sequence[Point], phases: Sequence[Point]) -> None:
    """Write the estimate's rows and the page."""
    if not common.ELSEWHERE:
        unit = {rule: rates[0].unit for rule, rates in estimate_work.rates().items()}
        start, each = snakemake(rules, phases)
        rows: list[Mapping[str, object]] = [
            {"rule": "snakemake", "unit": "job", "start_s": start, "unit_s": each}
        ]
        for rule, (seconds, mb) in drawn(rules).items():
            most = max(p["mb"] for p in rules if p["rule"] == rule)
            threads = max(p["threads"] for p in rules if p["rule"] == rule)
            own = {"rule": rule, "unit": unit[rule], "cores": threads if threads > 1 else 0}
            own |= {"start_s": seconds.start, "unit_s": seconds.slope, "start_mb": mb.start}
            rows.append(own | {"unit_mb": mb.slope, "most_mb": float(most)})
        keep(rows)
    shares = sorted({p["share"] for p in rules})
    minutes = sum(p["wall_s"] for p in phases) / 60
    told = "\n".join(against(rules, phases)) + "\n\n" if len(shares) > 1 else ""
    write(
        "calibrate",
        f"# The estimate's rates\n\nRehearsals of the shares {', '.join(f'{s:g}' for s in shares)}"
        f" of the full one (a twentieth of enwiki), phase by phase, on {CORES} cores, in"
        f" {minutes:.0f} minutes. Seconds are the wall clock of Snakemake for one phase. Foretold"
        f" is what lines say that are drawn without the share {shares[-1]:g}; `isotope estimate`"
        " goes by lines that have seen it.\n\n" + told + machine(["snakemake"]),
    )


def points(name: str, columns: Sequence[str]) -> list[Point]:
    """Return the points that were kept."""
    with (common.RESULTS / f"calibrate_{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    kinds = {"rule": str, "phase": str, "jobs": int, "threads": int}
    return [{k: kinds.get(k, float)(row[k]) for k in columns} for row in rows]


def main(*given: float) -> None:
    """Rehearse small, draw the lines, and hold them against the largest share."""
    made = [rehearsed(share) for share in sorted(given or SHARES)]
    common.RESULTS.mkdir(exist_ok=True)
    for n, (name, columns) in enumerate((("rules", RULE), ("phases", PHASE))):
        path = common.RESULTS / f"calibrate_{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, columns, lineterminator="\n")
            out.writeheader()
            for p in (p for one in made for p in one[n]):
                out.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in p.items()})
    report(points("rules", RULE), points("phases", PHASE))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
