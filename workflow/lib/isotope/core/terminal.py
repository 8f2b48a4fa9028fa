"""What is printed for people: text of data is shown as text, whatever a terminal would do with it.

A caption may have the characters by which programs tell a terminal to clear itself, to rename its
window or to hide what follows. Every line that data can reach passes `printable`.
"""

import sys
from typing import TextIO

# Controls of ASCII and of Latin-1, but for tab and line feed, and halves of a surrogate pair.
_CONTROLS = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]
_HALVES = range(0xD800, 0xE000)
_SHOWN = {
    **{code: f"\\x{code:02x}" for code in _CONTROLS},
    **{code: f"\\u{code:04x}" for code in _HALVES},
}


class Data(str):
    """What a program reads, CSV or JSON: in a file or a pipe it stays as it is."""

    __slots__ = ()


def printable(text: str) -> str:
    r"""Return `text` with control characters as escapes, such as `\x1b`; lines and tabs stay."""
    return text.translate(_SHOWN)


def write(text: str, stream: TextIO | None = None) -> None:
    """Write `text` for people; `Data` is changed on a terminal only.

    A character that the stream's encoding lacks becomes an escape, too.
    """
    out: TextIO = sys.stdout if stream is None else stream
    if not isinstance(text, Data) or out.isatty():
        text = printable(text)
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "backslashreplace").decode(encoding))
