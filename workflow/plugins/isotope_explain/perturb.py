"""Sentences that mean something else and read as well: the adversarial queries.

`perturb_texts` writes every judged text anew, `perturb` exchanges the words of one sentence: every
word of its kind, each by a seeded draw.
Source: Lymperaiou et al., COLING 2022 (arXiv 2209.03723), section 5.1: antonym, colour-all,
colour-in and size.
"""

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.progress import Progress, log
from isotope.schemas.collect import TEXTS
from isotope_explain.schemas import PERTURBED
from isotope_explain.wordnet import WordNet, find

Rgb = tuple[int, int, int]
# ASSUME the sentence that a query consists of is its section's description, as captions are: the
# paper's queries are captions (section 3.1) and have no other fields.
FIELD = "context_section_description"
_CAPTIONS = "caption_reference_description"
_TEXTS_PER_READ = 8_192
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
_WORD = re.compile(r"(?<![\w'\u2019-])[A-Za-z]+(?![\w'\u2019-])")
_FUNCTION_WORDS = (
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
_NOT_NOUNS = frozenset(_FUNCTION_WORDS.split())
# Quantifiers and determiners are no attributes of an object.
_QUANTIFIERS = "all few less many more most much other own same some such"
_VAGUE = frozenset(_QUANTIFIERS.split())
_BEFORE = frozenset(_DETERMINERS.split())
_LINKING = frozenset(_LINKS.split())
_JOINING = ("and", "or", "but")
_PARTICIPLE = re.compile(r"\w{3,}(ed|ing)")
_PLURALS = (("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
# ASSUME letters tell a vowel, but for these beginnings (an hour, a unicorn, a one-eyed cat); of the
# article the paper says only that the query is to stay correct (section 5.1).
_SPOKEN_VOWEL, _SPOKEN_CONSONANT = ("hour", "honest"), ("uni", "use", "euro", "one")


class Settings(NamedTuple):
    """The seed of the draws, and how far apart in RGB (Euclidean) two colours are to be at least.

    `mentioned` are the colours of the dataset, those that colour-in may bring in.
    """

    seed: int = 0
    # ASSUME the proximity threshold of section 5.1, of which it gives no value: a third of the
    # way from black to white, about that from red to orange.
    colour_distance: float = 150.0
    # Words count wherever they stand: see `plain` in docs/explain.md.
    plain: bool = False
    mentioned: frozenset[str] = frozenset()


class Perturbed(NamedTuple):
    """A sentence with other words, and what became of which."""

    sentence: str
    changes: list[tuple[str, str]]


def perturb_texts(  # noqa: PLR0913
    texts: Path,
    images: Path,
    qrels: Path,
    *,
    split: str,
    wordnet: str | None,
    settings: Settings,
    out: Path,
) -> None:
    """Write schemas.PERTURBED: every judged text of the split, once for each kind that changes it.

    `text_id` is `<kind>/<query_id>`, so that the table stands in for texts wherever they are
    encoded or searched with; it is sorted by it. The colours of the dataset, which colour-in may
    bring in, are those of these texts and of their pictures' captions.

    Raises:
        MissingFile: no dictionary.
    """
    dictionary = WordNet(find(wordnet))
    judged = pl.read_parquet(qrels, glob=False).filter(pl.col("split") == split)
    queries = pl.read_parquet(texts, columns=TEXTS.names, glob=False).join(
        judged, on="text_id", how="semi"
    )
    queries = queries.filter(pl.col(FIELD).fill_null("") != "").sort("text_id")
    colours = mentioned(chain(queries[FIELD], _captions(images, judged)), dictionary, settings)
    log.info("colours that queries and captions mention: %s", ", ".join(sorted(colours)))
    settings = settings._replace(mentioned=colours)
    with store.writer(out, PERTURBED) as file:
        for kind in sorted(KINDS):
            for some in queries.iter_slices(_TEXTS_PER_READ):
                rows = list(_rows(kind, some, dictionary, settings))
                file.write_table(pa.Table.from_pylist(rows, schema=PERTURBED))
                log.info("%s: %d of %d queries", kind, len(rows), some.height)


def perturb(
    kind: str, text_id: str, text: str, wordnet: WordNet, settings: Settings
) -> Perturbed | None:
    """Return `text` perturbed by a kind of KINDS, None if no word of it can be exchanged.

    The same seed, kind and `text_id` draw the same words.
    """
    rng = random.Random(f"{settings.seed}/{kind}/{text_id}")
    sentence = ParsedSentence.parse(text, wordnet)
    new = {position: rng.choice(words) for position, words in _choices(kind, sentence, settings)}
    if not new:
        return None
    changes = [(sentence.word(position), word) for position, word in sorted(new.items())]
    return Perturbed(sentence.exchanged(new), changes)


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence and its plain words; hyphenated and apostrophised ones are left alone."""

    text: str
    words: list[re.Match[str]]
    wordnet: WordNet

    @classmethod
    def parse(cls, text: str, wordnet: WordNet) -> "ParsedSentence":
        """Find the words."""
        return cls(text, list(_WORD.finditer(text)), wordnet)

    def word(self, position: int) -> str:
        """Return the word at a place in lower case, an empty one beyond the ends."""
        return self.words[position][0].lower() if 0 <= position < len(self.words) else ""

    def noun(self, position: int) -> str:
        """Return the word at a place as WordNet lists it, if it may be a noun, else nothing."""
        word = self.word(position)
        if not word or word in _NOT_NOUNS:
            return ""
        stems = [word, *(word.removesuffix(s) + e for s, e in _PLURALS if word.endswith(s))]
        return next((stem for stem in stems if self.wordnet.senses(stem)), "")

    def adjective(self, position: int) -> bool:
        """Tell whether the word is an adjective in WordNet, neither vague nor a participle."""
        word = self.word(position)
        return word not in _NOT_NOUNS and not _PARTICIPLE.fullmatch(word) and self._in_wordnet(word)

    def _in_wordnet(self, word: str) -> bool:
        return word not in _VAGUE and bool(self.wordnet.senses(word, "a"))

    def describes(self, position: int) -> bool:
        """Tell whether the word is used as an adjective, before a noun or after such as `is`.

        A word that may be a noun, such as `light`, is one unless a noun follows or a verb such as
        `is` comes before; a participle is a verb unless it stands between article and noun.
        """
        if _PARTICIPLE.fullmatch(word := self.word(position)):
            between = self._before(position) in _BEFORE or self.adjective(position - 1)
            return between and self.attributive(position) and self._in_wordnet(word)
        if not self.adjective(position):
            return False
        return self.attributive(position) or not self.noun(position) or self._linked(position)

    def _linked(self, position: int) -> bool:
        before = self._before(position)
        joins = before in _JOINING and self.adjective(position - 2) and self._linked(position - 2)
        return before in _LINKING or joins

    def _before(self, position: int) -> str:
        return self.word(position - 1) if self._joined(position - 1) else ""

    def attributive(self, position: int) -> bool:
        """Tell whether the word stands before a noun, or before one more adjective and a noun."""
        near = self._joined(position) and bool(self.noun(position + 1))
        further = (
            self._joined(position) and self.adjective(position + 1) and self._joined(position + 1)
        )
        return near or (further and bool(self.noun(position + 2)))

    def idiom(self, position: int) -> bool:
        """Tell whether the word and the next are one entry, such as hot dog: they stay together."""
        return bool(self.wordnet.senses(f"{self.word(position)}_{self.noun(position + 1)}"))

    def exchanged(self, new: Mapping[int, str]) -> str:
        """Return the sentence with new words at some places, `a` and `an` and capitals fitting."""
        changes = dict(new)
        for position, word in new.items():
            if self.word(position - 1) in ("a", "an") and self._joined(position - 1):
                changes[position - 1] = article(word)
        text = self.text
        for position in sorted(changes, reverse=True):
            start, end = self.words[position].span()
            text = text[:start] + _cased(changes[position], self.words[position][0]) + text[end:]
        return text

    def _joined(self, position: int) -> bool:
        """Tell whether nothing but a space is between the word and the next, on one line."""
        if not 0 <= position < len(self.words) - 1:
            return False
        between = self.text[self.words[position].end() : self.words[position + 1].start()]
        return between.isspace() and between.isprintable()


def article(word: str) -> str:
    """Return the indefinite article before `word`."""
    vowel = word[0] in "aeiou" and not word.startswith(_SPOKEN_CONSONANT)
    return "an" if vowel or word.startswith(_SPOKEN_VOWEL) else "a"


def mentioned(sentences: Iterable[str], wordnet: WordNet, settings: Settings) -> frozenset[str]:
    """Return the colours that sentences mention."""
    names, mentions = colours().keys() - ({""} if settings.plain else _ALWAYS_THINGS), {""}
    for text in sentences:
        if names.intersection(_LETTERS.findall(text.lower())) - mentions:
            sentence = ParsedSentence.parse(text, wordnet)
            places = range(len(sentence.words))
            mentions.update(_colour(sentence, position, settings) for position in places)
    return frozenset(mentions - {""})


@cache
def colours() -> Mapping[str, Rgb]:
    """Return Matplotlib's colours by name, each channel 0 to 255.

    Its CSS4 list: of its others, the names have a prefix or are single letters.
    """
    from matplotlib.colors import CSS4_COLORS  # noqa: PLC0415

    return {name: _rgb(str(code)) for name, code in CSS4_COLORS.items()}


@cache
def spelled(colour: str) -> str:
    """Return `dark slate gray` for `darkslategray`: a query is to stay correct (section 5.1)."""
    tails = [c for c in colours() if colour.endswith(c) and c != colour]
    tail = max(tails, key=len, default="")
    return f"{spelled(colour.removesuffix(tail))} {spelled(tail)}" if tail else colour


def apart(first: str, second: str) -> float:
    """Return the Euclidean distance of two of Matplotlib's colours in RGB, 0 to 442."""
    return math.dist(colours()[first], colours()[second])


def _captions(images: Path, judged: pl.DataFrame) -> pl.Series:
    captions = pl.scan_parquet(images, glob=False).select("image_id", _CAPTIONS)
    judged_captions = captions.join(judged.lazy(), on="image_id", how="semi").select(
        pl.col(_CAPTIONS).explode()
    )
    return judged_captions.drop_nulls().collect(engine="streaming").to_series()


def _rows(
    kind: str, texts: pl.DataFrame, wordnet: WordNet, settings: Settings
) -> Iterator[Mapping[str, object]]:
    progress = Progress(f"sentences, {kind}", texts.height)
    for text in texts.iter_rows(named=True):
        new = perturb(kind, text["text_id"], text[FIELD], wordnet, settings)
        progress.add()
        if new is not None:
            yield {
                **text,
                "text_id": f"{kind}/{text['text_id']}",
                FIELD: new.sentence,
                "perturbation": kind,
                "query_id": text["text_id"],
                "intact": text[FIELD],
                "perturbed": new.sentence,
                "changes": [f"{before} > {after}" for before, after in new.changes],
            }
    progress.finish()


def _choices(
    kind: str, sentence: ParsedSentence, settings: Settings
) -> Iterator[tuple[int, list[str]]]:
    for position in range(len(sentence.words)):
        words = KINDS[kind](sentence, position, settings)
        if words and (settings.plain or not sentence.idiom(position)):
            yield position, words


def _antonyms(sentence: ParsedSentence, position: int, settings: Settings) -> list[str]:
    if not sentence.describes(position):
        return []
    wordnet = sentence.wordnet
    antonyms = (wordnet.antonyms_of_first if settings.plain else wordnet.antonyms)(
        sentence.word(position)
    )
    return [word for word in antonyms if word.isalpha()]


def _any_colour(sentence: ParsedSentence, position: int, settings: Settings) -> list[str]:
    return _distant(colours(), _colour(sentence, position, settings), settings)


def _mentioned_colour(sentence: ParsedSentence, position: int, settings: Settings) -> list[str]:
    return _distant(settings.mentioned, _colour(sentence, position, settings), settings)


def _other_size(sentence: ParsedSentence, position: int, settings: Settings) -> list[str]:
    word = sentence.word(position)
    # A little is an amount, but before a noun: the query is to stay correct (section 5.1).
    if word == "little" and not settings.plain and not sentence.attributive(position):
        return []
    return list(_OPPOSITES.get(word, ()))


def _distant(pool: Iterable[str], colour: str, settings: Settings) -> list[str]:
    far = settings.colour_distance
    return [spelled(c) for c in sorted(pool) if colour and c != colour and apart(colour, c) >= far]


def _colour(sentence: ParsedSentence, position: int, settings: Settings) -> str:
    """Return the name of the colour that the word at a place is, else nothing."""
    word = sentence.word(position)
    if settings.plain:
        return word if word in colours() else ""
    if word not in colours() or word in _ALWAYS_THINGS:
        return ""
    return "" if word in _THINGS and not sentence.attributive(position) else word


def _cased(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[0].upper() + word[1:] if like[0].isupper() else word


def _rgb(code: str) -> Rgb:
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return red, green, blue


Options = Callable[[ParsedSentence, int, Settings], list[str]]
KINDS: Mapping[str, Options] = {
    "antonym": _antonyms,
    "colour-all": _any_colour,
    "colour-in": _mentioned_colour,
    "size": _other_size,
}
