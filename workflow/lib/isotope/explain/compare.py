"""Why an answer is wrong: the objects of the right picture against those of the one returned.

Source: Lymperaiou et al., Towards Explainable Evaluation of Language Models on the Semantic
Similarity of Visual Concepts, COLING 2022 (arXiv 2209.03723), section 4.1: CA, NCS, CE and SD.
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
    """Two matched objects of a common concept: box areas in px², and whether they differ in size.

    `difference` is that of the areas relative to the smaller one: 1.0 is the paper's 100 %.
    """

    concept: str
    truth_px: float
    found_px: float
    difference: float
    differs: bool


class Explanation(NamedTuple):
    """One failure: what is common, and what matched what.

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


def explain(
    truth: Objects, found: Objects, similarity: Similarity, *, threshold: float = 1.0
) -> Explanation:
    """Compare two pictures, given the box areas, above 0 px², of the objects of each concept.

    An area that is not known is NaN, and its object has no size.

    Non-common concepts are paired so that the similarities add up to the most, the objects of a
    common concept so that the relative differences of their areas add up to the least. Two boxes
    differ in size when that difference is `threshold` or more: 1.0 is the paper's 100 %.
    """
    common = sorted(truth.keys() & found.keys())
    missed, foreign = sorted(truth.keys() - found.keys()), sorted(found.keys() - truth.keys())
    return Explanation(
        hit=len(common),
        miss=len(missed),
        extra=len(foreign),
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
    # ASSUME a difference is relative to the smaller area: the paper names no base. Its 2.30
    # (section 6.3) rules out the larger one and the mean; the smaller prefers neither picture.
    pair = one[:, None], other[None, :]
    apart = np.abs(pair[0] - pair[1]) / np.minimum(*pair)
    places = zip(*linear_sum_assignment(apart), strict=True)
    return [
        Size(concept, float(one[i]), float(other[j]), own := float(apart[i, j]), own >= threshold)
        for i, j in places
    ]
