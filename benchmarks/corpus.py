"""Text of any size that costs an index and a search what text of Wikipedia costs them.

    python benchmarks/corpus.py     (fits again on ../shared, and prints made beside measured)

Its constants are figures of real text (corpus.json, by corpus_fit.py): shares of the stop words,
frequencies of the other words by rank, how fast new ones come, how a word comes again near where it
stood, and the lengths of texts.

Stop words have their measured share. Another word is that of an earlier place (a cache: Kuhn and
De Mori, A cache-based natural language model for speech recognition, PAMI 1990), or else drawn by
rank from a curve that is straight between knots in logarithms, so near Zipf's and Mandelbrot's law
as real words are, and that ends in a power of the rank: new words never run out (Heaps' law).
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lexicon import lexicon
from numpy.typing import NDArray

CONSTANTS = Path(__file__).with_suffix(".json")
# Words made at once: it bounds the memory.
WORDS_AT_A_TIME = 1 << 17
# No rank beyond: the mass there is below what a double can tell.
MOST_RANK = 2.0**50
# The power 1 has an integral of its own; this is as good.
_NOT_ONE = 1e-9
# It has no factor in common with a power of two less one; ranks below the other are scattered.
_PRIME, _SCATTERED = 2_654_435_761, 1 << 30
# The rank among the words of sections of what many captions begin with, "English".
OPENING = 365
_GOLDEN, _MIX1, _MIX2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_SECTIONS, _CAPTIONS, _TEXTS, _COPIES = 1, 2, 3, 4
_RANK, _STOP, _AGAIN, _ORDER, _OPENING, _PURPOSES = range(6)
_LENGTHS, _KINDS = 4, 8

Ranks = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class Kind(NamedTuple):
    """Constants of one kind of text.

    A word is one of the stop words with the probabilities `stop_words`. Other words have densities
    `frequencies` at `ranks`, powers of the rank between, and beyond the last a power of -`tail`.

    Place i of a text has the word of an earlier place with probability `copies` * i / (i + `half`),
    its distance being d in proportion to 1 / d; and that of some place in earlier texts of its unit
    with probability `page`. Words of ranks beyond `rare` do not come again in this way.

    A text begins with the word of rank OPENING with probability `opening`. Words change places with
    others of the same `octaves` of ranks, as what is frequent in one kind is less so in another.
    `lengths` are quantiles, at equal steps, of the words in a text; a unit is `together` texts.
    """

    stop_words: tuple[float, ...]
    ranks: tuple[float, ...]
    frequencies: tuple[float, ...]
    tail: float
    copies: float
    half: float
    page: float
    rare: float
    opening: float
    octaves: int
    lengths: tuple[float, ...]
    together: int

    def length(self, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the words of texts, by their places (0 to 1) among all texts in length."""
        steps = np.linspace(0, 1, len(self.lengths))
        return np.exp(np.interp(shares, steps, np.log(self.lengths))).round().astype(np.int64)

    def mean(self) -> float:
        """Return the words of a text on average."""
        return float(self.length((np.arange(10_000) + 0.5) / 10_000).mean())

    def stretched(self, mean: float | None) -> "Kind":
        """Return the same with lengths in proportion whose mean is so many words."""
        by = mean / self.mean() if mean else 1
        return self._replace(lengths=tuple(max(by * length, 0.6) for length in self.lengths))

    def rank(self, shares: NDArray[np.float64]) -> Ranks:
        """Return the ranks at which the cumulated frequencies reach `shares` (0 to 1)."""
        powers, mass = self._pieces()
        ends = np.cumsum(mass)
        piece = np.searchsorted(ends[:-1], shares * ends[-1], "right")
        rest = shares * ends[-1] - (ends[piece] - mass[piece])
        start, flat = np.array(self.ranks)[piece], 1 - powers[piece]
        above = start**flat + rest * flat / self._scale(powers)[piece]
        return np.minimum(above ** (1 / flat), MOST_RANK).astype(np.int64)

    def _pieces(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the power that each piece falls by, and its mass."""
        ranks, frequencies = np.array(self.ranks), np.array(self.frequencies)
        powers = np.append(-np.diff(np.log(frequencies)) / np.diff(np.log(ranks)), self.tail)
        powers[powers == 1] += _NOT_ONE
        ends = np.append(ranks[1:] ** (1 - powers[:-1]), 0)
        return powers, self._scale(powers) * (ends - ranks ** (1 - powers)) / (1 - powers)

    def _scale(self, powers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array(self.frequencies) * np.array(self.ranks) ** powers


@cache
def kinds() -> dict[str, Kind]:
    """Return the constants of sections and captions."""
    read: dict[str, dict[str, Any]] = json.loads(CONSTANTS.read_text("utf-8"))
    return {name: Kind(**{k: _fixed(v) for k, v in own.items()}) for name, own in read.items()}


def _fixed(value: Any) -> Any:  # noqa: ANN401
    return tuple(value) if isinstance(value, list) else value


class Corpus:
    """Texts that depend on the seed and their numbers alone, whatever is made before or beside.

    Words of languages other than English have their letters; all figures are those of English.
    """

    def __init__(self, seed: int = 0, language: str = "en") -> None:
        """Choose what is drawn; `language` is a code, and unknown ones have Latin letters."""
        self._seed, self._lexicon = seed, lexicon(language)

    def sections(self, n: int, start: int = 0, *, mean: float | None = None) -> Iterator[str]:
        """Yield sections `start` to `start + n` with the measured lengths.

        Each `kinds()["sections"].together` in turn, from number 0 on, are of one page. With `mean`
        all lengths are stretched alike, so that their mean is so many words.
        """
        kind = kinds()["sections"].stretched(mean)
        return self._texts(_SECTIONS, kind, range(start, start + n))

    def captions(self, n: int, start: int = 0, *, mean: float | None = None) -> Iterator[str]:
        """Yield captions `start` to `start + n` of pictures, as `sections` does."""
        kind = kinds()["captions"].stretched(mean)
        return self._texts(_CAPTIONS, kind, range(start, start + n))

    def text(self, words: int, number: int) -> str:
        """Return text `number` of so many words, drawn as those of a section."""
        key = keys(self._seed, _TEXTS, np.array([number]))
        return self._joined(
            draw(kinds()["sections"], key, np.zeros(1, np.int64), np.array([words]))
        )

    def copy(self, text: str, number: int, share: float = 0.2) -> str:
        """Return the text with this share of its words drawn anew, at places by chance."""
        words = text.split() if self._lexicon.between else list(text)
        if not words:
            return text
        key, places = keys(self._seed, _COPIES, np.array([number])), np.arange(len(words))
        changed = np.argsort(hashes(key, places, _ORDER), kind="stable")
        changed = changed[: round(share * len(words))]
        one, many = np.zeros(1, np.int64), np.array([len(changed)])
        anew = self._lexicon.words(draw(kinds()["sections"], key, one, many))
        for place, word in zip(changed.tolist(), anew, strict=True):
            words[place] = word
        return self._lexicon.between.join(words)

    def _texts(self, what: int, kind: Kind, numbers: range) -> Iterator[str]:
        for ranks, ends in drawn(self._seed, what, kind, numbers):
            words, start = self._lexicon.words(ranks), 0
            for end in ends.tolist():
                yield self._lexicon.between.join(words[start:end])
                start = end

    def _joined(self, ranks: Ranks) -> str:
        return self._lexicon.between.join(self._lexicon.words(ranks))


def drawn(
    seed: int, what: int, kind: Kind, numbers: range
) -> Iterator[tuple[Ranks, NDArray[np.int64]]]:
    """Yield the ranks of all words of some texts, and where each text ends, batch by batch."""
    units = range(numbers.start // kind.together, -(-numbers.stop // kind.together))
    step = max(1, round(WORDS_AT_A_TIME / (kind.mean() * kind.together)))
    for first in range(units.start, units.stop, step):
        own = np.arange(first, min(first + step, units.stop))
        texts = np.arange(own[0] * kind.together, (own[-1] + 1) * kind.together)
        lengths = kind.length(_share(keys(seed, what + _LENGTHS, texts)))
        unit_of = np.repeat(np.arange(len(own)), kind.together)
        ranks = draw(kind, keys(seed, what, own), unit_of, lengths)
        ends = np.append(0, np.cumsum(lengths))
        low = max(numbers.start - int(texts[0]), 0)
        high = min(numbers.stop - int(texts[0]), len(texts))
        yield ranks[ends[low] : ends[high]], ends[low + 1 : high + 1] - ends[low]


def draw(kind: Kind, key: Hashes, units: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ranks:
    """Return the ranks of the words of texts, one after the other; a stop word's is below 1.

    Text t has `lengths[t]` words and is of unit `units[t]`, whose key is `key[units[t]]`; the texts
    of a unit lie together.
    """
    ends = np.cumsum(lengths)
    firsts = np.searchsorted(units, units)
    of_unit, of_text = (np.repeat(at, lengths) for at in ((ends - lengths)[firsts], ends - lengths))
    at = np.arange(len(of_unit))
    key, places = np.repeat(key[units], lengths), at - of_unit
    ranks = kind.rank(_share(hashes(key, places, _RANK)))
    earlier = _earlier(kind, _share(hashes(key, places, _AGAIN)), at - of_text, of_text - of_unit)
    again = ranks[_origins(at - earlier)]
    ranks = np.where(again <= kind.rare, again, ranks)
    stop = np.searchsorted(np.cumsum(kind.stop_words), _share(hashes(key, places, _STOP)), "right")
    opens = (at == of_text) & (_share(hashes(key, places, _OPENING)) < kind.opening)
    ranks = np.where(stop < len(kind.stop_words), -stop, _scattered(ranks, kind.octaves))
    return np.where(opens, OPENING, ranks)


def _scattered(ranks: Ranks, octaves: int) -> Ranks:
    """Return ranks that change places with others of the same octaves."""
    if not octaves:
        return ranks
    some = np.minimum(ranks, _SCATTERED)
    low = np.left_shift(1, (np.frexp(some)[1] - 1) // octaves * octaves)
    other = low + (some - low) * _PRIME % (low * ((1 << octaves) - 1))
    return np.where(low << octaves <= _SCATTERED, other, ranks)


def _earlier(
    kind: Kind, shares: NDArray[np.float64], in_text: NDArray[np.int64], before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many words before each is the one whose rank it has; 0 where it is drawn anew.

    It has `in_text` words before it in its text, and `before` in earlier texts of its unit.
    """
    text = kind.copies * in_text / (in_text + kind.half)
    unit = np.where(before, kind.page, 0)
    in_own = np.floor((in_text + 1.0) ** np.minimum(shares / np.maximum(text, _NOT_ONE), 1)) - 1
    in_own = np.minimum(in_own, in_text - 1)
    in_other = in_text + np.floor((shares - text) / np.maximum(unit, _NOT_ONE) * before)
    earlier = np.where(shares < text, in_own, np.where(shares < text + unit, in_other, -1))
    return earlier.astype(np.int64) + 1


def _origins(sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each chain of sources begins."""
    while not np.array_equal(before := sources[sources], sources):
        sources = before
    return sources


def keys(seed: int, what: int, numbers: NDArray[np.int64]) -> Hashes:
    """Return a key for each of some units."""
    own = _mixed(np.array([seed * _KINDS + what]).astype(np.uint64) + np.uint64(_GOLDEN))
    return _mixed(own ^ (numbers.astype(np.uint64) * np.uint64(_GOLDEN)))


def hashes(key: Hashes, places: NDArray[np.int64], purpose: int) -> Hashes:
    """Return a number for each place by the output function of SplitMix64."""
    steps = places.astype(np.uint64) * np.uint64(_PURPOSES) + np.uint64(purpose + 1)
    return _mixed(key + steps * np.uint64(_GOLDEN))


def _mixed(state: Hashes) -> Hashes:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(_MIX1)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(_MIX2)
    return state ^ (state >> np.uint64(31))


def _share(values: Hashes) -> NDArray[np.float64]:
    """Return numbers from 0 up to 1."""
    return (values >> np.uint64(11)).astype(np.float64) * 2.0**-53


def main() -> None:
    """Fit on real text, and print the figures of both."""
    from corpus_report import report  # noqa: PLC0415

    report()


if __name__ == "__main__":
    main()
