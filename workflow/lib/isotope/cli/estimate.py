"""`isotope estimate`: what a run will cost, phase by phase, before anything runs.

Jobs are counted by Snakemake's dry run; the rest follows from the size of the sources, by measured
curves (`estimate_sizes.curves`) or by what is assumed here.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from isotope.cli.estimate_sizes import GIB, Size, curves, size, thumbnails
from isotope.core.errors import ToolFailed
from isotope.params.links import sources
from isotope.params.recipes import Recipe, Resources, recipe_of
from isotope.params.sections import model_kind, model_values
from isotope.tabulate.table import plain

APART = "release"
# ASSUME a job starts in 4 seconds: Snakemake, Python, its libraries; of other machines no
# measurement says.
START_S = 4.0


@dataclass(frozen=True)
class Cost:
    """Of one phase: requests, bytes fetched and kept, hours on this machine, peak memory."""

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


def planned(arguments: Sequence[str]) -> dict[str, int]:
    """Return the jobs of each phase, a release's too, from nothing, by Snakemake's own dry run.

    Raises:
        ToolFailed: params or files that Snakemake refuses.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--forceall", "--cores", "1"]
    targets = ["all", APART]
    done = subprocess.run(
        [*command, *targets, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        found = " ".join((done.stderr or done.stdout).split())[-400:]
        raise ToolFailed("snakemake --dry-run", found, "mend what it names")
    rows = re.findall(r"^(\w+?)_\w+ +(\d+)$", done.stdout + done.stderr, re.MULTILINE)
    counts = dict.fromkeys(PHASES, 0)
    # Job stats are printed before the plan and after it.
    for phase, n in rows[: len(rows) // 2]:
        counts[phase] = counts.get(phase, 0) + int(n)
    return counts


def costs(params: Mapping[str, Any], machine: Machine) -> dict[str, Cost]:
    """Return each phase's cost, over all collections that are built."""
    total = {phase: Cost() for phase in PHASES}
    for name in params["build"]:
        # ASSUME a union costs what its members would, as they share few pictures; no measurement
        # says.
        for source in sources(params, name):
            for phase, one in _of_source(params, source, machine).items():
                total[phase] = _add(total[phase], one)
    return total


def _of_source(params: Mapping[str, Any], source: str, machine: Machine) -> dict[str, Cost]:
    crawl = params["crawl"].get(source, {})
    of = size(params["acquire"][source], crawl.get("pictures", {}).get("part"))
    of = thumbnails(of, crawl["width"]) if "width" in crawl else of
    costs = {phase: cost(of, params, machine) for phase, cost in PHASE_COSTS.items()}
    polite = max(costs["crawl"].seconds, _polite_s(costs["crawl"], params["crawl"], source))
    return costs | {"crawl": replace(costs["crawl"], seconds=polite)}


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


def machine() -> Machine:
    """Return this machine: its cores, and whether torch sees a GPU."""
    import torch  # noqa: PLC0415 (slow to import)

    return Machine(os.cpu_count() or 1, torch.cuda.is_available())


def text(jobs: Mapping[str, int], phases: Mapping[str, Cost], of: Machine) -> str:
    """Return the table that the command prints: GiB, hours, and a line for the whole run.

    A release follows it, as `snakemake --cores all` makes none.
    """
    every = [
        (phase, n, c.requests, _gib(c.fetched), _gib(c.disk), _hours(c, n, of), c.memory_gib)
        for phase, c in phases.items()
        if (n := jobs.get(phase, 0))
    ]
    rows, apart = ([r for r in every if (r[0] == APART) == is_apart] for is_apart in (False, True))
    sums = [sum(float(row[i]) for row in rows) for i in range(1, 6)]
    whole = ("all", *map(round, sums[:2]), *(round(x, 3) for x in sums[2:]))
    peak = max((row[6] for row in rows), default=0.0)
    columns = ("phase", "jobs", "requests", "fetched_gib", "disk_gib", "hours", "memory_gib")
    note = f"for {of.cores} cores and {'a GPU' if of.gpu else 'no GPU'}; measured: "
    where = "workflow/lib/isotope/cli/estimate_curves.csv; assumed: grep -n ASSUME "
    where += "workflow/lib/isotope/cli/*.py"
    return plain([*rows, (*whole, peak), *apart], columns) + note + where + "\n"


def _gib(n: int) -> float:
    return round(n / GIB, 3)


def _hours(cost: Cost, jobs: int, of: Machine) -> float:
    return round((cost.seconds + jobs * START_S / of.cores) / 3600, 3)


# ASSUME a core downloads and encodes 15 pictures a second, and a link brings 20 MB a second; no
# paper says.
_PICTURE_RATE, _LINK_RATE = 15, 20e6
# ASSUME a core encodes 20 texts or pictures a second with a large pretrained model and 2,000
# with a small one of ours, a GPU 400 and 20,000; no paper says.
_ENCODE = {(False, True): 20, (False, False): 2000, (True, True): 400, (True, False): 20_000}
# ASSUME vectors of 768 float32 (256 for small models), and 20 bytes a hit of a run, where the
# params do not say.
_DIM_LARGE, _DIM_SMALL, _HIT_BYTES = 768, 256, 20
# ASSUME exact search does 100 GFLOP a second, and Lucene takes as long for a hit in a large pool
# as in a small one; no paper says.
_FLOPS = 1e11
# ASSUME a release packs 20 MB of rows a second and copies 100 MB of pictures; a row of a text or an
# image takes 1,400 bytes there, as Parquet and as JSON lines, and a hit of a run 40; no paper says.
_PACK_RATE, _COPY_RATE, _PACKED_ROW, _PACKED_HIT = 20e6, 100e6, 1_400, 40
# AToMiC has 17,173 texts that ask for validation, 1 for 258 judged pairs of all splits (Table 1).
# ASSUME as many of other collections, and never fewer than 100; no paper says.
_QUERIES_A_PAIR, _FEWEST_QUERIES = 258, 100


def _acquire(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    fetched = of.upstream if of.files else 0
    return Cost(of.files, fetched, of.upstream, fetched / _LINK_RATE)


def _parse(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    seconds = curves()["parse_wit"].seconds(of.associations)
    if of.xml:
        seconds += curves()["parse_dump"].seconds(of.xml, machine.cores)
    return Cost(disk=of.upstream, seconds=seconds, memory_gib=2)


def _crawl(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    fetched = of.images * of.fetched_picture
    seconds = max(of.images / _PICTURE_RATE / machine.cores, fetched / _LINK_RATE)
    requests = of.images if of.fetched_picture else 0
    return Cost(requests, fetched, of.images * of.picture, seconds, 2)


def _project(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    seconds = curves()["project"].seconds(of.pairs, machine.cores)
    return Cost(disk=of.dump * 2, seconds=seconds, memory_gib=4)


def _collect(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    rows = of.texts + of.images
    seconds = curves()["collect"].seconds(rows)
    return Cost(disk=rows * 700, seconds=seconds, memory_gib=8 if rows > 1e6 else 1)  # noqa: PLR2004


def used_models(params: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the models behind the systems that are searched, those they fuse included."""
    systems = params["systems"]
    chosen = set(params["search"]["systems"])
    chosen |= {part for s in chosen for part in systems[s].get("of", [])}
    models = {systems[s]["model"] for s in chosen if "model" in systems[s]}
    models |= {params["models"][m]["of"] for m in models if "of" in params["models"][m]}
    names = sorted(models)
    return {name: params["models"][name] for name in names}


def whole(model: Mapping[str, Any]) -> bool:
    """Whether a model of pictures with words is trained whole, not over frozen vectors."""
    return model_kind(model).is_mix and not model_values(model)["frozen"]


def _large(model: Mapping[str, Any]) -> bool:
    return whole(model) or model_kind(model).is_large


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
    kinds = [_large(model) for model in used_models(params).values()]
    seconds = sum(items / _ENCODE[machine.gpu, large] / devices for large in kinds)
    disk = sum(items * 4 * (_DIM_LARGE if large else _DIM_SMALL) for large in kinds)
    return Cost(disk=disk, seconds=seconds, memory_gib=8 if any(kinds) else 2)


def _index(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    settings = len(params["search"]["settings"])
    items = of.texts + of.images
    return Cost(disk=items * 500 * settings, seconds=items * settings / 2e4, memory_gib=4)


def _search(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    grid = params["search"]
    queries = max(of.pairs // _QUERIES_A_PAIR, _FEWEST_QUERIES)
    runs = len(grid["settings"]) * len(grid["splits"]) * len(grid["tasks"])
    pool = (of.texts + of.images) / 2
    dense = 2 * queries * pool * _DIM_LARGE / _FLOPS * len(used_models(params))
    hits = queries * min(grid["depth"], pool)
    lucene = curves()["search"].seconds(hits, machine.cores)
    hits *= runs * len(grid["systems"])
    memory = max(2.0, grid["memory_mb"] / 1024 + 1)
    return Cost(disk=round(hits * _HIT_BYTES), seconds=runs * (dense + lucene), memory_gib=memory)


def _score(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    hits = _search(of, params, machine).disk / _HIT_BYTES
    measures = len(params["score"]["measures"])
    seconds = curves()["score"].seconds(hits * measures)
    return Cost(disk=10_000_000, seconds=seconds, memory_gib=4)


def _tabulate(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    seconds = curves()["tabulate"].seconds(of.texts)
    return Cost(disk=5_000_000, seconds=seconds, memory_gib=4)


def _release(of: Size, params: Mapping[str, Any], machine: Machine) -> Cost:
    hits = _search(of, params, machine).disk // _HIT_BYTES
    packed, pictures = (
        (of.texts + of.images) * _PACKED_ROW + hits * _PACKED_HIT,
        of.images * of.picture,
    )
    return Cost(
        disk=packed + pictures, seconds=packed / _PACK_RATE + pictures / _COPY_RATE, memory_gib=4
    )


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
    "tabulate": _tabulate,
    "release": _release,
}
PHASES = tuple(PHASE_COSTS)

# ASSUME a small model of ours reads squares of 64 px and has 5 M parameters, a published one
# 224 px and 151 M (ViT-B/32), where the params do not say.
_SIDE = {False: 64, True: 224}
_PARAMETERS = {False: 5e6, True: 151e6}
# ASSUME a core learns from 600 pairs a second with a small model and 5 with a large one, a GPU
# from 20,000 and 1,500, and a thread decodes and cuts 150 pictures a second; no paper says.
_RATE = {(False, False): 600, (False, True): 5, (True, False): 20_000, (True, True): 1_500}
_DECODE_RATE = 150
# ASSUME a pair's texts take 1.2 kB in the reader's file, and its places 100 bytes of memory (id,
# offsets, permutation); the join holds at most 2 GiB, and 3 kB a pair before that; no paper says.
_ROW_BYTES, _PLACE_BYTES, _JOIN_BYTES = 1_200, 100, 3_000
# ASSUME activations of 1 MB a pair for a small model and 20 MB for a large one, and 1 GiB for
# Python and its libraries; no paper says. AdamW holds four numbers a parameter.
_ACTIVATION = {False: 1e6, True: 20e6}
_LIBRARIES, _OPTIMIZER = 1.0, 16
_WEIGHT = 4


class Training(NamedTuple):
    """Of one model: bytes of weights and of scratch files, seconds, peak memory of a process."""

    weights: int
    scratch: int
    seconds: float
    memory_gib: float


def training(spec: Mapping[str, Any], of: Size, cores: int, *, gpu: bool) -> Training:
    """Return the cost of an entry of kind `trained`, or of a mix that is not frozen.

    Raises:
        BadParams: a recipe that no training can use.
    """
    if model_kind(spec).is_mix:
        return _whole(spec, of, cores, gpu=gpu)
    recipe, large = Recipe.of(spec), "name" in spec
    batch = min(recipe.batch, of.pairs)
    samples = recipe.steps * batch if recipe.steps else recipe.epochs * of.pairs
    at_once = _Work(samples, of.pairs, batch, recipe.threads, large=large)
    return _cost(at_once, Resources.of(spec), of, cores, gpu=gpu)


class _Work(NamedTuple):
    """Pictures that are learned from, in all, distinct ones, and in a batch; and the threads.

    `copies`: of the model.
    """

    samples: int
    pictures: int
    batch: int
    threads: int
    large: bool
    copies: int = 1


def _whole(spec: Mapping[str, Any], of: Size, cores: int, *, gpu: bool) -> Training:
    # ASSUME what is trained whole is a published model, two copies of it, two pictures a pair; the
    # params do not say.
    recipe = recipe_of(spec)
    batch = 2 * min(recipe.batch, of.pairs)
    pictures = 2 * of.pairs
    work = _Work(recipe.steps * batch, pictures, batch, recipe.threads, large=True, copies=2)
    return _cost(work, Resources.of(spec), of, cores, gpu=gpu)


def _cost(work: _Work, resources: Resources, of: Size, cores: int, *, gpu: bool) -> Training:
    large = work.large
    squares = work.pictures * _SIDE[large] ** 2 * 3
    fit = squares <= resources.squares_gib * GIB
    devices = resources.processes if gpu else min(cores, work.threads * resources.processes)
    seconds = work.samples / _RATE[gpu, large] / devices
    if not fit:
        workers = min(cores, resources.workers * resources.processes)
        seconds = max(seconds, work.samples / _DECODE_RATE / workers)
    weights = round(work.copies * _PARAMETERS[large] * _WEIGHT)
    checkpoint = 0 if resources.checkpoint_every is None else 3 * weights
    pictures = squares if fit else work.pictures * of.picture
    return Training(
        weights,
        checkpoint + pictures + of.pairs * _ROW_BYTES,
        seconds + work.pictures / _DECODE_RATE / cores,
        round(_memory(work, resources, of), 1),
    )


def _memory(work: _Work, resources: Resources, of: Size) -> float:
    pairs = work.batch // work.copies
    at_once = min(pairs, resources.micro_batch or pairs) * work.copies * _ACTIVATION[work.large]
    # Squares of this batch and the next, and floats of this one, before and after they are moved.
    pictures = work.batch * _SIDE[work.large] ** 2 * 3 * (2 + 2 * 4) / resources.processes
    learning = work.copies * _PARAMETERS[work.large] * _OPTIMIZER + at_once + pictures
    joining = min(2 * GIB, of.pairs * _JOIN_BYTES)
    return _LIBRARIES + (max(learning, joining) + of.pairs * _PLACE_BYTES) / GIB
