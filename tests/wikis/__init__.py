"""Wikis of our own in fourteen languages: pages of templates and modules, articles, and the truth.

Each `<wiki>.yaml` has the wiki's `language`, names of `namespaces`, `pages` as a dump holds them,
and `articles` with what a reader of that wiki sees: `text`, a line a paragraph, and `pictures` with
caption and alternative text, icons aside; `lost` are words that only a run of Lua could tell.
`<wiki>/<title>.html` is the same article as Parsoid wrote it: `render.py` asks MediaWiki itself, so
that no truth here is isotope's.
"""

from dataclasses import dataclass
from functools import cache
from hashlib import md5
from pathlib import Path
from typing import NamedTuple

import yaml

FOLDER = Path(__file__).parent


class Picture(NamedTuple):
    """A file that readers see, with its words."""

    file: str
    caption: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Page:
    """An article: its wikitext, and what readers see of it."""

    title: str
    wikitext: str
    text: str
    pictures: tuple[Picture, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Wiki:
    """A wiki: `namespaces` by number, `pages` of templates and modules by title."""

    name: str
    language: str
    namespaces: dict[int, str]
    pages: dict[str, str]
    articles: tuple[Page, ...]
    icons: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A digest of all wikitext, by which HTML is known that was made of other pages."""
        wikitext = {**self.pages, **{page.title: page.wikitext for page in self.articles}}
        return md5(repr(sorted(wikitext.items())).encode(), usedforsecurity=False).hexdigest()

    def files(self) -> list[str]:
        """List the files that its articles show, icons included."""
        shown = {picture.file for page in self.articles for picture in page.pictures}
        return sorted(shown.union(self.icons))

    def html_path(self, title: str) -> Path:
        """Return where Parsoid's HTML of an article is."""
        return FOLDER / self.name / f"{title}.html"


def names() -> list[str]:
    """List the wikis."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def wiki(name: str) -> Wiki:
    """Read a wiki."""
    said = yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))
    articles = tuple(
        Page(
            title,
            own["wikitext"].rstrip("\n"),
            own.get("text", ""),
            tuple(Picture(**picture) for picture in own.get("pictures", ())),
            tuple(own.get("lost", ())),
        )
        for title, own in said["articles"].items()
    )
    pages = {title: text.rstrip("\n") for title, text in said["pages"].items()}
    for title, module in said.get("modules", {}).items():
        pages[title] = (FOLDER / "modules" / f"{module}.lua").read_text("utf-8")
    return Wiki(
        name, said["language"], said["namespaces"], pages, articles, tuple(said.get("icons", ()))
    )
