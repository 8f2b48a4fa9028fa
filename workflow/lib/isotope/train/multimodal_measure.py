"""Accuracy on validation while OVEN's dual encoders learn, and its harmonic mean."""

import math
from collections.abc import Callable
from functools import partial
from statistics import harmonic_mean

import numpy as np
import numpy.typing as npt
import torch

from isotope.models.device import Device
from isotope.models.mix import best_weights
from isotope.models.multimodal import QUERY, TARGET, Clip2Clip, Multimodal
from isotope.train.batches import Tokens
from isotope.train.multimodal_data import Ids, Judged, Side

GROUPS = (("entity", "seen"), ("entity", "unseen"), ("query", "seen"), ("query", "unseen"))
_BLOCK = 64
Vectors = npt.NDArray[np.float32]


# ASSUME the candidates are the entities that validation asks for: encoding all six million after
# every hundred steps would take longer than training, and section 6 does not tell.
def accuracies(
    model: Multimodal, judged: Judged, tokens: Tokens, sample: int | None
) -> list[float]:
    """Return the share of pairs whose entity comes first, of each of GROUPS, and their mean.

    NaN for a group without pairs; the mean is `combined`.
    """
    rows = spaced(len(judged), sample)
    model.eval()
    entities = _encoded(model, TARGET, judged.entities, np.arange(len(judged.entities)), tokens)
    queries = _encoded(model, QUERY, judged.questions, rows, tokens)
    blocks = (queries[i : i + _BLOCK] @ entities.T for i in range(0, len(queries), _BLOCK))
    first = np.concatenate([block.argmax(axis=1) for block in blocks])
    right = first == judged.answers[rows]
    known = judged.known[rows]
    shares: list[float] = []
    for subset, seen in GROUPS:
        own = right[((known["subset"] == subset) & (known["seen"] == seen)).to_numpy()]
        shares.append(float(own.mean()) if len(own) else math.nan)
    return [*shares, combined(shares)]


def combined(shares: list[float]) -> float:
    """Return the harmonic mean of the two subsets' harmonic means of seen and unseen.

    It is Table 1's `Overall`, which section 6 calls the combined score; groups without pairs have
    no part in it. NaN without any.
    """
    pairs = (shares[:2], shares[2:])
    subsets = [
        harmonic_mean(own) for pair in pairs if (own := [s for s in pair if not math.isnan(s)])
    ]
    return harmonic_mean(subsets) if subsets else math.nan


def grid_start(
    model: Clip2Clip, judged: Judged, tokens: Tokens, step: float, sample: int
) -> list[float]:
    """Return the weights in the order of `models_mix.FOUR` that find most entities untrained.

    Multiples of `step` that add up to 1, on a sample of pairs among the entities of the sample
    (appendix 11.2: a grid search on the training data).
    """
    rows = spaced(len(judged), sample)
    places, right = np.unique(judged.answers[rows], return_inverse=True)
    model.eval()
    images, questions = _features(model, QUERY, judged.questions, rows, tokens)
    pictures, names = _features(model, TARGET, judged.entities, places, tokens)
    four = [a @ b.T for a in (images, questions) for b in (pictures, names)]
    return best_weights(four, torch.from_numpy(right), step)


def spaced(n: int, most: int | None) -> Ids:
    """Return the places of at most `most` of n items, evenly spaced."""
    places = np.linspace(0, n - 1, n if most is None else min(most, n))
    return np.unique(places.astype(np.int64))


def _encoded(model: Multimodal, side: str, items: Side, rows: Ids, tokens: Tokens) -> Vectors:
    def encode(some: Ids) -> torch.Tensor:
        pictures, words = _inputs(model, items, some, tokens)
        return model.encode(side, pictures, words)

    return _blocks(encode, rows).numpy()


def _features(
    model: Clip2Clip, side: str, items: Side, rows: Ids, tokens: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    def encode(some: Ids) -> torch.Tensor:
        pictures, words = _inputs(model, items, some, tokens)
        both = model.see(side, pictures), model.read(side, words)
        return torch.cat([found.states[:, 0] for found in both], dim=-1)

    found = _blocks(encode, rows)
    seen, read = found.chunk(2, dim=-1)
    return seen, read


def _inputs(
    model: Multimodal, items: Side, rows: Ids, tokens: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    device = next(model.parameters()).device
    return items.pictures(rows).to(device), items.tokens(rows, tokens).to(device)


def _blocks(encode: Callable[[Ids], torch.Tensor], rows: Ids) -> torch.Tensor:
    """Encode some rows at a time, in the precision of the phase encode."""
    device, parts = Device(), np.array_split(rows, range(_BLOCK, len(rows), _BLOCK))
    return torch.cat([device.rows(partial(encode, part)) for part in parts])
