"""How far the phases of a run are, from the reports that its jobs keep while they run.

The reports (`isotope.core.progress`) of a run lie in a folder of their own. A run that was cut off
leaves it, and the same command with the same params goes on from there: what the jobs that had
ended did counts as done.
"""

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.plugins import phase_of

PLACE = Path(".isotope/progress")
# What the first things cost says little of the others: a share of them, or a time, is waited for.
_ENOUGH_SHARE, _ENOUGH, _ENOUGH_S = 0.01, 5, 30.0


class PhaseState(NamedTuple):
    """How far a phase is: things done of `total` (None: unknown), a second, seconds left.

    `share` is of the work of the phase as far as it is known, and `about` tells that the total has
    jobs in it that have not begun. `jobs` have ended, of `planned` in this run.
    """

    phase: str
    what: str
    done: int
    total: int | None
    about: bool
    rate: float
    left_s: float | None
    share: float | None
    jobs: int
    planned: int


@dataclass(frozen=True)
class JobCount:
    """Things that a job has counted, `before` of them in an earlier run, in some seconds."""

    what: str
    done: int
    total: int | None
    before: int
    seconds: float

    @property
    def own(self) -> int:
        """How many this run has done."""
        return self.done - self.before

    @property
    def tells(self) -> bool:
        """Whether enough was done to say what the rest will cost."""
        if not self.own:
            return False
        is_share = self.own >= _ENOUGH_SHARE * (self.total or 0)
        return is_share or (self.own >= _ENOUGH and self.seconds >= _ENOUGH_S)


@dataclass(frozen=True)
class JobReport:
    """What a job's file says."""

    rule: str
    log: str
    ended: bool
    now: str
    counts: Mapping[str, JobCount]

    @property
    def count(self) -> JobCount | None:
        """What it counts at present."""
        return self.counts.get(self.now)


def read(path: Path) -> JobReport | None:
    """Read a report; None where it is none, or has gone."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        counts = {each["what"]: JobCount(**each) for each in found["counts"]}
        return JobReport(found["rule"], found["log"], found["ended"], found["now"], counts)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def place(command: Sequence[str], root: Path = Path()) -> Path:
    """Return the folder of a new run; runs of one command with the same params lie side by side."""
    digest = hashlib.sha256("\0".join(command).encode())
    for word in ("params.yaml", *command):
        with suppress(OSError, ValueError):
            digest.update((root / word).read_bytes())
    return PLACE / digest.hexdigest()[:12] / f"{time.time_ns()}"


@dataclass
class Run:
    """The jobs of a run by rule, and what they report to `folder`."""

    folder: Path
    planned: Counter[str] = field(default_factory=Counter[str])
    ended: Counter[str] = field(default_factory=Counter[str])
    running: dict[str, str] = field(default_factory=dict[str, str])
    _most: Counter[str] = field(default_factory=Counter[str])
    _earlier: dict[str, JobReport] = field(default_factory=dict[str, JobReport])
    _files: dict[Path, tuple[int, float, JobReport | None]] = field(
        default_factory=dict[Path, tuple[int, float, JobReport | None]]
    )

    def plan(self, counts: Mapping[str, int]) -> None:
        """Note the number of jobs by rule; take over what the same run, cut off, had done."""
        self.planned = Counter({rule: n for rule, n in counts.items() if rule != "total"})
        for folder in PLACE.glob("*"):
            if folder != self.folder.parent:
                shutil.rmtree(folder, ignore_errors=True)
        for path in sorted(self.folder.parent.glob("*/*.json")):
            report = read(path) if path.parent != self.folder else None
            if report and report.ended:
                self._earlier[report.log] = report

    def start(self, rule: str, logs: Sequence[str]) -> None:
        """Note that a job has started, or waits on a cluster."""
        for log in logs[:1]:
            self.running[log] = rule
            self._earlier.pop(log, None)

    def end(self, rule: str, logs: Sequence[str]) -> None:
        """Note that a job has ended."""
        self.ended[rule] += 1
        self.stop(logs)

    def stop(self, logs: Sequence[str]) -> None:
        """Note that a job works no longer."""
        for log in logs[:1]:
            self.running.pop(log, None)

    def forget(self) -> None:
        """Remove all reports, after a run that needs no other."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    def states(self) -> list[PhaseState]:
        """Return how far each phase is that has a job which counts, in the order of their start."""
        reports = [*self._reports()]
        phases = dict.fromkeys(phase_of(rule) for rule in self.running.values())
        states = (self._state(phase, reports) for phase in phases)
        return [state for state in states if state]

    def _reports(self) -> Iterable[JobReport]:
        now = time.monotonic()
        for path in self.folder.glob("*.json"):
            with suppress(OSError):
                changed = path.stat().st_mtime_ns
                if self._files.get(path, (0, now, None))[0] != changed:
                    self._files[path] = (changed, now, read(path))
        for _, seen, report in self._files.values():
            if report:
                is_running = report.log in self.running and not report.ended
                yield _waiting(report, now - seen) if is_running else report

    def _state(self, phase: str, reports: Sequence[JobReport]) -> PhaseState | None:
        own = [r for r in reports if phase_of(r.rule) == phase]
        working = [r for r in own if r.log in self.running and r.count]
        if not working:
            return None
        every = [*own, *(r for r in self._earlier.values() if phase_of(r.rule) == phase)]
        rules = {rule: self._jobs_to_come(rule, own) for rule in (r.rule for r in every)}
        loops = [JobLoop.of(rule, w, every, rules[rule]) for rule, w in _loops(every)]
        groups = Counter((r.rule, r.now) for r in working)
        [(rule, what), _] = groups.most_common(1)[0]
        [shown] = [each for each in loops if (each.rule, each.what) == (rule, what)]
        same = [r.count for r in working if (r.rule, r.now) == (rule, what) and r.count]
        # Between two jobs fewer work than will.
        self._most[phase] = max(self._most[phase], len(working))
        begun = sum(phase_of(r) == phase for r in self.running.values())
        to_come = sum(self.planned[r] - self.ended[r] for r in self.planned if phase_of(r) == phase)
        workers = max(len(working), min(self._most[phase], max(to_come, begun)))
        share, left_s = _whole(loops, working, workers)
        return PhaseState(
            phase,
            what,
            shown.done,
            None if shown.total is None else round(shown.total),
            shown.to_come > 0,
            sum(count.own / count.seconds for count in same),
            left_s,
            share,
            sum(n for r, n in self.ended.items() if phase_of(r) == phase),
            sum(n for r, n in self.planned.items() if phase_of(r) == phase),
        )

    def _jobs_to_come(self, rule: str, reports: Iterable[JobReport]) -> Mapping[str, int]:
        """Return how many jobs of a rule will still count things, by what a job counts."""
        here = [r for r in reports if r.rule == rule and r.log in self.running]
        left = self.planned[rule] - self.ended[rule]
        whats = {what for r in reports if r.rule == rule for what in r.counts}
        return {what: max(0, left - sum(what in r.counts for r in here)) for what in whats}


class JobLoop(NamedTuple):
    """What all jobs of a rule do with one kind of things; `cost` is a job's seconds for one."""

    rule: str
    what: str
    done: int
    total: float | None
    cost: float | None
    to_come: int

    @classmethod
    def of(
        cls, rule: str, what: str, reports: Iterable[JobReport], to_come: Mapping[str, int]
    ) -> "JobLoop":
        """Sum what the jobs count; those to come have as many things as the others, on average."""
        counts = [r.counts[what] for r in reports if r.rule == rule and what in r.counts]
        totals = [c.total for c in counts if c.total is not None]
        own = sum(c.own for c in counts)
        further = to_come.get(what, 0)
        known = sum(totals) * (1 + further / len(counts)) if len(totals) == len(counts) else None
        tells = any(c.tells for c in counts)
        cost = sum(c.seconds for c in counts if c.own) / own if tells else None
        return cls(rule, what, sum(c.done for c in counts), known, cost, further)


def _loops(reports: Iterable[JobReport]) -> Collection[tuple[str, str]]:
    return dict.fromkeys((r.rule, what) for r in reports for what in r.counts)


def _waiting(report: JobReport, seconds: float) -> JobReport:
    """Add the seconds in which a job has reported nothing new to what it counts at present."""
    if not (count := report.count):
        return report
    later = JobCount(count.what, count.done, count.total, count.before, count.seconds + seconds)
    return JobReport(
        report.rule, report.log, False, report.now, {**report.counts, count.what: later}
    )


def _whole(
    loops: Iterable[JobLoop], working: Sequence[JobReport], workers: int
) -> tuple[float | None, float | None]:
    """Return the share of the work that is done, and the seconds until the last of it is.

    A thing of each kind weighs what it has cost; all of a kind of which none is done, as much as
    all of another kind on average. As many jobs as `workers` share what is left, and it takes as
    long as the slowest that works now at least.
    """
    totals = {(each.rule, each.what): each for each in loops if each.total}
    costs = [each.total * each.cost for each in totals.values() if each.total and each.cost]
    if not costs:
        things = sum(each.total or 0 for each in totals.values())
        return (sum(each.done for each in totals.values()) / things if things else None), None
    mean = sum(costs) / len(costs)
    weights = {key: each.cost or mean / (each.total or 1) for key, each in totals.items()}
    done = sum(each.done * weights[key] for key, each in totals.items())
    whole = sum((each.total or 0) * weights[key] for key, each in totals.items())
    slowest = max(_left_s(report, weights) for report in working)
    return done / whole, max((whole - done) / workers, slowest, 0.0)


def _left_s(report: JobReport, weights: Mapping[tuple[str, str], float]) -> float:
    """Return the seconds that a job needs for the rest of what it counts."""
    left = 0.0
    for count in report.counts.values():
        cost = count.seconds / count.own if count.tells else weights.get((report.rule, count.what))
        left += ((count.total or count.done) - count.done) * (cost or 0.0)
    return left
