"""Knowledge bases of visual questions: pages of Wikipedia with the addresses of their pictures.

Encyclopedic-VQA's (Mensink et al., ICCV 2023; google-research/encyclopedic_vqa, "Controlled
Knowledge Base") is one JSON object of 2 M pages by their address, with sections, pictures and the
section that each picture is in; others that were made from it have the same fields. InfoSeek's
(Chen et al., EMNLP 2023) is OVEN's Wiki6M, a JSON record an entity, with one picture.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.core.errors import BadParams
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import head, members, suffix_of
from isotope.parse.forms.base import FILE, ROW, WHERE, Form, Rejection, refuse
from isotope.parse.forms.delimited import records
from isotope.parse.forms.texts import files_of, named, suffix

_PAGES = pa.schema(
    [
        *WHERE,
        *((name, pa.string()) for name in ("url", "title", "section_id")),
        ("section", pa.int32()),
        *((name, pa.string()) for name in ("section_title", "section_text")),
        *((name, pa.string()) for name in ("image_url", "image_reference_description")),
    ]
)
_ENTITIES = pa.schema(
    [
        *WHERE,
        *((name, pa.string()) for name in ("wikidata_id", "wikipedia_title", "text")),
        *((name, pa.string()) for name in ("wikipedia_image_url", "page_url")),
    ]
)
_ROWS = 4096
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
        yield from _batches(rows, _PAGES)


class InfoSeek(Form):
    """JSON lines of entities, each with the address of its picture, or without one."""

    name = "infoseek"
    roles: ClassVar[Mapping[str, str]] = {
        "image": "wikipedia_image_url",
        "text": "text",
        "text_id": "wikidata_id",
        "title": "wikipedia_title",
        "page_url": "page_url",
    }
    options: ClassVar[Mapping[str, str]] = {
        "text": "`summary` or `content`: what of an article is its text; by default summary.",
        "pictures_only": "true: entities without a picture are left out; by default false.",
    }
    _texts = ("summary", "content")

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the first record, which has `wikidata_id` and `wikipedia_title`."""
        files = files_of(paths)
        return bool(files) and all(
            suffix(path) == ".jsonl" and _is_entity(head(path)) for path in files
        )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row an entity; one without an id or a title is rejected.

        Raises:
            BadParams: the option `text` is neither.
            CorruptFile: bytes that are not UTF-8; a packed file that is not whole.
        """
        of = options.get("text", "summary")
        if of not in self._texts:
            known = " or ".join(self._texts)
            raise BadParams("options.text", f"{of!r} is no part of an article", f"say {known}")
        is_pictures_only = bool(options.get("pictures_only", False))
        rows = (
            row
            for path, name in named(files_of(paths))
            for located in records(path, name, rejected)
            for row in _entity_rows(*located, of, rejected)
            if row["wikipedia_image_url"] is not None or not is_pictures_only
        )
        yield from _batches(rows, _ENTITIES)


def _batches(rows: Iterator[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, _ROWS)):
        yield pa.RecordBatch.from_pylist(some, schema=schema)


def _is_json(path: Path) -> bool:
    return suffix_of(path.name) == ".json" or path.suffix in (".json", ".zip")


def _is_entity(begin: bytes) -> bool:
    try:
        record: object = json_value(begin.partition(b"\n")[0])
    except Refused:
        # A record that is longer than what was looked at.
        return b'"wikidata_id"' in begin and b'"wikipedia_title"' in begin
    return isinstance(record, dict) and {"wikidata_id", "wikipedia_title"} <= {*record}


def _page_rows(
    text: str, where: tuple[str, int], rejected: list[Rejection] | None
) -> Iterator[Row]:
    try:
        page: object = json_value(text)
    except Refused as error:
        refuse(rejected, where, error.reason, text)
        return
    found = _fault(page)
    if found is not None:
        refuse(rejected, where, found, text)
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
    found: dict[int, list[tuple[str, str | None]]] = {}
    for url, caption, place in zip(urls, captions, places, strict=True):
        found.setdefault(int(place or 0), []).append((url, caption or None))
    return found


def _fault(page: object) -> str | None:
    """Return what is wrong with a page, if anything."""
    if not isinstance(page, dict):
        return f"no page, but {type(page).__name__}"
    fields = cast(dict[str, Any], page)
    absent = [n for n in ("url", "title", "section_titles", "section_texts") if n not in fields]
    if absent:
        return f"no {' and no '.join(absent)}"
    lists = ("section_titles", "section_texts", "image_urls")
    others = [n for n in lists if not _is_texts(fields.get(n) or [])]
    if others:
        return f"{others[0]} is no list of texts"
    sections = len(fields["section_titles"])
    if sections != len(fields["section_texts"]):
        return f"{sections} titles of sections, {len(fields['section_texts'])} texts"
    return _fault_of_pictures(fields, sections)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, str) for each in cast(list[object], value)
    )


def _fault_of_pictures(page: Mapping[str, Any], sections: int) -> str | None:
    urls = page.get("image_urls") or []
    for name in ("image_reference_descriptions", "image_section_indices"):
        others = page.get(name)
        if others and len(others) != len(urls):
            return f"{len(urls)} image_urls, {len(others)} {name}"
    outside = [n for n in page.get("image_section_indices") or [] if not 0 <= (n or 0) < sections]
    return f"a picture in section {outside[0]} of {sections}" if outside else None


def _entity_rows(
    name: str, number: int, record: Mapping[str, Any], of: str, rejected: list[Rejection] | None
) -> Iterator[Row]:
    absent = [key for key in ("wikidata_id", "wikipedia_title") if not record.get(key)]
    if absent:
        found = f"no {' and no '.join(absent)}"
        refuse(rejected, (name, number), found, json.dumps(record, ensure_ascii=False))
        return
    title = str(record["wikipedia_title"])
    yield {
        FILE: name,
        ROW: number,
        "wikidata_id": record["wikidata_id"],
        "wikipedia_title": title,
        "text": record.get(f"wikipedia_{of}") or "",
        "wikipedia_image_url": record.get("wikipedia_image_url") or None,
        "page_url": f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
    }
