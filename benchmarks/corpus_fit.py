"""Fit the constants of benchmarks/corpus.py to real text, until text made by them measures alike.

What a frequency in the sample says of the words' own frequency depends on the sample's size and on
how words come again; so constants are changed until text of as many words as the real one, in texts
and pages of the same lengths, has the same figures (simulated moments).
"""

import json
from typing import Any, NamedTuple

import numpy as np
from corpus import CONSTANTS, Kind, draw, keys, kinds
from corpus_real import Words
from lexicon import STOP_WORDS
from numpy.typing import NDArray

KNOTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 20_000)
BEFORE = (1, 5)
QUANTILES, ROUNDS, STEP = 101, 32, 0.8
GUESSES: dict[str, Any] = {"tail": 1.6, "copies": 0.4, "half": 13.0, "page": 0.3}
# What stays as it is. Rare words of long texts come again less than others: without `rare`, fewer
# new ones come at the end than were measured. Short texts do without. Octaves make the words of a
# section stand in as many captions as they do.
STAY: dict[str, dict[str, Any]] = {
    "sections": {"together": 14, "rare": 2e4, "octaves": 0},
    "captions": {"together": 1, "rare": 1e15, "octaves": 6, "page": 0.0},
}
_SHORT, _LONG = (0, 50), (100, 10**9)
_FIT = 31
_LOW = (1 << 32) - 1


class Figures(NamedTuple):
    """What is measured of some texts; a word here is no stop word, unless said.

    `first` is the share of texts that have the most frequent word, `bands` are shares of the words
    from each knot's rank to the next by order of frequency, `again` the words of a short and of a
    long text by its different words, `near` the shares of a text's different words that the text
    before it on its page has too, and the fifth before it.
    """

    vocabulary: float
    first: float
    bands: NDArray[np.float64]
    again: NDArray[np.float64]
    near: NDArray[np.float64]


def measure(words: Words) -> Figures:
    """Measure texts."""
    plain = words.ranks > 0
    ranks, texts = words.ranks[plain], words.texts[plain]
    words_of, counts = np.unique(ranks, return_counts=True)
    first = len(np.unique(texts[ranks == words_of[counts.argmax()]])) / len(words.ends)
    counts = np.sort(counts)[::-1]
    bands = np.add.reduceat(counts, np.array(KNOTS) - 1) / len(ranks)
    by_distance = np.array([near(words, n) for n in BEFORE])
    return Figures(len(counts), first, bands, _again(words, texts, ranks), by_distance)


def pairs(texts: NDArray[np.int64], ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different pairs of a text and a word, as text << 32 | number of the word."""
    found = np.sort(texts << 32 | ranks & _LOW)
    return found[np.diff(found, prepend=-1) > 0]


def _again(words: Words, texts: NDArray[np.int64], ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    different = np.bincount(pairs(texts, ranks) >> 32, minlength=len(words.ends))
    all_words = np.bincount(texts, minlength=len(words.ends))
    of = [(low <= words.lengths) & (words.lengths < high) for low, high in (_SHORT, _LONG)]
    return np.array([all_words[own].sum() / different[own].sum() for own in of])


def near(words: Words, before: int = 1) -> float:
    """Return the share of a text's words that the one `before` places before it on its page has."""
    plain = words.ranks > 0
    found = pairs(words.texts[plain], words.ranks[plain])
    text, word = found >> 32, found & _LOW
    same = text >= before
    same[same] = words.pages[text[same]] == words.pages[text[same] - before]
    there = np.isin((text[same] - before) << 32 | word[same], found)
    return float(there.mean()) if same.any() else 0.0


def made(kind: Kind, like: Words, seed: int = 0) -> Words:
    """Return texts drawn by a kind's constants, with the lengths and pages of others."""
    pages, units = np.unique(like.pages, return_inverse=True)
    ranks = draw(kind, keys(seed, _FIT, np.arange(len(pages))), units, like.lengths)
    return Words(ranks, like.ends, like.pages)


def start(real: Words, given: dict[str, Any]) -> Kind:
    """Return constants to begin with: what is measured at once, guesses, and those that stay."""
    stop_words = np.bincount(-real.ranks[real.ranks < 1], minlength=len(STOP_WORDS))
    bands = measure(real).bands
    density = bands / np.diff(np.append(KNOTS, 4 * KNOTS[-1]))
    steps = np.linspace(0, 1, QUANTILES)
    lengths = np.maximum(np.quantile(real.lengths, steps, method="inverted_cdf"), 1)
    found: dict[str, Any] = {
        "stop_words": tuple((stop_words / len(real.ranks)).round(6).tolist()),
        "ranks": tuple(map(float, KNOTS)),
        "frequencies": tuple((density / density[1]).tolist()),
        "lengths": tuple(lengths.tolist()),
        "opening": 0.0,
    }
    return Kind(**found, **(GUESSES | given))


def fit(real: Words, given: dict[str, Any]) -> Kind:
    """Return the constants by which made texts measure like real ones; `given` ones stay."""
    kind, goal = start(real, given), measure(real)
    for n in range(ROUNDS):
        kind = _nearer(kind, goal, measure(made(kind, real, n)), STEP * (1 - n / ROUNDS))
    return rounded(kind)


def _nearer(kind: Kind, goal: Figures, found: Figures, step: float) -> Kind:
    """Change each constant by the figure that depends on it most, by less in later rounds."""
    bands = (goal.bands / found.bands) ** step
    if kind.together == 1:
        # Texts of their own may begin with a word that is the most frequent by that alone.
        bands[0] = bands[1]
        kind = kind._replace(opening=max(0.0, kind.opening + step * (goal.first - found.first)))
    frequencies = np.array(kind.frequencies) * np.sqrt(bands * np.append(bands[0], bands[:-1]))
    short, long = np.log(goal.again / found.again) / np.log(goal.again)
    near = np.prod(goal.near / found.near) if kind.page else 1.0
    return kind._replace(
        frequencies=tuple((frequencies / frequencies[0]).tolist()),
        tail=max(1.1, kind.tail * (found.vocabulary / goal.vocabulary) ** (step / 2)),
        copies=min(0.97, kind.copies * float(np.exp(step / 2 * long))),
        half=kind.half * float(np.exp(step * (long - short))),
        page=kind.page * float(near) ** (step / 2),
    )


def rounded(kind: Kind) -> Kind:
    """Return constants of five digits."""
    names = ("tail", "copies", "half", "page", "opening")
    few = {name: float(f"{getattr(kind, name):.5g}") for name in names}
    return kind._replace(frequencies=tuple(float(f"{f:.5g}") for f in kind.frequencies), **few)


def keep(found: dict[str, Kind]) -> None:
    """Write the constants where `corpus` reads them."""
    lines = [f'  "{name}": {json.dumps(kind._asdict())}' for name, kind in found.items()]
    CONSTANTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    kinds.cache_clear()
