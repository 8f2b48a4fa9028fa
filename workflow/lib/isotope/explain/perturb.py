"""Sentences that mean something else and read as well: the adversarial queries.

Source: Lymperaiou et al., COLING 2022 (arXiv 2209.03723), section 5.1: antonym, colour-all,
colour-in and size. Every word of its kind is exchanged, each by a seeded draw.
"""

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from isotope.explain.wordnet import WordNet
from isotope.explain.words import Sentence

Rgb = tuple[int, int, int]
LARGE = ("large", "big", "enormous", "huge")
SMALL = ("small", "little", "minor", "tiny")
_OPPOSITES = {**dict.fromkeys(LARGE, SMALL), **dict.fromkeys(SMALL, LARGE)}
# ASSUME these are colours only before a noun, elsewhere fruits, metals, flowers, and the next ones
# are never: the paper does not say how it knows a colour in a sentence.
_NOUNS_TOO = "coral gold ivory lavender lime navy olive orange salmon silver tan turquoise violet"
_NOUNS = (
    "bisque chocolate cornsilk firebrick goldenrod honeydew linen moccasin orchid peru plum"
    " seashell sienna snow thistle tomato wheat"
)
_THINGS, _ALWAYS_THINGS = frozenset(_NOUNS_TOO.split()), frozenset(_NOUNS.split())
_LETTERS = re.compile("[a-z]+")


class Settings(NamedTuple):
    """The seed of the draws, and how far apart in RGB (Euclidean) two colours are to be at least.

    `mentioned` are the colours of the dataset, those that colour-in may bring in.
    """

    seed: int = 0
    # ASSUME the proximity threshold of section 5.1, of which it gives no value: a third of the
    # way from black to white, about that from red to orange.
    colour_distance: float = 150.0
    mentioned: frozenset[str] = frozenset()


class Perturbed(NamedTuple):
    """A sentence with other words, and what became of which."""

    sentence: str
    changes: list[tuple[str, str]]


Options = Callable[[Sentence, int, Settings], list[str]]


@cache
def colours() -> Mapping[str, Rgb]:
    """Return Matplotlib's colours by name, each channel 0 to 255.

    Its CSS4 list: of its others, the names have a prefix or are single letters.
    """
    from matplotlib.colors import CSS4_COLORS  # noqa: PLC0415

    return {name: _rgb(str(code)) for name, code in CSS4_COLORS.items()}


def _rgb(code: str) -> Rgb:
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return red, green, blue


@cache
def spelled(colour: str) -> str:
    """Return `dark slate gray` for `darkslategray`: a query is to stay correct (section 5.1)."""
    tails = [c for c in colours() if colour.endswith(c) and c != colour]
    tail = max(tails, key=len, default="")
    return f"{spelled(colour.removesuffix(tail))} {spelled(tail)}" if tail else colour


def mentioned(sentences: Iterable[str], wordnet: WordNet) -> frozenset[str]:
    """Return the colours that sentences mention."""
    named, found = colours().keys() - _ALWAYS_THINGS, {""}
    for text in sentences:
        if named.intersection(_LETTERS.findall(text.lower())) - found:
            sentence = Sentence.of(text, wordnet)
            found.update(_colour(sentence, place) for place in range(len(sentence.words)))
    return frozenset(found - {""})


def perturb(
    kind: str, text_id: str, text: str, wordnet: WordNet, settings: Settings
) -> Perturbed | None:
    """Return `text` perturbed by a kind of KINDS, None if no word of it can be exchanged.

    The same seed, kind and `text_id` draw the same words.
    """
    rng = random.Random(f"{settings.seed}/{kind}/{text_id}")
    sentence = Sentence.of(text, wordnet)
    new = {place: rng.choice(words) for place, words in _choices(kind, sentence, settings)}
    if not new:
        return None
    changes = [(sentence.word(place), word) for place, word in sorted(new.items())]
    return Perturbed(sentence.exchanged(new), changes)


def _choices(kind: str, sentence: Sentence, settings: Settings) -> Iterator[tuple[int, list[str]]]:
    for place in range(len(sentence.words)):
        words = KINDS[kind](sentence, place, settings)
        if words and not sentence.idiom(place):
            yield place, words


def _antonyms(sentence: Sentence, place: int, _: Settings) -> list[str]:
    if not sentence.describes(place):
        return []
    found = sentence.wordnet.antonyms(sentence.word(place))
    return [word for word in found if word.isalpha()]


def _any_colour(sentence: Sentence, place: int, settings: Settings) -> list[str]:
    return _distant(colours(), _colour(sentence, place), settings)


def _mentioned_colour(sentence: Sentence, place: int, settings: Settings) -> list[str]:
    return _distant(settings.mentioned, _colour(sentence, place), settings)


def _distant(pool: Iterable[str], own: str, settings: Settings) -> list[str]:
    far = settings.colour_distance
    return [spelled(c) for c in sorted(pool) if own and c != own and apart(own, c) >= far]


def _other_size(sentence: Sentence, place: int, _: Settings) -> list[str]:
    word = sentence.word(place)
    # A little is an amount, but before a noun: the query is to stay correct (section 5.1).
    if word == "little" and not sentence.attributive(place):
        return []
    return list(_OPPOSITES.get(word, ()))


KINDS: Mapping[str, Options] = {
    "antonym": _antonyms,
    "colour-all": _any_colour,
    "colour-in": _mentioned_colour,
    "size": _other_size,
}


def _colour(sentence: Sentence, place: int) -> str:
    """Return the name of the colour that the word at a place is, else nothing."""
    word = sentence.word(place)
    if word not in colours() or word in _ALWAYS_THINGS:
        return ""
    return "" if word in _THINGS and not sentence.attributive(place) else word


def apart(one: str, other: str) -> float:
    """Return the Euclidean distance of two of Matplotlib's colours in RGB, 0 to 442."""
    return math.dist(colours()[one], colours()[other])
