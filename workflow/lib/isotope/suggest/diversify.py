"""Maximal marginal relevance: probable pictures that are unlike those before them.

Source: Carbonell and Goldstein, The use of MMR, diversity-based reranking for reordering documents
and producing summaries, SIGIR 1998, section 2.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
NONE = -1


def mmr(
    probabilities: npt.ArrayLike, vectors: npt.NDArray[np.floating], weight: float, most: int
) -> IntArray:
    """Return the places of at most `most` candidates, best first, of one section or of many.

    Each next one maximises (1 - weight) * probability - weight * its largest cosine with those
    before it: the paper's formula with lambda = 1 - weight. Ties go to the first candidate.

    `probabilities` are [n], or [sections, n] with NaN behind the last candidate of a section;
    `vectors` are [n, d], or [sections, n, d], of length 1 (`Likeness.vectors`; without a dense
    system they are of perceptual hashes). The places are [min(most, n)], or as many for each
    section, NONE where a section has no more.

    Raises:
        ValueError: a weight outside [0, 1], or vectors that are not one for each probability.
    """
    relevance, like = np.array(probabilities, np.float64), np.asarray(vectors, np.float64)
    if not 0 <= weight <= 1:
        raise ValueError(f"a weight of {weight}, not of 0 to 1")
    if like.shape[:-1] != relevance.shape:
        raise ValueError(f"vectors {like.shape} for probabilities {relevance.shape}")
    if relevance.ndim == 1:
        return mmr(relevance[None], like[None], weight, most)[0]
    return _chosen(relevance, like, weight, min(most, relevance.shape[1]))


def _chosen(
    relevance: npt.NDArray[np.float64], like: npt.NDArray[np.float64], weight: float, most: int
) -> IntArray:
    """Choose `most` places of each section, [sections, most]."""
    sections = np.arange(len(relevance))
    left = ~np.isnan(relevance)
    order = np.full((len(relevance), most), NONE, np.int64)
    largest = np.full(relevance.shape, -np.inf)
    for step in range(most):
        # The first is compared with none before it; the paper's maximum over none counts as 0.
        before = np.where(np.isfinite(largest), largest, 0.0)
        gain = np.where(left, (1 - weight) * relevance - weight * before, -np.inf)
        best = gain.argmax(axis=1)
        is_left = left[sections, best]
        order[is_left, step] = best[is_left]
        left[sections, best] = False
        cosines = np.einsum("snd,sd->sn", like, like[sections, best])
        largest = np.maximum(largest, cosines)
    return order
