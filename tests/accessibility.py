"""What keeps readers from a page: its width, its colours, its markup, and what no key reaches."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

import axe_playwright_python
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
CHECKS = Path(__file__).with_suffix(".js").read_text("utf-8")
# Widths in px, of a desk and of a telephone, and themes. Colours hardly depend on the width.
Screen = tuple[int, Literal["light", "dark"]]
SCREENS: Sequence[Screen] = ((1280, "light"), (390, "dark"))
ALL_SCREENS: Sequence[Screen] = tuple(product((1280, 390), ("light", "dark")))
HEIGHT = 900
NARROW = 500


def faults(page: Page, screens: Sequence[Screen] = SCREENS) -> list[str]:
    """Return what is wrong with an open page on each screen; the last one stays.

    What is checked: no part is wider than the window, and every picture shows; on a telephone, no
    word is cut by the edge of a box that scrolls sideways, wherever it comes to rest; axe's rules
    of WCAG 2 A and AA and of best practice; Tab reaches every control and every box that scrolls,
    and the outline of what has the focus is in sight.
    """
    page.evaluate(AXE)
    page.evaluate(CHECKS)
    return [f"{w} px, {scheme}: {f}" for w, scheme in screens for f in _faults(page, w, scheme)]


def _faults(page: Page, width: int, scheme: Literal["light", "dark"]) -> Iterator[str]:
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.emulate_media(color_scheme=scheme)
    for check in ("layout", *(["cuts"] if width < NARROW else []), "structure", "contrast"):
        yield from page.evaluate(f"accessibility.{check}()")
    for _ in range(page.evaluate("accessibility.walk()")):
        page.keyboard.press("Tab")
    yield from page.evaluate("accessibility.walked()")
