"""Why an answer is wrong: the objects of the right picture against those of the one returned.

Source: Lymperaiou et al., Towards Explainable Evaluation of Language Models on the Semantic
Similarity of Visual Concepts, COLING 2022 (arXiv 2209.03723), the query-agnostic metrics.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from statistics import fmean
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

Areas = Sequence[float]
Objects = Mapping[str, Areas]
Similarity = Callable[[str, str], float]


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
    """Two matched objects of a common concept, their box areas in px², and whether they differ."""

    concept: str
    truth_px: float
    found_px: float
    differs: bool


class Explanation(NamedTuple):
    """One failure: what is common, and what matched what; `hit` and `miss` count concepts."""

    hit: int
    miss: int
    pairs: list[Pair]
    counts: list[Count]
    sizes: list[Size]

    @property
    def ca(self) -> float | None:
        """Concept agreement: the share of the right picture's concepts that were returned."""
        # ASSUME agreement is counted over the right picture's concepts (the paper's 2/3 and 3/11).
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
        """Size disagreement: the share of differing objects, averaged over common concepts."""
        by_concept: dict[str, list[bool]] = {}
        for size in self.sizes:
            by_concept.setdefault(size.concept, []).append(size.differs)
        return fmean(map(fmean, by_concept.values())) if by_concept else None


def explain(
    truth: Objects, found: Objects, similarity: Similarity, *, threshold: float = 1.0
) -> Explanation:
    """Compare two pictures, given the box areas in px² of the objects of each concept.

    An area that is not known is NaN, and its object has no size.

    Non-common concepts are paired so that the similarities add up to the most, the objects of a
    common concept so that the differences of their areas add up to the least. Two areas differ when
    the larger is more than `threshold` times the smaller above it: 1.0 is the paper's 100 %.
    """
    common = sorted(truth.keys() & found.keys())
    missed, foreign = sorted(truth.keys() - found.keys()), sorted(found.keys() - truth.keys())
    return Explanation(
        hit=len(common),
        miss=len(missed),
        pairs=_pairs(missed, foreign, similarity),
        counts=[Count(c, len(truth[c]), len(found[c])) for c in common],
        sizes=[s for c in common for s in _sizes(c, truth[c], found[c], threshold)],
    )


def _pairs(truth: list[str], found: list[str], similarity: Similarity) -> list[Pair]:
    if not truth or not found:
        return []
    alike = np.array([[similarity(t, f) for f in found] for t in truth])
    places = zip(*linear_sum_assignment(alike, maximize=True), strict=True)
    return [Pair(truth[i], found[j], float(alike[i, j])) for i, j in places]


def _sizes(concept: str, truth: Areas, found: Areas, threshold: float) -> list[Size]:
    one, other = (np.sort([a for a in own if not isnan(a)]) for own in (truth, found))
    places = linear_sum_assignment(np.abs(one[:, None] - other[None, :]))
    pairs = [(float(one[i]), float(other[j])) for i, j in zip(*places, strict=True)]
    # ASSUME 100 % is meant of the smaller box, so that neither picture is preferred.
    return [Size(concept, a, b, abs(a - b) > threshold * min(a, b)) for a, b in pairs]
