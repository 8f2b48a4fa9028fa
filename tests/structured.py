"""Pages as Structured Contents of Wikimedia Enterprise, made of the HTML that Parsoid renders.

As Enterprise's own parser does it (github.com/wikimedia-enterprise/wikimedia-enterprise,
general/parser and general/schema): a picture has the address of its thumbnail, a paragraph the text
without the marks of its footnotes, a list its items, and a table stands in a list of its own.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import lxml.html
from lxml.html import HtmlElement
from tests.snapshots import ENGLISH, Page, Wiki, render, write_tar

Part = dict[str, Any]
_TEXT_GOES = ".//sup | .//figure | .//span[@typeof] | .//ul | .//ol"


def records(pages: Sequence[Page], wiki: Wiki = ENGLISH) -> list[str]:
    """Return a record a page of the article namespace that is no redirect."""
    return [
        json.dumps(record(page, wiki), ensure_ascii=False)
        for page in pages
        if not page.redirect and page.namespace == 0
    ]


def record(page: Page, wiki: Wiki = ENGLISH) -> Part:
    """Return the record of a page."""
    made = _Maker(wiki, lxml.html.document_fromstring(render(page, wiki)))
    return {
        "name": page.title,
        "identifier": page.page_id,
        "version": {"identifier": page.revision, "comment": ""},
        "url": f"{wiki.url}/wiki/{quote(page.title.replace(' ', '_'))}",
        "date_modified": "2026-01-01T00:00:00Z",
        "in_language": {"identifier": wiki.language},
        "is_part_of": {"identifier": wiki.database, "url": wiki.url},
        "main_entity": {"identifier": f"Q{page.page_id}"},
        "license": [{"identifier": "CC-BY-SA-4.0", "url": "https://creativecommons.org/"}],
        "abstract": made.abstract(),
        "infoboxes": made.boxes(),
        "sections": made.sections(),
        "tables": made.tables,
        "references": [],
    }


def write_structured(
    pages: Sequence[Page], path: Path, wiki: Wiki = ENGLISH, per_file: int = 30
) -> Path:
    """Write a snapshot, a few records a file of the archive."""
    lines = records(pages, wiki)
    some = [lines[at : at + per_file] for at in range(0, len(lines), per_file)]
    files = ["".join(f"{line}\n" for line in part).encode() for part in some]
    return write_tar(files, path, f"{wiki.database}_namespace_0")


class _Maker:
    def __init__(self, wiki: Wiki, root: HtmlElement) -> None:
        self.wiki, self.root, self.tables = wiki, root, list[Part]()

    def abstract(self) -> str:
        paragraphs = self.root.xpath("//section[1]/p")
        return " ".join(filter(None, (self._text(p) for p in paragraphs)))

    def boxes(self) -> list[Part]:
        return [self._box(box) for box in self.root.xpath("//table[contains(@class, 'infobox')]")]

    def _box(self, box: HtmlElement) -> Part:
        inner = list[Part]()
        for row in box.xpath(".//tr"):
            images = self._images(row, ".//div[@class='infobox-caption']")
            if images:
                inner.append({"type": "image", "images": images})
            elif row.xpath("./td"):
                name, value = (self._text(row.xpath(f"./{tag}")[0]) for tag in ("th", "td"))
                inner.append({"type": "field", "name": name, "value": value, **self._links(row)})
        section = {"type": "section", "has_parts": inner}
        return {"type": "infobox", "name": "Infobox", "has_parts": [section]}

    def sections(self) -> list[Part]:
        """Return the sections, each within the one whose heading is above it."""
        top: Part = {"has_parts": []}
        open_sections = [(0, top)]
        for number, section in enumerate(self.root.xpath("//section")):
            heading = next(iter(section.xpath("./div[contains(@class, 'mw-heading')]/*[1]")), None)
            level = int(heading.tag[1]) if heading is not None else 1
            name = self._text(heading) if heading is not None else "Abstract"
            part = {"type": "section", "name": name, "has_parts": [*self._parts(section)]}
            while number and open_sections[-1][0] >= level:
                open_sections.pop()
            open_sections[-1][1]["has_parts"].append(part)
            if number:
                open_sections.append((level, part))
        return top["has_parts"]

    def _parts(self, section: HtmlElement) -> Iterator[Part]:
        for node in section:
            made = "data-mw" in node.attrib or "about" in node.attrib
            if node.tag == "p":
                yield self._said(node, "paragraph")
            elif node.tag == "figure":
                yield {"type": "image", "images": self._images(node, "./figcaption")}
            elif node.tag == "ul" and "gallery" in node.get("class", ""):
                boxes = node.xpath("./li")
                images = (self._images(li, ".//div[@class='gallerytext']")[0] for li in boxes)
                yield {"type": "gallery", "images": [*images]}
            elif node.tag in ("ul", "ol"):
                yield self._list(node)
            elif node.tag == "table" and not made:
                yield self._table(node)

    def _list(self, node: HtmlElement) -> Part:
        items = list[Part]()
        for child in node:
            if child.tag == "li":
                items.append(self._said(child, "list_item"))
            else:
                items[-1]["has_parts"] = [self._list(child)]
        return {"type": "list" if node.tag == "ul" else "ordered_list", "has_parts": items}

    def _table(self, node: HtmlElement) -> Part:
        rows = [[{"value": self._text(c)} for c in row] for row in node.xpath(".//tr")]
        name = f"table_{len(self.tables)}"
        self.tables.append({"identifier": name, "headers": rows[:1], "rows": rows[1:]})
        notes, links = self._notes(node), self._links(node)
        return {"type": "table", "table_references": [{"identifier": name}], **links, **notes}

    def _said(self, node: HtmlElement, kind: str) -> Part:
        said = {"type": kind, "value": self._text(node), **self._links(node), **self._notes(node)}
        images = self._images(node, None)
        return said | ({"images": images} if images else {})

    def _notes(self, node: HtmlElement) -> Part:
        marks = node.xpath(".//sup[contains(@class, 'reference')]")
        notes = [{"identifier": f"cite_note-{n}", "text": "[1]"} for n, _ in enumerate(marks)]
        return {"citations": notes} if notes else {}

    def _links(self, node: HtmlElement) -> Part:
        hrefs = node.xpath(".//a[@rel='mw:WikiLink']")
        links = [
            {"url": f"{self.wiki.url}/wiki/{a.get('href')[2:]}", "text": self._text(a)}
            for a in hrefs
        ]
        return {"links": links} if links else {}

    def _images(self, node: HtmlElement, caption: str | None) -> list[Part]:
        return [
            {
                "content_url": f"https:{image.get('src')}",
                "width": int(image.get("width")),
                "height": int(image.get("height")),
                "alternative_text": image.get("alt", ""),
                "caption": " ".join(map(self._text, node.xpath(caption))) if caption else "",
            }
            for image in node.xpath(".//img")
        ]

    def _text(self, node: HtmlElement) -> str:
        copy = lxml.html.fromstring(lxml.html.tostring(node, encoding="unicode", with_tail=False))
        for gone in copy.xpath(_TEXT_GOES):
            gone.drop_tree()
        return " ".join(copy.text_content().split())
