"""Claim: what small rehearsals take tells what a larger one takes, by phase, within a quarter.

    python benchmarks/calibrate.py [SHARE ...]     (default 0.004 0.02 0.1 0.3)

Rehearsals (`rehearsal.py`) of these shares run phase by phase, without kills, with as many shards
as the full one. Of each rule the seconds and the peak memory of its jobs are fitted over the units
of their work (`isotope.cli.estimate_work`): the curves of `isotope estimate`
(workflow/lib/isotope/cli/estimate_curves.csv). Held against the largest share are curves that have
not seen it. BM25's own curves come first, from scaling.py. What was done stays in
.isotope/calibration-SHARE: after an interruption the same command goes on. Give no share that the
estimate is to be held against.
"""

import csv
import os
import re
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np
import rehearsal
import yaml
from common import machine, write
from curves import Drawn, fit, fit_memory, save
from rehearsal import Rehearsal
from rehearsal_watch import benchmarks
from scipy.optimize import nnls

from isotope.cli import estimate, estimate_curves, estimate_jobs, estimate_work
from isotope.cli.estimate_curves import SNAKEMAKE, Curve
from isotope.params.files import load

SHARES = (0.004, 0.02, 0.1, 0.3)
# The rehearsal makes no suggestions; their page is of the phase after them.
_SHOWN = rehearsal.PHASES.index("tabulate")
PHASES = (*rehearsal.PHASES[:_SHOWN], "suggest", *rehearsal.PHASES[_SHOWN:], estimate.APART)
# A tenth of the rehearsal's sections asks, as the estimate assumes of a wiki (estimate_work), and
# its few words are certain enough for a feed.
SUGGEST: dict[str, Any] = {
    **{"collections": ["rehearsal"], "ought": 0.3},
    **{"precision": 0.1, "confidence": 0.5},
}
WITHIN = 0.25
RULES = Path(__file__).parents[1] / "workflow/rules"
# BM25 itself, by its own curves, is so much less than a job at most.
LEAST = 0.1
CORES = os.cpu_count() or 1
RULE = ["share", "rule", "jobs", "threads", "units", "bm25_s", "s", "mb"]
PHASE = ["share", "phase", "jobs", "wall_s", "jobs_s", "mb"]
Point = dict[str, Any]


class Measured(NamedTuple):
    """Of one small rehearsal: a point for each rule, and for each phase."""

    share: float
    rules: list[Point]
    phases: list[Point]
    params: Mapping[str, Any]
    jobs: Sequence[estimate_jobs.Job]


def rehearsed(share: float) -> Measured:
    """Rehearse a share, or take what is there, and return what it took."""
    place = common.RESULTS.parent if common.ELSEWHERE else rehearsal.ROOT / ".isotope"
    reh = Rehearsal((place / f"calibration-{share:g}").resolve(), share)
    rehearsal.lay_out(reh)
    _shard_as_whole(reh)
    rehearsal.make_data(reh)
    rehearsal.estimate(reh)
    for phase in PHASES:
        rehearsal.run_phase(reh, phase, kills=False)
    return measured(reh)


def _shard_as_whole(reh: Rehearsal) -> None:
    """Leave the shards as those of the full rehearsal, so that its rules run; suggest, too."""
    path = reh.folder / "rehearsal.yaml"
    mirror = yaml.safe_load(path.read_text())["crawl"]["rehearsal"]["mirror"]
    overlay = {"crawl": {"rehearsal": {"mirror": mirror}}, "suggest": SUGGEST}
    path.write_text(yaml.safe_dump(overlay))


def measured(reh: Rehearsal) -> Measured:
    """Return the points of a rehearsal that has ended."""
    params, jobs, units, bm25 = _work(reh)
    taken = {name: job.seconds for name, job in benchmarks(reh.folder).items()}
    peaks = _peaks(reh)
    rules: list[Point] = []
    for rule in sorted({job.rule for job in jobs}):
        own = [n for n, job in enumerate(jobs) if job.rule == rule]
        name = estimate.rule_name(rule, params)
        seconds = [s for job, s in taken.items() if job.partition("/")[0] == name]
        if seconds:
            point: Point = {"share": reh.share, "rule": name, "jobs": len(own)}
            point |= {"threads": max(jobs[n].threads for n in own)}
            point |= {"units": sum(units[n] for n in own) / len(own)}
            point |= {"bm25_s": sum(bm25[n] for n in own) / len(own) / point["threads"]}
            rules.append(point | {"s": sum(seconds) / len(seconds), "mb": peaks.get(name, 0.0)})
    by_rule = {p["rule"]: p for p in rules}
    phases = [_of_phase(reh, phase, jobs, by_rule, params) for phase in PHASES]
    return Measured(reh.share, rules, [p for p in phases if p], params, jobs)


def _work(
    reh: Rehearsal,
) -> tuple[dict[str, Any], Sequence[estimate_jobs.Job], list[float], list[float]]:
    """Return params, jobs, and of each job its units and BM25's core seconds."""
    before = Path.cwd()
    os.chdir(reh.folder)
    try:
        params = load([Path(p) for p in reh.params[1:3]], [str(reh.params[4])])
        jobs = estimate.planned(list(map(str, reh.params)), CORES)
        known = estimate.sizes(params)
        units = estimate_work.units(params, known, jobs)
        return params, jobs, units, estimate_work.core_seconds(params, known, jobs)
    finally:
        os.chdir(before)


def _peaks(reh: Rehearsal) -> dict[str, float]:
    """Return the largest MB of a job of each rule."""
    found: dict[str, float] = {}
    for phase in PHASES:
        for job in (job for run in reh.runs(phase) for job in run["jobs"]):
            rule = job["name"].partition("/")[0]
            found[rule] = max(found.get(rule, 0.0), job["anonymous"] * 1024)
    return found


def _of_phase(
    reh: Rehearsal,
    phase: str,
    jobs: Sequence[estimate_jobs.Job],
    rules: Mapping[str, Point],
    params: Mapping[str, Any],
) -> Point:
    own = [n for n, job in enumerate(jobs) if job.phase == phase]
    names = {n: estimate.rule_name(jobs[n].rule, params) for n in own}
    if not own or not all(name in rules for name in names.values()):
        return {}
    seconds = {n: rules[name]["s"] for n, name in names.items()}
    peak = max(rules[name]["mb"] for name in names.values())
    runs = [run for run in reh.runs(phase) if run["ended"] == "done"]
    wall = runs[-1]["end"] - runs[-1]["start"]
    busy = estimate_jobs.wall(jobs, own, seconds, CORES)
    found = {"share": reh.share, "phase": phase, "jobs": len(own)}
    return found | {"wall_s": wall, "jobs_s": busy, "mb": peak}


def drawn(every: Sequence[Measured]) -> dict[str, Drawn]:
    """Return the curve of each rule, and of Snakemake itself, drawn from these rehearsals."""
    points, holding = [p for one in every for p in one.rules], in_duckdb()
    found: dict[str, Drawn] = {}
    for rule in sorted({p["rule"] for p in points}):
        own = [p for p in points if p["rule"] == rule]
        units = [max(p["units"], 1e-9) for p in own]
        time_curve = fit(units, [max(p["s"] - p["bm25_s"], LEAST * p["s"]) for p in own])
        megabytes = [max(p["mb"], 1.0) for p in own]
        memory = fit_memory(units, megabytes, holds=rule in holding)
        curve = time_curve._replace(
            threads=max(int(p["threads"]) for p in own),
            start_mb=memory.start_s,
            unit_mb=memory.unit_s,
            mb_power=memory.power,
        )
        found[rule] = Drawn(estimate_work.unit(rule), curve, len(own))
    return {SNAKEMAKE: _of_snakemake([p for one in every for p in one.phases]), **found}


def in_duckdb() -> set[str]:
    """Return the rules whose jobs declare what DuckDB may hold (`isotope.plan.needs`)."""
    rules = "".join(path.read_text() for path in sorted(RULES.glob("*.smk")))
    each = re.findall(r"\brule (\w+):\n(.*?)(?=\n *rule |\Z)", rules, re.DOTALL)
    return {name for name, body in each if re.search(r"mem_mb=jobs\.needs\(\s*DUCKDB", body)}


def _of_snakemake(phases: Sequence[Point]) -> Drawn:
    """Return what a call of Snakemake takes besides its jobs: a start, and more for each job."""
    jobs = np.array([p["jobs"] for p in phases], dtype=float)
    rest = np.array([max(p["wall_s"] - p["jobs_s"], 0.0) for p in phases])
    (start, each), _ = nnls(np.column_stack([np.ones(len(jobs)), jobs]), rest)
    return Drawn("job", Curve(float(start), float(each), 1.0, jobs.max()), len(phases))


@contextmanager
def estimating(curves: Mapping[str, Drawn]) -> Generator[None]:
    """Let `isotope estimate` go by these curves."""
    kept = estimate_curves.FILE
    with tempfile.TemporaryDirectory() as name:
        estimate_curves.FILE = Path(name) / "curves.csv"
        save(curves, estimate_curves.FILE)
        estimate_curves.curves.cache_clear()
        try:
            yield
        finally:
            estimate_curves.FILE = kept
            estimate_curves.curves.cache_clear()


def against(one: Measured, curves: Mapping[str, Drawn]) -> list[str]:
    """Return a row for each phase of a rehearsal: measured, and what these curves foretell."""
    with estimating(curves):
        phases, _ = estimate.run(one.params, estimate.Machine(CORES, gpu=False), one.jobs)
    head = ["phase", "jobs", "measured, s", "foretold, s", "within", "measured, MB", "foretold, MB"]
    lines = [f"| {' | '.join([*head, 'within'])} |", "|---|---:|---:|---:|---|---:|---:|---|"]
    for p in one.phases:
        guess = phases[p["phase"]]
        pairs = ((p["wall_s"], guess.seconds), (p["mb"], guess.memory_gib * 1024))
        told = (
            f"{a:,.1f} | {b:,.1f} | {'yes' if abs(b - a) <= WITHIN * a else 'no'}" for a, b in pairs
        )
        lines.append(f"| {p['phase']} | {p['jobs']} | {' | '.join(told)} |")
    return lines


def keep(every: Sequence[Measured]) -> None:
    """Write every point, and the curves of the estimate."""
    common.RESULTS.mkdir(exist_ok=True)
    for name, columns in (("rules", RULE), ("phases", PHASE)):
        path = common.RESULTS / f"calibrate_{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, columns, lineterminator="\n")
            out.writeheader()
            for p in (p for one in every for p in getattr(one, name)):
                out.writerow(
                    {k: f"{p[k]:.5g}" if isinstance(p[k], float) else p[k] for k in columns}
                )
    if not common.ELSEWHERE:
        save(drawn(every), estimate_curves.FILE)


def main(*given: float) -> None:
    """Rehearse small, draw the curves, and hold them against the largest share."""
    shares = sorted(given or SHARES)
    every: list[Measured] = []
    for share in shares:
        every.append(rehearsed(share))
        keep(every)
    told = ", ".join(f"{share:g}" for share in shares)
    minutes = sum(p["wall_s"] for one in every for p in one.phases) / 60
    lines = against(every[-1], drawn(every[:-1])) if len(every) > 1 else []
    write(
        "calibrate",
        f"# The estimate's curves\n\nRehearsals of the shares {told} of the full one (a twentieth"
        f" of enwiki), phase by phase, on {CORES} cores, in {minutes:.0f} minutes."
        " Seconds are the wall clock of Snakemake for one phase, megabytes the peak of its largest"
        " job, without mapped files. Foretold is what curves say that are drawn"
        f" without the share {shares[-1]:g}, within {WITHIN:.0%} or not; `isotope estimate` goes by"
        " curves that have seen it.\n\n" + "\n".join(lines) + "\n\n" + machine(["snakemake"]),
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
