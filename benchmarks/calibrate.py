"""Claim: what small rehearsals take tells what one three times as large takes.

    python benchmarks/calibrate.py [SHARE ...]     (default 0.004 0.02 0.1 0.3)

Rehearsals (`rehearsal.py`) of these shares run phase by phase, without kills, with as many shards
as the full one. Of each phase the seconds and the peak memory of its jobs make a line over the
units of its work, which `isotope estimate` goes by (isotope_estimate/estimate.csv). Held against
the largest share are lines that have not seen it. What was done stays in
.isotope/calibration-SHARE: after an interruption the same command goes on.
"""

import csv
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import common
import rehearsal
import yaml
from common import machine, write
from rates import Line, keep, line
from rehearsal import Rehearsal
from rehearsal_watch import Measured, benchmarks

from isotope.params.files import load
from isotope_estimate import estimate
from isotope_estimate.sizes import sizes, table

SHARES = (0.004, 0.02, 0.1, 0.3)
# The rehearsal makes no suggestions; their page is of the phase after them.
_SHOWN = rehearsal.PHASES.index("tabulate")
PHASES = (*rehearsal.PHASES[:_SHOWN], "suggest", *rehearsal.PHASES[_SHOWN:], estimate.NOT_IN_ALL)
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
RULE = ["share", "rule", "jobs", "threads", "s", "mb"]
PHASE = ["share", "phase", "jobs", "shards", "units", "others_s", "wall_s", "mb"]
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
    rules = [*_rules(reh)]
    return rules, [*_phases(reh, rules)]


def _rules(reh: Rehearsal) -> Iterator[Point]:
    """Yield of each rule its jobs, and their seconds in the mean and their largest memory."""
    peaks: dict[str, list[float]] = {}
    for job in (job for phase in PHASES for run in reh.runs(phase) for job in run["jobs"]):
        peaks.setdefault(job["name"].partition("/")[0], []).append(job["anonymous"] * 1024)
    own: dict[str, list[Measured]] = {}
    for name, job in benchmarks(reh.folder).items():
        own.setdefault(name.partition("/")[0], []).append(job)
    for rule, jobs in own.items():
        mean_s = sum(job.seconds for job in jobs) / len(jobs)
        told = {"share": reh.share, "rule": rule, "jobs": len(jobs), "threads": jobs[0].threads}
        yield told | {"s": mean_s, "mb": max(peaks.get(rule, [0.0]))}


def _phases(reh: Rehearsal, rules: Sequence[Point]) -> Iterator[Point]:
    with chdir(reh.folder):
        params = load([Path(p) for p in reh.params[1:3]], [str(reh.params[4])])
        has = estimate.units(params, sizes(params), CORES)
    for phase in PHASES:
        own = [point for point in rules if point["rule"].startswith(f"{phase}_")]
        [run] = [run for run in reh.runs(phase) if run["ended"] == "done"]
        told = {"share": reh.share, "phase": phase, "jobs": sum(p["jobs"] for p in own)}
        told["shards"] = estimate.shards(params, phase)
        peak = max((p["mb"] for p in own), default=0.0)
        yield told | worked(phase, has[phase]) | {"wall_s": run["end"] - run["start"], "mb": peak}


def worked(phase: str, has: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return a phase's units, and the seconds that what it computes beside them takes."""
    first, *others = table()[phase]
    seconds = (
        row.value * (row.serial + (1 - row.serial) / CORES) * bag.get(row.unit, 0.0)
        for row in others
        for bag in has
    )
    units = sum(bag.get(first.unit, 0.0) for bag in has)
    return {"units": units, "others_s": sum(seconds)}


def drawn(points: Sequence[Point]) -> dict[str, tuple[Line, Line]]:
    """Return of each phase the lines of its seconds, without the others, and of its MB a shard."""
    found: dict[str, tuple[Line, Line]] = {}
    for phase in dict.fromkeys(p["phase"] for p in points):
        own = [p for p in points if p["phase"] == phase]
        units, shares = ([p["units"] / n for p in own] for n in (1, own[0]["shards"]))
        seconds = [max(p["wall_s"] - p["others_s"], LEAST * p["wall_s"]) for p in own]
        found[phase] = line(units, seconds), line(shares, [p["mb"] for p in own], least=0)
    return found


def against(phases: Sequence[Point]) -> list[str]:
    """Return a row for each phase of the largest share: measured, and what lines without it say."""
    most = max(p["share"] for p in phases)
    lines = drawn([p for p in phases if p["share"] < most])
    head = ["phase", "jobs", "measured, s", "foretold, s", "within 25 %"]
    told = [f"| {' | '.join(head)} |", "|---|---:|---:|---:|---|"]
    for phase in (p for p in phases if p["share"] == most):
        guess = lines[phase["phase"]][0].at(phase["units"]) + phase["others_s"]
        near = "yes" if abs(guess / phase["wall_s"] - 1) <= WITHIN else "no"
        counted = f"{phase['phase']} | {phase['jobs']} | {phase['wall_s']:,.1f}"
        told.append(f"| {counted} | {guess:,.1f} | {near} |")
    return told


def serial(rules: Sequence[Point], phase: Point) -> float:
    """Return the share of a phase's core seconds in which a job of one thread runs alone."""
    start = f"{phase['phase']}_"
    own = [p for p in rules if p["share"] == phase["share"] and p["rule"].startswith(start)]
    alone = sum(p["s"] for p in own if p["jobs"] == p["threads"] == 1)
    return min(1.0, alone / max(alone + CORES * (phase["wall_s"] - alone), alone))


def rows(rules: Sequence[Point], phases: Sequence[Point]) -> list[Mapping[str, object]]:
    """Return the estimate's row of each phase: core seconds and MB of a unit, and the starts."""
    last = {p["phase"]: p for p in phases if p["share"] == max(p["share"] for p in phases)}
    found: list[Mapping[str, object]] = []
    for phase, (seconds, mb) in drawn(phases).items():
        alone = serial(rules, last[phase])
        told = {"what": phase, "unit": table()[phase][0].unit, "serial": alone}
        told |= {"value": seconds.slope / (alone + (1 - alone) / CORES), "start_s": seconds.start}
        found.append(told | {"unit_mb": mb.slope, "start_mb": mb.start})
    return found


def report(rules: Sequence[Point], phases: Sequence[Point]) -> None:
    """Write the estimate's rows and the page."""
    if not common.ELSEWHERE:
        keep(rows(rules, phases))
    shares = sorted({p["share"] for p in rules})
    minutes = sum(p["wall_s"] for p in phases) / 60
    told = "\n".join(against(phases)) + "\n\n" if len(shares) > 1 else ""
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
    kinds = {"rule": str, "phase": str, "jobs": int, "threads": int, "shards": int}
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
