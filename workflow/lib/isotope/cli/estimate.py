"""`isotope estimate`: what a run will cost, phase by phase, before anything runs.

Jobs, their threads and their order are those of Snakemake's dry run. A job takes what its rule took
in small rehearsals, by curves over the units of its work (`estimate_curves`, `estimate_work`); jobs
side by side share the cores (`estimate_jobs.wall`). What can't be measured on one machine without a
network and a GPU is assumed here.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from isotope.cli import (
    estimate_bulk,
    estimate_jobs,
    estimate_late,
    estimate_rerank,
    estimate_work,
)
from isotope.cli.estimate_curves import SNAKEMAKE, Curve, curves
from isotope.cli.estimate_jobs import Job
from isotope.cli.estimate_judging import judging
from isotope.cli.estimate_sizes import GIB, Size, size, stored, thumbnails
from isotope.cli.estimate_training import training
from isotope.models.families import MODULES
from isotope.models.families.published import Published, memory_mb, published
from isotope.params.links import sources
from isotope.params.sections import model_kind, model_values, with_parts
from isotope.params.suggest import candidate_system
from isotope.tabulate.table import plain

APART = "release"
_TARGETS = ("all", APART)
# ASSUME a job of a rule that was not measured takes 6 seconds and 1 GiB: Snakemake, Python, its
# libraries; no measurement says.
UNKNOWN = Curve(6.0, 0.0, 1.0, start_mb=1_024)


@dataclass(frozen=True)
class Cost:
    """Of one phase: requests, bytes fetched and kept, seconds on this machine, peak memory.

    `seconds` are those of network and models, which no curve has, until `run` adds the jobs'.
    """

    requests: int = 0
    fetched: int = 0
    disk: int = 0
    seconds: float = 0.0
    memory_gib: float = 1.0


@dataclass(frozen=True)
class Machine:
    """What the work is divided by."""

    cores: int
    gpu: bool


def planned(arguments: Sequence[str], cores: int = 1) -> list[Job]:
    """Return the jobs of all phases, a release's too, from nothing, by Snakemake's own dry run.

    Raises:
        ToolFailed: params or files that Snakemake refuses.
    """
    return estimate_jobs.planned(arguments, cores, _TARGETS)


def costs(params: Mapping[str, Any], machine: Machine) -> dict[str, Cost]:
    """Return each phase's cost, over all collections that are built, without its jobs' seconds."""
    total = {phase: Cost() for phase in PHASES}
    known = sizes(params)
    for name, of in known.items():
        for phase, cost in PHASE_COSTS.items():
            total[phase] = _add(total[phase], cost(of, params, machine))
        polite = _polite_s(total["crawl"], params["crawl"], name)
        slowest = max(total["crawl"].seconds, polite)
        total["crawl"] = replace(total["crawl"], seconds=slowest)
    # The network is asked after bulk sources are read; what it is spared is not known before.
    total["crawl"] = _add(total["crawl"], _bulk(params, known, machine))
    for each in estimate_bulk.acquired(params, known):
        own = Cost(each.files, each.fetched, each.bytes, each.fetched / _LINK_RATE)
        total["acquire"] = _add(total["acquire"], own if each.fetched else Cost(disk=each.bytes))
    return total


def _bulk(params: Mapping[str, Any], known: Mapping[str, Size], machine: Machine) -> Cost:
    """Return what reading bulk sources takes; their pictures lie beside the crawl's tables."""
    roads = estimate_bulk.roads(params, known, machine.cores)
    read = [road for road in roads if road.files]
    disk = sum((road.pictures or 0) * known[road.crawl].picture for road in read)
    return Cost(disk=disk, seconds=sum(road.hours or 0.0 for road in read) * 3_600)


def sizes(params: Mapping[str, Any]) -> dict[str, Size]:
    """Return the size of each source of the collections that are built."""
    # ASSUME a union costs what its members would, as they share few pictures; no measurement says.
    names = {source: name for name in params["build"] for source in sources(params, name)}
    return {source: size_of(params, source, name) for source, name in names.items()}


def size_of(params: Mapping[str, Any], source: str, collection: str) -> Size:
    """Return the size of a source, in the language of a collection."""
    crawl = params["crawl"].get(source, {})
    language = params["collect"].get(collection, {}).get("language", "en")
    of = size(params["acquire"][source], crawl.get("pictures", {}).get("part"), language)
    asked = thumbnails(of, crawl["width"]) if "width" in crawl else of
    if not asked.fetched_picture or "generate" in params["acquire"][source]:
        return asked
    is_thumbnail = asked.fetched_picture < of.fetched_picture
    return stored(asked, crawl.get("side_px"), thumbnail=is_thumbnail)


def run(
    params: Mapping[str, Any], machine: Machine, jobs: Sequence[Job]
) -> tuple[dict[str, Cost], dict[str, Cost]]:
    """Return the cost of each phase, its jobs' seconds and memory too, and of each rule.

    Phases follow each other: one's seconds are the wall clock of `snakemake --cores N PHASE`. Those
    of a rule are the sum over its jobs, also of those side by side.

    Raises:
        BadParams: an engine of BM25 that was not measured.
    """
    known = sizes(params)
    units = estimate_work.units(params, known, jobs)
    every = [_curve(job, params) for job in jobs]
    threads = [min(job.threads, machine.cores) for job in jobs]
    bm25 = estimate_work.core_seconds(params, known, jobs)
    seconds = {
        n: every[n].seconds(units[n], threads[n]) + bm25[n] / threads[n] for n in range(len(jobs))
    }
    phases = costs(params, machine)
    megabytes = {
        n: max(_megabytes(job, every[n], units[n], phases[job.phase]), _weights_mb(job, params))
        for n, job in enumerate(jobs)
    }
    call = curves().get(SNAKEMAKE, UNKNOWN)
    for phase, cost in phases.items():
        own = [n for n, job in enumerate(jobs) if job.phase == phase]
        if not own:
            continue
        wall = estimate_jobs.wall(jobs, own, seconds, machine.cores) + call.seconds(len(own))
        both = max(wall, cost.seconds) if phase in _NETWORK else wall + cost.seconds
        peak = max(megabytes[n] for n in own) / 1024
        measured = all(rule_name(jobs[n].rule, params) in curves() for n in own)
        memory = peak if measured and phase != "train" else max(peak, cost.memory_gib)
        phases[phase] = replace(cost, seconds=both, memory_gib=memory)
    rules: dict[str, Cost] = {}
    for n, job in enumerate(jobs):
        own = Cost(seconds=seconds[n], memory_gib=megabytes[n] / 1024)
        rules[job.rule] = _add(rules.get(job.rule, Cost(memory_gib=0.0)), own)
    return phases, rules


def _curve(job: Job, params: Mapping[str, Any]) -> Curve:
    name = rule_name(job.rule, params)
    found = curves().get(name, UNKNOWN)
    model = params["models"].get(job.wildcards.get("model", ""))
    if model is not None and job.phase in _MODELLED and _is_slow(model):
        # What such a model takes is in the phase's cost.
        return found._replace(unit_s=0.0)
    return found


def _weights_mb(job: Job, params: Mapping[str, Any]) -> float:
    """Return the megabytes that the weights of a job's checkpoint take, where its size is known."""
    model = params["models"].get(job.wildcards.get("model", ""))
    return memory_mb(model) if model is not None and job.phase == "encode" else 0.0


def rule_name(rule: str, params: Mapping[str, Any]) -> str:
    """Return the name of a rule without that of a collection."""
    for name in ("all", *params["collect"]):
        rule = rule.removesuffix(f"_{name}")
    return estimate_work.SAME.get(rule, rule)


def _megabytes(job: Job, curve: Curve, units: float, phase: Cost) -> float:
    """Return the megabytes of a job: no more than it declares, where it has a limit.

    ASSUME jobs without one work piece by piece beyond what was measured: none holds more than twice
    what was measured, or what is assumed of its phase; no measurement says.
    """
    most = max(2 * curve.mb(curve.upto), phase.memory_gib * 1024) if curve.unit_s else math.inf
    return min(curve.mb(units), most if job.memory_mb == math.inf else job.memory_mb)


def _polite_s(cost: Cost, crawls: Mapping[str, Any], source: str) -> float:
    """Return the seconds that a crawl takes within its limits, if all pictures are on one host."""
    spec = crawls.get(source, {})
    if not spec or {"serve", "pictures"} & spec.keys():
        return 0.0
    bits = cost.fetched * 8e-6
    return max(cost.requests / spec["rate_per_s"], bits / spec["megabits_per_s"])


def _add(a: Cost, b: Cost) -> Cost:
    return Cost(
        a.requests + b.requests,
        a.fetched + b.fetched,
        a.disk + b.disk,
        a.seconds + b.seconds,
        max(a.memory_gib, b.memory_gib),
    )


def machine(cores: int | None = None) -> Machine:
    """Return this machine, or one like it with other cores, and whether torch sees a GPU."""
    import torch  # noqa: PLC0415 (slow to import)

    return Machine(cores or os.cpu_count() or 1, torch.cuda.is_available())


def text(
    jobs: Sequence[Job],
    phases: Mapping[str, Cost],
    of: Machine,
    roads: Sequence[estimate_bulk.Road] = (),
) -> str:
    """Return the table that the command prints: GiB, hours, and a line for the whole run.

    A release follows it, as `snakemake --cores all` makes none, and then the roads of crawls with
    bulk sources, whose phase counts the network alone.
    """
    counts = Counter(job.phase for job in jobs)
    every = [
        (phase, n, c.requests, _gib(c.fetched), _gib(c.disk), _hours(c), round(c.memory_gib, 2))
        for phase, c in phases.items()
        if (n := counts.get(phase, 0))
    ]
    rows, apart = ([r for r in every if (r[0] == APART) == is_apart] for is_apart in (False, True))
    sums = [sum(float(row[i]) for row in rows) for i in range(1, 6)]
    whole = ("all", *map(round, sums[:2]), *(round(x, 3) for x in sums[2:]))
    peak = max((row[6] for row in rows), default=0.0)
    columns = ("phase", "jobs", "requests", "fetched_gib", "disk_gib", "hours", "memory_gib")
    note = f"for {of.cores} cores and {'a GPU' if of.gpu else 'no GPU'}; measured: "
    where = "workflow/lib/isotope/cli/estimate_curves.csv, estimate_bm25.csv; assumed: "
    where += "grep -n 'ASSUME' workflow/lib/isotope/cli/*.py"
    table = plain([*rows, (*whole, peak), *apart], columns)
    return table + note + where + "\n" + estimate_bulk.text(roads)


def as_json(
    jobs: Sequence[Job],
    phases: Mapping[str, Cost],
    rules: Mapping[str, Cost],
    of: Machine,
    roads: Sequence[estimate_bulk.Road] = (),
) -> str:
    """Return what `text` says as JSON, in bytes and seconds, and the seconds and GiB of rules."""
    counts = Counter(job.phase for job in jobs)
    by_rule = Counter(job.rule for job in jobs)
    told = {
        **asdict(of),
        "phases": {p: {"jobs": counts[p], **asdict(c)} for p, c in phases.items() if counts[p]},
        "rules": {
            r: {"jobs": by_rule[r], "seconds": c.seconds, "memory_gib": c.memory_gib}
            for r, c in rules.items()
        },
    }
    own = {"roads": [road._asdict() for road in roads]} if roads else {}
    return json.dumps(told | own, indent=1) + "\n"


def _gib(n: int) -> float:
    return round(n / GIB, 3)


def _hours(cost: Cost) -> float:
    return round(cost.seconds / 3600, 3)


# Phases that wait for the network while their jobs work.
_NETWORK = ("acquire", "crawl")
_MODELLED = ("encode", "train")
# ASSUME a link brings 20 MB a second; no paper says.
_LINK_RATE = 20e6
# ASSUME a core encodes 20 texts or pictures a second with a large pretrained model and 2,000
# with a small one of ours, a GPU 400 and 20,000; no paper says.
_ENCODE = {(False, True): 20, (False, False): 2000, (True, True): 400, (True, False): 20_000}
# ASSUME of a checkpoint whose size is known, an item takes 2 operations a parameter and token, as
# Kaplan et al. (arXiv 2001.08361, section 2.1) count forward passes, 2e10 a second on a core and
# 1e14 on a GPU; a word is 1.4 tokens, an instruction and its turn 25, and most pictures have as
# many tokens as the model takes; a dual encoder has half its parameters on either side; no
# measurement says.
_OPERATIONS = {False: 2e10, True: 1e14}
_TOKENS_A_WORD, _TURN = 1.4, 25
_PICTURE_TOKENS = {"qwen_vl": 1_800, "jina_clip": 1_297, "siglip": 729, "dual": 577}
_TEXT_TOKENS = {"siglip": 64, "dual": 77}
_ONE_TOWER = frozenset({"qwen_vl", "last_token"})
# ASSUME a late-interaction model has 3 billion weights in single precision, and a batch of pictures
# takes as much again; that a core encodes an item in 20 seconds, a GPU 10 a second; no measurement
# says.
_LATE_GIB, _LATE = 22, {False: 0.05, True: 10.0}
# ASSUME vectors of 768 float32 (256 for small models), and 20 bytes a hit of a run, where the
# params do not say.
_DIM_LARGE, _DIM_SMALL, _HIT_BYTES = 768, 256, 20
# ASSUME a row of a text or an image takes 1,400 bytes in a release, as Parquet and as JSON lines,
# and a hit of a run 40; no paper says.
_PACKED_ROW, _PACKED_HIT = 1_400, 40
# ASSUME of a line in BEIR's form a word takes 5 bytes, what stands around the words 200, the
# captions of an image with their address 320, as in the demo; no paper says.
_PLAIN_WORD, _PLAIN_ROW, _PLAIN_CAPTIONS = 5, 200, 320


def _acquire(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    fetched = of.upstream if of.files else 0
    return Cost(of.files, fetched, of.upstream, fetched / _LINK_RATE)


def _parse(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    return Cost(disk=of.upstream, memory_gib=2)


def _crawl(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    fetched = of.images * of.fetched_picture
    requests = of.images if of.fetched_picture else 0
    return Cost(requests, fetched, of.images * of.picture, fetched / _LINK_RATE, 2)


def _project(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    return Cost(disk=of.dump * 2, memory_gib=4)


def _collect(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    rows = of.texts + of.images
    return Cost(disk=rows * 700, memory_gib=8 if rows > 1e6 else 1)  # noqa: PLR2004


def used_models(params: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the models behind the systems that are searched, those they fuse included."""
    systems = params["systems"]
    chosen = with_parts(systems, params["search"]["systems"])
    models = {systems[s]["model"] for s in chosen if "model" in systems[s]}
    models |= {params["models"][m]["of"] for m in models if "of" in params["models"][m]}
    names = sorted(models)
    return {name: params["models"][name] for name in names}


def whole(model: Mapping[str, Any]) -> bool:
    """Whether a model of pictures with words is trained whole, not over frozen vectors."""
    return model_kind(model).is_mix and not model_values(model)["frozen"]


def _large(model: Mapping[str, Any]) -> bool:
    return whole(model) or model_kind(model).is_large


def _is_slow(model: Mapping[str, Any]) -> bool:
    """Whether encoding takes what is assumed of a model, not what a curve has measured."""
    return model["kind"] != "hash"


def _train(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    specs = [model for model in used_models(params).values() if "train" in model or whole(model)]
    trainings = [training(spec, of, machine.cores, gpu=machine.gpu) for spec in specs]
    memory = max((each.memory_gib for each in trainings), default=1.0)
    scratch = max((each.scratch for each in trainings), default=0)
    disk = scratch + sum(each.weights for each in trainings)
    return Cost(disk=disk, seconds=sum(each.seconds for each in trainings), memory_gib=memory)


def _encode(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    items = of.texts + of.images
    devices = 1 if machine.gpu else machine.cores
    models = [m for m in used_models(params).values() if not model_kind(m).reranks]
    slow = [model for model in models if _is_slow(model)]
    sized = {n: found for n, model in enumerate(slow) if (found := published(model))}
    seconds = sum(
        _checkpoint_s(of, model, sized[n], gpu=machine.gpu)
        if n in sized
        else items / _rate(model, gpu=machine.gpu)
        for n, model in enumerate(slow)
    )
    disk = sum(_encoded_bytes(model, of) for model in models)
    weights = max((memory_mb(model) / 1024 + 2 for model in slow), default=0.0)
    least = _LATE_GIB if any(map(estimate_late.sees, models)) else 8 if slow else 2
    memory = max(weights, least)
    return Cost(disk=disk, seconds=seconds / devices, memory_gib=memory)


def _checkpoint_s(of: Size, model: Mapping[str, Any], size: Published, *, gpu: bool) -> float:
    """Return the seconds of one device that a checkpoint of a known size takes for a source."""
    family = MODULES.get(size.model_type, "dual")
    read = {side: of.words(side) * _TOKENS_A_WORD + _TURN for side in ("texts", "images")}
    most = int(model.get("context", _TEXT_TOKENS.get(family, 8_192)))
    tokens = of.texts * min(read["texts"], most)
    if model.get("images", "pixels") == "captions":
        tokens += of.images * min(read["images"], most)
    elif model.get("images", "pixels") == "pixels":
        tokens += of.images * _picture_tokens(family, model)
    share = 1.0 if family in _ONE_TOWER else 0.5
    return 2 * size.parameters * share * tokens / _OPERATIONS[gpu]


def _picture_tokens(family: str, model: Mapping[str, Any]) -> float:
    """Return the tokens of a picture; 1,024 pixels are one to Qwen's models."""
    most = _PICTURE_TOKENS.get(family, 0)
    return min(most, model["pixels"] / 1_024) if "pixels" in model else most


def _rate(model: Mapping[str, Any], *, gpu: bool) -> float:
    """Return the items that a device encodes a second."""
    return _LATE[gpu] if estimate_late.sees(model) else _ENCODE[gpu, _large(model)]


def _encoded_bytes(model: Mapping[str, Any], of: Size) -> int:
    many = estimate_late.encoded_bytes(model, of)
    return round(many or (of.texts + of.images) * 4 * dimensions(model))


def dimensions(model: Mapping[str, Any]) -> int:
    """Return the components of a model's vectors."""
    found = published(model)
    usual = _DIM_LARGE if _large(model) else _DIM_SMALL
    return int(model.get("dim", found.dim if found else usual))


def _index(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    settings = len(params["search"]["settings"])
    rows = (of.texts + of.images) * settings
    chosen = (params["systems"][name] for name in params["search"]["systems"])
    sparse = sum(system["kind"] == "sparse" for system in chosen)
    disk = rows * 500 + sparse * estimate_late.indexed_bytes(rows)
    return Cost(disk=round(disk), memory_gib=4)


def _search(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    grid = params["search"]
    hits = estimate_work.hits(of, params) * len(grid["systems"])
    memory = max(2.0, grid["memory_mb"] / 1024 + 1, estimate_rerank.memory_gib(params))
    seconds = estimate_rerank.seconds(of, params, machine.cores, gpu=machine.gpu)
    return Cost(disk=round(hits * _HIT_BYTES), seconds=seconds, memory_gib=memory)


def _score(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    judges = judging(params, of, machine.cores, gpu=machine.gpu)
    # Beside the weights, torch and what a message is made into.
    memory = judges.memory_gib + 8 if judges.pairs else 4
    return Cost(disk=10_000_000 + judges.disk, seconds=judges.seconds, memory_gib=memory)


# Bytes of a candidate, a section, a picture and a suggestion in the tables of the phase, in a
# rehearsal of benchmarks/calibrate.py with 2.1 million candidates.
_CANDIDATE, _SECTION, _DESCRIBED, _SUGGESTED = 15.3, 17.2, 49, 660


def _suggest(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    if "suggest" not in params:
        return Cost()
    own, asking = params["suggest"], estimate_work.asking(of)
    systems = [kind for kind in ("bm25", "dense") if candidate_system(params, kind)]
    # What pages name adds to each section a few.
    named = asking * len(systems) * own["depth"]
    tables = of.texts * _SECTION + of.images * _DESCRIBED + asking * own["most"] * _SUGGESTED
    return Cost(disk=round(named * _CANDIDATE + tables), memory_gib=4)


def _tabulate(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    return Cost(disk=5_000_000, memory_gib=4)


def _release(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    hits = estimate_work.hits(of, params) * len(params["search"]["systems"])
    packed = (of.texts + of.images) * _PACKED_ROW + hits * _PACKED_HIT
    # BEIR's lines are not packed: documents of both directions, and the judged ones as queries.
    line = of.text_words * _PLAIN_WORD + _PLAIN_ROW
    plain = (of.texts + min(of.pairs, of.texts)) * line + 2 * of.images * _PLAIN_CAPTIONS
    pools = sum(of.of_split("images", split) for split in ("validation", "test"))
    pictures = (of.images + pools) * of.picture
    return Cost(disk=round(packed + plain) + pictures, memory_gib=4)


PHASE_COSTS: Mapping[str, Callable[[Size, Mapping[str, Any], Machine], Cost]] = {
    "acquire": _acquire,
    "parse": _parse,
    "crawl": _crawl,
    "project": _project,
    "collect": _collect,
    "train": _train,
    "encode": _encode,
    "index": _index,
    "search": _search,
    "score": _score,
    "suggest": _suggest,
    "tabulate": _tabulate,
    "release": _release,
}
PHASES = tuple(PHASE_COSTS)
