"""What `isotope suggest` answers: pictures for a text, sections for a picture, with notes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Answer:
    """A picture for a text.

    `pages` are titles of pages that show it; `probability` is that it fits, None where nothing was
    calibrated; `kind` is as in tables.FEED; `width` and `height` are in px, 0 where unknown.
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


@dataclass(frozen=True)
class Place:
    """A section for a picture; `text` is its beginning, `is_open` that it shows no picture."""

    text_id: str
    page_title: str
    section_title: str
    page_url: str
    text: str
    probability: float | None
    reasons: list[str]
    is_open: bool

    @classmethod
    def of(
        cls,
        row: Mapping[str, Any],
        probability: float | None,
        reasons: list[str],
        *,
        is_open: bool,
    ) -> "Place":
        """Make it of a row of `lookup.TextTable.shown`."""
        named = {name: row[name] or "" for name in ("page_title", "section_title", "page_url")}
        return cls(
            text_id=row["text_id"],
            text=row["text"],
            probability=probability,
            reasons=reasons,
            is_open=is_open,
            **named,
        )


class Found(list[_Item], Generic[_Item]):
    """Answers, best first, with `notes`: sentences on how far they can be trusted."""

    def __init__(self, items: Iterable[_Item] = (), notes: Sequence[str] = ()) -> None:
        """Hold items and notes."""
        super().__init__(items)
        self.notes = list(notes)
