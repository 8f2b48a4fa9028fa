"""In which language texts are, by their script and their commonest words.

The words are Lucene's lists of stop words, which Anserini's jar has. A sample of short texts may be
too little to tell: then nothing is said, rather than a guess. It is UNKNOWN where most letters are
not Latin: whatever it is, English it is not.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from isotope.core.schemas import UNKNOWN
from isotope.core.stopwords import lists

_LISTED = (
    "da nl en fi fr de hu it no pt ru es sv ar bg bn ca el et eu fa ga gl hi hy id lt lv ne ro sr "
    "ta te tr uk cs pl"
)
# Scripts that tell the language, as Cyrillic, Arabic and Devanagari do not; Japanese is told by its
# syllables, which Chinese has not.
_SCRIPTS = {
    "ja": r"[\u3041-\u30ff]",
    "ko": r"[\uac00-\ud7a3]",
    "zh": r"[\u3400-\u4dbf\u4e00-\u9fff]",
    "th": r"[\u0e01-\u0e5b]",
    "he": r"[\u05d0-\u05ea]",
    "ka": r"[\u10d0-\u10ff]",
    "el": r"[\u0370-\u03ff\u1f00-\u1fff]",
    "hy": r"[\u0531-\u058f]",
    "bn": r"[\u0980-\u09ff]",
    "ta": r"[\u0b80-\u0bff]",
    "te": r"[\u0c00-\u0c7f]",
    "pa": r"[\u0a00-\u0a7f]",
    "gu": r"[\u0a80-\u0aff]",
    "or": r"[\u0b00-\u0b7f]",
    "kn": r"[\u0c80-\u0cff]",
    "ml": r"[\u0d00-\u0d7f]",
    "si": r"[\u0d80-\u0dff]",
    "lo": r"[\u0e80-\u0eff]",
    "my": r"[\u1000-\u109f]",
    "km": r"[\u1780-\u17ff]",
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
# Of the letters, of the words, and how far the first language is ahead of the second.
_LETTERS, _SYLLABLES, _WORDS, _AHEAD = 0.5, 0.1, 0.1, 1.15
_MOST_OF_A_WORD = 0.03
_FEWEST, _MOST = 20, 2_000


def spoken(texts: Sequence[str]) -> str | None:
    """Return the code of the language of texts; None or UNKNOWN where the sample does not tell."""
    sample = " ".join(texts[:_MOST]).lower()
    letter_counts = Counter(_LETTER.findall(sample))
    letters = letter_counts.total() or 1
    shares = {code: len(re.findall(p, sample)) / letters for code, p in _SCRIPTS.items()}
    if shares["ja"] >= _SYLLABLES:
        return "ja"
    by_script = max(shares, key=lambda code: shares[code])
    if shares[by_script] >= _LETTERS:
        return by_script
    latin = sum(n for letter, n in letter_counts.items() if "LATIN" in unicodedata.name(letter, ""))
    is_latin = latin >= _LETTERS * letter_counts.total()
    return _by_words(_WORD.findall(sample)) or (None if is_latin else UNKNOWN)


def _by_words(words: Sequence[str]) -> str | None:
    if len(words) < _FEWEST:
        return None
    counts = Counter(words)
    # No word alone tells: Swahili says "ya" as often as Spanish all of its own.
    shares = {word: min(count / len(words), _MOST_OF_A_WORD) for word, count in counts.items()}
    scores = {code: sum(shares.get(w, 0.0) for w in stops) for code, stops in _stops().items()}
    first, second = sorted(scores, key=lambda code: -scores[code])[:2]
    is_clear = scores[first] >= _WORDS and scores[first] >= _AHEAD * scores[second]
    return first if is_clear else None


@cache
def _stops() -> Mapping[str, frozenset[str]]:
    """Return the stop words of each language, in lower case; two words may stand on a line."""
    return {
        code: frozenset(_WORD.findall(text.lower()))
        for code, text in lists(_LISTED.split()).items()
    }
