"""Score and row as one sortable number: the greater, the better; ties by the greater row."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
_SIGN = np.uint32(1 << 31)
_ROW_BITS = np.uint64(32)
_ROW = np.uint64((1 << 32) - 1)


def keys_of(scores: NDArray[np.float32], rows: NDArray[np.int64]) -> Keys:
    """Return keys of float32 scores and rows below 2**32; they sort by score, then by row.

    The bits of a positive float grow with it, those of a negative one shrink (IEEE 754, 5.10).
    """
    bits = (scores + np.float32(0)).view(np.uint32)
    ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return (ordered.astype(np.uint64) << _ROW_BITS) | rows.astype(np.uint64)


def decoded(keys: Keys) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the scores and rows of keys; key 0, which no score has, gives NaN."""
    ordered = (keys >> _ROW_BITS).astype(np.uint32)
    bits = np.where(ordered & _SIGN, ordered & ~_SIGN, ~ordered)
    return bits.view(np.float32), (keys & _ROW).astype(np.int64)


def largest(keys: Keys, k: int) -> Keys:
    """Return the k largest keys of each row, the largest first."""
    top = np.partition(keys, keys.shape[1] - k, axis=1)[:, keys.shape[1] - k :]
    top.sort(axis=1)
    return np.ascontiguousarray(top[:, ::-1])
