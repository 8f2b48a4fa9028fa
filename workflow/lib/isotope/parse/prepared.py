"""A page's wikitext without what is no markup, the one form that every decision about it reads."""

import re
from dataclasses import dataclass
from itertools import accumulate, count

from isotope.parse.infobox import infobox_at
from isotope.parse.site import Namespaces
from isotope.parse.templates import GALLERY, hide_bars, strip_blocks
from isotope.parse.variants import Variant

_TITLE = "{{PAGENAME}}"
# No XML document has these.
_REFERENCE, _STOP = "\4", "\5"
_GALLERY = re.compile(GALLERY)
_NUMBERED = re.compile(rf"{GALLERY}(\d+){_STOP}")


@dataclass(frozen=True)
class PreparedPage:
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
    variant: Variant | None = None

    @classmethod
    def from_wikitext(
        cls,
        wikitext: str,
        namespaces: Namespaces,
        title: str = "",
        variant: Variant | None = None,
    ) -> "PreparedPage":
        """Prepare a page, in time linear in its length. Never raises.

        Of words in several variants of the language those of `variant` stay; None is for a wiki
        without any, where `-{` is text.
        """
        galleries, references = list[str](), list[int]()
        blocks = strip_blocks(wikitext, galleries, references)
        if variant is not None and "-{" in wikitext:
            blocks, galleries, references = _in_variant(blocks, galleries, references, variant)
        text = hide_bars(namespaces.without_prefix(blocks))
        text = text.replace(_TITLE, title) if _TITLE in text else text
        box = infobox_at(text, namespaces)
        return cls(blocks, text, galleries, references, box, title, namespaces, variant)

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


def _in_variant(
    blocks: str, galleries: list[str], references: list[int], variant: Variant
) -> tuple[str, list[str], list[int]]:
    """Choose a variant's words; galleries and references of other variants go with theirs."""
    begins = [0, *references]
    pieces = (blocks[begin:end] for begin, end in zip(begins, [*references, None], strict=True))
    numbers = count()
    marked = _GALLERY.sub(lambda _: f"{GALLERY}{next(numbers)}{_STOP}", _REFERENCE.join(pieces))
    *before, last = variant.chosen(marked).split(_REFERENCE)
    remaining = [int(number) for piece in (*before, last) for number in _NUMBERED.findall(piece)]
    cut = [_NUMBERED.sub(GALLERY, piece) for piece in (*before, last)]
    chosen = [variant.chosen(galleries[number]) for number in remaining]
    return "".join(cut), chosen, list(accumulate(map(len, cut[:-1])))
