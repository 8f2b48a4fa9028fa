"""A twentieth of enwiki through the whole workflow on this machine, measured phase by phase.

    python benchmarks/rehearsal.py [SHARE [FOLDER]]     (default 1, .isotope/rehearsal-SHARE)

SHARE is the part of the full rehearsal. Crawl, project and search are ended once in their middle by
kill -9 of Snakemake and all its jobs, and go on from there. FOLDER keeps what was done, the
measurements too: after an interruption of any kind the same command goes on. docs/rehearsal.md says
what is made and how it is measured; `rehearsal.md` and `rehearsal.csv` are written to
benchmarks/results (SHARE 1) or FOLDER.
"""

import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import rehearsal_data
import rehearsal_report
import yaml
from common import ELSEWHERE, RESULTS
from rehearsal_watch import MARK, Watch, benchmarks, kill_all, started

from isotope.core import store
from isotope.core.plugins import phase_of

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PHASES = (
    *("acquire", "parse", "crawl", "project", "collect"),
    *("encode", "index", "search", "score", "tabulate"),
)
KILLED = ("crawl", "project", "search")
# Everything that is left is of the last phase.
TARGETS = {"tabulate": "all"}
DONE = "done"
_PORT = 47_711
_WATCH_S, _NOTE_S = 0.5, 5.0
# A job to kill has run for so much of what the phase's jobs take.
_AGE = 0.4
_SMALL = 0.1
_FEW_SHARDS: dict[str, Any] = {
    "shards": {"parse": 2, "project": 2, "collect": 1, "index": 1, "search": 2, "score": 1},
    "encode": {"shards": 1},
}
_FEW_CRAWL_SHARDS = 4
Record = dict[str, Any]


class Rehearsal(NamedTuple):
    """Where a rehearsal lies, and what part of the full one it is."""

    folder: Path
    share: float

    @property
    def params(self) -> list[str | Path]:
        """The arguments with which Snakemake and isotope read its params."""
        overlays = [ROOT / "params/rehearsal.yaml", self.folder / "rehearsal.yaml"]
        return ["--configfile", *overlays, "--config", f"root={self.folder / 'snapshot'}"]

    def record(self, name: str) -> Record | None:
        """Return what was noted under a name."""
        path = self.folder / f"notes/{name}.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    def note(self, name: str, record: Record) -> None:
        """Note something, for good."""
        with store.aside(self.folder / f"notes/{name}.json") as part:
            part.write_text(json.dumps(record, indent=1) + "\n", "utf-8")

    @property
    def port(self) -> int:
        """The port of its server of pictures."""
        return (self.record("size") or {})["port"]

    def runs(self, phase: str) -> list[Record]:
        """Return the runs of a phase so far."""
        names = sorted(p.stem for p in (self.folder / "notes").glob(f"{phase}-*.json"))
        return [record for name in names if (record := self.record(name))]


def lay_out(reh: Rehearsal) -> None:
    """Make the folder a project of its own: this one's workflow, and params of the rehearsal.

    Raises:
        SystemExit: the folder has a rehearsal of another size.
    """
    reh.folder.mkdir(parents=True, exist_ok=True)
    size = reh.record("size") or {"share": reh.share, "port": _free_port()}
    if size["share"] != reh.share:
        sys.exit(f"{reh.folder} has a rehearsal of share {size['share']}: name another folder")
    reh.note("size", size)
    for name in ("Snakefile", "workflow", "profiles"):
        link = reh.folder / name
        if not link.is_symlink():
            link.symlink_to(ROOT / name)
    shutil.copy(ROOT / "params.yaml", reh.folder)
    few = {"shards": _FEW_CRAWL_SHARDS} if reh.share < _SMALL else {}
    overlay: dict[str, Any] = {
        **(_FEW_SHARDS if reh.share < _SMALL else {}),
        "crawl": {"rehearsal": {"mirror": _mirror(size["port"]), **few}},
    }
    (reh.folder / "rehearsal.yaml").write_text(yaml.safe_dump(overlay))


def _free_port() -> int:
    """Return the usual port, or another one where that is in use."""
    for port in (_PORT, 0):
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return trial.getsockname()[1]
    raise OSError("no free port")


def _mirror(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def make_data(reh: Rehearsal) -> None:
    """Write the snapshot, or what is missing of it."""
    if reh.record("data"):
        return
    start = time.time()
    print("making the snapshot", file=sys.stderr, flush=True)
    folder = reh.folder / "snapshot"
    os.environ[MARK] = str(reh.folder)
    parts = rehearsal_data.write(folder, reh.share)
    files = [path.stat().st_size for path in folder.rglob("*.*z*") if path.is_file()]
    reh.note("data", {"wall_s": time.time() - start, "part_s": parts, "bytes": sum(files)})


def estimate(reh: Rehearsal) -> None:
    """Note what `isotope estimate` says before anything runs."""
    if reh.record("estimate"):
        return
    print("isotope estimate", file=sys.stderr, flush=True)
    command = [BIN / "isotope", "estimate", *map(str, reh.params)]
    command += ["--cores", str(os.cpu_count() or 1), "--json"]
    done = subprocess.run(command, cwd=reh.folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"isotope estimate: {done.stderr}")
    reh.note("estimate", json.loads(done.stdout))


def plan(reh: Rehearsal) -> None:
    """Note how many jobs each phase has, by a dry run of Snakemake."""
    if reh.record("jobs"):
        return
    listed = reh.folder / "notes/jobs.txt"
    listed.unlink(missing_ok=True)
    command = [BIN / "snakemake", "--dry-run", "--forceall", "--logger", "isotope", "--cores", "1"]
    command += ["all", *map(str, reh.params)]
    named = {**os.environ, "ISOTOPE_JOBS": str(listed)}
    done = subprocess.run(command, cwd=reh.folder, capture_output=True, env=named, check=False)
    if done.returncode:
        sys.exit(f"snakemake --dry-run: {done.stderr.decode()}")
    rules = [json.loads(line)["rule"] for line in listed.read_text("utf-8").splitlines()]
    reh.note("jobs", dict(Counter(map(phase_of, rules))))


# One phase.


@contextmanager
def server(reh: Rehearsal) -> Iterator[int]:
    """Serve pictures for the duration of the block; yield the server's process id.

    Raises:
        SystemExit: another program has the port.
    """
    port = reh.port
    program = [sys.executable, ROOT / "benchmarks/rehearsal_server.py", str(port)]
    process = started(program, reh.folder, reh.folder / "printed/server.log")
    try:
        for _ in range(100):
            if process.poll() is not None:
                sys.exit(f"no server at port {port}: see {reh.folder}/printed/server.log")
            try:
                _counts(port)
                break
            except OSError:
                time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _counts(port: int) -> dict[str, int]:
    with urllib.request.urlopen(f"{_mirror(port)}/.counts", timeout=10) as answer:
        return json.loads(answer.read())


def run_phase(reh: Rehearsal, phase: str, *, kills: bool) -> None:
    """Run a phase to its end, with a kill in its middle where one is due.

    Raises:
        SystemExit: Snakemake failed.
    """
    if _is_done(reh, phase):
        return
    with server(reh) if phase == "crawl" else nullcontext() as pid:
        while not _is_done(reh, phase):
            runs = reh.runs(phase)
            due = kills and phase in KILLED and all(run["ended"] != "killed" for run in runs)
            run = Run(reh, phase, len(runs), kill=due)
            run.end(spared=pid)
            if run.ended == "failed":
                sys.exit(f"{phase} failed: see {run.printed}; the same command goes on from here")


def _is_done(reh: Rehearsal, phase: str) -> bool:
    return any(run["ended"] == DONE for run in reh.runs(phase))


class Run:
    """One run of Snakemake for a phase; what it took is noted while it runs."""

    def __init__(self, reh: Rehearsal, phase: str, number: int, *, kill: bool) -> None:
        """Start it; `kill` says that it is to be killed in its middle."""
        self._reh, self._phase, self._number, self._kill = reh, phase, number, kill
        self.printed, self.ended = reh.folder / f"printed/{phase}-{number}.log", ""
        snakemake = [BIN / "snakemake", *reh.params]
        if (reh.folder / ".snakemake/locks").exists():
            subprocess.run(
                [*snakemake, "--unlock"], cwd=reh.folder, check=True, capture_output=True
            )
        print(f"{phase}, run {number}", file=sys.stderr, flush=True)
        self._before = benchmarks(reh.folder, f"{phase}_")
        load = os.getloadavg()[0]
        self._record: Record = {"phase": phase, "start": time.time(), "load": load}
        target = TARGETS.get(phase, phase)
        options = ["--cores", "all", "--benchmark-extended", "--", target]
        self._process = started([*snakemake, *options], reh.folder, self.printed)
        self._watch = Watch(self._process.pid)

    def end(self, spared: int | None = None) -> None:
        """Wait for its end, or bring it about; `spared` is a process that goes on."""
        noted = 0.0
        try:
            while self._process.poll() is None:
                self._watch.sample()
                if self._kill and self._is_middle():
                    self.ended = "killed"
                    self.note({"processes": kill_all(self._reh.folder, spared)})
                    self._process.wait()
                    return
                if time.time() - noted > _NOTE_S:
                    noted = time.time()
                    self.note({})
                time.sleep(_WATCH_S / 5 if self._kill else _WATCH_S)
        except KeyboardInterrupt:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            raise
        self.ended = "failed" if self._process.returncode else DONE
        self.note({})

    def note(self, more: Record) -> None:
        """Note what is known by now."""
        now = benchmarks(self._reh.folder, f"{self._phase}_")
        before = self._before
        running = [] if self.ended == DONE else self._watch.running
        if self._phase == "crawl":
            self._record["server"] = _counts(self._reh.port)
        self._record |= {
            "end": time.time(),
            "ended": self.ended,
            "cpu_s": self._watch.cpu_s,
            "jobs": [asdict(job) for job in self._watch.jobs],
            "running": [asdict(job) for job in running],
            # What Snakemake had not yet taken note of is still in flight.
            "finished": sorted(
                name
                for name in now
                if now[name] != before.get(name) and name not in {job.name for job in running}
            ),
            "again": sorted(name for name in before if now.get(name) != before[name]),
            **more,
        }
        self._reh.note(f"{self._phase}-{self._number:02d}", self._record)

    def _is_middle(self) -> bool:
        """Whether half of the phase's jobs are done, and one that runs is well on its way."""
        jobs = (self._reh.record("jobs") or {})[self._phase]
        done = benchmarks(self._reh.folder, f"{self._phase}_")
        ages = [time.time() - job.first for job in self._watch.running]
        if len(done) * 2 < jobs or not ages:
            return False
        usual = statistics.median(job.seconds for job in done.values())
        return len(done) >= jobs - 2 or max(ages) >= _AGE * usual


def write_memory(reh: Rehearsal) -> None:
    """Write `memory.json`: the peaks of the jobs of each rule, in MB."""
    peaks: dict[str, list[float]] = {}
    for phase in PHASES:
        for run in reh.runs(phase):
            for job in run["jobs"]:
                rule = job["name"].split("/")[0]
                peaks.setdefault(rule, []).append(round(job["anonymous"] * 1024, 1))
    with store.aside(reh.folder / "memory.json") as part:
        part.write_text(json.dumps(peaks, indent=1) + "\n", "utf-8")


def rehearse(share: float, folder: Path, *, kills: bool = True) -> Rehearsal:
    """Rehearse, or go on with a rehearsal; `kills` says whether phases are killed in between.

    Raises:
        SystemExit: a step failed.
    """
    reh = Rehearsal(folder.resolve(), share)
    lay_out(reh)
    if killed := kill_all(reh.folder):
        print(f"{killed} processes of an earlier run ended", file=sys.stderr)
    make_data(reh)
    estimate(reh)
    plan(reh)
    for phase in PHASES:
        run_phase(reh, phase, kills=kills)
    write_memory(reh)
    return reh


def main(share: float = 1.0, folder: Path | None = None) -> None:
    """Rehearse and report."""
    reh = rehearse(share, folder or ROOT / f".isotope/rehearsal-{share:g}")
    runs = {phase: reh.runs(phase) for phase in PHASES}
    notes = {name: reh.record(name) or {} for name in ("data", "estimate", "size")}
    full = share == 1 and not ELSEWHERE
    rehearsal_report.write(RESULTS if full else reh.folder, reh.folder, runs, notes)


if __name__ == "__main__":
    chosen = sys.argv[1:]
    main(float(chosen[0]) if chosen else 1.0, Path(chosen[1]) if len(chosen) > 1 else None)
