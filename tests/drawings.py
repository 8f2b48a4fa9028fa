"""Figures in a real Chromium: which of their words touch."""

from itertools import combinations

from playwright.sync_api import Page

# The words of each SVG element and their boxes, less the white around the letters.
WORDS = """selector => [...document.querySelectorAll(selector)].map(figure =>
  [...figure.querySelectorAll('text')].filter(text => text.textContent.trim()).map(text => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left + 1, box.top + 1.5, box.right - 1, box.bottom - 1.5];
  }))"""


def touching(page: Page, selector: str = "svg") -> list[list[tuple[str, str]]]:
    """Return the pairs of words that touch in each figure of the page; a figure has some words."""
    figures = page.evaluate(WORDS, selector)
    assert all(figures)
    return [
        [
            (one, other)
            for (one, left, top, right, bottom), (other, *at) in combinations(boxes, 2)
            if not (right <= at[0] or at[2] <= left or bottom <= at[1] or at[3] <= top)
        ]
        for boxes in figures
    ]
