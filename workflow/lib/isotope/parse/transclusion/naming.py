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


class Name(NamedTuple):
    """What a parameter's name says: what it is for, and the rest of its words."""

    kind: str
    rest: frozenset[str]


@lru_cache(maxsize=1 << 14)
def name_of(key: str) -> Name:
    """Read the name of a parameter."""
    tokens = [part for token in _TOKEN.findall(key.lower()) for part in _parts(token)]
    known = set(tokens)
    has_picture = bool(known & _PICTURES)
    rest = frozenset(known - _PICTURES - _FILLERS - (_FILES if has_picture else frozenset()))
    if known & _SIZES:
        return Name(SIZE, rest - _SIZES)
    for kind, words in ((ALT, _ALTS), (CAPTION, _CAPTIONS)):
        if known & words:
            return Name(kind, rest - words)
    if has_picture and known & _WITH_PICTURE:
        return Name(CAPTION, rest - _WITH_PICTURE)
    return Name(PICTURE if has_picture else OTHER, rest)


def _parts(token: str) -> list[str]:
    """Cut words that are written as one, such as `imagecaption`."""
    others = _CAPTIONS | _ALTS | _SIZES | _WITH_PICTURE
    if token in _PICTURES or token in others:
        return [token]
    for word in _COMPOUND:
        if token.startswith(word) and token[len(word) :] in others | _FILES:
            return [word, token[len(word) :]]
        if token.endswith(word) and token[: -len(word)] in others:
            return [word, token[: -len(word)]]
    return [token]


def beside(key: str, keys: Iterable[str], kind: str) -> list[str]:
    """Return those of a template's parameters that are CAPTION or ALT of the picture in `key`.

    A caption without other words belongs to the only picture without any, or else to each that is
    no symbol, such as a flag or a map.
    """
    keys = list(keys)
    rest = name_of(key).rest
    same = [k for k in keys if name_of(k) == (kind, rest)]
    if same or not rest or rest & SYMBOLS:
        return same
    if any(name_of(k) == (PICTURE, frozenset()) for k in keys):
        return []
    return [k for k in keys if name_of(k) == (kind, frozenset())]
