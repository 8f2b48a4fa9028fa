"""A page's wikitext without what is no markup, the one form that every decision about it reads."""

from dataclasses import dataclass

from isotope.parse.files import infobox_at
from isotope.parse.site import Namespaces
from isotope.parse.templates import hide_bars, strip_blocks

_TITLE = "{{PAGENAME}}"


@dataclass(frozen=True)
class Prepared:
    """A page without comments, references and blocks such as formulas, `<nowiki>` made harmless.

    `blocks` names templates as the page does, `text` without their namespace; `text` has the page's
    title where it is asked for, and BAR for `{{!}}`. In both GALLERY stands for each of
    `galleries`. `references` are offsets in `blocks`; `infobox` is that of the first infobox in
    `text`, or None.
    """

    blocks: str
    text: str
    galleries: list[str]
    references: list[int]
    infobox: int | None
    title: str
    namespaces: Namespaces

    @classmethod
    def of(cls, wikitext: str, namespaces: Namespaces, title: str = "") -> "Prepared":
        """Prepare a page, in time linear in its length. Never raises."""
        galleries, references = list[str](), list[int]()
        blocks = strip_blocks(wikitext, galleries, references)
        text = hide_bars(namespaces.without_prefix(blocks))
        text = text.replace(_TITLE, title) if _TITLE in text else text
        box = infobox_at(text, namespaces)
        return cls(blocks, text, galleries, references, box, title, namespaces)

    @property
    def is_empty(self) -> bool:
        """Whether the page shows nothing."""
        return not (self.galleries or self.references or self.text.strip())

    def boxes(self) -> list[int]:
        """Return where in `blocks` infoboxes are, of which the first counts."""
        if self.infobox is None:
            return []
        box = self.infobox if self.text is self.blocks else infobox_at(self.blocks, self.namespaces)
        return [] if box is None else [box]
