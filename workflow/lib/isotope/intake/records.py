"""Records of JSON and YAML that nobody vouches for: how deep, how long, in which letters.

Python's own parser takes what the tables can't hold or the next step can't walk: lists within lists
until the stack ends, numbers of thousands of digits, halves of a surrogate pair.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, cast

from isotope.intake.limits import Limits, Refused, limits, reason_of

_DECODER = json.JSONDecoder()
_NESTED = frozenset((list, dict))
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+', re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
# What Python says of an integer that it does not read (CVE-2020-10735).
_LONGEST_INT64 = 20
_INTEGER = re.compile(r"[+-]?[0-9]+")
_TOO_LONG = "integer string conversion"


def json_value(text: str | bytes) -> Any:  # noqa: ANN401 (any JSON)
    """Return what a text of JSON says.

    Raises:
        Refused: no JSON, or JSON beyond the limits of depth, digits and letters.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Refused(f"not UTF-8: {error.reason} at byte {error.start}") from error
    start = cast(re.Match[str], _SPACE.match(text)).end()
    try:
        value, end = json_at(text, start)
    except ValueError as error:
        raise Refused(f"no JSON: {reason_of(error)}") from error
    if isinstance(value, Refused):
        raise value
    end_of_space = cast(re.Match[str], _SPACE.match(text, end)).end()
    if end_of_space != len(text):
        raise Refused(f"no JSON: Extra data at character {end_of_space}")
    return value


def int64(value: object) -> int:
    """Return a whole number that a column of 64 bits holds, of a text or a number.

    Raises:
        ValueError: no number, or one beyond 64 bits.
    """
    text = str(value).strip()
    if len(text) > _LONGEST_INT64:
        raise ValueError(f"a number of {len(text):,} characters, beyond 64 bits")
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is no whole number")
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{number} is beyond 64 bits")
    return number


def id64(value: object) -> int:
    """Return an id as databases give them: an `int64` from 1.

    Raises:
        ValueError: as `int64`, or a number below 1.
    """
    number = int64(value)
    if number < 1:
        raise ValueError(f"{number} is below 1")
    return number


def json_at(text: str, at: int) -> tuple[Any, int]:
    """Return the value that begins at a place of a text, and where it ends.

    A value beyond the limits is a Refused, so that what follows it can be read.

    Raises:
        ValueError: no JSON, or not all of it.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (RecursionError, ValueError) as error:
        why = _beyond(error)
        if why is None:
            raise
        return why, _end_of(text, at)
    return _fault(value, text, (at, end)) or value, end


def json_items(text: str) -> list[Any] | None:
    """Return the items of a list that stand in a text, between commas, read in one go.

    None for what is no whole items, or where one may be beyond the limits: `json_at` says which.
    """
    bounds = limits()
    try:
        items: list[Any] = _DECODER.decode(f"[{text}]")
    except (RecursionError, ValueError):
        return None
    # A number of 1,001 digits has 100 that follow each other in every tenth letter.
    step = max(1, bounds.digits // 100)
    if _HALF.search(text) or re.search(rf"[0-9]{{{(bounds.digits + 1) // step}}}", text[::step]):
        return None
    nested = text.count("[") + text.count("{") - len(items)
    return None if nested > bounds.depth and _too_deep(items, bounds, bounds.depth + 1) else items


def json_end(text: str, at: int) -> int:
    """Return where the value ends that begins at a place of a text, whatever it holds.

    Raises:
        ValueError: no JSON, or not all of it.
    """
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (RecursionError, ValueError) as error:
        if _beyond(error) is None:
            raise
        return _end_of(text, at)


def _beyond(error: Exception) -> Refused | None:
    """Return what makes a parser give up a text that may be JSON all the same."""
    bounds = limits()
    if isinstance(error, RecursionError):
        return Refused(f"JSON of more than {bounds.depth} levels")
    if _TOO_LONG in str(error):
        most = min(bounds.digits, sys.get_int_max_str_digits())
        return Refused(f"a number of more than {most:,} digits")
    return None


def _end_of(text: str, at: int) -> int:
    """Return the end of a value by its brackets and quotes alone."""
    if text[at : at + 1] not in "[{":
        scalar = _SCALAR.match(text, at)
        if scalar is None or scalar.end() == len(text):
            raise ValueError("not all of a value")
        return scalar.end()
    depth = 0
    for token in _TOKEN.finditer(text, at):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if not depth:
                return token.end()
    raise ValueError("not all of a value")


def _fault(value: object, text: str, span: tuple[int, int]) -> Refused | None:
    """Return what is beyond the limits; a text that can't be is not walked."""
    bounds, (at, end) = limits(), span
    brackets = text.count("[", at, end) + text.count("{", at, end)
    is_long = end - at > bounds.digits and re.search(rf"[0-9]{{{bounds.digits + 1}}}", text[at:end])
    if is_long or _HALF.search(text, at, end):
        return next(_faults(value, bounds), None)
    return _too_deep(value, bounds, bounds.depth) if brackets > bounds.depth else None


def _too_deep(value: object, bounds: Limits, most: int) -> Refused | None:
    """Return what has more levels than `most`, level after level, without a look at texts."""
    level, depth = [value] if isinstance(value, list | dict) else [], 0
    while level:
        if depth == most:
            return Refused(f"JSON of more than {bounds.depth} levels")
        both = cast("list[dict[str, object] | list[object]]", level)
        inner = (
            container.values() if isinstance(container, dict) else container for container in both
        )
        level = [item for items in inner for item in items if item.__class__ in _NESTED]
        depth += 1
    return None


def _faults(value: object, bounds: Limits) -> Iterator[Refused]:
    most, waiting = 10**bounds.digits, [(value, 0)]
    while waiting:
        item_value, depth = waiting.pop()
        if isinstance(item_value, str):
            yield from _half(item_value)
        elif isinstance(item_value, int):
            if abs(item_value) >= most:
                yield Refused(f"a number of more than {bounds.digits:,} digits")
        elif isinstance(item_value, list | dict):
            if depth == bounds.depth:
                yield Refused(f"JSON of more than {bounds.depth} levels")
                return
            both = cast("dict[str, object] | list[object]", item_value)
            items = [*both, *both.values()] if isinstance(both, dict) else both
            waiting += [(item, depth + 1) for item in items]


def _half(text: str) -> Iterator[Refused]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        letter = f"\\u{ord(text[error.start]):04x}"
        yield Refused(f"half of a surrogate pair ({letter}), which is no letter")
