"""The knowledge base of Encyclopedic-VQA: pages of Wikipedia with the addresses of their pictures.

It (Mensink et al., ICCV 2023; google-research/encyclopedic_vqa, "Controlled Knowledge Base") is one
JSON object of 2 M pages by their address, with sections, pictures and the section that each picture
is in; others that were made from it have the same fields.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import members, suffix_of
from isotope.parse.forms.base import FILE, ROW, WHERE, Form, Rejection, refuse
from isotope.parse.forms.columns import chunks
from isotope.parse.forms.texts import files_of, named

_PAGES = pa.schema(
    [
        *WHERE,
        *((name, pa.string()) for name in ("url", "title", "section_id")),
        ("section", pa.int32()),
        *((name, pa.string()) for name in ("section_title", "section_text")),
        *((name, pa.string()) for name in ("image_url", "image_reference_description")),
    ]
)
Row = dict[str, object]


class EncyclopedicVqa(Form):
    """A JSON object of pages: a row for each picture of a section, and for a section without."""

    name = "encyclopedic_vqa"
    roles: ClassVar[Mapping[str, str]] = {
        "image": "image_url",
        "text": "section_text",
        "text_id": "section_id",
        "title": "title",
        "section": "section_title",
        "page_url": "url",
        "caption": "image_reference_description",
    }
    options: ClassVar[Mapping[str, str]] = {
        "pictures_only": "true: sections without a picture are left out; by default false."
    }

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the name: `encyclopedic_kb_wiki`, as published, as JSON or a zip of it."""
        files = files_of(paths)
        return bool(files) and all(
            path.name.startswith("encyclopedic_kb") and _is_json(path) for path in files
        )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row a picture, `_row` the number of its page; a page out of shape is rejected.

        A section's id is the page's address, `#` and the section's place from 0, as the questions'
        `evidence_section_id` counts.

        Raises:
            CorruptFile: no JSON object, or one that is not whole.
        """
        is_pictures_only = bool(options.get("pictures_only", False))
        rows = (
            {FILE: name, ROW: number, **row}
            for path, name in named(files_of(paths))
            for number, (_, page) in enumerate(members(path), 1)
            for row in _page_rows(page, (name, number), rejected)
            if row["image_url"] is not None or not is_pictures_only
        )
        for some in chunks(rows):
            yield pa.RecordBatch.from_pylist(some, schema=_PAGES)


def _is_json(path: Path) -> bool:
    return suffix_of(path.name) == ".json" or path.suffix in (".json", ".zip")


def _page_rows(
    text: str, where: tuple[str, int], rejected: list[Rejection] | None
) -> Iterator[Row]:
    try:
        page: object = json_value(text)
    except Refused as error:
        refuse(rejected, where, error.reason, text)
        return
    problem = _fault(page)
    if problem is not None:
        refuse(rejected, where, problem, text)
        return
    fields = cast(dict[str, Any], page)
    pictures = _pictures(fields)
    for number, (title, words) in enumerate(_sections(fields)):
        section: Row = {
            "url": fields["url"],
            "title": fields["title"],
            "section_id": f"{fields['url']}#{number}".replace(" ", "_"),
            "section": number,
            # The first section bears the page's title: it is the lead.
            "section_title": title if number else None,
            "section_text": words,
        }
        for url, caption in pictures.get(number) or [(None, None)]:
            yield {**section, "image_url": url, "image_reference_description": caption}


def _sections(page: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return zip(page["section_titles"], page["section_texts"], strict=True)


def _pictures(page: Mapping[str, Any]) -> dict[int, list[tuple[str, str | None]]]:
    """Return address and caption of the pictures of each section; an empty caption is None."""
    urls = page.get("image_urls") or []
    captions = page.get("image_reference_descriptions") or [None] * len(urls)
    places = page.get("image_section_indices") or [0] * len(urls)
    pictures: dict[int, list[tuple[str, str | None]]] = {}
    for url, caption, section in zip(urls, captions, places, strict=True):
        pictures.setdefault(int(section or 0), []).append((url, caption or None))
    return pictures


def _fault(page: object) -> str | None:
    """Return what is wrong with a page, if anything."""
    if not isinstance(page, dict):
        return f"no page, but {type(page).__name__}"
    fields = cast(dict[str, Any], page)
    absent = [n for n in ("url", "title", "section_titles", "section_texts") if n not in fields]
    if absent:
        return f"no {' and no '.join(absent)}"
    lists = ("section_titles", "section_texts", "image_urls")
    malformed = [n for n in lists if not _is_texts(fields.get(n) or [])]
    if malformed:
        return f"{malformed[0]} is no list of texts"
    sections = len(fields["section_titles"])
    if sections != len(fields["section_texts"]):
        return f"{sections} titles of sections, {len(fields['section_texts'])} texts"
    return _fault_of_pictures(fields, sections)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast(list[object], value)
    )


def _fault_of_pictures(page: Mapping[str, Any], sections: int) -> str | None:
    urls = page.get("image_urls") or []
    for name in ("image_reference_descriptions", "image_section_indices"):
        values = page.get(name)
        if values and len(values) != len(urls):
            return f"{len(urls)} image_urls, {len(values)} {name}"
    outside = [n for n in page.get("image_section_indices") or [] if not 0 <= (n or 0) < sections]
    return f"a picture in section {outside[0]} of {sections}" if outside else None
