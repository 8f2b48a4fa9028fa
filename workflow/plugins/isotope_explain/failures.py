"""Why an answer is wrong: the objects of the right picture against those of the one returned.

`explain` compares two pictures by CA, NCS, CE and SD, `explain_failures` does it for every failure
of every system and writes the ranks of all right answers beside it; `explain_collection` is the job
that does this, draws the sheet for people and perturbs the queries.
Source: Lymperaiou et al., Towards Explainable Evaluation of Language Models on the Semantic
Similarity of Visual Concepts, COLING 2022 (arXiv 2209.03723), section 4.1.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from isotope.core import store
from isotope.core.grid import RunKey
from isotope.core.progress import Progress, log
from isotope.schemas.parse import REJECTED
from isotope.tabulate.table import rows
from isotope_explain.objects import box_areas, match_concepts, read_objects
from isotope_explain.perturb import Settings, perturb_texts
from isotope_explain.resources import SQL
from isotope_explain.schemas import CONCEPTS, FAILURES, INTACT, RANKS
from isotope_explain.sheets import write_sheet
from isotope_explain.wordnet import WordNet, find

Areas = Sequence[float]
Objects = Mapping[str, Areas]
Similarity = Callable[[str, str], float]
_ANSWERS = SQL / "failures/answers.sql"
_ROWS_PER_GROUP = 8_192
_MEASURES: Sequence[str] = (
    *("ca", "ncs", "ce", "sd", "sd_continuous"),
    *("hit", "miss", "extra"),
)
_MATCHES: Sequence[str] = ("pairs", "counts", "sizes")
# Two boxes differ in size from this difference of their areas on, in terms of the smaller one: the
# paper's 100 %.
THRESHOLD = 1.0
_EMPTY: Mapping[str, Any] = dict.fromkeys((*_MEASURES, *_MATCHES))


class Pair(NamedTuple):
    """A concept of the right picture and the one of the returned picture that stands in for it."""

    truth: str
    found: str
    similarity: float


class Count(NamedTuple):
    """How many objects of a common concept either picture has."""

    concept: str
    truth: int
    found: int


class Size(NamedTuple):
    """Two matched objects of a common concept: box areas in px², and whether they differ in size.

    `difference` is that of the areas relative to the smaller one: 1.0 is the paper's 100 %.
    """

    concept: str
    truth_px: float
    found_px: float
    difference: float
    differs: bool


class Explanation(NamedTuple):
    """One failure: what is common, and which concepts, counts and boxes were matched.

    `hit` counts common concepts, `miss` those of the right picture alone, `extra` those of the
    returned picture alone.
    """

    hit: int
    miss: int
    extra: int
    pairs: list[Pair]
    counts: list[Count]
    sizes: list[Size]

    @property
    def ca(self) -> float | None:
        """Concept agreement: the share of the right picture's concepts that were returned."""
        return self.hit / (self.hit + self.miss) if self.hit + self.miss else None

    @property
    def ncs(self) -> float | None:
        """Non-common concept similarity: the mean over the matched pairs, None without one."""
        return fmean(p.similarity for p in self.pairs) if self.pairs else None

    @property
    def ce(self) -> int:
        """Concept enumeration: by how much the counts of common concepts differ, in all."""
        return sum(abs(c.truth - c.found) for c in self.counts)

    @property
    def sd(self) -> float | None:
        """Binary size disagreement: the share of differing pairs among those of all concepts."""
        return fmean(size.differs for size in self.sizes) if self.sizes else None

    @property
    def sd_continuous(self) -> float | None:
        """Size disagreement: the sum over common concepts of their pairs' mean difference."""
        by_concept: dict[str, list[float]] = {}
        for size in self.sizes:
            by_concept.setdefault(size.concept, []).append(size.difference)
        return sum(map(fmean, by_concept.values())) if by_concept else None


class ExplainedTables(NamedTuple):
    """A collection's tables, the file of its objects if the images have none, its dictionary."""

    images: Path
    qrels: Path
    objects: Path | None
    wordnet: str | None


class How(NamedTuple):
    """How the failures on a collection are explained, as its entry of `explain.failures` says.

    `failures` and `common_words` are of the sheet for people.
    """

    wordnet: str | None
    seed: int
    match: str
    failures: int
    common_words: int


def explain_collection(  # noqa: PLR0913
    inputs: Mapping[str, Path],
    runs: Sequence[Path],
    *,
    split: str,
    how: How,
    objects: Path | None,
    failures: Path,
    ranks: Path,
    concepts: Path,
    rejected_objects: Path,
    study: Path,
    sheet: Path,
    perturbations: Path,
) -> None:
    """Write explained failures, the sheet of the study, and the perturbed queries of `split`.

    `inputs` are texts, images and qrels, `objects` the file of objects if they are not those of the
    images.

    Raises:
        As `explain_failures` and `perturb_texts`.
    """
    explain_failures(
        ExplainedTables(inputs["images"], inputs["qrels"], objects, how.wordnet),
        runs,
        failures=failures,
        ranks=ranks,
        concepts=concepts,
        rejected=rejected_objects,
    )
    write_sheet(
        {**inputs, "failures": failures},
        seed=how.seed,
        failures=how.failures,
        common_words=how.common_words,
        sample=study,
        sheet=sheet,
    )
    perturb_texts(
        *(inputs[name] for name in ("texts", "images", "qrels")),
        split=split,
        wordnet=how.wordnet,
        settings=Settings(how.seed, plain=how.match == "plain"),
        out=perturbations,
    )


def explain_failures(  # noqa: PLR0913
    sources: ExplainedTables,
    runs: Sequence[Path],
    *,
    failures: Path,
    ranks: Path,
    concepts: Path,
    rejected: Path,
) -> None:
    """Write schemas.FAILURES and schemas.RANKS of runs, and the objects that WordNet has and lacks.

    A failure is a query whose first answer is not relevant; its measures are null where one of the
    two pictures has no object in WordNet, or nothing was returned. Both tables are sorted by cell
    and system in the order of `runs`, then by query.

    Raises:
        MissingFile: no dictionary, objects or run.
        MissingColumn, EmptyTable: see `objects.read_objects` and `objects.match_concepts`.
    """
    wordnet = WordNet(find(sources.wordnet))
    objects = read_objects(sources.images, sources.objects)
    usable, unmatched = match_concepts(objects, wordnet, sources.objects or sources.images)
    store.write(usable.to_arrow(), concepts, CONCEPTS)
    store.write(unmatched.to_arrow(), rejected, REJECTED)
    log.info("%d objects in %s, %d not", usable.height, wordnet.path, unmatched.height)
    explainer = Explainer(box_areas(usable), wordnet)
    with (
        store.writer(failures, FAILURES) as local,
        store.writer(ranks, RANKS) as ranking,
    ):
        for path in runs:
            cell = RunKey.from_path(path)
            answers = rows(
                _ANSWERS,
                {"run": path, "qrels": sources.qrels},
                {"task": cell.task, "split": cell.split},
            )
            labels = {**vars(cell), "system": path.stem}
            ranking.write_table(intact_ranks(answers, labels))
            for batch in explainer.tables(answers, labels):
                local.write_table(batch)


def explain(
    truth: Objects, returned: Objects, similarity: Similarity, *, threshold: float = THRESHOLD
) -> Explanation:
    """Compare two pictures by the box areas, above 0 px², of the objects of each concept.

    The area of an object without a box is NaN, and it has no size.

    Non-common concepts are paired so that the similarities add up to the most, the objects of a
    common concept so that the relative differences of their areas add up to the least. Two boxes
    differ in size when that difference is `threshold` or more: 1.0 is the paper's 100 %.
    """
    common = sorted(truth.keys() & returned.keys())
    missed, foreign = sorted(truth.keys() - returned.keys()), sorted(returned.keys() - truth.keys())
    return Explanation(
        hit=len(common),
        miss=len(missed),
        extra=len(foreign),
        pairs=_pairs(missed, foreign, similarity),
        counts=[Count(c, len(truth[c]), len(returned[c])) for c in common],
        sizes=[s for c in common for s in _sizes(c, truth[c], returned[c], threshold)],
    )


class Explainer:
    """Compares pictures of one collection by its objects."""

    def __init__(self, areas: Mapping[str, Objects], wordnet: WordNet) -> None:
        """Keep the box areas of each picture's concepts."""
        self._areas, self._wordnet = areas, wordnet

    def explain(self, truth_id: str, found_id: str | None) -> Explanation | None:
        """Compare two pictures, None where one of them has no object in WordNet."""
        truth, returned = self._areas.get(truth_id), self._areas.get(found_id or "")
        return None if not truth or not returned else self.compare(truth, returned)

    def compare(self, truth: Objects, returned: Objects) -> Explanation:
        """Compare two pictures by their objects."""
        return explain(truth, returned, self._similarity)

    def _similarity(self, first: str, second: str) -> float:
        synsets = [synset for name in (first, second) if (synset := self._wordnet.synset(name))]
        return self._wordnet.similarity(synsets[0], synsets[1])

    def tables(self, answers: pl.DataFrame, labels: Mapping[str, str]) -> Iterator[pa.Table]:
        """Yield the failures among the rows of failures/answers.sql, explained."""
        wrong = answers.filter(pl.col("rank").ne_missing(1))
        progress = Progress(f"failures of {labels['system']}", wrong.height)
        for some in wrong.iter_slices(_ROWS_PER_GROUP):
            explained = [
                {**labels, **answer, **self._row(answer)} for answer in some.iter_rows(named=True)
            ]
            yield pa.Table.from_pylist(explained, schema=FAILURES)
            progress.add(len(explained))
        progress.finish()

    def _row(self, answer: Mapping[str, str]) -> Mapping[str, Any]:
        explanation = self.explain(answer["truth_id"], answer["found_id"])
        if explanation is None:
            return _EMPTY
        measures = {name: getattr(explanation, name) for name in _MEASURES}
        matches = {m: [match._asdict() for match in getattr(explanation, m)] for m in _MATCHES}
        return measures | matches


def rank_answers(runs: Sequence[Path], qrels: Path, out: Path) -> None:
    """Write schemas.RANKS of a collection whose failures are not explained.

    Raises:
        IsotopeError: a run or qrels that can't be read.
    """
    with store.writer(out, RANKS) as writer:
        for path in runs:
            writer.write_table(ranks_of(path, qrels))


def ranks_of(run: Path, qrels: Path) -> pa.Table:
    """Return the rows of RANKS of a run's queries.

    Raises:
        IsotopeError: a run or qrels that can't be read.
    """
    cell = RunKey.from_path(run)
    side = {"task": cell.task, "split": cell.split}
    answers = rows(_ANSWERS, {"run": run, "qrels": qrels}, side)
    return intact_ranks(answers, {**vars(cell), "system": run.stem})


def intact_ranks(answers: pl.DataFrame, labels: Mapping[str, str]) -> pa.Table:
    """Return the rows of RANKS of queries as they are: the rank is that before a perturbation."""
    columns = {name: pl.lit(value) for name, value in labels.items()}
    columns["perturbation"] = pl.lit(INTACT)
    table = answers.select("query_id", "rank", rank_before="rank", **columns)
    return table.select(RANKS.names).to_arrow().cast(RANKS)


def _pairs(truth: list[str], returned: list[str], similarity: Similarity) -> list[Pair]:
    if not truth or not returned:
        return []
    alike = np.array([[similarity(t, f) for f in returned] for t in truth])
    places = zip(*linear_sum_assignment(alike, maximize=True), strict=True)
    return [Pair(truth[i], returned[j], float(alike[i, j])) for i, j in places]


def _sizes(concept: str, truth: Areas, returned: Areas, threshold: float) -> list[Size]:
    first, second = (np.sort([a for a in areas if not isnan(a)]) for areas in (truth, returned))
    # ASSUME a difference is relative to the smaller area: the paper names no base. Its 2.30
    # (section 6.3) rules out the larger one and the mean; the smaller prefers neither picture.
    pair = first[:, None], second[None, :]
    apart = np.abs(pair[0] - pair[1]) / np.minimum(*pair)
    places = zip(*linear_sum_assignment(apart), strict=True)
    return [
        Size(
            concept,
            float(first[i]),
            float(second[j]),
            difference := float(apart[i, j]),
            difference >= threshold,
        )
        for i, j in places
    ]
