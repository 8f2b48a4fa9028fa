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
from isotope.cli.estimate_sizes import GIB, Params, Size, bytes_of, figure
from isotope.core.errors import BadParams
from isotope.core.grid import SIDES, document_side, pool_splits, pools, query_side
from isotope.models import reranker_sizes
from isotope.models.families.published import memory_mb, published
from isotope.params.recipes import Recipe, Resources, recipe_of
from isotope.params.resolve import expand_files
from isotope.params.sections import model_kind, model_values, system_kind, with_parts
from isotope.params.suggest import candidate_system
from isotope.plan.judges import BYTES, weights_mb

RULES = Path(__file__).with_name("estimate_rules.csv")
OPERATION = "operation"
Model = Mapping[str, Any]
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
    """What is asked of which pool in a cell of the grid."""

    task: str
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
    def rates(self) -> Iterator[Rate]:
        """The rates of the job.

        Raises:
            BadParams: an engine of BM25 that was not measured.
        """
        engine = self.system.get("engine") or self.projects.get("engine", "impacts")
        every = rates().get(self.job.rule, [])
        by = dict.fromkeys(rate.engine for rate in every if rate.engine)
        if by and engine not in by:
            raise BadParams("engine", f"no engine {engine!r}", f"one of {', '.join(by)}")
        yield from (rate for rate in every if rate.engine in ("", engine))

    @property
    def system(self) -> Model:
        """The entry of the job's system, with the defaults of its kind; empty without one."""
        entry = self.params["systems"].get(self.job.wildcards.get("system"))
        return system_kind(entry).filled(entry) if entry else {}

    @property
    def model(self) -> Model:
        """The entry of the job's model, or of its system's; empty without one."""
        named = self.job.wildcards.get("model") or self.system.get("model")
        return self.params["models"].get(named, {})

    @property
    def judge(self) -> Model:
        """The entry of the job's model that grades; empty without one."""
        judges = self.params["score"].get("judge", {}).get("models", {})
        return judges.get(self.job.wildcards.get("judge"), {})

    @property
    def weights_gib(self) -> float:
        """The memory of the weights of the job's model, 0 without one."""
        if self.judge:
            return weights_mb(self.judge["name"], self.judge["precision"]) * 1e6 / GIB
        return weights_gib(self.model) if self.model else 0.0

    @property
    def projects(self) -> Model:
        """How the job's source is projected; empty without."""
        return self.params["project"].get(self.job.wildcards.get("source"), {})

    @property
    def pairs(self) -> float:
        """Queries times documents, over all cells."""
        return sum(c.queries * c.pool for c in cells(self.of, self.params["search"]))

    @property
    def shared(self) -> float:
        """The postings of a query's words, in the mean, a document of the other side."""
        return math.prod(self.of.words.values()) * figure("bm25.share")


def cells(of: Size, grid: Params) -> Iterator[Cell]:
    """Yield the cells of a grid: settings, splits and tasks."""
    for setting, split, task in product(grid["settings"], grid["splits"], grid["tasks"]):
        queries = of.of_splits(query_side(task), [split])
        yield Cell(task, queries, of.of_splits(document_side(task), pool_splits(setting, split)))


def hits(of: Size, params: Params) -> float:
    """Return the hits of all systems in all cells."""
    grid = params["search"]
    return sum(c.hits(grid["depth"]) for c in cells(of, grid)) * len(grid["systems"])


def judged(of: Size, params: Params) -> float:
    """Return the pairs of the pool that people and models grade; 0 without judgements."""
    judge, grid = params["score"].get("judge"), params["search"]
    if not judge:
        return 0.0
    own = {**grid, "settings": [judge["setting"]], "splits": [judge["split"]]}
    apart = 1 + (len(grid["systems"]) - 1) * figure("judge.different")
    return sum(cell.hits(judge["depth"] * apart) for cell in cells(of, own))


def indexed(of: Size, params: Params, *, words: bool = False) -> float:
    """Return the documents of the pools of both sides, or their words."""
    grid = params["search"]
    names = [pool_splits(s, pool) for s in grid["settings"] for pool in pools(s, grid["splits"])]
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


def used_models(params: Params) -> dict[str, Model]:
    """Return the models behind the systems that are searched, those they fuse included."""
    systems = params["systems"]
    chosen = with_parts(systems, params["search"]["systems"])
    models = {systems[s]["model"] for s in chosen if "model" in systems[s]}
    models |= {params["models"][m]["of"] for m in models if "of" in params["models"][m]}
    return {name: params["models"][name] for name in sorted(models)}


# Models. Figures that differ between them go by their names; one of ours has none.


def _name(model: Model) -> str:
    return str(model.get("name") or model.get("of") or "ours").lower()


def weights(model: Model) -> float:
    """Return the weights of a model: of its checkpoint, or by its name."""
    if model_kind(model).reranks:
        return reranker_sizes.weights(str(model["name"]))
    size = published(model)
    return size.parameters if size else figure("weights", _name(model))


def weights_gib(model: Model) -> float:
    """Return the memory of a model's weights, in single precision."""
    return (memory_mb(model) * 1e6 or 4 * weights(model)) / GIB


def tokens(model: Model, of: Size, side: str) -> float:
    """Return the tokens of an item of a side: of a picture, or of its text or captions."""
    values, name = model_values(model), _name(model)
    if side == "images" and values.get("images", "pixels") == "pixels":
        return min(figure("tokens.picture", name), (values.get("pixels") or math.inf) / 1_024)
    most = values.get("context") or values.get("tokens") or figure("tokens.text", name)
    return min(of.words[side] * figure("tokens.word") + figure("tokens.turn"), most)


def operations(model: Model, of: Size, side: str) -> float:
    """Return the operations in which a model reads an item: two a weight and token.

    Kaplan et al., Scaling Laws for Neural Language Models, 2020, section 2.1.
    """
    one_of_two = 0.5 if _TOWERS.search(_name(model)) else 1
    return 2 * weights(model) * one_of_two * tokens(model, of, side)


def dimensions(model: Model) -> float:
    """Return the components of a model's vectors."""
    size = published(model)
    return float(model.get("dim") or (size.dim if size else figure("dim", _name(model))))


def encoded_bytes(model: Model, of: Size) -> float:
    """Return the bytes of all items' vectors, one or many each, or of their terms."""
    if model["kind"] == "sparse":
        return (of.texts + of.images) * figure("sparse.bytes")
    vector, many = 4 * dimensions(model), dimensions(model) + figure("late.scale")
    each = {side: tokens(model, of, side) * many * (model["kind"] == "late") for side in SIDES}
    return sum(of.of_side(side) * (vector + each[side]) for side in SIDES)


def learned(model: Model, of: Size) -> tuple[float, float, float]:
    """Return the pairs that a training learns from, and its bytes: of weights, of pairs' pictures.

    0 of a model that learns nothing, or from vectors.
    """
    mixes = model_kind(model).is_mix
    if (mixes and model_values(model)["frozen"]) or not (mixes or "train" in model):
        return 0.0, 0.0, 0.0
    recipe = recipe_of(model) if mixes else Recipe.of(model)
    batch = min(recipe.batch, of.pairs)
    count = recipe.steps * batch if recipe.steps else Recipe.of(model).epochs * of.pairs
    square = figure("train.square")
    picture = square if of.pairs * square <= Resources.of(model).squares_gib * GIB else of.picture
    return (
        count,
        figure("train.weight") * weights(model),
        of.pairs * (picture + figure("train.row")),
    )


def judge_weights(judge: Model) -> float:
    """Return the weights of a model that grades."""
    return weights_mb(judge["name"], judge["precision"]) * 1e6 / BYTES[judge["precision"]]


def _operations(w: Work) -> float:
    model, of = w.model, w.of
    if w.judge:
        return 2 * judge_weights(w.judge) * figure("tokens.judged") * judged(of, w.params)
    if not model or model["kind"] == "hash":
        return 0.0
    if w.job.phase == "search":
        read = figure("tokens.prompt") + of.words["texts"] * figure("tokens.word")
        read = min(read + tokens(model, of, "images"), model.get("context") or math.inf)
        pairs = sum(c.hits(w.system["depth"]) for c in cells(of, w.params["search"]))
        return 2 * weights(model) * read * pairs
    item = {side: operations(model, of, side) for side in SIDES}
    if w.job.phase == "train" or w.job.rule == "encode_mix":
        return figure("train.passes") * sum(item.values()) * learned(model, of)[0]
    return sum(of.of_side(side) * item[side] for side in SIDES)


# Units, of all shards of a job together; of `every ...` each shard has all.


def _asked_sections(w: Work) -> float:
    titles_first = w.projects.get("mode", "bm25") != "bm25"
    return w.of.asking * (figure("title.share") if titles_first else 1)


def _late_products(w: Work) -> float:
    each = {side: tokens(w.model, w.of, side) for side in SIDES}
    scored = (
        c.hits(math.inf if c.pool <= w.system["exact_up_to"] else w.system["candidates"])
        for c in cells(w.of, w.params["search"])
    )
    return sum(scored) * math.prod(each.values()) * dimensions(w.model)


def _candidates(w: Work, kind: str) -> float:
    system = candidate_system(w.params, kind)
    model = w.params["systems"].get(system, {}).get("model")
    each = w.shared if kind == "bm25" else dimensions(w.params["models"].get(model, {}))
    return asking(w.of) * w.of.images * each if system else 0.0


def _pixels(w: Work) -> float:
    drawn = min(w.of.fetched / figure("picture.thumbnail_pixel"), figure("picture.pixels"))
    return w.of.images * (figure("picture.own_pixels") + drawn)


def _wikidata(w: Work) -> float:
    files = expand_files(w.params["acquire"][w.job.wildcards["source"]]["files"])["wikidata"]
    return sum(map(bytes_of, files)) * figure("wikidata.text_a_byte")


def _verified(w: Work, check: str) -> float:
    spec = w.params["tabulate"]["verify"]
    scores = hits(w.of, w.params) * len(w.params["score"]["measures"]) * spec["sample"]
    amounts = {
        **{"digests": w.of.upstream, "measures": scores},
        "rankings": indexed(w.of, w.params, words=True),
    }
    return amounts[check] * (check in spec["checks"])


UNITS: Mapping[str, Callable[[Work], float]] = {
    "job": lambda _: 1.0,
    "byte": lambda w: w.of.upstream,
    "byte of XML": lambda w: w.of.xml,
    "byte of Wikidata": _wikidata,
    "row of WIT": lambda w: w.of.rows,
    "pixel": _pixels,
    "text that asks": lambda w: w.of.asking,
    "section": lambda w: w.of.sections,
    "every section": lambda w: w.of.sections,
    "word of a section": lambda w: w.of.sections * w.of.words["texts"],
    "section asked for": _asked_sections,
    "word and word asked for": lambda w: _asked_sections(w) * w.of.sections * w.of.words["texts"],
    "text or image": lambda w: w.of.texts + w.of.images,
    "every text or image": lambda w: w.of.texts + w.of.images,
    "item hashed": lambda w: (w.of.texts + w.of.images) * (w.model.get("kind") == "hash"),
    "word indexed": lambda w: indexed(w.of, w.params, words=True),
    "query": lambda w: sum(c.queries for c in cells(w.of, w.params["search"])),
    "posting": lambda w: w.pairs * w.shared,
    "posting of terms": lambda w: w.pairs * figure("sparse.shared"),
    "product": lambda w: w.pairs * dimensions(w.model),
    "product of tokens": _late_products,
    "hit": lambda w: hits(w.of, w.params) / len(w.params["search"]["systems"]),
    "hit and measure": lambda w: hits(w.of, w.params) * len(w.params["score"]["measures"]),
    "query of candidates": lambda w: asking(w.of) * bool(candidate_system(w.params, "bm25")),
    "posting of candidates": lambda w: _candidates(w, "bm25"),
    "product of candidates": lambda w: _candidates(w, "dense"),
    "pair learned from": lambda w: learned(w.model, w.of)[0],
    OPERATION: _operations,
    "byte verified": lambda w: _verified(w, "digests"),
    "hit and measure verified": lambda w: _verified(w, "measures"),
    "word verified": lambda w: _verified(w, "rankings"),
    "byte of a release": lambda w: released(w.of, w.params),
}
