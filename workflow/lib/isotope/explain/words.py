"""Words of a sentence in their places, so that one can be exchanged and the sentence stay whole."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from isotope.explain.wordnet import WordNet

_WORD = re.compile(r"(?<![\w'\u2019-])[A-Za-z]+(?![\w'\u2019-])")
_LITTLE = (
    "a above an and are as at be beside by can do down for he her his i in inside is it like may"
    " near next no off on one or out over past she so that the then there they this to up us was"
    " well while who will with"
)
_DETERMINERS = "a an the this that these those his her its their my our your two three four several"
# ASSUME what follows one of these describes and is no thing: the paper does not say how it knows an
# adjective, and no tagger of speech is at hand.
_LINKS = (
    "am is are was were be been being look looks looking looked seem seems appear appears feel"
    " feels get gets getting stay stays remain remains become becomes very too so quite rather"
)
_NOT_NOUNS = frozenset(_LITTLE.split())
# Quantifiers and determiners are no attributes of an object.
_SAYING_LITTLE = "all few less many more most much other own same some such"
_VAGUE = frozenset(_SAYING_LITTLE.split())
_BEFORE = frozenset(_DETERMINERS.split())
_LINKING = frozenset(_LINKS.split())
_JOINING = ("and", "or", "but")
_PARTICIPLE = re.compile(r"\w{3,}(ed|ing)")
_PLURALS = (("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
# ASSUME letters tell a vowel, but for these beginnings (an hour, a unicorn, a one-eyed cat); of the
# article the paper says only that the query is to stay correct (section 5.1).
_SPOKEN_VOWEL, _SPOKEN_CONSONANT = ("hour", "honest"), ("uni", "use", "euro", "one")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its plain words; hyphenated and apostrophised ones are left alone."""

    text: str
    words: list[re.Match[str]]
    wordnet: WordNet

    @classmethod
    def of(cls, text: str, wordnet: WordNet) -> "Sentence":
        """Find the words."""
        return cls(text, list(_WORD.finditer(text)), wordnet)

    def word(self, place: int) -> str:
        """Return the word at a place in lower case, an empty one beyond the ends."""
        return self.words[place][0].lower() if 0 <= place < len(self.words) else ""

    def noun(self, place: int) -> str:
        """Return the word at a place as WordNet lists it, if it may be a noun, else nothing."""
        word = self.word(place)
        if not word or word in _NOT_NOUNS:
            return ""
        stems = [word, *(word.removesuffix(s) + e for s, e in _PLURALS if word.endswith(s))]
        return next((stem for stem in stems if self.wordnet.senses(stem)), "")

    def adjective(self, place: int) -> bool:
        """Tell whether WordNet knows the word as an adjective, vague ones and participles apart."""
        word = self.word(place)
        return word not in _NOT_NOUNS and not _PARTICIPLE.fullmatch(word) and self._known(word)

    def _known(self, word: str) -> bool:
        return word not in _VAGUE and bool(self.wordnet.senses(word, "a"))

    def describes(self, place: int) -> bool:
        """Tell whether the word is used as an adjective, before a noun or after what it tells of.

        A word that may be a noun, such as `light`, is one unless a noun follows or a verb such as
        `is` comes before; a participle is a verb unless it stands between article and noun.
        """
        if _PARTICIPLE.fullmatch(word := self.word(place)):
            between = self._before(place) in _BEFORE or self.adjective(place - 1)
            return between and self.attributive(place) and self._known(word)
        if not self.adjective(place):
            return False
        return self.attributive(place) or not self.noun(place) or self._linked(place)

    def _linked(self, place: int) -> bool:
        before = self._before(place)
        joins = before in _JOINING and self.adjective(place - 2) and self._linked(place - 2)
        return before in _LINKING or joins

    def _before(self, place: int) -> str:
        return self.word(place - 1) if self._joined(place - 1) else ""

    def attributive(self, place: int) -> bool:
        """Tell whether the word stands before a noun, or before one more adjective and a noun."""
        near = self._joined(place) and bool(self.noun(place + 1))
        further = self._joined(place) and self.adjective(place + 1) and self._joined(place + 1)
        return near or (further and bool(self.noun(place + 2)))

    def idiom(self, place: int) -> bool:
        """Tell whether the word and the next are one entry, such as hot dog: they stay together."""
        return bool(self.wordnet.senses(f"{self.word(place)}_{self.noun(place + 1)}"))

    def exchanged(self, new: Mapping[int, str]) -> str:
        """Return the sentence with new words at some places, `a` and `an` and capitals fitting."""
        changes = dict(new)
        for place, word in new.items():
            if self.word(place - 1) in ("a", "an") and self._joined(place - 1):
                changes[place - 1] = article(word)
        text = self.text
        for place in sorted(changes, reverse=True):
            start, end = self.words[place].span()
            text = text[:start] + _cased(changes[place], self.words[place][0]) + text[end:]
        return text

    def _joined(self, place: int) -> bool:
        """Tell whether nothing but a space is between the word and the next, on one line."""
        if not 0 <= place < len(self.words) - 1:
            return False
        between = self.text[self.words[place].end() : self.words[place + 1].start()]
        return between.isspace() and between.isprintable()


def article(word: str) -> str:
    """Return the indefinite article before `word`."""
    vowel = word[0] in "aeiou" and not word.startswith(_SPOKEN_CONSONANT)
    return "an" if vowel or word.startswith(_SPOKEN_VOWEL) else "a"


def _cased(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[0].upper() + word[1:] if like[0].isupper() else word
