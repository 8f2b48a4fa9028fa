"""What `isotope suggest` answers: pictures for a text, sections for a picture, with notes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Answer:
    """A picture for a text.

    `pages` are titles of pages that show it; `probability` is that it fits, None where nothing was
    calibrated, and `low` and `high` are the ends of its interval of 95 %; `kind` is as in
    schemas.FEED; `width` and `height` are in px, 0 where unknown; `is_free` tells whether a free
    licence is stated.
    """

    image_id: str
    image_url: str
    file_page: str
    caption: str
    pages: list[str]
    probability: float | None
    kind: str
    reasons: list[str]
    credit: str
    width: int
    height: int
    low: float | None = None
    high: float | None = None
    is_free: bool = False


@dataclass(frozen=True)
class SectionAnswer:
    """A section for a picture; `is_open` tells that it shows no picture.

    `text` is all of it, in a list of sections its beginning; `low` and `high` are as in Answer.
    """

    text_id: str
    page_title: str
    section_title: str
    page_url: str
    text: str
    probability: float | None
    reasons: list[str]
    is_open: bool
    low: float | None = None
    high: float | None = None

    @classmethod
    def from_row(
        cls,
        row: Mapping[str, Any],
        chance: Sequence[float | None],
        reasons: list[str],
        *,
        is_open: bool,
    ) -> "SectionAnswer":
        """Make it of a row of `lookup.TextTable.shown`; `chance` is probability, low and high."""
        probability, low, high = chance
        named = {name: row[name] or "" for name in ("page_title", "section_title", "page_url")}
        return cls(
            text_id=row["text_id"],
            text=row["text"],
            probability=probability,
            reasons=reasons,
            is_open=is_open,
            low=low,
            high=high,
            **named,
        )


# What nobody has calibrated.
NO_CHANCE = (None, None, None)


class AnswerList(list[_Item], Generic[_Item]):
    """Answers, best first, with `notes`: sentences on how far they can be trusted."""

    def __init__(self, items: Iterable[_Item] = (), notes: Sequence[str] = ()) -> None:
        """Hold items and notes."""
        super().__init__(items)
        self.notes = list(notes)
