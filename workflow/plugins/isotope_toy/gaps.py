"""Sections that describe a picture and do not show it, and what editors put into them later.

Some describe a picture of another page of the same split, and link to that page; some the picture
of their page that only other languages show; and some a scene that no picture has, for which any
suggestion is wrong.
"""

import random
from dataclasses import replace

from isotope_toy import scenes, words
from isotope_toy.pages import (
    SPLITS,
    Page,
    Picture,
    ToySection,
    has_spare_abroad,
    pictures,
    stock_sentences,
)

# One page in so many has such a section, and the first of them.
_ELSEWHERE, _UNSEEN = (11, 2), (66, 31)
# Of the pictures described, editors add so many, and so many times another one.
_TAKEN_UP, _OTHER = 0.6, 0.1
_CAME = "It was made for [[{owner}]] and came here in {year}."


def with_gaps(page: Page, seed: int, pages: int) -> Page:
    """Return the page with the section that is due to it, if any, at its end.

    The section has the picture that it describes as `subject`, and as `added` the one that the
    second edition shows in it. Its random numbers are its own: nothing else of the page changes.
    """
    rng = random.Random(f"{seed}/{page.number}/gaps")
    subject, substitutes = _subject(rng, page, seed, pages)
    if subject is None:
        return page
    section = _section(rng, page, subject, pages)
    chance = rng.random()
    if chance < _TAKEN_UP and substitutes:
        section.added = subject
    elif chance < _TAKEN_UP + _OTHER and substitutes:
        section.added = substitutes[-1]
    return replace(page, sections=[*page.sections, section])


def _subject(
    rng: random.Random, page: Page, seed: int, pages: int
) -> tuple[Picture | None, list[Picture]]:
    """Return the picture to describe, and those that could be shown there in its place."""
    number = page.number
    owner = number - len(SPLITS) if number >= len(SPLITS) else number + len(SPLITS)
    page_pictures = pictures(seed, number)[:-1]
    if has_spare_abroad(number):
        return pictures(seed, number)[-1], page_pictures
    if owner >= pages:
        return None, []
    if _due(_ELSEWHERE, number):
        first, *remaining = pictures(seed, owner)[:-1]
        return first, remaining or page_pictures
    if _due(_UNSEEN, number):
        medium = rng.choice(words.MEDIA)
        return Picture("", medium, words.title(owner), scenes.scene(rng), ""), []
    return None, []


def _section(rng: random.Random, page: Page, subject: Picture, pages: int) -> ToySection:
    titles = {section.title for section in page.sections}
    medium = subject.medium
    title = f"Second {medium.lower()}" if medium in titles else medium
    more = stock_sentences(rng, words.ABOUT_ART, rng.randint(2, 3), pages, medium)
    if subject.owner != page.title:
        more.append(_CAME.format(owner=subject.owner, year=rng.randrange(1700, 2015)))
    return ToySection(title, (), [subject.sentence, *more], subject=subject)


def _due(when: tuple[int, int], number: int) -> bool:
    period, first = when
    return number % period == first
