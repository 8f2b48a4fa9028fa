"""The kinds of retrieval systems: a class each, whose keys are those of the entry in params.yaml.

What a kind can do is said by the class variables of `SystemKind`. A class is found by its key
`kind`; the module is imported whenever params are read, so it imports nothing that is slow to load.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS, PLACE, TEXT
from isotope.params.sections import (
    Count,
    Distinct,
    ModelKind,
    Natural,
    NotNegative,
    Number,
    Opt,
    Params,
    Positive,
    Section,
    Share,
    SystemKind,
    Text,
    TextFields,
    Whole,
    model_kind,
)

VECTORS = ModelKind.shard_suffix
# Placeholders of a template for a date; a value of another type has `value` only.
PLACES = (TEXT, "value", "year", "decade", "month")


class Random(SystemKind):
    """Documents in random order, the same in every run: a baseline."""

    call: ClassVar[str] = "search.systems:search_random"
    is_sliced: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = True

    kind: Literal["random"]
    seed: Whole = Field(default=0, description="Seed of the shuffle.")


class Bm25(SystemKind):
    """BM25 of the fields of a text and the captions of an image."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    answers_any_query: ClassVar[bool] = True
    is_lexical: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = True

    kind: Literal["bm25"]
    # The paper's (section 4.2).
    k1: NotNegative = Field(default=0.9, description="Term saturation.")
    b: Share = Field(default=0.4, description="Length normalisation.")
    fields: TextFields = Field(default=list(FIVE_FIELDS))
    prepare: Opt[Literal["atomic", "none"]] = Field(
        default=None,
        description="What becomes of the words before they are indexed or asked: `atomic`, what "
        "AToMiC's authors did, or nothing. By default `atomic` of collections of kind wikipedia "
        "and atomic, `none` of others.",
    )
    engine: Literal["impacts", "lucene"] = Field(
        default="impacts",
        description="What indexes and searches: isotope.bm25, or Lucene, which gives the same "
        "answers.",
    )


class Dense(SystemKind):
    """A dual encoder, whose vectors are searched exactly."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    answers_any_query: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = True

    kind: Literal["dense"]
    model: str = Field(description="A key of `models`.")

    def check(self, where: str, params: Params) -> None:
        """Check that the model makes vectors.

        Raises:
            BadParams: as `check_vectors`.
        """
        check_vectors(where, self.model, params)


def check_vectors(where: str, model: str, params: Params) -> None:
    """Refuse a model that makes no vectors.

    Raises:
        BadParams: such a model.
    """
    entry = params["models"][model]
    if model_kind(entry).reranks:
        found = f"model {model!r} scores pairs and has no vectors"
        raise BadParams(f"{where}.model", found, "use a system of kind rerank")
    if model_kind(entry).shard_suffix != VECTORS:
        found = f"model {model!r} of kind {entry['kind']} makes no vectors"
        raise BadParams(where, found, f"use a system of kind {entry['kind']}")


class Late(SystemKind):
    """Late interaction: the many vectors of a query against those of a document, by MaxSim."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = True

    kind: Literal["late"]
    model: str = Field(description="A key of `models`, of kind `late`.")
    exact_up_to: Natural = Field(
        default=10_000,
        description="Documents of the largest pool that is searched whole; of a larger one the "
        "`candidates` are.",
    )
    candidates: Count = Field(
        default=1_000,
        description="Documents of a larger pool that are scored for a query: those whose pooled "
        "vectors are nearest to its own.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check the model, and that candidates suffice for the depth.

        Raises:
            BadParams: as `check_kind`; fewer candidates than hits that are kept.
        """
        check_kind(where, self.model, params, "late")
        depth = params["search"]["depth"]
        if self.candidates < depth:
            found = f"{self.candidates:,} candidates, search.depth {depth:,}"
            raise BadParams(f"{where}.candidates", found, "raise it to the depth at least")


class Sparse(SystemKind):
    """Learned weights of terms, whose inner products are searched exactly."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = True

    kind: Literal["sparse"]
    model: str = Field(description="A key of `models`, of kind `sparse`.")

    def check(self, where: str, params: Params) -> None:
        """Check the model.

        Raises:
            BadParams: as `check_kind`.
        """
        check_kind(where, self.model, params, "sparse")


def check_kind(where: str, model: str, params: Params, kind: str) -> None:
    """Refuse a model of another kind.

    Raises:
        BadParams: such a model.
    """
    own = params["models"][model]["kind"]
    if own != kind:
        found = f"model {model!r} is of kind {own}"
        raise BadParams(f"{where}.model", found, f"name a model of kind {kind}")


class Approximate(SystemKind):
    """A dual encoder, whose vectors FAISS searches approximately."""

    indexed: ClassVar[bool] = True
    measures_recall: ClassVar[bool] = True

    kind: Literal["approximate"]
    model: str = Field(description="A key of `models`.")
    method: Literal["ivf", "ivfpq", "hnsw"] = Field(
        description="FAISS's inverted lists, the same with quantised vectors, or its navigable "
        "graph."
    )
    lists: Count = Field(
        default=4096, description="Cells of ivf and ivfpq, fewer where vectors are few."
    )
    probes: Count = Field(default=64, description="Cells that ivf and ivfpq visit for a query.")
    codes: Count = Field(
        default=64,
        description="Most bytes that ivfpq stores per vector; the largest divisor of its components"
        " is used.",
    )
    links: Annotated[Whole, Field(ge=2)] = Field(
        default=32, description="Neighbours in the graph of hnsw."
    )
    width: Count = Field(
        default=200,
        description="Candidates of hnsw while it builds and searches; at least the depth.",
    )
    sample: Count = Field(
        default=200,
        description="Queries of each cell that are also searched exactly, to measure the recall.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check that the model makes vectors.

        Raises:
            BadParams: as `check_vectors`.
        """
        check_vectors(where, self.model, params)


class Prompt(SystemKind):
    """A dual encoder that reads a text together with what a column says of the picture."""

    is_pointwise: ClassVar[bool] = True

    kind: Literal["prompt"]
    model: str = Field(description="A key of `models`.")
    column: str = Field(
        default="date",
        description="Column of the images that is added to the texts, such as a date.",
    )
    templates: Annotated[Distinct[Text], Field(min_length=1)] = Field(
        description="The model's input: `{text}` with any of `{value}`, `{year}`, `{decade}` and"
        " `{month}`; vectors of several are averaged."
    )

    def check(self, where: str, params: Params) -> None:
        """Check that the templates can be filled, and that the model reads texts.

        Raises:
            BadParams: as `check_templates`; a model that is no encoder.
        """
        check_templates(self.templates, where)
        if not model_kind(params["models"][self.model]).is_encoder:
            found = f"model {self.model!r} is no encoder of prompts"
            raise BadParams(where, found, "name a model that reads texts and sees pictures")


def check_templates(templates: Sequence[str], where: str) -> None:
    """Refuse templates without `{text}`, or with a place that nothing fills.

    Raises:
        BadParams: such a template.
    """
    for template in templates:
        named = PLACE.findall(template)
        unknown = [name for name in named if name not in PLACES]
        if unknown or TEXT not in named:
            found = f"template {template!r}"
            places = ", ".join(f"{{{name}}}" for name in PLACES)
            raise BadParams(where, found, f"use {{text}} and any of {places}")


class Answers(SystemKind):
    """A model's answers in words, which BM25 turns into entities."""

    indexed: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = True
    reads_answers: ClassVar[bool] = True

    kind: Literal["answers"]
    files: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Predictions, a line with `data_id` and `prediction` each: local .jsonl or "
        ".jsonl.gz "
        "files or patterns with `*`."
    )
    # rank_bm25's, with which OVEN's published mapping was made.
    k1: NotNegative = Field(default=1.5, description="Term saturation.")
    b: Share = Field(default=0.75, description="Length normalisation.")
    tokenizer: Text = Field(
        default="words",
        description="words, or a WordPiece tokenizer: a vocabulary file or a name on the hub such "
        "as google-bert/bert-base-uncased.",
    )


class Trec(SystemKind):
    """A run that comes from elsewhere, below runs/."""

    foreign: ClassVar[bool] = True

    kind: Literal["trec"]


class Tune(Section):
    """How a split chooses the parameters of a fusion."""

    fills: ClassVar[bool] = True

    measure: str = Field(default="MRR@10", description="Measure whose mean is maximised.")
    split: Literal["train", "validation"] = Field(
        default="validation", description="Split on which it is measured."
    )


class Fusion(SystemKind):
    """Runs of several systems in one."""

    fuses: ClassVar[bool] = True
    # The parameter of a fusion without `tune`.
    fixed: ClassVar[str]

    of: Annotated[Distinct[str], Field(min_length=2)] = Field(description="Systems to fuse.")

    def check(self, where: str, params: Params) -> None:
        """Check that a fusion is fixed or tuned, on a split that is searched.

        Raises:
            BadParams: both or, for weights, neither; a split that is not searched.
        """
        tune: Any = getattr(self, "tune", None)
        if tune is None:
            return
        if self.fixed in self.model_fields_set:
            raise BadParams(where, f"both {self.fixed} and tune", "keep one of them")
        splits = params["search"]["splits"]
        if tune.split not in splits:
            found = f"split {tune.split!r} is not searched"
            remedy = f"add it to search.splits, or name one of {', '.join(splits)}"
            raise BadParams(f"{where}.tune.split", found, remedy)


class RrfGrid(Section):
    """Values to try."""

    k: Annotated[list[Positive], Field(min_length=1)] = Field(description="Values of `k`.")


class RrfTune(Tune):
    """Choose `k` on a split, for each setting and task, instead."""

    grid: RrfGrid = Field(description="Values to try.")


class Rrf(Fusion):
    """Runs fused by rank: reciprocal-rank fusion."""

    fixed: ClassVar[str] = "k"

    kind: Literal["rrf"]
    # As Cormack, Clarke and Buettcher, SIGIR 2009, have it.
    k: Positive = Field(default=60, description="Damping of reciprocal-rank fusion.")
    tune: Opt[RrfTune] = Field(
        default=None, description="Choose `k` on a split, for each setting and task, instead."
    )


class WsumGrid(Section):
    """Values to try."""

    key_counts: ClassVar[tuple[int, int] | None] = (1, 1)

    weights: Opt[
        Annotated[list[Annotated[list[Number], Field(min_length=2)]], Field(min_length=1)]
    ] = Field(default=None, description="Lists of weights, one for each fused system.")
    step: Opt[Annotated[Number, Field(gt=0, le=1)]] = Field(
        default=None, description="All weights that are multiples of it and add up to 1."
    )


class WsumTune(Tune):
    """Choose `weights` on a split, for each setting and task, instead."""

    grid: WsumGrid = Field(description="Values to try.")


class Wsum(Fusion):
    """Runs fused by score: the weighted sum of normalised scores."""

    fixed: ClassVar[str] = "weights"

    kind: Literal["wsum"]
    weights: Opt[Annotated[list[Number], Field(min_length=2)]] = Field(
        default=None,
        description="One weight for each fused system; scores are min-max normalised first.",
    )
    tune: Opt[WsumTune] = Field(
        default=None, description="Choose `weights` on a split, for each setting and task, instead."
    )

    def check(self, where: str, params: Params) -> None:
        """Check the weights, and the grid that others are chosen from.

        Raises:
            BadParams: as `Fusion.check`; weights that do not fit the systems, a step that does not
                divide 1.
        """
        if self.tune is None and self.weights is None:
            raise BadParams(where, "neither weights nor tune", "give one of them")
        super().check(where, params)
        if self.tune is None:
            self._check_weights(f"{where}.weights", [self.weights or []])
            return
        grid = self.tune.grid
        self._check_weights(f"{where}.tune.grid.weights", grid.weights or [])
        step = 1 if grid.step is None else grid.step
        if not math.isclose(round(1 / step) * step, 1):
            raise BadParams(f"{where}.tune.grid.step", f"{step}", "use one that divides 1, as 0.1")

    def _check_weights(self, where: str, lists: Sequence[Sequence[float]]) -> None:
        wrong = next((weights for weights in lists if len(weights) != len(self.of)), None)
        if wrong is not None:
            listed = ", ".join(f"{weight:g}" for weight in wrong)
            found = f"[{listed}]: weights that are not one for each system"
            raise BadParams(where, found, f"give {len(self.of)}, of {', '.join(self.of)}")


class Rerank(SystemKind):
    """The first hits of another system, in the order of a model that reads query and document."""

    reranks: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True

    kind: Literal["rerank"]
    of: Text = Field(description="The system whose runs are reranked.")
    model: str = Field(description="A key of `models`, of kind reranker.")
    depth: Count = Field(
        default=100, description="Hits of each query that the model scores; the others follow them."
    )

    def check(self, where: str, params: Params) -> None:
        """Check that the model scores pairs, and that there are as many hits as it is to score.

        Raises:
            BadParams: another kind of model, or a depth that is more than `search.depth`.
        """
        entry = params["models"][self.model]
        if not model_kind(entry).reranks:
            fitting = [n for n, e in params["models"].items() if model_kind(e).reranks]
            found = f"model {self.model!r} of kind {entry['kind']} scores no pairs"
            remedy = f"name one of kind reranker: {', '.join(fitting) or 'there is none'}"
            raise BadParams(f"{where}.model", found, remedy)
        most = params["search"]["depth"]
        if self.depth > most:
            found = f"{self.depth} hits of runs that have {most}"
            raise BadParams(f"{where}.depth", found, f"use {most} or less, or raise search.depth")
