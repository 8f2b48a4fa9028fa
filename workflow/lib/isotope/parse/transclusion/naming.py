"""What editors call a template's parameters for a picture, its caption and its alternative text.

ASSUME parameters that have these words, in whatever order and with whatever else, belong together
where the rest of their names is the same: `image_map` and `map_caption`, `Ship image` and `Ship
caption`, `画像` and `画像説明`; no paper says. A template that was read needs no such guess.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from isotope.parse.transclusion.vocabulary import vocabulary

PICTURE, CAPTION, ALT, SIZE, OTHER = "picture", "caption", "alt", "size", "other"


_WORDS = {kind: frozenset(words) for kind, words in vocabulary()["parameters"].items()}
_PICTURES, _CAPTIONS, _ALTS = (_WORDS[kind] for kind in ("pictures", "captions", "alternatives"))
# Words of other things too, but beside a word for a picture those of its caption or its file.
_WITH_PICTURE, _FILES = _WORDS["with_picture"], _WORDS["files"]
_SIZES, _FILLERS = _WORDS["sizes"], _WORDS["fillers"]
# What stands for a country or a firm is no view of it, and has no share in the only caption.
SYMBOLS = _WORDS["symbols"]
_COMPOUND = sorted(_PICTURES | {"photo"}, key=len, reverse=True)
_TOKEN = re.compile(r"[^\W\d_]+|\d+")


class ParameterName(NamedTuple):
    """What a parameter's name says: what it is for, and the rest of its words."""

    kind: str
    remainder: frozenset[str]


@lru_cache(maxsize=1 << 14)
def name_of(key: str) -> ParameterName:
    """Read the name of a parameter."""
    tokens = [part for token in _TOKEN.findall(key.lower()) for part in _parts(token)]
    words_of_key = set(tokens)
    has_picture = bool(words_of_key & _PICTURES)
    remainder = frozenset(
        words_of_key - _PICTURES - _FILLERS - (_FILES if has_picture else frozenset())
    )
    if words_of_key & _SIZES:
        return ParameterName(SIZE, remainder - _SIZES)
    for kind, words in ((ALT, _ALTS), (CAPTION, _CAPTIONS)):
        if words_of_key & words:
            return ParameterName(kind, remainder - words)
    if has_picture and words_of_key & _WITH_PICTURE:
        return ParameterName(CAPTION, remainder - _WITH_PICTURE)
    return ParameterName(PICTURE if has_picture else OTHER, remainder)


def _parts(token: str) -> list[str]:
    """Cut words that are written as one, such as `imagecaption`."""
    keywords = _CAPTIONS | _ALTS | _SIZES | _WITH_PICTURE
    if token in _PICTURES or token in keywords:
        return [token]
    for word in _COMPOUND:
        if token.startswith(word) and token[len(word) :] in keywords | _FILES:
            return [word, token[len(word) :]]
        if token.endswith(word) and token[: -len(word)] in keywords:
            return [word, token[: -len(word)]]
    return [token]


def beside(key: str, keys: Iterable[str], kind: str) -> list[str]:
    """Return those of a template's parameters that are CAPTION or ALT of the picture in `key`.

    A caption without other words belongs to the only picture without any, or else to each that is
    no symbol, such as a flag or a map.
    """
    keys = list(keys)
    remainder = name_of(key).remainder
    same = [k for k in keys if name_of(k) == (kind, remainder)]
    if same or not remainder or remainder & SYMBOLS:
        return same
    if any(name_of(k) == (PICTURE, frozenset()) for k in keys):
        return []
    return [k for k in keys if name_of(k) == (kind, frozenset())]
