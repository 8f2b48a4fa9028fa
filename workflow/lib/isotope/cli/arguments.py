"""What the arguments of `isotope` may be: errors by name, numbers in bounds, dates that exist."""

import argparse
from collections.abc import Callable
from datetime import datetime
from typing import NoReturn

from isotope.core.errors import BadArgument

_DATES = {"%Y%m%d": 8, "%Y-%m-%d": 10, "%Y-%m": 7}
_MOST_PORTS = 65_535


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors, and its subparsers', are isotope's: one sentence each."""

    def error(self, message: str) -> NoReturn:
        """Refuse what was written.

        Raises:
            BadArgument: always.
        """
        raise BadArgument(self.prog, " ".join(message.split()), f"see `{self.prog} --help`")


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a type of argument: a whole number, `least` and `most` included."""
    upper = "" if most is None else f" and at most {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            told = f"{text!r}: give a whole number, at least {least}{upper}"
            raise argparse.ArgumentTypeError(told)
        return number

    return read


port = whole(0, _MOST_PORTS)


def date(text: str) -> str:
    """Return a snapshot's date as a dump's address has it: a day of the calendar, or a month."""
    for form, length in _DATES.items():
        try:
            datetime.strptime(text, form)  # noqa: DTZ007 (a day, nowhere)
        except ValueError:
            continue
        if len(text) == length:
            return text
    told = (
        f"{text!r} is no date: give one as in the dump's address: 20230101, 2023-01-01 or 2023-01"
    )
    raise argparse.ArgumentTypeError(told)


def filled(text: str) -> str:
    """Return an argument that is not blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is empty")
    return text
