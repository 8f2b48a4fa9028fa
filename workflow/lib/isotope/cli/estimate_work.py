"""The work of each job in units: rows, bytes, postings, products, a model's operations.

`estimate_rules.csv` says what a unit takes, by rule, and where it was measured; a rule has a row
for each unit that its time grows with. What the units are is in `UNITS`.
"""

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from isotope.cli.estimate_jobs import Job
from isotope.cli.estimate_sizes import GIB, Size, bytes_of, figure, files_of
from isotope.core.grid import SIDES, document_side, pool_splits, pools, query_side
from isotope.models import reranker_sizes
from isotope.models.families.published import memory_mb, published
from isotope.models.kinds._training import Resources
from isotope.params.judge import ModelJudge
from isotope.params.root import Params
from isotope.params.sections import ModelKind, with_parts
from isotope.plan.judges import BYTES, weights_mb

RULES = Path(__file__).with_name("estimate_rules.csv")
OPERATION = "operation"
# Names of checkpoints in which one tower reads texts, and another one pictures.
_TOWERS = re.compile(r"vit-|clip|siglip|blip", re.IGNORECASE)


class Rate(NamedTuple):
    """What a job of a rule takes: start_s + unit_s * units seconds, and MB likewise.

    `cores` took the seconds of a unit together; 0 where more of them don't help. `most_mb` is what
    the largest measured one held. `engine` is BM25's, where it matters.
    """

    unit: str
    engine: str
    basis: str
    start_s: float
    unit_s: float
    cores: float
    start_mb: float
    unit_mb: float
    most_mb: float


@cache
def rates() -> Mapping[str, list[Rate]]:
    """Return the rates of each rule, in the order of the table."""
    found: dict[str, list[Rate]] = {}
    with RULES.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = (float(row[name]) for name in Rate._fields[3:])
            rate = Rate(row["unit"], row["engine"], row["basis"], *numbers)
            for rule in (row["rule"], *row["also"].split()):
                found.setdefault(rule, []).append(rate)
    return found


class Cell(NamedTuple):
    """How many ask how large a pool in a cell of the grid."""

    queries: float
    pool: float

    def hits(self, depth: float) -> float:
        """Return the hits of a system that lists so many a query."""
        return self.queries * min(depth, self.pool)


class Work(NamedTuple):
    """A job, and what its work follows from."""

    params: Params
    of: Size
    job: Job

    @property
    def rates(self) -> list[Rate]:
        """The rates of the job."""
        either = (getattr(each, "engine", "") for each in (self.system, self.projects))
        engine = next(filter(None, either), "impacts")
        return [rate for rate in rates().get(self.job.rule, []) if rate.engine in ("", engine)]

    @property
    def system(self) -> Any:  # noqa: ANN401 (of any kind, or None)
        """The job's system."""
        return self.params.systems.get(self.job.wildcards.get("system", ""))

    @property
    def model(self) -> Any:  # noqa: ANN401 (of any kind, or None)
        """The job's model, or its system's."""
        named = self.job.wildcards.get("model") or getattr(self.system, "model", "")
        return self.params.models.get(named)

    @property
    def judge(self) -> ModelJudge | None:
        """The job's model that grades."""
        judge = self.params.score.judge
        return judge and (judge.models or {}).get(self.job.wildcards.get("judge", ""))

    @property
    def weights_gib(self) -> float:
        """The memory of the weights of the job's model, 0 without one."""
        if self.judge:
            return weights_mb(self.judge.name, self.judge.precision) * 1e6 / GIB
        return weights_gib(self.model) if self.model else 0.0

    @property
    def projects(self) -> Any:  # noqa: ANN401 (a section, or None)
        """How the job's source is projected."""
        return self.params.project.get(self.job.wildcards.get("source", ""))

    @property
    def cells(self) -> list[Cell]:
        """The cells of the grid."""
        grid = self.params.search
        return [*cells(self.of, grid.settings, grid.splits, grid.tasks)]

    @property
    def pairs(self) -> float:
        """Queries times documents, over all cells."""
        return sum(cell.queries * cell.pool for cell in self.cells)

    @property
    def shared(self) -> float:
        """The postings of a query's words, in the mean, a document of the other side."""
        return math.prod(self.of.words.values()) * figure("bm25.share")

    @property
    def asked(self) -> float:
        """The texts that BM25 asks for a section."""
        titles_first = getattr(self.projects, "mode", "bm25") != "bm25"
        return self.of.asking * (figure("title.share") if titles_first else 1)

    def candidates(self, kind: str, each: float) -> float:
        """Return what the sections that get candidates by a system of a kind ask, `each` a time."""
        return asking(self.of) * each * bool(self.params.candidate(kind))

    def verified(self, check: str, amount: float) -> float:
        """Return what a check of the verification goes over."""
        return amount * (check in self.params.tabulate.verify.checks)


def cells(of: Size, *grid: list[Any]) -> Iterator[Cell]:
    """Yield the cells of a grid: settings, splits and tasks."""
    for setting, split, task in product(*grid):
        queries = of.of_splits(query_side(task), [split])
        yield Cell(queries, of.of_splits(document_side(task), pool_splits(setting, split)))


def hits(of: Size, params: Params) -> float:
    """Return the hits of all systems in all cells."""
    grid = params.search
    every = cells(of, grid.settings, grid.splits, grid.tasks)
    return sum(cell.hits(grid.depth) for cell in every) * len(grid.systems)


def judged(of: Size, params: Params) -> float:
    """Return the pairs of the pool that people and models grade; 0 without judgements."""
    judge, grid = params.score.judge, params.search
    if not judge:
        return 0.0
    apart = 1 + (len(grid.systems) - 1) * figure("judge.different")
    every = cells(of, [judge.setting], [judge.split], grid.tasks)
    return sum(cell.hits(judge.depth * apart) for cell in every)


def indexed(of: Size, params: Params, *, words: bool = False) -> float:
    """Return the documents of the pools of both sides, or their words."""
    grid = params.search
    names = [pool_splits(s, pool) for s in grid.settings for pool in pools(s, grid.splits)]
    counts = {side: sum(of.of_splits(side, splits) for splits in names) for side in SIDES}
    return sum(n * (of.words[side] if words else 1) for side, n in counts.items())


def asking(of: Size) -> float:
    """Return how many sections get candidates: open ones, and those of validation and test."""
    return of.texts * figure("suggest.asking") + of.of_splits("texts", ["validation", "test"])


def released(of: Size, params: Params) -> float:
    """Return the bytes of a release: tables, runs, BEIR's lines, and the pictures of all pools."""
    rows = (of.texts + of.images) * figure("release.row")
    line = of.words["texts"] * figure("release.word") + figure("release.line")
    plain = (of.texts + min(of.pairs, of.texts)) * line + 2 * of.images * figure("release.captions")
    pictures = of.images + of.of_splits("images", ["validation", "test"])
    return rows + hits(of, params) * figure("release.hit") + plain + pictures * of.picture


def used_models(params: Params) -> dict[str, ModelKind]:
    """Return the models behind the systems that are searched, those they fuse included."""
    chosen = with_parts(params.systems, params.search.systems)
    models = {getattr(params.systems[name], "model", None) for name in chosen} - {None}
    models |= {getattr(params.models[name], "of", None) for name in models} - {None}
    return {name: params.models[name] for name in sorted(models)}


# Models. Figures that differ between them go by their names; one of ours has none.


def _figure(name: str, model: Any) -> float:  # noqa: ANN401 (of any kind)
    named = getattr(model, "name", None) or getattr(model, "of", None) or "ours"
    return figure(name, str(named).lower())


def weights(model: Any) -> float:  # noqa: ANN401 (of any kind)
    """Return the weights of a model: of its checkpoint, or by its name."""
    size = None if model.reranks else published(model)
    by_name = reranker_sizes.weights if model.reranks else None
    return (
        by_name(model.name) if by_name else size.parameters if size else _figure("weights", model)
    )


def weights_gib(model: Any) -> float:  # noqa: ANN401 (of any kind)
    """Return the memory of a model's weights, in single precision."""
    return (memory_mb(model) * 1e6 or 4 * weights(model)) / GIB


def tokens(model: Any, of: Size, side: str) -> float:  # noqa: ANN401 (of any kind)
    """Return the tokens of an item of a side: of a picture, or of its text or captions."""
    if side == "images" and getattr(model, "images", "pixels") == "pixels":
        most = (getattr(model, "pixels", None) or math.inf) / 1_024
        return min(_figure("tokens.picture", model), most)
    most = getattr(model, "context", None) or getattr(model, "tokens", None)
    read = of.words[side] * figure("tokens.word") + figure("tokens.turn")
    return min(read, most or _figure("tokens.text", model))


def operations(model: Any, of: Size, side: str) -> float:  # noqa: ANN401 (of any kind)
    """Return the operations in which a model reads an item: two a weight and token.

    Kaplan et al., Scaling Laws for Neural Language Models, 2020, section 2.1.
    """
    one_of_two = 0.5 if _TOWERS.search(str(getattr(model, "name", None))) else 1
    return 2 * weights(model) * one_of_two * tokens(model, of, side)


def dimensions(model: Any) -> float:  # noqa: ANN401 (of any kind)
    """Return the components of a model's vectors."""
    size = published(model)
    return float(getattr(model, "dim", None) or (size.dim if size else _figure("dim", model)))


def encoded_bytes(model: Any, of: Size) -> float:  # noqa: ANN401 (of any kind)
    """Return the bytes of all items' vectors, one or many each, or of their terms."""
    if model.kind == "sparse":
        return (of.texts + of.images) * figure("sparse.bytes")
    many = (dimensions(model) + figure("late.scale")) * (model.kind == "late")
    each = {side: 4 * dimensions(model) + tokens(model, of, side) * many for side in SIDES}
    return of.texts * each["texts"] + of.images * each["images"]


def learned(model: Any, of: Size) -> tuple[float, float, float]:  # noqa: ANN401 (of any kind)
    """Return the pairs that a training learns from, and its bytes: of weights, of pairs' pictures.

    0 of a model that learns nothing, or from vectors.
    """
    recipe: Any = getattr(model, "recipe", None)
    if not issubclass(type(recipe), Resources):
        return 0.0, 0.0, 0.0
    steps, batch = getattr(recipe, "steps", None), min(recipe.batch, of.pairs)
    count = steps * batch if steps else recipe.epochs * of.pairs
    square = figure("train.square")
    picture = square if of.pairs * square <= recipe.squares_gib * GIB else of.picture
    packed = of.pairs * (picture + figure("train.row"))
    return count, figure("train.weight") * weights(model), packed


def _operations(w: Work) -> float:
    model, of, judge = w.model, w.of, w.judge
    if judge:
        judge_weights = weights_mb(judge.name, judge.precision) * 1e6 / BYTES[judge.precision]
        return 2 * judge_weights * figure("tokens.judged") * judged(of, w.params)
    if not model or model.kind == "hash":
        return 0.0
    if w.job.phase == "search":
        read = figure("tokens.prompt") + of.words["texts"] * figure("tokens.word")
        read = min(read + tokens(model, of, "images"), getattr(model, "context", None) or math.inf)
        return 2 * weights(model) * read * sum(cell.hits(w.system.depth) for cell in w.cells)
    item = {side: operations(model, of, side) for side in SIDES}
    if w.job.phase == "train" or w.job.rule == "encode_mix":
        return figure("train.passes") * sum(item.values()) * learned(model, of)[0]
    return of.texts * item["texts"] + of.images * item["images"]


def _late_products(w: Work) -> float:
    few, most = w.system.candidates, w.system.exact_up_to
    scored = sum(c.hits(math.inf if c.pool <= most else few) for c in w.cells)
    return scored * math.prod(tokens(w.model, w.of, side) for side in SIDES) * dimensions(w.model)


def _candidate_products(w: Work) -> float:
    system = w.params.systems.get(w.params.candidate("dense") or "")
    model = w.params.models.get(getattr(system, "model", ""))
    return w.candidates("dense", w.of.images * dimensions(model)) if model else 0.0


def _pixels(w: Work) -> float:
    drawn = min(w.of.fetched / figure("picture.thumbnail_pixel"), figure("picture.pixels"))
    return w.of.images * (figure("picture.own_pixels") + drawn)


def _wikidata(w: Work) -> float:
    files = files_of(w.params.acquire[w.job.wildcards["source"]])["wikidata"]
    return sum(map(bytes_of, files)) * figure("wikidata.text_a_byte")


# Of all shards of a job together; of `every ...` each shard has all.
UNITS: Mapping[str, Callable[[Work], float]] = {
    "job": lambda _: 1.0,
    "byte": lambda w: w.of.upstream,
    "byte of XML": lambda w: w.of.xml,
    "byte of Wikidata": _wikidata,
    "row of WIT": lambda w: w.of.rows,
    "pixel": _pixels,
    "text that asks": lambda w: w.of.asking,
    **dict.fromkeys(("section", "every section"), lambda w: w.of.sections),
    "word of a section": lambda w: w.of.sections * w.of.words["texts"],
    "section asked for": lambda w: w.asked,
    "word and word asked for": lambda w: w.asked * w.of.sections * w.of.words["texts"],
    **dict.fromkeys(("text or image", "every text or image"), lambda w: w.of.texts + w.of.images),
    "item hashed": lambda w: UNITS["text or image"](w) * (getattr(w.model, "kind", "") == "hash"),
    "word indexed": lambda w: indexed(w.of, w.params, words=True),
    "query": lambda w: sum(cell.queries for cell in w.cells),
    "posting": lambda w: w.pairs * w.shared,
    "posting of terms": lambda w: w.pairs * figure("sparse.shared"),
    "product": lambda w: w.pairs * dimensions(w.model),
    "product of tokens": _late_products,
    "hit": lambda w: hits(w.of, w.params) / len(w.params.search.systems),
    "hit and measure": lambda w: hits(w.of, w.params) * len(w.params.score.measures),
    "query of candidates": lambda w: w.candidates("bm25", 1),
    "posting of candidates": lambda w: w.candidates("bm25", w.of.images * w.shared),
    "product of candidates": _candidate_products,
    "pair learned from": lambda w: learned(w.model, w.of)[0],
    OPERATION: _operations,
    "byte verified": lambda w: w.verified("digests", w.of.upstream),
    "hit and measure verified": lambda w: w.verified(
        "measures", UNITS["hit and measure"](w) * w.params.tabulate.verify.sample
    ),
    "word verified": lambda w: w.verified("rankings", UNITS["word indexed"](w)),
    "byte of a release": lambda w: released(w.of, w.params),
}
