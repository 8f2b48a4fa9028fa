"""Tables of a user with commas, semicolons, bars or tabs between their fields."""

import re
from pathlib import Path
from typing import ClassVar

from isotope.parse.forms.delimited import Delimited, first_line
from isotope.parse.forms.texts import suffix

_NAMES = re.compile(r"[^\W\d]\w*([,;\t|] ?[^\W\d]\w*)+")


class Csv(Delimited):
    """Fields between commas, the first line their names; a .txt is known by these."""

    name = "csv"
    turn: ClassVar[int] = 2

    def is_own(self, path: Path) -> bool:
        """Tell whether one file is of this form."""
        is_text = suffix(path) == ".txt" and _NAMES.fullmatch(first_line(path).strip())
        return bool(is_text) or super().is_own(path)
