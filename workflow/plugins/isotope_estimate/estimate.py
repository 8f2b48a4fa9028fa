"""`isotope estimate`: what a run will cost, phase by phase, before anything runs.

A phase takes what it took in rehearsals, times the units of its sources (`sizes`): rows,
bytes, pairs of a query and a document, a model's operations. `estimate.csv` says what a unit takes.
The network is bounded by the link and the crawl's own limits.
"""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, cast

from isotope.core import extras
from isotope.core.grid import SIDES, document_side, pool_splits, query_side
from isotope.core.patterns import Stated
from isotope.models import reranker_sizes
from isotope.models.families.published import memory_mb, published
from isotope.models.kinds._training import Resources
from isotope.models.named_sizes import BYTES, weights_mb
from isotope.params.crawl import Crawl
from isotope.params.links import sources
from isotope.params.root import Params
from isotope.params.sections import ModelKind, with_parts
from isotope.tabulate.table import plain
from isotope_estimate import sizes as source_sizes
from isotope_estimate.sizes import GIB, Bag, Row, bytes_of, figure, of_splits, table, together

# A phase that `snakemake all` leaves out, and those that work on sources, not on collections.
NOT_IN_ALL, _OF_SOURCES = "release", ("acquire", "parse", "crawl", "project")
PHASES = (
    *(*_OF_SOURCES, "collect", "train", "encode", "index", "search", "score", "suggest"),
    *("tabulate", NOT_IN_ALL),
)
_ASKED = {"acquire": ("file", "byte of a server"), "crawl": ("request", "byte fetched")}
_OF_MODELS = ("name", "of", "dim", "context", "images", "pixels", "recipe")
# Names of checkpoints in which one tower reads texts, and another one pictures.
_TOWERS = re.compile(r"vit-|clip|siglip|blip", re.IGNORECASE)


class Machine(NamedTuple):
    """What the work is divided by."""

    cores: int
    gpu: bool


class Cost(NamedTuple):
    """Of a phase; `unmeasured_s` are those of the machine's `work_s` that no measurement says."""

    requests: float = 0
    fetched: float = 0
    disk: float = 0
    seconds: float = 0
    memory_gib: float = 0
    bound: str = "machine"
    work_s: float = 0
    unmeasured_s: float = 0


def machine(cores: int | None = None) -> Machine:
    """Return this machine, or one like it with other cores, and whether torch sees a GPU."""
    return Machine(cores or os.cpu_count() or 1, _sees_gpu())


def _sees_gpu() -> bool:
    """Tell whether torch sees a GPU; without torch nothing would use one."""
    if not extras.is_installed("torch"):
        return False
    import torch  # noqa: PLC0415 (slow to import)

    return torch.cuda.is_available()


def run(params: Params, on: Machine, source_counts: Mapping[str, Bag]) -> dict[str, Cost]:
    """Return the cost of each phase that does anything, with sources of these sizes.

    A phase's shards share its rows; each has eight threads, and `memory.most` beside a model.
    """
    phases, link = dict[str, Cost](), figure("link.bytes")
    for phase, bags in units(params, source_counts, on.cores).items():
        work_s = unmeasured_s = disk = megabytes = 0.0
        split = shards(params, phase)
        for row in table()[phase]:
            counts = [bag.get(row.unit, 0.0) for bag in bags]
            if not any(counts):
                continue
            rate = by_gpu(phase, row) if on.gpu else row
            shared = rate.serial + (1 - rate.serial) / min(on.cores, 8 * split)
            took = row.start_s + sum(counts) * rate.value * shared
            work_s, unmeasured_s = work_s + took, unmeasured_s + took * (rate.basis == "assumed")
            disk += sum(counts) * row.disk
            held = row.start_mb + row.unit_mb * max(counts) / (1 if row.unit == "GiB" else split)
            most = math.inf if row.unit == "GiB" else figure("memory.most")
            megabytes = max(megabytes, min(held, most))
        asked = _ASKED.get(phase, ("", ""))
        requests, fetched = (sum(bag.get(n, 0) for bag in bags) for n in asked)
        polite = sum(bag["polite second"] for bag in bags) * (phase == "crawl")
        waits = {polite: "crawl's limits", fetched / link: "link", work_s: "machine"}
        totals = max(waits), megabytes / 1024, waits[max(waits)], work_s, unmeasured_s
        if work_s or disk:
            phases[phase] = Cost(requests, fetched, disk, *totals)
    return phases


def by_gpu(phase: str, row: Row) -> Row:
    """Return what a unit of a phase takes on a GPU; the row itself where that takes none."""
    return next(
        (gpu_row for gpu_row in table().get(f"gpu.{phase}", []) if gpu_row.unit == row.unit), row
    )


def shards(params: Params, phase: str) -> int:
    """Return how many jobs share a phase's rows."""
    crawls = [params.crawl[name].shards for name in params.build if name in params.crawl]
    configured = {"crawl": max(crawls, default=1), "encode": params.encode.shards}
    return configured.get(phase) or getattr(params.shards, phase, 1)


def polite_s(crawl: Crawl | None, requests: float, fetched: float) -> float:
    """Return the seconds of a crawl within its limits, if all pictures are on one host."""
    if not crawl or crawl.serve or crawl.pictures:
        return 0.0
    return max(requests / crawl.rate_per_s, fetched * 8e-6 / crawl.megabits_per_s)


def bulk(params: Params, source: str, counts: Bag, cores: int) -> Bag:
    """Return what others publish whole for a crawl, and what is left to ask for; {} without any.

    Rows that are here are counted; of a folder nothing is known but that it has no more than all.
    """
    crawl = params.crawl.get(source)
    if not crawl or crawl.bulk is None:
        return {}
    size = fetched = rows = 0.0
    for item in crawl.bulk:
        shards = (
            sorted(Path("data/crawl", item.crawl).glob("shard-*.parquet")) if item.crawl else []
        )
        files = [Stated(str(path)) for path in shards]
        if item.source:
            files = source_sizes.files_of(params.acquire[item.source])[str(item.part)]
        for file in files:
            many, rows_here = bytes_of([file]), source_sizes.rows_of(Path(file.url))
            size, fetched = size + many, fetched + many * ("://" in file.url)
            rows += rows_here or many / figure("bulk.row_bytes", file.url)
        rows += counts["image"] * bool(item.folder)
    pictures = min(rows, counts["image"])
    left, read_s = counts["image"] - pictures, pictures / figure("bulk.pictures_a_second")
    left_s = polite_s(crawl, left, left * counts["byte fetched"] / counts["image"])
    way = {"bytes": size, "fetched": fetched, "pictures": pictures, "requests": left}
    return way | {"read_s": read_s / max(1, min(crawl.decoders or 1, cores)), "rest_s": left_s}


def units(params: Params, source_counts: Mapping[str, Bag], cores: int) -> dict[str, list[Bag]]:
    """Return how much each phase has of each unit, by the sources or collections it works on."""
    built = [together(*(source_counts[s] for s in sources(params, name))) for name in params.build]
    of_sources = [_units(params, counts, cores, name) for name, counts in source_counts.items()]
    of_built = [_units(params, counts, cores) for counts in built]
    bags = {phase: of_sources if phase in _OF_SOURCES else of_built for phase in PHASES}
    # What is a phase's own has its name in front.
    return {
        phase: [
            {unit.removeprefix(f"{phase} "): n for unit, n in bag.items()} for bag in phase_bags
        ]
        for phase, phase_bags in bags.items()
    }


def cells(counts: Bag, *grid: Sequence[Any]) -> list[tuple[float, float]]:
    """Return how many queries ask how large a pool, for settings, splits and tasks."""
    return [
        (
            of_splits(counts, query_side(t), [s]),
            of_splits(counts, document_side(t), pool_splits(pool, s)),
        )
        for pool, s, t in product(*grid)
    ]


def _units(params: Params, counts: Bag, cores: int, source: str = "") -> Bag:
    grid, project = params.search, params.project.get(source)
    totals = together(counts, {"item": counts["text"] + counts["image"]})
    asked = cells(counts, grid.settings, grid.splits, grid.tasks)
    asking = counts["pair"] * (
        1 if getattr(project, "mode", "") == "bm25" else figure("title.share")
    )
    totals[f"section asked by {getattr(project, 'engine', '')}"] = asking * counts["section"]
    totals["byte of templates"] = counts["byte of XML"]
    totals["hit"] = sum(n * min(grid.depth, pool) for n, pool in asked) * len(grid.systems)
    verify: Any = params.sections.get("verify")
    checks = verify.checks if verify else ()
    totals["hit verified"] = totals["hit"] * verify.sample if "measures" in checks else 0.0
    totals["item verified"] = totals["item"] * ("rankings" in checks)
    totals["polite second"] = polite_s(
        params.crawl.get(source), counts["request"], counts["byte fetched"]
    )
    if way := bulk(params, source, counts, cores):
        totals["byte"], totals["second of bulk"] = counts["byte"] + way["bytes"], way["read_s"]
        totals["byte of a server"] += way["fetched"]
    suggest: Any = params.sections.get("suggest")
    if suggest and suggest.collections != []:
        totals["open section"] = counts["text"] * figure("suggest.open")
    models = models_of(params)
    _encode(models, totals)
    _search(params, models, totals)
    return totals


def _encode(models: Mapping[str, "SizedModel"], totals: Bag) -> None:
    """Add what encoders read and learn: two operations a weight and token (Kaplan et al., 2020)."""
    for model in (model for model in models.values() if not model.entry.reranks):
        kind, recipe = model.entry.kind_name(), model.recipe
        per_token = model.weights * (1 if _TOWERS.search(model.name) else 2) * (kind != "hash")
        read = sum(totals[side[:-1]] * count for side, count in model.tokens.items())
        vectors = 4 * model.dim * totals["item"] + (model.dim + 4) * read * (kind == "late")
        totals["byte of vectors"] += 1_600 * totals["item"] if kind == "sparse" else vectors
        totals["encode operation"] += per_token * read
        totals["encode GiB"] = max(totals["encode GiB"], model.gib)
        if recipe:
            steps, pairs = getattr(recipe, "steps", None), totals["pair"]
            count = steps * min(recipe.batch, pairs) if steps else recipe.epochs * pairs
            totals["pair learned from"] += count
            # Backward takes twice forward.
            totals["train operation"] += 3 * count * per_token * sum(model.tokens.values())
            totals["weight learned"] += model.weights
            totals["pair to learn from"] += pairs


def _candidates(params: Params) -> list[str]:
    """Return the systems whose hits are suggested, where anything is."""
    suggest: Any = params.sections.get("suggest")
    kinds = ("bm25", "dense") if suggest else ()
    return [name for kind in kinds if (name := suggest.candidate(params, kind))]


def _search(params: Params, models: Mapping[str, "SizedModel"], totals: Bag) -> None:
    """Add what systems and judges do: pairs of a query and a document, times a model's size."""
    grid, judge = params.search, cast("Any", params.sections.get("judge"))
    asked = cells(totals, grid.settings, grid.splits, grid.tasks)
    for name in with_parts(params.systems, grid.systems):
        system: Any = params.systems[name]
        kind, model = system.kind, models.get(getattr(system, "model", ""))
        by, per_pair = f"pair by {getattr(system, 'engine', kind)}", 1.0
        scored = sum(n * pool for n, pool in asked)
        if model and kind in ("dense", "late"):
            by, per_pair = "product", model.dim
        if model and kind == "late":
            few, most = system.candidates, system.exact_up_to
            scored = sum(n * (pool if pool <= most else min(few, pool)) for n, pool in asked)
            per_pair *= math.prod(model.tokens.values())
        if model and kind == "rerank":
            by, scored = "operation", sum(n * min(system.depth, pool) for n, pool in asked)
            per_pair = 2 * model.weights * min(sum(model.tokens.values()), model.most)
            totals["search GiB"] = max(totals["search GiB"], model.gib)
        totals[f"search {by}"] += scored * per_pair
        if name in _candidates(params):
            totals[f"suggest {by}"] = totals["open section"] * totals["image"] * per_pair
    for grader in ((judge and judge.models) or {}).values():
        pools = cells(totals, [judge.setting], [judge.split], grid.tasks)
        graded = sum(n * min(judge.depth * len(grid.systems), pool) for n, pool in pools)
        size, read = weights_mb(grader.name, grader.precision) * 1e6, 2 * figure("tokens.judged")
        totals["score operation"] += read * graded * size / BYTES[grader.precision]
        totals["score GiB"] = max(totals["score GiB"], size / GIB)


class SizedModel(NamedTuple):
    """A model's size; `tokens` are those of a text and of a picture or its captions."""

    entry: ModelKind
    name: str
    weights: float
    gib: float
    dim: float
    tokens: Mapping[str, float]
    most: float
    recipe: Any


def models_of(params: Params) -> dict[str, SizedModel]:
    """Return the models of what is searched and fused: sizes of checkpoints, or by their names."""
    chosen, models = with_parts(params.systems, params.search.systems), dict[str, SizedModel]()
    used: set[Any] = {getattr(params.systems[name], "model", None) for name in chosen} - {None}
    used |= {getattr(params.models[name], "of", None) for name in used} - {None}
    for key, entry in ((key, params.models[key]) for key in sorted(used)):
        fields: dict[str, Any] = {key: getattr(entry, key, None) for key in _OF_MODELS}
        checkpoint = published(entry)
        name = str(fields["name"] or fields["of"] or "ours").lower()
        weights = checkpoint.parameters if checkpoint else figure("weights", name)
        weights = reranker_sizes.weights(fields["name"]) if entry.reranks else weights
        dim = fields["dim"] or (checkpoint.dim if checkpoint else figure("dim", name))
        most = fields["context"] or figure("tokens.most", name)
        tokens = {side: min(figure(f"tokens.{side}"), most) for side in SIDES}
        if (fields["images"] or "pixels") == "pixels":
            pixels = (fields["pixels"] or math.inf) / 1_024
            tokens["images"] = min(figure("tokens.picture", name), pixels)
        gib = (memory_mb(entry) * 1e6 or 4 * weights) / GIB
        recipe = fields["recipe"] if isinstance(fields["recipe"], Resources) else None
        models[key] = SizedModel(entry, name, weights, gib, dim, tokens, most, recipe)
    return models


def text(phases: Mapping[str, Cost], on: Machine, ways: Mapping[str, Bag]) -> str:
    """Return the table that the command prints, in GiB and hours, a line for the whole run, too.

    Below it is a release, which `snakemake all` makes none of, and what crawls read in bulk.
    """
    shown = {phase: cost for phase, cost in phases.items() if phase != NOT_IN_ALL}
    sums = [sum(numbers) for numbers in zip(*(cost[:4] for cost in shown.values()), strict=True)]
    gib = max((cost.memory_gib for cost in shown.values()), default=0.0)
    shown |= {"all": Cost._make((*sums, gib, "", 0.0, 0.0)), **phases}
    rows = [
        (
            *(name, round(c.requests), round(c.fetched / GIB, 3), round(c.disk / GIB, 3)),
            *(round(c.seconds / 3_600, 3), round(c.memory_gib, 2), c.bound),
            f"{c.unmeasured_s / c.work_s:.0%}" if c.work_s else "",
        )
        for name, c in shown.items()
    ]
    columns = ("phase", "requests", "fetched_gib", "disk_gib", "hours", "memory_gib", "bound")
    note = f"for {on.cores} cores and {'a GPU' if on.gpu else 'no GPU'}; unmeasured: a share of the"
    note += " machine's time; isotope_estimate/estimate.csv says what is measured, published and"
    note += " assumed\n"
    for name, way in ways.items():
        note += (
            f"crawl of {name}: {way['bytes'] / GIB:,.1f} GiB to read, for {way['pictures']:,.0f}"
        )
        note += f" pictures at most, {way['read_s'] / 3_600:.2f} hours; requests for"
        note += f" {way['requests']:,.0f} others at best, {way['rest_s'] / 3_600:.2f} hours\n"
    return plain(rows, (*columns, "unmeasured")) + note


def as_json(phases: Mapping[str, Cost], on: Machine, ways: Mapping[str, Bag]) -> str:
    """Return what `text` says as JSON, in bytes and seconds."""
    costs = {phase: cost._asdict() for phase, cost in phases.items()}
    return json.dumps({**on._asdict(), "phases": costs, "bulk": ways}, indent=1) + "\n"
