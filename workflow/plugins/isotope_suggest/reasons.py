"""Why a picture is suggested, in words for people, and the words that a text and captions share."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from isotope_suggest.captions import language_names

# Scripts that put no space between words are cut into pairs of letters, as Lucene's CJK does.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['\u2019][^\W_{_UNSPACED}]+)*")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_MOST_WORDS, _MOST_NAMES = 4, 3
# A word of more pictures than this share, and than so many, tells nothing.
_COMMON = 0.05
_MOST_STEMS = 1 << 20
_FEWEST = 50


@dataclass(frozen=True)
class CaptionWords:
    """How many of a collection's pictures have each word, by stem, in their captions.

    `stops` are words that say nothing, without case (`stopwords.stop_words`).
    """

    pictures: int
    counts: Mapping[str, int]
    stops: frozenset[str] = frozenset()

    @classmethod
    def from_captions(
        cls, captions: Iterable[Sequence[str]], stops: frozenset[str] = frozenset()
    ) -> "CaptionWords":
        """Count the words of pictures, each with its captions."""
        counts, pictures = dict[str, int](), 0
        for picture_captions in captions:
            pictures += 1
            for stem in {stem_of(word) for caption in picture_captions for word in words(caption)}:
                counts[stem] = counts.get(stem, 0) + 1
        return cls(pictures, counts, stops)

    def is_stop(self, word: str) -> bool:
        """Tell whether a word, as a text writes it, says nothing of what the text is about."""
        plain = word.casefold().replace("\u2019", "'")
        return plain in self.stops or plain.removesuffix("'s") in self.stops

    def weight(self, stem: str) -> float:
        """Return the word's inverse document frequency as BM25 has it (Lucene's); 0 if common."""
        count = self.counts.get(stem, 0)
        if count > max(self.pictures * _COMMON, _FEWEST):
            return 0.0
        return math.log(1 + (self.pictures - count + 0.5) / (count + 0.5))


def words(text: str) -> Iterator[str]:
    """Yield the words of a text as it writes them; pairs of letters where no space parts words."""
    for match in _WORD.finditer(text):
        word = match[0]
        if _IS_UNSPACED.match(word) and len(word) > 1:
            yield from (word[n : n + 2] for n in range(len(word) - 1))
        else:
            yield word


@lru_cache(_MOST_STEMS)
def stem_of(word: str) -> str:
    """Return a word without case, possessive and the plural's s (Harman's S-stemmer, 1991).

    Source: D. Harman, How Effective Is Suffixing?, JASIS 42 (1), 1991, table 1.
    """
    word = word.casefold().replace("\u2019", "'").removesuffix("'s").replace("'", "")
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def reasons(
    candidate: Mapping[str, Any],
    text: str,
    captions: Sequence[str],
    caption_words: CaptionWords,
    *,
    like: str | None = None,
) -> list[str]:
    """Return why a picture is suggested for a text, the clearest reason first; maybe none.

    `candidate` is a row of CANDIDATES; `captions` are the picture's, `caption_words` the words of
    the collection's captions, `like` the title of a page that shows the picture or one that looks
    like it, if there is one: it is a reason where dense search names the picture and no link leads
    to that page.
    """
    sentences = list[str]()
    if candidate.get("alignment") is not None:
        sentences.append(_used_by(candidate.get("alignment_on") or []))
    if shared := shared_words(text, captions, caption_words):
        sentences.append(f"matches: {', '.join(shared)}")
    titles = candidate.get("links_on") or []
    if like and like not in titles and candidate.get("dense") is not None:
        sentences.append(f"like the picture of *{like}*")
    if titles:
        sentences.append(f"shown on the linked {_pages(titles)}")
    if items := candidate.get("wikidata_on"):
        sentences.append(f"the picture of {_of_items(items)} in Wikidata")
    return [reason for reason in sentences if reason]


def shared_words(text: str, captions: Sequence[str], caption_words: CaptionWords) -> list[str]:
    """Return at most four words of the text that the captions have too, the weightiest first.

    Neither numbers nor stop words are named.
    Words are written as the text first has them; of equal weights the earlier one comes first.
    """
    captioned = {stem_of(word) for caption in captions for word in words(caption)}
    surface = dict[str, str]()
    for word in words(text):
        stem = stem_of(word)
        is_word = len(word) > 1 and not word.isdecimal() and not caption_words.is_stop(word)
        if stem in captioned and is_word:
            surface.setdefault(stem, word)
    weights = {stem: caption_words.weight(stem) for stem in surface}
    best = sorted((stem for stem in surface if weights[stem] > 0), key=lambda s: -weights[s])
    return [surface[stem] for stem in best[:_MOST_WORDS]]


def language_name(code: str) -> str:
    """Return the English name of a Wikipedia's language, or of an unknown one its code."""
    return language_names().get(code, code)


def _used_by(sections: Sequence[str]) -> str:
    """Return e.g. `used by the German and the French article`; `sections` begin with codes."""
    codes = dict.fromkeys(section.partition(":")[0].strip() for section in sections)
    if not codes:
        return ""
    articles = _listed([f"the {language_name(code)}" for code in codes])
    return f"used by {articles} article{'s' if len(codes) > 1 else ''}"


def _pages(titles: Sequence[str]) -> str:
    return f"page{'s' if len(titles) > 1 else ''} {_listed([f'*{title}*' for title in titles])}"


def _of_items(items: Sequence[str]) -> str:
    """Return e.g. `*Title* (Q42)` of `Q42: Title`."""
    named = (item.partition(": ") for item in items)
    return _listed([f"*{title}* ({item})" for item, _, title in named])


def _listed(names: Sequence[str]) -> str:
    """Return names as prose lists them; of many the first three and how many more."""
    more = len(names) - _MOST_NAMES
    shown = list(names[:_MOST_NAMES]) + ([f"{more} more"] if more > 0 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
