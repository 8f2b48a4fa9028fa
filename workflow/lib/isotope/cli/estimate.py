"""`isotope estimate`: what a run will cost, phase by phase, before anything runs.

Jobs, their threads and their order are those of Snakemake's dry run. A job takes what its rule took
in rehearsals (`estimate_work`), times the rows of the sources (`estimate_sizes`); jobs side by side
share the cores (`estimate_jobs`). The network is bounded by the link and the crawl's own limits.
"""

import json
import math
import operator
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from isotope.cli import estimate_work as work
from isotope.cli.estimate_jobs import APART, Job, planned, wall
from isotope.cli.estimate_sizes import GIB, Size, bytes_of, figure, files_of, rows_of, sizes
from isotope.core.patterns import Stated, is_pattern
from isotope.params.crawl import Crawl
from isotope.params.links import sources
from isotope.params.root import Params
from isotope.plan.judges import weights_mb
from isotope.tabulate.table import plain

__all__ = ["APART", "PHASES", "Bulk", "Cost", "Machine", "as_json", "bulk", "costs", "planned"]
UNMEASURED = "not measured"
_KEPT = "shard-*.parquet"
_SECONDS, _CORE_S = operator.attrgetter("seconds"), operator.attrgetter("core_s")
PHASES = (
    *("acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search"),
    *("score", "suggest", "tabulate", APART),
)


class Machine(NamedTuple):
    """What the work is divided by."""

    cores: int
    gpu: bool


@dataclass(frozen=True)
class Cost:
    """Of a job, a rule or a phase: requests, bytes fetched and kept, seconds, GiB of memory.

    `core_s` are the jobs' seconds times their threads, `unmeasured_s` those of them that no
    measurement says, and `bound` is what the seconds wait for.
    """

    requests: float = 0
    fetched: float = 0
    disk: float = 0
    seconds: float = 0
    memory_gib: float = 0
    core_s: float = 0
    unmeasured_s: float = 0
    bound: str = "machine"

    def __add__(self, other: "Cost") -> "Cost":
        """Return both, one after the other: their memory and bound are those of the larger."""
        both = {name: value + getattr(other, name) for name, value in asdict(self).items()}
        both["memory_gib"] = max(self.memory_gib, other.memory_gib)
        both["bound"] = max(self, other, key=lambda cost: cost.seconds).bound
        return Cost(**both)


def machine(cores: int | None = None) -> Machine:
    """Return this machine, or one like it with other cores, and whether torch sees a GPU."""
    import torch  # noqa: PLC0415 (slow to import)

    return Machine(cores or os.cpu_count() or 1, torch.cuda.is_available())


def run(
    params: Params, on: Machine, jobs: Sequence[Job]
) -> tuple[dict[str, Cost], dict[str, Cost]]:
    """Return the cost of each phase, and of each rule.

    Phases follow each other: one's seconds are the wall clock of `snakemake --cores N PHASE`. Those
    of a rule are the sum over its jobs, also of those side by side.
    """
    known, shards = sizes(params), Counter(job.work for job in jobs)
    every = [_taken(work_of(params, known, job), shards[job.work], on) for job in jobs]
    phases, rules = costs(params, known, on), dict[str, Cost]()
    [call] = work.rates()["snakemake"]
    for phase, cost in phases.items():
        own = {n: every[n] for n, job in enumerate(jobs) if job.phase == phase}
        seconds, core_s = ({n: f(c) for n, c in own.items()} for f in (_SECONDS, _CORE_S))
        took = wall(jobs, seconds, core_s, on.cores) + call.start_s + call.unit_s * len(own)
        bound = cost.bound if cost.seconds > took else "machine"
        total = reduce(operator.add, own.values(), cost)
        phases[phase] = replace(total, seconds=max(took, cost.seconds), bound=bound)
    for job, cost in zip(jobs, every, strict=True):
        rules[job.rule] = rules.get(job.rule, Cost()) + cost
    return phases, rules


def work_of(params: Params, known: Mapping[str, Size], job: Job) -> work.Work:
    """Return what a job works on: its source, those of its collection, or all."""
    named = job.wildcards.get("source") or job.wildcards.get("collection") or ""
    members = sources(params, named) if named in params.collect else [named]
    of = [known[source] for source in members if source in known] or [*known.values()]
    names = "|".join(re.sub(r"\W", "_", name) for name in ("all", *params.collect))
    rule = re.sub(f"_(?:{names})$", "", job.rule)
    return work.Work(params, reduce(operator.add, of), job._replace(rule=rule))


def _taken(own: work.Work, shards: int, on: Machine) -> Cost:
    """Return what one of so many shards takes; a model has the GPU for itself."""
    job = own.job
    threads, found = min(job.threads, on.cores), own.rates
    seconds = unmeasured = megabytes = gib = 0.0
    for rate in found or work.rates()["job"]:
        units = work.UNITS[rate.unit](own) / (1 if rate.unit.startswith("every") else shards)
        if rate.unit == work.OPERATION and units:
            gib = own.weights_gib
            if on.gpu:
                [gpu], threads = work.rates()["operation on a GPU"], on.cores
                rate = rate._replace(unit_s=gpu.unit_s, cores=0, basis=gpu.basis)  # noqa: PLW2901
        each = rate.start_s + units * rate.unit_s * (rate.cores / threads if rate.cores else 1)
        seconds, unmeasured = seconds + each, unmeasured + each * (rate.basis == "assumed")
        # Of a job that declares nothing beforehand, smaller ones say how much it holds, to a point.
        most = math.inf if job.memory_mb < math.inf else 2 * rate.most_mb
        held = min(rate.start_mb + rate.unit_mb * units, most + own.params.search.memory_mb)
        megabytes = max(megabytes, held)
    gib = min(megabytes / 1_024 + gib, job.memory_mb / 1_024)
    bound = "machine" if found else UNMEASURED
    return Cost(0, 0, 0, seconds, gib, seconds * threads, unmeasured * threads, bound)


def costs(params: Params, known: Mapping[str, Size], on: Machine) -> dict[str, Cost]:
    """Return what each phase keeps, and asks of the network, whose seconds these are."""
    phases, link = dict.fromkeys(PHASES, Cost()), figure("link.bytes")
    for source, of in known.items():
        for phase, disk in _disk(params, of).items():
            phases[phase] += Cost(disk=disk)
        upstream, requests = of.upstream if of.files else 0, of.images if of.fetched else 0
        phases["acquire"] += Cost(of.files, upstream, 0, upstream / link, bound="link")
        polite = _polite_s(params.crawl.get(source), requests, of.fetched)
        seconds, bound = max((requests * of.fetched / link, "link"), (polite, "crawl's limits"))
        phases["crawl"] += Cost(requests, requests * of.fetched, 0, seconds, bound=bound)
        if road := bulk(params, source, of, on.cores):
            fetched_s = road.fetched / link
            phases["acquire"] += Cost(0, road.fetched, road.bytes, fetched_s, bound="link")
            phases["crawl"] += Cost(disk=road.pictures * of.picture, seconds=road.read_s)
    return phases


def _polite_s(crawl: Crawl | None, requests: float, picture: float) -> float:
    """Return the seconds of a crawl within its limits, if all pictures are on one host."""
    if not crawl or crawl.serve or crawl.pictures:
        return 0.0
    return max(requests / crawl.rate_per_s, requests * picture * 8e-6 / crawl.megabits_per_s)


def _disk(params: Params, of: Size) -> dict[str, float]:
    """Return the bytes that each phase keeps of a source."""
    encoders = [model for model in work.used_models(params).values() if not model.reranks]
    answers = work.judged(of, params) * len(
        (params.score.judge and params.score.judge.models) or ()
    )
    listed = 0.0
    if params.suggest:
        asked = sum(bool(params.candidate(kind)) for kind in ("bm25", "dense"))
        listed = asked * params.suggest.depth * figure("disk.candidate")
        listed += params.suggest.most * figure("disk.suggestion")
    return {
        "acquire": of.upstream,
        "parse": of.upstream,
        "crawl": of.images * of.picture,
        "project": of.xml * figure("disk.project"),
        "collect": (of.texts + of.images) * figure("disk.collect"),
        "train": sum(sum(work.learned(model, of)[1:]) for model in encoders),
        "encode": sum(work.encoded_bytes(model, of) for model in encoders),
        "index": work.indexed(of, params) * figure("disk.index"),
        "search": work.hits(of, params) * figure("disk.hit"),
        "score": figure("disk.score") + answers * figure("disk.answer"),
        "suggest": work.asking(of) * listed,
        "tabulate": figure("disk.tabulate"),
        APART: work.released(of, params),
    }


def largest_gib(params: Params, known: Mapping[str, Size]) -> float:
    """Return the memory of the largest job, judged without a dry run."""
    rows = sum(of.texts + of.images for of in known.values())
    usual = figure("memory", "large" if rows > 1e6 else "")  # noqa: PLR2004
    judges = (params.score.judge and params.score.judge.models) or {}
    held = [weights_mb(judge.name, judge.precision) * 1e6 / GIB for judge in judges.values()]
    held += map(work.weights_gib, work.used_models(params).values())
    search = params.search.memory_mb / 1_024 + 1
    return max(usual, search, *(gib + figure("memory.model") for gib in held))


class Bulk(NamedTuple):
    """What others publish whole for a crawl: files and bytes, of which some are fetched.

    `pictures` is how many it has at most, `read_s` the seconds to read them; `requests` are left at
    best, in `rest_s`.
    """

    files: float
    bytes: float
    fetched: float
    pictures: float
    read_s: float
    requests: float
    rest_s: float


def bulk(params: Params, source: str, of: Size, cores: int) -> Bulk | None:
    """Return what a crawl's bulk sources have; None without any.

    Rows that are here are counted; of a folder nothing is known but that it has no more than all.
    """
    crawl = params.crawl.get(source)
    if not crawl or crawl.bulk is None:
        return None
    count = size = fetched = rows = 0.0
    for item in crawl.bulk:
        kept = sorted(Path("data/crawl", item.crawl).glob(_KEPT)) if item.crawl else []
        listed = [Stated(str(path)) for path in kept]
        if item.source:
            listed = files_of(params.acquire[item.source])[str(item.part)]
        for file in listed:
            url, many = file.url, figure("bulk.files", file.url) if is_pattern(file.url) else 1
            whole = many * bytes_of(file)
            count, size, fetched = count + many, size + whole, fetched + whole * ("://" in url)
            rows += rows_of(Path(url)) or whole / figure("bulk.row_bytes", url)
        rows += of.images * bool(item.folder)
    pictures, decoders = min(rows, of.images), max(1, min(crawl.decoders or 1, cores))
    rest, read_s = of.images - pictures, pictures / figure("core.bulk") / decoders
    rest_s = _polite_s(crawl, rest, of.fetched)
    return Bulk(count, size, fetched, pictures, read_s, rest, rest_s)


def text(
    jobs: Sequence[Job],
    phases: Mapping[str, Cost],
    rules: Mapping[str, Cost],
    on: Machine,
    ways: Mapping[str, Bulk],
) -> str:
    """Return the table that the command prints: GiB, hours, and a line for the whole run.

    A release follows it, as `snakemake --cores all` makes none, and then what is read in bulk for a
    crawl, whose row counts the network for all pictures.
    """
    counts = Counter(job.phase for job in jobs)
    own = {phase: cost for phase, cost in phases.items() if counts[phase]}
    last = {APART: own.pop(APART)} if APART in own else {}
    counts["all"] = counts.total() - counts[APART]
    own["all"] = replace(sum(own.values(), Cost()), bound="")
    rows = [
        (
            *(name, counts[name], round(c.requests), round(c.fetched / GIB, 3)),
            *(round(c.disk / GIB, 3), round(c.seconds / 3_600, 3), round(c.memory_gib, 2), c.bound),
            f"{c.unmeasured_s / c.core_s:.0%}" if c.core_s else "",
        )
        for name, c in {**own, **last}.items()
    ]
    columns = ("phase", "jobs", "requests", "fetched_gib", "disk_gib", "hours", "memory_gib")
    note = f"for {on.cores} cores and {'a GPU' if on.gpu else 'no GPU'}; unmeasured: a share of the"
    note += " cores' time; docs/full-size.md lists what is measured, published and assumed\n"
    if guessed := [rule for rule, cost in rules.items() if cost.bound == UNMEASURED]:
        note += f"never measured, {figure('job.seconds'):.0f} s a job: {', '.join(guessed)}\n"
    for name, way in ways.items():
        note += f"crawl of {name}: {way.files:,.0f} files to read, {way.bytes / GIB:,.1f} GiB, for"
        note += f" {way.pictures:,.0f} pictures at most, {way.read_s / 3_600:.2f} hours; requests"
        note += f" for {way.requests:,.0f} others at best, {way.rest_s / 3_600:.2f} hours\n"
    return plain(rows, (*columns, "bound", "unmeasured")) + note


def as_json(
    jobs: Sequence[Job],
    phases: Mapping[str, Cost],
    rules: Mapping[str, Cost],
    on: Machine,
    ways: Mapping[str, Bulk],
) -> str:
    """Return what `text` says as JSON, in bytes and seconds, and what rules take."""
    by_phase, by_rule = (Counter(getattr(job, of) for job in jobs) for of in ("phase", "rule"))
    told = {
        **on._asdict(),
        "phases": {p: {"jobs": by_phase[p], **asdict(c)} for p, c in phases.items() if by_phase[p]},
        "rules": {rule: {"jobs": by_rule[rule], **asdict(cost)} for rule, cost in rules.items()},
        "bulk": {name: way._asdict() for name, way in ways.items()},
    }
    return json.dumps(told, indent=1) + "\n"
