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
    raise NotImplementedError
