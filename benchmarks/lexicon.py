"""Words by rank, of any number of ranks: made of syllables, and no two ranks have the same.

Of `PERIOD` ranks one is a number, some (in English) are forms of words that are more frequent, and
the others are words of their own, with more syllables as ranks rise. Every syllable is a consonant,
a vowel and perhaps a coda, and suffixes end in letters that are no codas: so a word can be cut in
one way only. Endings that Porter's stemmer takes off are kept out of the syllables, so that it
joins the forms of a word and hardly anything else.
"""

import hashlib
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Lucene's English stop words, the most frequent first.
_STOP_WORDS = """the of and in to a is as for was that on by with are it an
at or be this not their but they such into there these no will if then"""
STOP_WORDS = tuple(_STOP_WORDS.split())
# Words of ranks up to it are looked up; the others are spelled anew each time.
TABLE = 1 << 17
PERIOD, NUMBER = 24, 23
# The most frequent words have no other forms, as from, his and which; one form of so many words is
# followed by another form of them.
FIRST_FORMED, FORMED_TOGETHER = 200, 1000
FORMS = (2, 5, 8, 11, 14, 17, 20, 22)
# A prime number of syllables: multiplying by the stride then only permutes the words of a length.
SYLLABLES, OPEN, STRIDE = 97, 30, 0x9E3779B97F4A7C15
YEARS = range(1900, 2020)


class Letters(NamedTuple):
    """What the syllables of a language are made of, and which would be taken for suffixes."""

    consonants: str
    vowels: str
    codas: str
    suffixes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


_LATIN = Letters("bcdfghjklmnprstvz", "aiou", "nrlmkp")
_LETTERS = {
    "en": Letters(
        "bcdfghjklmnprstvwz",
        "aeiou",
        "nrlmkptb",
        ("s", "ed", "ing"),
        ("no", "to", "wa", "for", "not", "but", "ti", "gi", "e", "al", "at", "er"),
    ),
    "de": Letters("bdfghjklmnprstvwz", "aeiouäöü", "nrlmktpf"),
    "fr": Letters("bcdfgjlmnprstv", "aeiouéèô", "nrltmp"),
    "es": Letters("bcdfgjlmnñprstvz", "aeiouáó", "nrlsm"),
    "ru": Letters("бвгджзклмнпрстфхцчш", "аеиоуыя", "нрлмктс"),
    "ar": Letters("بتثجحخدذرزسشصضطعغفقكلمنه", "اوي", "نرلم"),
}
# Words of these are characters without a space between.
HAN = frozenset(("zh", "ja"))
_HAN_FIRST, _HAN_STEP = 0x4E00, 53


class Lexicon:
    """The words of a language by rank; Latin letters where its code is not known.

    Stop words have the ranks from 0 downwards, in the order of `STOP_WORDS`; in other languages
    words of syllables stand for them.
    """

    def __init__(self, language: str = "en") -> None:
        """Choose the language's syllables, and spell its more frequent words."""
        letters = _LETTERS.get(language, _LATIN)
        self._suffixes = letters.suffixes
        self._syllables = _syllables(language, letters)
        self.between = "" if language in HAN else " "
        self._skip = 0 if language == "en" else len(STOP_WORDS)
        stop_words = STOP_WORDS if language == "en" else [self._spell(n) for n in range(self._skip)]
        most = [self._spell(self._skip + n) for n in range(TABLE)]
        # Python takes an index below 0 from the end.
        self._table = [stop_words[0], *most, *stop_words[:0:-1]]

    def words(self, ranks: NDArray[np.int64]) -> list[str]:
        """Return the words of ranks."""
        table, spell, skip = self._table, self._spell, self._skip - 1
        return [table[r] if r <= TABLE else spell(r + skip) for r in ranks.tolist()]

    def _spell(self, number: int) -> str:
        """Return the n-th word, from 0 on."""
        period, place = divmod(number, PERIOD)
        if place == NUMBER:
            return _number(period)
        if not self._suffixes:
            return self._base(period * NUMBER + place)
        if place not in _PLACE_OF_FORM:
            return self._base(period * len(_PLACE_OF_BASE) + _PLACE_OF_BASE[place])
        form = period * len(FORMS) + _PLACE_OF_FORM[place]
        block, base = divmod(form, FORMED_TOGETHER)
        block, suffix = divmod(block, len(self._suffixes))
        word = self._base(FIRST_FORMED + block * FORMED_TOGETHER + base)
        return word + self._suffixes[suffix]

    def _base(self, number: int) -> str:
        count, of_length = 1, SYLLABLES
        while number >= of_length:
            number -= of_length
            count, of_length = count + 1, of_length * SYLLABLES
        number = number * STRIDE % of_length
        parts: list[str] = []
        for _ in range(count):
            number, at = divmod(number, SYLLABLES)
            parts.append(self._syllables[at])
        return "".join(parts)


_PLACE_OF_FORM = {place: n for n, place in enumerate(FORMS)}
_PLACE_OF_BASE = {
    place: n for n, place in enumerate(p for p in range(NUMBER) if p not in _PLACE_OF_FORM)
}


@cache
def lexicon(language: str) -> Lexicon:
    """Return the words of a language; they are made once a process."""
    return Lexicon(language)


def _number(n: int) -> str:
    """Return the n-th number: years first, then all others."""
    if n < len(YEARS):
        return str(YEARS[n * 37 % len(YEARS)])
    n -= len(YEARS)
    return str(n if n < YEARS.start else n + len(YEARS))


def _syllables(language: str, letters: Letters) -> tuple[str, ...]:
    if language in HAN:
        return tuple(chr(_HAN_FIRST + _HAN_STEP * n) for n in range(SYLLABLES))
    pairs = ["".join(pair) for pair in product(letters.consonants, letters.vowels)]
    shut = ["".join(pair) for pair in product(pairs, letters.codas)]
    chosen = _shuffled(language, [s for s in pairs if not s.endswith(letters.without)])[:OPEN]
    chosen += _shuffled(language, [s for s in shut if not s.endswith(letters.without)])
    return tuple(_shuffled(language, chosen[:SYLLABLES]))


def _shuffled(language: str, syllables: list[str]) -> list[str]:
    return sorted(syllables, key=lambda s: hashlib.sha256(f"{language} {s}".encode()).digest())
