"""What stands between the bars of a picture's link: its size, place, caption, alternative text.

Format: https://www.mediawiki.org/wiki/Help:Images#Syntax and `Parser::makeImage` of MediaWiki 1.39,
with the words of the wiki (`wiki_words`).
"""

import re
from dataclasses import dataclass

from isotope.parse.words import Words, words_of

ENGLISH = words_of("enwiki")
_OPEN, _CLOSED = ("[[", "{{"), ("]]", "}}")
_BAR = re.compile(r"\[\[|\]\]|\{\{|\}\}|\|")


@dataclass(frozen=True)
class Shown:
    """How a file is shown: wikitext of caption and alternative text, width in px if it is told.

    `unread` are the parts that are neither an option that the wiki has a word for nor the caption.
    """

    caption: str = ""
    alt: str = ""
    width: int | None = None
    is_framed: bool = False
    unread: tuple[str, ...] = ()


def parts(content: str) -> list[str]:
    """Split at the bars that are not within links or templates."""
    if "|" not in content:
        return [content]
    found, begin, depth = list[str](), 0, 0
    for mark in _BAR.finditer(content):
        if mark[0] in _OPEN:
            depth += 1
        elif mark[0] in _CLOSED:
            depth = max(0, depth - 1)
        elif not depth:
            found.append(content[begin : mark.start()])
            begin = mark.end()
    return [*found, content[begin:]]


def options(given: list[str], words: Words = ENGLISH, *, framed: bool = False) -> Shown:
    """Read the parts after a file's name; of several captions the last one counts, as in MediaWiki.

    The caption of a picture that is neither a thumbnail nor framed is shown to nobody but those who
    can't see it: then it is the alternative text.
    """
    captions, alt, width = list[str](), "", None
    for part in filter(None, map(str.strip, given)):
        flag = words.flags.get(part)
        if flag is not None:
            framed |= flag
        elif (size := words.size.fullmatch(part)) and (size[1] or size[2]):
            width = int(size[1] or size[2])
        elif valued := words.valued.fullmatch(part):
            framed |= valued[2] is not None
            alt = alt if valued[1] is None else valued[1].strip()
        else:
            captions.append(part)
    caption, unread = (captions[-1] if captions else ""), tuple(captions[:-1])
    if framed:
        return Shown(caption, alt, width, framed, unread)
    return Shown("", alt or caption, width, framed, unread)
