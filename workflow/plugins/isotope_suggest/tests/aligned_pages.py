"""A few invented pages in several languages, as the tables that candidates are found in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import store
from isotope.core.uploads import upload_url
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.parse import ASSOCIATIONS, ENTITIES, OUTLINE, PICTURES, REJECTED
from isotope_suggest.alignment import align
from isotope_suggest.linked import link
from isotope_suggest.origins import Origins
from isotope_suggest.relations import Inputs, asked_sections, entity_tables, write_relations
from isotope_suggest.schemas import SECTION_ROLES
from isotope_suggest.wikidata import depict

FIELDS = ["page_title", "section_title"]


@dataclass
class Section:
    """A section: its heading ("" for a lead), what it shows and links to, and its role.

    `hidden` are the pictures by which validation judges it; `judged` those by which train does.
    `infobox` are the pictures of an infobox, which are the lead's.
    """

    heading: str = ""
    shows: Sequence[str] = ()
    links: Sequence[str] = ()
    hidden: Sequence[str] = ()
    judged: Sequence[str] = ()
    infobox: Sequence[str] = ()

    @property
    def role(self) -> tuple[str, str]:
        """Its role, and its split."""
        if self.hidden or self.judged:
            return "judged", "validation" if self.hidden else "train"
        return ("illustrated" if self.shows or self.infobox else "open"), "other"

    @property
    def pictures(self) -> list[tuple[str, str]]:
        """What it shows, each with its origin."""
        all_pictures = [*self.shows, *self.hidden, *self.judged]
        return [(p, "link") for p in all_pictures] + [(p, "infobox") for p in self.infobox]


class Entity(NamedTuple):
    """An item of Wikidata; its pictures are called as those of sections are."""

    item: str
    pictures: Sequence[str] = ()
    names: Sequence[str] = ()
    category: str | None = None


@dataclass
class Pages:
    """Pages by language and title, rows of WIT, and redirects of the first language.

    The collection has every picture but those that it is `lacking`. `entities` are items of
    Wikidata by language and title, each with its names, its pictures and its category.
    """

    pages: Mapping[str, Mapping[str, Sequence[Section]]]
    languages: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    wit: Sequence[tuple[str, str, str, str]] = ()
    redirects: Mapping[str, str] = field(default_factory=dict[str, str])
    langlinks: Sequence[tuple[str, Path]] = ()
    lacking: Sequence[str] = ()
    entities: Mapping[str, Mapping[str, Entity]] = field(
        default_factory=dict[str, Mapping[str, Entity]]
    )

    @property
    def origins(self) -> Origins:
        """The sources, each named as its language."""
        return Origins(languages={name: name for name in self.pages}, union=len(self.pages) > 1)

    def write(self, folder: Path) -> Inputs:
        """Write all tables; files are `X.jpg` for a picture X, whose id is its name in small."""
        rows: dict[str, list[dict[str, Any]]] = {n: [] for n in ("texts", "sections", "qrels")}
        tables: dict[str, list[Path]] = {"outlines": [], "placed": []}
        pictures = {image for _, _, _, image in self.wit}
        for language in self.pages:
            outline, placed = [], []
            for number, title in enumerate(self.pages[language], 1):
                for position, section in enumerate(self.pages[language][title]):
                    section_id = f"{number}-{position}"
                    text_id = f"{language}-{section_id}" if len(self.pages) > 1 else section_id
                    outline.append(self._outline(language, title, number, position))
                    placed += [
                        {
                            "page_id": number,
                            "text_id": section_id,
                            "file": f"{p}.jpg",
                            "origin": origin,
                        }
                        for p, origin in section.pictures
                    ]
                    about = {"text_id": text_id, "page_id": number, "language": language}
                    role, split = section.role
                    text = {"page_title": title, "section_title": section.heading, "split": split}
                    rows["texts"].append({**about, **text, "category": []})
                    details = {"role": role, "split": split, "probability": 0.9, "place": position}
                    rows["sections"].append({**about, **details})
                    rows["qrels"] += [
                        {"text_id": text_id, "image_id": p.lower(), "relevance": 1, "split": split}
                        for p in (*section.hidden, *section.judged)
                    ]
            pictures |= {row["file"].removesuffix(".jpg") for row in placed}
            tables["outlines"].append(_written(outline, folder / f"{language}.outline", OUTLINE))
            tables["placed"].append(_written(placed, folder / f"{language}.pictures", PICTURES))
        kinds = {"texts": TEXTS, "sections": SECTION_ROLES, "qrels": QRELS}
        inputs: dict[str, Any] = {n: _written(rows[n], folder / n, kinds[n]) for n in kinds}
        return Inputs(
            **inputs,
            outlines=tables["outlines"],
            placed=tables["placed"],
            images=_written(
                [_image(p) for p in sorted(pictures - {*self.lacking})], folder / "images", IMAGES
            ),
            associations=[_written([_row(*r) for r in self.wit], folder / "wit", ASSOCIATIONS)],
            langlinks=self.langlinks,
            redirects=self._redirects(folder),
            entities=entity_tables(self._entities(folder), self.origins),
        )

    def _outline(self, language: str, title: str, number: int, position: int) -> dict[str, Any]:
        sections = self.pages[language][title]
        return {
            **{"text_id": f"{number}-{position}", "page_id": number, "place": position},
            **{"sections": len(sections), "heading": sections[position].heading or "Introduction"},
            "links": list(sections[position].links),
            "languages": [] if position else list(self.languages.get(f"{language}:{title}", ())),
        }

    def _entities(self, folder: Path) -> list[Path]:
        places = {language: folder / f"parse/{language}/wikidata" for language in self.entities}
        for path in places.values():
            path.parent.mkdir(parents=True)
        return [
            _written(
                [_entity(t, e) for t, e in sorted(by_title.items())], places[language], ENTITIES
            )
            for language, by_title in self.entities.items()
        ]

    def _redirects(self, folder: Path) -> list[Path]:
        rows = [
            {"reason": "redirect", "detail": name, "raw": target}
            for name, target in self.redirects.items()
        ]
        return [
            _written(rows if n == 0 else [], folder / f"{code}.rejected", REJECTED)
            for n, code in enumerate(self.pages)
        ]


def aligned(pages: Pages, folder: Path, depth: int = 5) -> dict[tuple[str, str], Any]:
    """Return alignment and alignment_on by section and picture."""
    return _by_pair(pages, folder, align, depth)


def linked(pages: Pages, folder: Path, depth: int = 5) -> dict[tuple[str, str], Any]:
    """Return links and links_on by section and picture."""
    return _by_pair(pages, folder, link, depth)


def depicted(pages: Pages, folder: Path, depth: int = 5) -> dict[tuple[str, str], Any]:
    """Return wikidata and wikidata_on by section and picture."""
    return _by_pair(pages, folder, depict, depth)


def _by_pair(pages: Pages, folder: Path, make: Any, depth: int) -> dict[tuple[str, str], Any]:
    inputs = pages.write(folder)
    relations_folder = folder / "made"
    relations_folder.mkdir()
    asked = asked_sections(inputs.sections, 0.5)
    relations = write_relations(inputs, asked, relations_folder, pages.origins)
    rows = pl.read_parquet(make(relations, relations_folder, depth)).iter_rows()
    return {(text, image): (score, names) for text, image, score, names in rows}


def _written(rows: Sequence[Mapping[str, Any]], path: Path, schema: Any) -> Path:
    path = path.with_name(f"{path.name}.parquet")
    store.write_rows([{**dict.fromkeys(schema.names), **row} for row in rows], path, schema)
    return path


def _entity(title: str, entity: Entity) -> dict[str, Any]:
    named = {"item": entity.item, "page_title": title, "names": list(entity.names)}
    pictures = [f"{picture}.jpg" for picture in entity.pictures]
    return {**named, "pictures": pictures, "category": entity.category, "classes": []}


def _image(picture: str) -> dict[str, Any]:
    caption = {"caption_reference_description": [f"A picture of {picture}"], "language": ["en"]}
    empty = {"caption_alt_text_description": [""], "caption_attribution_description": [""]}
    about = {"image_id": picture.lower(), "image_url": upload_url(f"{picture}.jpg")}
    return {**about, **caption, **empty, "split": "other"}


def _row(language: str, title: str, heading: str, picture: str) -> dict[str, Any]:
    where = {"language": language, "page_title": title, "section_title": heading}
    return {**where, "image_url": upload_url(f"{picture}.jpg")}
