"""The second edition of the toy encyclopedia: one page in twenty revised, some new, some gone.

A revised page is that of the first edition with one thing changed. Nothing else about it differs,
since its random numbers are those of the first edition (`replay`). Of the other pages, some that
have a section without its picture (`gaps`) have got one.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from isotope_toy import gaps, scenes
from isotope_toy import pages as toy_pages
from isotope_toy.pages import Page, Picture, ToySection

Drawn = TypeVar("Drawn")


# Of this many pages one is revised; where the search for it starts, and how far that moves.
_BATCH_PAGES = 20
_FIRST, _STRIDE = 4, 7
_NEW_PER_PAGES = 100
_YEAR = 2023
_SENTENCE = "In January 2023 the keepers counted the chairs again and found twelve."
_NOTE = ", as it hangs since 2023"
ILLUSTRATED = "section illustrated"


@dataclass(frozen=True, slots=True)
class Entry:
    """A page in both editions: `before` is None for a new one, `now` for one that is gone."""

    before: Page | None
    now: Page | None
    revision: str = ""

    @property
    def pictures(self) -> list[Picture]:
        """The files of both editions: none is deleted, and of one address the later one counts."""
        both = [p for page in (self.before, self.now) if page for p in page.own_pictures]
        return list({picture.path: picture for picture in both}.values())


def entries(seed: int, pages: int, edition: int) -> Iterator[Entry]:
    """Yield the pages of the first or second edition, by number, with what became of each."""
    for turn, start in enumerate(range(0, pages, _BATCH_PAGES)):
        numbers = range(start, min(start + _BATCH_PAGES, pages))
        batch = [toy_pages.page(seed, number, pages) for number in numbers]
        change = _revise(batch, turn)
        for page in batch:
            if change and change.before is page:
                yield change if edition > 1 else Entry(page, page)
            else:
                yield _illustrated(gaps.with_gaps(page, seed, pages), edition)
    for number in range(pages, pages + max(1, pages // _NEW_PER_PAGES) * (edition - 1)):
        yield Entry(None, toy_pages.page(seed, number, pages), "page added")


def _illustrated(page: Page, edition: int) -> Entry:
    """Return a page that is not revised, its sections in the second edition with what was added."""
    if edition == 1 or not any(section.added for section in page.sections):
        return Entry(page, page)
    sections = [
        replace(s, origin=n, pictures=[*s.pictures, *filter(None, [s.added])])
        for n, s in enumerate(page.sections)
    ]
    return Entry(page, replace(page, sections=sections, first=page), ILLUSTRATED)


def replay(
    rng: random.Random, page: Page, draw: Callable[[Page, ToySection], Drawn]
) -> list[Drawn]:
    """Return what `draw` makes of each section of the page.

    `draw` takes random numbers from `rng`. Each section of a revised page gets the numbers that it
    got in the first edition, a new section numbers of its own, and `rng` is left in the state in
    which the first edition left it: nothing but the revision differs.
    """
    if page.first is None:
        return [draw(page, section) for section in page.sections]
    states: list[tuple[Any, ...]] = []
    for section in page.first.sections:
        states.append(rng.getstate())
        draw(page.first, section)
    last, results = rng.getstate(), list[Drawn]()
    for section in page.sections:
        if section.origin < 0:
            rng.seed(f"{page.title}/{section.title}")
        else:
            rng.setstate(states[section.origin])
        results.append(draw(page, section))
    rng.setstate(last)
    return results


def _revise(pages: Sequence[Page], turn: int) -> Entry | None:
    """Revise one of these pages in the way whose turn it is: the first one that allows it."""
    name, start = list(REVISIONS)[turn % len(REVISIONS)], turn * _STRIDE + _FIRST
    for step in range(len(pages)):
        page = pages[(start + step) % len(pages)]
        sections = [
            replace(s, origin=n, pictures=[*s.pictures], sentences=[*s.sentences])
            for n, s in enumerate(page.sections)
        ]
        now = replace(page, sections=sections, first=page)
        if REVISIONS[name](now):
            return Entry(page, None if name == "page removed" else now, name)
    return None


def _edit(page: Page) -> bool:
    page.sections[-1].sentences.append(_SENTENCE)
    return True


def _retitle(page: Page) -> bool:
    section = next((s for s in _plain(page) if len(s.sentences) > 1), None)
    if section:
        section.title = f"{section.title} and people"
    return section is not None


def _rename(page: Page) -> bool:
    page.later_title = f"{page.title} House"
    return page.first is not None and page.first.later_title == page.title


def _remove(page: Page) -> bool:
    return bool(page.sections)


def _swap(page: Page) -> bool:
    section = _pictured(page)
    old = section.pictures[-1]
    new = _picture(page, old.medium)
    before, after = (scenes.sentence(picture.scene, "") for picture in (old, new))
    section.sentences = [sentence.replace(before, after) for sentence in section.sentences]
    section.pictures[-1] = new
    return True


def _recaption(page: Page) -> bool:
    _replace(page, lambda picture: replace(picture, note=_NOTE))
    return True


def _take_picture(page: Page) -> bool:
    several = len(page.own_pictures) > len(page.abroad) + 1
    if several:
        _pictured(page).pictures.pop()
    return several


def _give_picture(page: Page) -> bool:
    page.sections[-1].pictures.append(_picture(page, "Poster"))
    return True


def _move(page: Page) -> bool:
    plain = _plain(page)
    if len(plain) > 1:
        plain[-1].above = (plain[0].title,)
        page.sections.remove(plain[-1])
        page.sections.insert(page.sections.index(plain[0]) + 1, plain[-1])
    return len(plain) > 1


def _give_section(page: Page) -> bool:
    page.sections.append(ToySection("Visitors", (), [_SENTENCE]))
    return True


def _take_section(page: Page) -> bool:
    plain = _plain(page)
    if plain:
        page.sections.remove(plain[-1])
    return bool(plain)


def _redraw(page: Page) -> bool:
    last = _pictured(page).pictures[-1]
    other = replace(last, scene=replace(last.scene, grain=last.scene.grain + 1))
    _replace(page, lambda picture: other if picture == last else picture)
    return True


def _replace(page: Page, change: Callable[[Picture], Picture]) -> None:
    for section in page.sections:
        section.pictures = [change(picture) for picture in section.pictures]


REVISIONS: dict[str, Callable[[Page], bool]] = {
    "text edited": _edit,
    "section renamed": _retitle,
    "page renamed": _rename,
    "page removed": _remove,
    "picture exchanged": _swap,
    "caption changed": _recaption,
    "picture removed": _take_picture,
    "picture added": _give_picture,
    "section moved": _move,
    "section added": _give_section,
    "section removed": _take_section,
    "picture redrawn": _redraw,
}


def _plain(page: Page) -> list[ToySection]:
    """Return the sections of the first level with nothing in them or below them but text."""
    parents = {title for section in page.sections for title in section.above}
    return [
        s
        for s in page.sections[1:]
        if not (s.pictures or s.above or s.later_title or s.title in parents)
    ]


def _pictured(page: Page) -> ToySection:
    """Return the last section with a picture that is the page's own."""
    return next(
        s
        for s in reversed(page.sections)
        if s.pictures and s.pictures[-1].owner == page.title and s.title != "Copies"
    )


def _picture(page: Page, medium: str) -> Picture:
    rng = random.Random(f"{page.title}/{medium}/{_YEAR}")
    name = f"{page.title} {medium.lower()} {_YEAR}.png"
    return Picture(name, medium, page.title, scenes.scene(rng), "image/png")
