"""JSON files too large to load: the items of the lists in a record, one by one."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isotope.core.errors import CorruptFile
from isotope.intake.limits import Refused, limits
from isotope.intake.packed import opened
from isotope.intake.records import json_at, json_items
from isotope.parse.forms.base import Rejection, refuse

_BLOCK = 1 << 20
_SPACE = " \t\r\n"
_MEND = "fetch the file again"
# A record and its first name.
_BEGIN = re.compile(r'\{[ \t\r\n]*"[^"\\]*"')

# Names of an image's record in Karpathy's files, which COCO's own lack.
SENTENCES = ("sentences", "sentids")


def keys(text: str) -> list[str]:
    """Return the names at the beginning of a record, as far as a text that is cut off shows them.

    Lists are not entered: of `{"a": 1, "b": [{"c"` these are a and b.
    """
    names: list[str] = []
    walk = _Walk("", iter([text]))
    try:
        for name, _ in walk.members(skip=True):
            names.append(name)
    except CorruptFile:
        pass
    return names if not walk.begun or walk.begun in names else [*names, walk.begun]


def items(path: Path) -> Iterator[tuple[str, int, Any]]:
    """Yield name, number from 1, and item, of each list in the record that a JSON file is.

    What is no list is yielded whole, with number 0. A megabyte and an item are in memory.

    Raises:
        CorruptFile: no JSON record, or not all of it, with the list and the item; not UTF-8.
    """
    with opened(path) as file:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        blocks = iter(lambda: file.read(_BLOCK), b"")
        try:
            yield from _Walk(str(path), map(decoder.decode, blocks)).items()
        except UnicodeDecodeError as error:
            raise CorruptFile(path, f"not UTF-8: {error.reason}", _MEND) from error


def records(
    file: tuple[Path, str], rejected: list[Rejection] | None, *names: str
) -> Iterator[tuple[str, int, Any]]:
    """Yield name, number and item of the lists of these names in a file and what rows call it.

    Items beyond the limits of the boundary are rejected.

    Raises:
        CorruptFile: as `items`.
    """
    path, label = file
    for name, number, item in items(path):
        if name in names and number:
            if isinstance(item, Refused):
                refuse(rejected, (label, number), f"{item.reason}, in {name!r}", "")
            else:
                yield name, number, item


class _Walk:
    """A walk over the members of a record, of which there is a piece of text at a time."""

    def __init__(self, where: str, pieces: Iterator[str]) -> None:
        self._where, self._pieces = where, pieces
        self._text, self._at = "", 0
        # The last name that was read.
        self.begun = ""

    def items(self) -> Iterator[tuple[str, int, Any]]:
        for name, value in self.members(skip=False):
            if value is not _LIST:
                yield name, 0, value
                continue
            for number, item in enumerate(self._list(name), 1):
                yield name, number, item

    def members(self, *, skip: bool) -> Iterator[tuple[str, Any]]:
        """Yield names and values; a list is `_LIST`, to be walked over before the next member."""
        self._expect("{")
        more = self._next() != "}"
        while more:
            self.begun = str(self._value())
            self._expect(":")
            is_list = self._next() == "["
            if is_list and skip:
                yield self.begun, _LIST
                for _ in self._list(self.begun):
                    pass
            else:
                yield self.begun, _LIST if is_list else self._value()
            more = self._expect(",}") == ","

    def _list(self, name: str) -> Iterator[Any]:
        self._expect("[")
        if self._next() == "]":
            self._expect("]")
            return
        number = 1
        while True:
            for item in self._whole_items():
                yield item
                number += 1
            yield self._value(f", item {number} of {name!r}")
            if self._expect(",]") == "]":
                return
            number += 1

    def _whole_items(self) -> list[Any]:
        """Return what stands before the last item that begins in this piece, read in one go.

        Records of a list begin with the same name. Nothing where that does not tell them apart.
        """
        self._next()
        begin = _BEGIN.match(self._text, self._at)
        last = self._text.rfind(begin[0]) if begin else -1
        text = self._text[self._at : last].rstrip(_SPACE) if last > self._at else ""
        items = json_items(text[:-1]) if text.endswith(",") else None
        self._at = self._at if items is None else last
        return items or []

    def _next(self) -> str:
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _expect(self, characters: str) -> str:
        character = self._next()
        if not character or character not in characters:
            self._refuse("", f"no JSON record: {character!r} where one of {characters!r} should be")
        self._at += 1
        return character

    def _value(self, position: str = "") -> Any:  # noqa: ANN401 (any JSON)
        self._next()
        while True:
            try:
                value, end = json_at(self._text, self._at)
            except ValueError as error:
                if not self._more():
                    self._refuse(position, f"no JSON: {error}")
                continue
            # A number may go on in the next piece.
            if end < len(self._text) or not self._more():
                self._at = end
                return value

    def _more(self) -> bool:
        """Add as much text as is left, so that a long value is parsed a few times, not many."""
        unread, added = self._text[self._at :], list[str]()
        if len(unread) > limits().member_bytes:
            self._refuse("", "an item that is longer than params intake.scale allows")
        while sum(map(len, added)) <= len(unread) and (piece := next(self._pieces, "")):
            added.append(piece)
        self._text, self._at = unread + "".join(added), 0
        return bool(added)

    def _refuse(self, position: str, problem: str) -> None:
        raise CorruptFile(f"{self._where}{position}", problem, _MEND)


_LIST = object()
