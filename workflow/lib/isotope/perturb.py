"""Sentences that mean something else and read as well: the query-informed part.

Source: Lymperaiou et al., COLING 2022 (arXiv 2209.03723), the adversarial interventions: antonym,
colour-all, colour-in and size. Every word of its kind is exchanged, each by a seeded draw.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from PIL import ImageColor

from isotope.perturb_words import Sentence
from isotope.wordnet import WordNet

_NAMED = (
    "black white gray silver red maroon orange gold yellow beige tan brown olive green lime teal"
    " turquoise cyan blue navy purple violet magenta pink"
)
COLOURS = tuple(_NAMED.split())
LARGE = ("large", "big", "huge", "giant", "enormous", "gigantic")
SMALL = ("small", "little", "tiny", "miniature", "minuscule")
# ASSUME these are colours only before a noun; elsewhere they are fruits, metals, flowers.
_THINGS = frozenset(("orange", "gold", "silver", "tan", "olive", "lime", "violet", "navy"))
_SAME = {"grey": "gray"}


class Settings(NamedTuple):
    """The seed of the draws, and how far apart in RGB (Euclidean) colour-in's colours may be."""

    seed: int = 0
    colour_distance: float = 150.0


class Perturbed(NamedTuple):
    """A sentence with other words, and what became of which."""

    sentence: str
    changes: list[tuple[str, str]]


Options = Callable[[Sentence, int, Settings], list[str]]


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
    if not (sentence.adjective(place) and sentence.attributive(place)):
        return []
    found = sentence.wordnet.antonyms(sentence.word(place))
    return [word for word in found if word.isalpha()]


def _any_colour(sentence: Sentence, place: int, _: Settings) -> list[str]:
    own = _colour(sentence, place)
    return [colour for colour in COLOURS if colour != own] if own else []


def _near_colour(sentence: Sentence, place: int, settings: Settings) -> list[str]:
    own = _colour(sentence, place)
    near = settings.colour_distance
    return [c for c in COLOURS if c != own and apart(own, c) <= near] if own else []


def _other_size(sentence: Sentence, place: int, _: Settings) -> list[str]:
    word = sentence.word(place)
    opposite: Mapping[bool, tuple[str, ...]] = {word in LARGE: SMALL, word in SMALL: LARGE}
    return list(opposite.get(True, ())) if sentence.attributive(place) else []


KINDS: Mapping[str, Options] = {
    "antonym": _antonyms,
    "colour-all": _any_colour,
    "colour-in": _near_colour,
    "size": _other_size,
}


def _colour(sentence: Sentence, place: int) -> str:
    word = _SAME.get(sentence.word(place), sentence.word(place))
    if word not in COLOURS or (word in _THINGS and not sentence.attributive(place)):
        return ""
    return word


def apart(one: str, other: str) -> float:
    """Return the Euclidean distance of two named colours in RGB, 0 to 442, by their CSS values."""
    return math.dist(ImageColor.getrgb(one), ImageColor.getrgb(other))
