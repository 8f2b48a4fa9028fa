"""Two versions of a text as one line: the words that both have, and those of either side.

What is shared is shown near a change only, so that a line is as long as what has changed.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

# A letter of a script without spaces is a word of its own.
_TOKEN = re.compile(r"\s*(?:[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\w+|[^\w\s])|\s+")
_MOST_TOKENS = 400
_AROUND = 10


class Piece(NamedTuple):
    """Some words: `same` in both, `gone`, `new`, or `cut` where the page leaves words out."""

    what: str
    text: str


def compared(before: str, after: str) -> list[Piece]:
    """Return both versions as one line of pieces; what is shared is shown near a change only.

    Beyond the words that both begin and end with, 400 words and signs of each are compared.
    """
    one, two = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _shared(one, two)
    tail = _shared(one[head:][::-1], two[head:][::-1])
    middle = [tokens[head : len(tokens) - tail] for tokens in (one, two)]
    pieces = [Piece("same", "".join(one[:head])), *_changes(*middle)]
    pieces.append(Piece("same", "".join(one[len(one) - tail :])))
    return list(_shortened([piece for piece in pieces if piece.text]))


def _shared(one: Sequence[str], two: Sequence[str]) -> int:
    """Count the tokens that both begin with."""
    pairs = zip(one, two, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changes(one: Sequence[str], two: Sequence[str]) -> Iterator[Piece]:
    old, new = one[:_MOST_TOKENS], two[:_MOST_TOKENS]
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield Piece("same", "".join(old[a:b]))
        else:
            yield Piece("gone", "".join(old[a:b]))
            yield Piece("new", "".join(new[c:d]))
    if len(one) > _MOST_TOKENS or len(two) > _MOST_TOKENS:
        yield Piece("cut", " … ")


def _shortened(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Leave out the middle of what is shared, or its far end where the text begins or ends."""
    for n, piece in enumerate(pieces):
        tokens = _TOKEN.findall(piece.text)
        before = 0 if n == 0 else _AROUND
        after = 0 if n == len(pieces) - 1 else _AROUND
        if piece.what != "same" or len(tokens) <= before + after + 1:
            yield piece
            continue
        ends = [tokens[:before], tokens[len(tokens) - after :]]
        yield from (
            each
            for each in (
                Piece("same", "".join(ends[0])),
                Piece("cut", " … "),
                Piece("same", "".join(ends[1])),
            )
            if each.text
        )
