"""Percentile bootstrap of means, for many columns of values at once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DRAWS = 1 << 22


def resampled_means(values: Floats, samples: int, generator: np.random.Generator) -> Floats:
    """Return the means [samples, columns] of `values` [queries, columns], queries drawn anew.

    All columns see the same draws, so that systems stay paired. The draws are those of
    scipy.stats.bootstrap for the same generator; about 4 million are in memory at a time.
    """
    queries = values.shape[0]
    means = np.empty((samples, values.shape[1]))
    step = max(1, _DRAWS // queries)
    for start in range(0, samples, step):
        rows = min(step, samples - start)
        drawn = generator.integers(0, queries, (rows, queries))
        drawn += np.arange(rows)[:, None] * queries
        counts = np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries)
        means[start : start + rows] = counts @ values / queries
    return means


def percentiles(means: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of the central interval that holds `level` of each column of `means`.

    Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 13.3.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high
