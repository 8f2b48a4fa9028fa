"""An encyclopedia as the tables that `suggest.sections` reads, made of pages and their sections."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from isotope.core import store
from isotope.schemas.collect import QRELS, TEXTS
from isotope.schemas.parse import OUTLINE, PICTURES
from isotope.schemas.project import PROJECTION
from isotope_suggest.origins import Origins

HEADINGS = {
    "prose": ("History", "Geography", "Architecture", "Early life", "Climate", "Design"),
    "list": ("Works", "Cast", "Albums", "Members", "Filmography"),
    "references": ("References", "Notes", "Sources"),
}
_NO_PICTURES: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """What a section has, the split of its judged picture, and the chance that it has one."""

    heading: str = ""
    paragraphs: int = 3
    characters: int = 900
    list_items: int = 0
    table_rows: int = 0
    references: int = 0
    links: int = 4
    level: int = 2
    files: Sequence[str] = _NO_PICTURES
    judged: str = ""
    chance: float = math.nan

    @property
    def lines(self) -> int:
        """Lines of its text: paragraphs, list items and table rows."""
        return self.paragraphs + self.list_items + self.table_rows

    @property
    def titles(self) -> list[str]:
        """The pages that it links to."""
        return [f"Page {n}" for n in range(self.links)]

    @property
    def text(self) -> str:
        """Its lines; all links are in the first."""
        first, more = " ".join(["x", *self.titles]), ["x"] * (self.lines - 1)
        return "\n".join([first, *more]) if self.lines else ""


@dataclass(frozen=True)
class Page:
    """An article; `box` is the file of its infobox."""

    title: str
    sections: Sequence[Section] = field(default_factory=list[Section])
    box: str = ""


class Encyclopedia:
    """Tables of pages, whose ids are 1000, 1001 and so on; a union's texts have their language."""

    def __init__(
        self, folder: Path, editions: Mapping[str, Sequence[Page]], *, union: bool = False
    ) -> None:
        self.folder, self.languages, self.union = folder, list(editions), union
        self.projected: dict[str, list[str]] = {language: [] for language in editions}
        self.topics: list[Path] = []
        rows: dict[str, list[dict[str, Any]]] = {"texts": [], "qrels": []}
        for language, pages in editions.items():
            for n, page in enumerate(pages, 1000):
                self._collect(language, n, page, rows)
            self._parse(language, pages)
        store.write_rows(rows["texts"], folder / "texts.parquet", TEXTS)
        store.write_rows(rows["qrels"], folder / "qrels.parquet", QRELS)

    def inputs(self, **changes: Any) -> dict[str, Any]:
        """Return the arguments of `describe_sections`; it writes into the same folder."""
        origins = Origins(languages={name: name for name in self.languages}, union=self.union)
        spec = {"origins": origins, "maximum_usage": 100}
        files = {name: self.folder / f"{name}.parquet" for name in ("texts", "qrels")}
        parsed = {
            name: [self.folder / f"{language}-{name}.parquet" for language in self.languages]
            for name in ("outlines", "placed")
        }
        outputs = {"out": self.folder / "sections.parquet", "model": self.folder / "ought.json"}
        further = {"topics": self.topics, "projections": self._project()}
        return {**files, **parsed, **outputs, **further, **spec, **changes}

    def project(self, language: str, page: int, position: int) -> None:
        """Say that a text of WIT is this section."""
        self.projected[language].append(_own_id(page, position))

    def _project(self) -> list[Path]:
        paths = {name: self.folder / f"{name}-projection.parquet" for name in self.languages}
        for language, path in paths.items():
            ids = [*self.projected[language], None]
            rows = [
                {"source_text_id": f"s{n}", "text_id": text_id} for n, text_id in enumerate(ids)
            ]
            store.write_rows(rows, path, PROJECTION)
        return [*paths.values()]

    def predict(self, rows: Iterable[str]) -> None:
        """Add a table of article topics, in lines of CSV."""
        out = self.folder / "topics.csv"
        out.write_text("\n".join(rows) + "\n", "utf-8")
        self.topics = [out]

    def text_id(self, language: str, page: int, position: int) -> str:
        ident = f"projected-{page:08d}-{position:03d}"
        return f"{language}-{ident}" if self.union else ident

    def _collect(
        self, language: str, n: int, page: Page, rows: dict[str, list[dict[str, Any]]]
    ) -> None:
        for position, section in enumerate(page.sections):
            text_id = self.text_id(language, n, position)
            text = {"text_id": text_id, "page_id": n, "language": language}
            text |= {"page_title": page.title, "section_title": section.heading or "Introduction"}
            text |= {"hierarchy": text["section_title"]}
            text |= {"context_section_description": section.text}
            rows["texts"].append({**text, "split": section.judged or "other"})
            if section.judged:
                judged = {"text_id": text_id, "image_id": f"image of {text_id}", "relevance": 1}
                rows["qrels"].append({**judged, "split": section.judged})

    def _parse(self, language: str, pages: Sequence[Page]) -> None:
        outline, placed = list[dict[str, Any]](), list[dict[str, Any]]()
        for n, page in enumerate(pages, 1000):
            boxed = [(0, page.box, "infobox")] if page.box else []
            shown = [(at, f, "link") for at, s in enumerate(page.sections) for f in s.files]
            for at, file, origin in (*boxed, *shown):
                where = {"page_id": n, "place": len(placed), "text_id": _own_id(n, at)}
                how = {"caption": "", "alt": "", "is_framed": True, "is_in_table": False}
                placed.append({**where, "file": file, "origin": origin, **how})
            outline += [
                {
                    "text_id": _own_id(n, at),
                    "page_id": n,
                    "place": at,
                    "level": s.level if at else 0,
                }
                | {"sections": len(page.sections), "heading": s.heading if at else ""}
                | {"characters": s.characters, "list_items": s.list_items}
                | {"table_rows": s.table_rows, "references": s.references}
                | {
                    "has_infobox": bool(page.box) and not at,
                    "links": s.titles,
                }
                for at, s in enumerate(page.sections)
            ]
        store.write_rows(outline, self.folder / f"{language}-outlines.parquet", OUTLINE)
        store.write_rows(placed, self.folder / f"{language}-placed.parquet", PICTURES)


def _own_id(page: int, position: int) -> str:
    return f"projected-{page:08d}-{position:03d}"


def world(pages: int, seed: int = 0) -> list[Page]:
    """Return pages of which long prose often has a picture, a list seldom, and references never.

    One page in ten is of the validation split and one of the test split, where a picture is judged.
    """
    rng = np.random.default_rng(seed)
    return [_page(rng, n) for n in range(pages)]


def _page(rng: np.random.Generator, n: int) -> Page:
    kinds = [
        "prose",
        *rng.choice(["prose", "list"], rng.integers(2, 8), p=[0.7, 0.3]),
        "references",
    ]
    sections = [drawn(rng, str(kind)) for kind in kinds]
    split = {3: "validation", 7: "test"}.get(n % 10, "train")
    pictured = [
        replace(s, files=[f"{n}-{at}.jpg"], judged=split) if rng.random() < s.chance else s
        for at, s in enumerate(sections)
    ]
    return Page(f"Page {n}", pictured)


def drawn(rng: np.random.Generator, kind: str) -> Section:
    """Return a section of a kind, with the chance by which it has a picture."""
    heading = str(rng.choice(HEADINGS[kind]))
    if kind == "references":
        return Section(heading, 0, 0, list_items=int(rng.integers(0, 3)), links=0, chance=0.0)
    if kind == "list":
        items = int(rng.integers(8, 60))
        return Section(heading, 1, 40 * items, items, links=items, chance=0.04)
    paragraphs = int(rng.integers(1, 12))
    chance = 1 / (1 + math.exp(3 - 0.75 * paragraphs))
    return Section(
        heading,
        paragraphs,
        350 * paragraphs,
        references=paragraphs,
        links=paragraphs,
        chance=chance,
    )
