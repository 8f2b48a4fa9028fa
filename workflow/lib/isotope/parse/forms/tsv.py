"""Tables of a user with tabs between their fields."""

from typing import ClassVar

from isotope.parse.forms.delimited import Delimited


class Tsv(Delimited):
    """Fields between tabs, the first line their names."""

    name = "tsv"
    turn: ClassVar[int] = 2
