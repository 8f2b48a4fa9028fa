"""Chance, met again: a page of a later edition is drawn as the first edition's was."""

import random
from collections.abc import Callable
from typing import Any, TypeVar

from isotope.toy.pages import Page, Section

Made = TypeVar("Made")


def replayed(rng: random.Random, page: Page, make: Callable[[Page, Section], Made]) -> list[Made]:
    """Make something of each section; a revised page meets the chances that its first edition met.

    `make` draws from `rng`, as what comes afterwards does.
    """
    if page.first is None:
        return [make(page, section) for section in page.sections]
    states: list[tuple[Any, ...]] = []
    for section in page.first.sections:
        states.append(rng.getstate())
        make(page.first, section)
    after, made = rng.getstate(), list[Made]()
    for section in page.sections:
        if section.origin < 0:
            rng.seed(f"{page.title}/{section.title}")
        else:
            rng.setstate(states[section.origin])
        made.append(make(page, section))
    rng.setstate(after)
    return made
