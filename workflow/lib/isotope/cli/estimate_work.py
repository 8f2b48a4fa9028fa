"""The units of each job's work: what its rule's curve is drawn over.

Rows of WIT, bytes of XML, pictures, rows of a collection, hits: from the sizes of the sources.
Besides, jobs of BM25 take core seconds by its own curves in queries, words a query and pool
(`estimate_curves`), as these grow otherwise than a row does; their rule's curve says what the
workflow adds.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from isotope.cli import estimate_late
from isotope.cli.estimate_curves import Asked, index_s, nearest_s, search_s
from isotope.cli.estimate_jobs import Job
from isotope.cli.estimate_sizes import Size
from isotope.core.grid import SIDES, document_side, pool_splits, pools, query_side
from isotope.params.links import sources
from isotope.params.suggest import candidate_system

Params = Mapping[str, Any]
Units = Callable[[Size, Params, Job], float]
# Rules each of whose shards reads all rows, or the index of all.
WHOLE = ("search_bm25", "search_dense", "project_texts")
# ASSUME decoding and encoding a picture costs as 80,000 pixels besides its own, and an original has
# a million; no measurement says.
_PICTURE_PIXELS, _ORIGINAL_PIXELS = 80_000, 1_000_000
_BYTES_A_PIXEL = 0.25
# ASSUME a score of exact search over vectors is looked at as long as 64 multiplications take; no
# paper says.
_LOOK = 64
# 1,000 queries of 200,000 vectors of 768 components: 3.23 s of a processor
# (benchmarks/results/dense.md).
_PRODUCT_S = 3.23 / (1_000 * 200_000 * (768 + _LOOK))
# ASSUME four of five texts of WIT find their section by its titles, in the mode that asks them
# first; no measurement says.
_UNTITLED = 0.2
# ASSUME models of any kind have 768 components where the params do not say.
_DIM = 768


def units(params: Params, sizes: Mapping[str, Size], jobs: Sequence[Job]) -> list[float]:
    """Return the units of each job: those of its rule's work, among the shards alike."""
    return _shared(params, sizes, jobs, _rule)


def core_seconds(params: Params, sizes: Mapping[str, Size], jobs: Sequence[Job]) -> list[float]:
    """Return the core seconds of BM25 itself, or of another search, in each job.

    Raises:
        BadParams: an engine of BM25 that was not measured.
    """
    return _shared(params, sizes, jobs, lambda job: BM25.get(job.rule, _nothing), whole=())


def _shared(
    params: Params,
    sizes: Mapping[str, Size],
    jobs: Sequence[Job],
    work: Callable[[Job], Units],
    whole: Sequence[str] = WHOLE,
) -> list[float]:
    shards = Counter(job.work for job in jobs)
    of = {name: _of(params, sizes, name) for name in (*sizes, *params["collect"], "")}
    found: list[float] = []
    for job in jobs:
        place = job.wildcards.get("source") or job.wildcards.get("collection") or ""
        total = work(job)(of.get(place, of[""]), params, job)
        found.append(total if job.rule in whole else total / shards[job.work])
    return found


def _nothing(_of: Size, _params: Params, _job: Job) -> float:
    return 0.0


def _of(params: Params, sizes: Mapping[str, Size], name: str) -> Size:
    """Return the size of a source, of a collection, or of all."""
    if name in sizes:
        return sizes[name]
    named = sources(params, name) if name else ()
    own = [sizes[s] for s in named if s in sizes] or list(sizes.values())
    return reduce(_both, own)


def _both(a: Size, b: Size) -> Size:
    counted = ("texts", "images", "associations", "pairs", "upstream", "dump", "xml", "sections")
    both = {name: getattr(a, name) + getattr(b, name) for name in (*counted, "wit_texts")}
    return replace(a, judged_images=a.judged_images + b.judged_images, **both)


def cells(params: Params) -> Iterator[tuple[str, str, str]]:
    """Yield setting, split and task of every cell of the grid."""
    grid = params["search"]
    for setting in grid["settings"]:
        for split in grid["splits"]:
            for task in grid["tasks"]:
                yield setting, split, task


def asked(of: Size, params: Params, cell: tuple[str, str, str]) -> Asked:
    """Return what is asked of which pool in a cell."""
    setting, split, task = cell
    side, other = document_side(task), query_side(task)
    pool = of.pool(side, pool_splits(setting, split))
    queries = of.of_split(other, split)
    return Asked(queries, of.words(other), pool, of.words(side), params["search"]["depth"])


def hits(of: Size, params: Params) -> float:
    """Return the hits of one system in all cells."""
    every = [asked(of, params, cell) for cell in cells(params)]
    return sum(each.queries * min(each.depth, each.pool) for each in every)


def _engine(params: Params, job: Job) -> str:
    return str(params["systems"].get(job.wildcards.get("system", ""), {}).get("engine", "impacts"))


def _project_engine(params: Params, job: Job) -> str:
    return str(params["project"].get(job.wildcards.get("source", ""), {}).get("engine", "impacts"))


def _searched(of: Size, params: Params, job: Job) -> float:
    engine = _engine(params, job)
    return sum(
        search_s(engine, document_side(cell[2]), asked(of, params, cell)) for cell in cells(params)
    )


def _pools(of: Size, params: Params) -> Iterator[tuple[str, int]]:
    """Yield the side and the documents of every index."""
    grid = params["search"]
    for setting in grid["settings"]:
        for pool in pools(setting, grid["splits"]):
            for side in SIDES:
                yield side, of.pool(side, pool_splits(setting, pool))


def _indexed_words(of: Size, params: Params, _: Job) -> float:
    """Return the words of all documents of all pools."""
    return sum(count * of.words(side) for side, count in _pools(of, params))


def _indexed(of: Size, params: Params, job: Job) -> float:
    documents = sum(count for _, count in _pools(of, params))
    return index_s(_engine(params, job), _indexed_words(of, params, job), documents)


def _nearest(of: Size, params: Params, job: Job) -> float:
    mode = params["project"].get(job.wildcards.get("source", ""), {}).get("mode", "bm25")
    queries = of.wit_texts * (1.0 if mode == "bm25" else _UNTITLED)
    question = Asked(queries, of.text_words, of.sections or of.texts, of.text_words)
    return nearest_s(_project_engine(params, job), question)


def _sections_indexed(of: Size, params: Params, job: Job) -> float:
    sections = of.sections or of.texts
    return index_s(_project_engine(params, job), sections * of.text_words, sections)


def _projected(of: Size, params: Params, job: Job) -> float:
    return _nearest(of, params, job) + _sections_indexed(of, params, job)


def _products(of: Size, params: Params, job: Job) -> float:
    """Return the core seconds of exact search over vectors in all cells."""
    every = [asked(of, params, cell) for cell in cells(params)]
    pairs = sum(each.queries * each.pool for each in every)
    return pairs * _pair_s(params, job.wildcards.get("system", ""))


def _pair_s(params: Params, name: str) -> float:
    """Return the core seconds in which a dense system compares a query with a document."""
    system = params["systems"].get(name, {})
    dim = params["models"].get(system.get("model", ""), {}).get("dim", _DIM)
    return (dim + _LOOK) * _PRODUCT_S


# ASSUME a tenth of a wiki's sections are without a picture that they ought to have: it is a
# twentieth of the demo's; no measurement of a real wiki says.
_OUGHT = 0.1


def asking(of: Size) -> int:
    """Return how many sections get candidates: open ones, and those of validation and test."""
    judged = sum(of.of_split("texts", split) for split in ("validation", "test"))
    return round(of.texts * _OUGHT) + judged


def _suggested(of: Size, params: Params, _: Job) -> float:
    """Return the core seconds of finding pictures, by words and by vectors."""
    queries, seconds = asking(of), 0.0
    if candidate_system(params, "bm25"):
        depth = params["suggest"]["depth"]
        question = Asked(queries, of.words("texts"), of.images, of.words("images"), depth)
        seconds += search_s("impacts", "images", question)
    if dense := candidate_system(params, "dense"):
        seconds += queries * of.images * _pair_s(params, dense)
    return seconds


def _late(of: Size, params: Params, job: Job) -> float:
    """Return the core seconds of late interaction in all cells."""
    system = params["systems"][job.wildcards["system"]]
    model = params["models"][system["model"]]
    return sum(
        estimate_late.late_s(system, model, of, asked(of, params, cell), cell[2])
        for cell in cells(params)
    )


def _impacts(of: Size, params: Params, _: Job) -> float:
    """Return the core seconds of searches over impacts in all cells."""
    return sum(estimate_late.sparse_s(asked(of, params, cell)) for cell in cells(params))


def _pixels(of: Size, params: Params, job: Job) -> float:
    width = params["crawl"].get(job.wildcards.get("source", ""), {}).get("width")
    drawn = of.fetched_picture / _BYTES_A_PIXEL
    own = width * width * 2 / 3 if width else min(drawn, _ORIGINAL_PIXELS)
    return of.images * (_PICTURE_PIXELS + own)


def _upstream(of: Size, _params: Params, _job: Job) -> float:
    return of.upstream


def _wit(of: Size, _params: Params, _job: Job) -> float:
    return of.associations


def _xml(of: Size, _params: Params, _job: Job) -> float:
    return of.xml


def _sections(of: Size, _params: Params, _job: Job) -> float:
    return of.sections or of.texts


def _asking(of: Size, _params: Params, _job: Job) -> float:
    return of.wit_texts or of.pairs


def _rows(of: Size, _params: Params, _job: Job) -> float:
    return of.texts + of.images


def _side(of: Size, _params: Params, job: Job) -> float:
    side = job.wildcards.get("side", "")
    return of.of_side(side) if side in ("texts", "images") else of.texts + of.images


def _hits(of: Size, params: Params, _job: Job) -> float:
    return hits(of, params)


def _scored(of: Size, params: Params, _job: Job) -> float:
    return hits(of, params) * len(params["search"]["systems"]) * len(params["score"]["measures"])


def _released(of: Size, params: Params, _job: Job) -> float:
    pictures = of.images * of.picture
    return pictures + (of.texts + of.images) * 1_400 + _scored(of, params, _job) * 10


# Rules that do what another one does, which was measured.
SAME = {"crawl_rest": "crawl_shard"}
# By phase, and by rule where it differs from its phase.
UNITS: Mapping[str, tuple[str, Units]] = {
    "acquire": ("byte", _upstream),
    "parse": ("byte of XML", _xml),
    "parse_wit": ("row of WIT", _wit),
    "parse_wit_gather": ("row of WIT", _wit),
    "parse_associations": ("row of WIT", _wit),
    "crawl": ("row of WIT", _wit),
    "crawl_shard": ("pixel", _pixels),
    "crawl_rest": ("pixel", _pixels),
    "crawl_pictures": ("pixel", _pixels),
    "project": ("text that asks", _asking),
    "project_source": ("section", _sections),
    "project_index": ("section", _sections),
    "project_index_gather": ("section", _sections),
    "project_texts": ("section", _sections),
    "collect": ("text or image", _rows),
    "train": ("text or image", _rows),
    "encode": ("text or image", _side),
    "index": ("text or image", _rows),
    "index_digests": ("word", _indexed_words),
    "search": ("hit", _hits),
    "search_bm25": ("text or image", _rows),
    "search_dense": ("text or image", _rows),
    "score": ("hit and measure", _scored),
    "suggest": ("text or image", _rows),
    "tabulate": ("text or image", _rows),
    "tabulate_intervals": ("hit and measure", _scored),
    "release": ("byte", _released),
}


# By rule, the core seconds of BM25 itself, and of other searches.
BM25: Mapping[str, Units] = {
    "project_source": _projected,
    "project_index": _sections_indexed,
    "project_texts": _nearest,
    "index_bm25": _indexed,
    "index_bm25_shard": _indexed,
    "search_bm25": _searched,
    "search_dense": _products,
    "search_late": _late,
    "search_sparse": _impacts,
    "suggest_candidates": _suggested,
}


def unit(rule: str) -> str:
    """Return what the units of a rule are."""
    return UNITS.get(rule, UNITS[rule.partition("_")[0]])[0]


def _rule(job: Job) -> Units:
    return UNITS.get(job.rule, UNITS[job.phase])[1]
