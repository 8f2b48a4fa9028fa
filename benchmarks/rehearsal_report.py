"""What a rehearsal took, phase by phase, beside what `isotope estimate` said before the start."""

import csv
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import this_machine
from rehearsal_watch import benchmarks

WITHIN = 0.25
COLUMNS = (
    *("phase", "jobs", "wall_s", "estimated_s", "wall_ratio", "wall_within"),
    *("cpu_s", "peak_gib", "estimated_gib", "memory_ratio", "memory_within"),
    *("declared_gib", "largest_job", "mapped_gib"),
)
# What of a job survives a kill, because it notes each picture.
_RESUMES = ("crawl",)
Run = Mapping[str, Any]
Cell = str | int | float


class Phase(NamedTuple):
    """One phase: seconds by the clock and of the processor, memory in GiB."""

    name: str
    runs: Sequence[Run]
    estimate: Mapping[str, float]
    jobs: int
    declared_gib: float

    @property
    def lost_s(self) -> float:
        """Seconds of the clock that kills threw away: the mean age of the jobs in flight."""
        cut = [run for run in self.runs if run["ended"] != "done" and run["running"]]
        return 0.0 if self.name in _RESUMES else sum(map(_age, cut))

    @property
    def wall_s(self) -> float:
        """Seconds of its runs of Snakemake, less what kills threw away."""
        return sum(run["end"] - run["start"] for run in self.runs) - self.lost_s

    @property
    def cpu_s(self) -> float:
        """Processor seconds, those thrown away too."""
        return sum(run["cpu_s"] for run in self.runs)

    @property
    def largest(self) -> Mapping[str, Any]:
        """The job that took most memory."""
        every = [job for run in self.runs for job in run["jobs"]]
        none = {"name": "", "anonymous": 0.0, "mapped": 0.0}
        return max(every, key=lambda job: job["anonymous"], default=none)

    @property
    def estimated_s(self) -> float:
        """Seconds as estimated."""
        return self.estimate["seconds"]

    def row(self) -> dict[str, Cell]:
        """Return the values of COLUMNS."""
        job = self.largest
        times = _compared(self.estimated_s, self.wall_s)
        sizes = _compared(self.estimate["memory_gib"], job["anonymous"])
        mapped = max((j["mapped"] for run in self.runs for j in run["jobs"]), default=0.0)
        cells = (
            *(self.name, self.jobs, round(self.wall_s, 1), round(self.estimated_s, 1), *times),
            *(round(self.cpu_s, 1), round(job["anonymous"], 3)),
            round(self.estimate["memory_gib"], 3),
            *(*sizes, round(self.declared_gib, 3), job["name"], round(mapped, 3)),
        )
        return dict(zip(COLUMNS, cells, strict=True))


def _compared(estimated: float, measured: float) -> tuple[float, str]:
    """Return estimated / measured, and whether that is within 25 %."""
    ratio = estimated / measured if measured else 0.0
    return round(ratio, 2), "yes" if abs(ratio - 1) <= WITHIN else "no"


def _age(run: Run) -> float:
    ages = [run["end"] - job["first"] for job in run["running"]]
    return sum(ages) / len(ages)


def write(
    out: Path, folder: Path, runs: Mapping[str, Sequence[Run]], notes: Mapping[str, Any]
) -> None:
    """Write `rehearsal.md` and `rehearsal.csv` to `out`, of the rehearsal in `folder`."""
    measured = benchmarks(folder)
    phases: list[Phase] = []
    for name, of_phase in runs.items():
        own = [row for job, row in measured.items() if job.startswith(f"{name}_")]
        declared = max((row.declared_gib for row in own), default=0.0)
        estimate = notes["estimate"]["phases"][name]
        phases.append(Phase(name, of_phase, estimate, len(own), declared))
    rows = [phase.row() for phase in phases]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "rehearsal.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    over = {
        job["name"]: (job["anonymous"], measured[job["name"]].declared_gib)
        for of_phase in runs.values()
        for run in of_phase
        for job in run["jobs"]
        if job["name"] in measured and job["anonymous"] > measured[job["name"]].declared_gib
    }
    parts = [*_head(folder, notes, phases), *_table(rows), "", *_kills(phases), "", *_over(over)]
    text = "\n".join([*parts, "", f"Machine: {this_machine()}; Linux {platform.release()}.", ""])
    (out / "rehearsal.md").write_text(text, "utf-8")
    print(text)


def _head(folder: Path, notes: Mapping[str, Any], phases: Sequence[Phase]) -> Iterator[str]:
    data, share = notes["data"], notes["size"]["share"]
    wall = sum(phase.wall_s + phase.lost_s for phase in phases)
    used = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    loads = [run["load"] for phase in phases for run in phase.runs]
    yield "# Rehearsal\n"
    yield (
        f"{share:g} of the full rehearsal, which is a twentieth of enwiki; "
        f"{data['bytes'] / 1e9:.3g} GB of dump and WIT, made in {data['wall_s']:,.0f} s. All phases"
        f" took {wall / 60:,.1f} minutes on {os.cpu_count()} cores; the folder has"
        f" {used / 1e9:.3g} GB at the end. `isotope estimate` was asked before the start."
        f" The machine's load was {loads[0]:.1f} when the first phase began, and"
        f" {min(loads):.1f} to {max(loads):.1f} at the starts of all."
        " docs/rehearsal.md says how a phase's seconds and memory are measured.\n"
    )


def _table(rows: Sequence[Mapping[str, Cell]]) -> Iterator[str]:
    yield "| " + " | ".join(name.replace("_", " ") for name in COLUMNS) + " |"
    yield "|---" * len(COLUMNS) + "|"
    for row in rows:
        yield "| " + " | ".join(str(row[name]) for name in COLUMNS) + " |"


def _kills(phases: Sequence[Phase]) -> Iterator[str]:
    yield "## Kills\n"
    for phase in phases:
        for n, run in enumerate(phase.runs):
            if run["ended"] != "done":
                yield _kill(phase, run, phase.runs[n + 1 :])
        if counts := [run["server"] for run in phase.runs if "server" in run]:
            last = counts[-1]
            yield (
                f"* The server of pictures got {last['requests']:,} requests for"
                f" {last['addresses']:,} addresses, {last['again']:,} of them for a picture that it"
                " had sent whole."
            )


def _kill(phase: Phase, run: Run, later: Sequence[Run]) -> str:
    end, finished = run["end"], run["finished"]
    running = [f"{job['name']} ({end - job['first']:.1f} s)" for job in run["running"]]
    again = sorted({name for each in later for name in each["again"] if name in finished})
    return (
        f"* {phase.name}: {run['ended'] or 'cut off'} {end - run['start']:.1f} s after its start,"
        f" {run.get('processes', 0)} processes; {len(finished)} of {phase.jobs} jobs were done, in"
        f" flight {', '.join(running) or 'none'}. Lost {_age(run) if running else 0:.1f} s of work"
        f"{' at most' if phase.name in _RESUMES else ''}; done again of what was done:"
        f" {', '.join(again) or 'nothing'}."
    )


def _over(over: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    yield "## Memory beyond what is declared\n"
    if not over:
        yield "No job took more than it declares."
    for name, (took, declared) in sorted(over.items()):
        yield f"* {name}: {took:.2f} of {declared:.2f} GiB"
