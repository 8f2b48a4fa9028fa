"""What is printed for people: text of data is shown as text, whatever a terminal would do with it.

A caption may have the characters by which programs tell a terminal to clear itself, to rename its
window or to hide what follows, and those by which it turns or hides letters, so that a line reads
otherwise than it is. Every line that data can reach passes `printable`.
"""

import sys
from collections.abc import Sequence
from typing import TextIO

_ASCII = 0x80
# Controls of ASCII and of Latin-1, but for tab and line feed, and halves of a surrogate pair.
_CONTROLS = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]
_HALVES = range(0xD800, 0xE000)
# What turns, ends or hides a line unseen: Unicode's property Bidi_Control, the separators of lines
# and paragraphs, formats that it deprecates, annotations between lines, and tags. Letters bring
# their direction along, and joiners, which Persian and emoji are written with, stay.
_UNSEEN = [
    *(0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x2070)),
    *(*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)),
]


class MachineText(str):
    """What a program reads, CSV or JSON: in a file or a pipe it stays as it is."""

    __slots__ = ()


def printable(text: str) -> str:
    r"""Return `text` with controls as escapes, such as `\x1b` or `\u202e`; lines and tabs stay."""
    return text.translate(_SHOWN)


def shortened(items: Sequence[object], most: int) -> str:
    """Return the first items, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more


def escaped(character: str) -> str:
    r"""Return a character as an escape: `\x1b`, `\u202e` or `\U000e0041`."""
    code = ord(character)
    # The codec has ASCII as it is.
    return (
        f"\\x{code:02x}"
        if code < _ASCII
        else character.encode("ascii", "backslashreplace").decode()
    )


_SHOWN = {code: escaped(chr(code)) for code in (*_CONTROLS, *_HALVES, *_UNSEEN)}


def write(text: str, stream: TextIO | None = None) -> None:
    """Write `text` for people; `MachineText` is changed on a terminal only.

    A character that the stream's encoding lacks becomes an escape, too. A stream that is closed
    gets nothing.

    Raises:
        OSError: the stream takes no more.
    """
    out: TextIO | None = sys.stdout if stream is None else stream
    if out is None:  # as Python starts with a standard stream that is closed
        return
    if not isinstance(text, MachineText) or out.isatty():
        text = printable(text)
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "backslashreplace").decode(encoding))
    out.flush()
