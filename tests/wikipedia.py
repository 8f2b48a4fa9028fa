"""The tables of a source by hand: sections, what rows of WIT are about, and who is alive."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.core import store
from isotope.schemas.acquire import WIT_COLUMNS
from isotope.schemas.crawl import LEDGER, URLS
from isotope.schemas.parse import ASSOCIATIONS, SECTIONS
from isotope.schemas.project import MEMBERS, PROJECTION

URL = "https://upload.wikimedia.org/{}.png"
Row = dict[str, Any]


def association(row: int, image: str, split: str, **given: object) -> Row:
    """A row of WIT, in English and without words unless they are given."""
    blank: Row = dict.fromkeys(WIT_COLUMNS, "")
    blank |= {"original_height": 1, "original_width": 1, "is_main_image": True}
    blank |= {"attribution_passes_lang_id": True, "page_changed_recently": True}
    blank |= {"language": "en", "image_url": URL.format(image), "mime_type": "image/png"}
    return blank | {"split": split, "file": "f", "row": row} | given


def section(page: int, number: int, title: str, words: str) -> Row:
    """A section of page `P<page>`."""
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "revision_id": 1,
        "page_url": f"https://en.wikipedia.org/wiki/P{page}",
        "page_title": f"P{page}",
        "section": number,
        "section_title": title,
        "hierarchy": title,
        "context_page_description": f"lead {page}" if number else "",
        "context_section_description": words,
        "language": "en",
        "category": ["C"],
        "media": [f"P{page}-{number}.png"],
    }


def projected(found: Mapping[str, str | None]) -> list[Row]:
    """The projection of texts onto sections, or onto none."""
    return [
        {"source_text_id": s, "text_id": t, "method": "bm25" if t else "none", "score": 1.0}
        for s, t in found.items()
    ]


def written(
    folder: Path,
    sections: Sequence[Row],
    rows: Sequence[Row],
    about: Mapping[int, tuple[str, str | None]],
    dead: Collection[str] = (),
) -> dict[str, Path]:
    """Write a source's tables; `about` has, by row, the text of WIT and the section it found."""
    urls = sorted({row["image_url"] for row in rows})
    names = {url: Path(url).stem for url in urls}
    size = {"attempts": 1, "width": 8, "height": 9, "sha256": "0"}
    ledger = [
        {"image_url": u, "status": "not_found" if names[u] in dead else "success", **size}
        for u in urls
    ]
    made = {
        "associations": (rows, ASSOCIATIONS),
        "sections": (sections, SECTIONS),
        "members": (
            [{"source_text_id": s, "file": "f", "row": n} for n, (s, _) in about.items()],
            MEMBERS,
        ),
        "projection": (projected(dict(about.values())), PROJECTION),
        "urls": ([{"image_id": names[u], "image_url": u, "shard": 0} for u in urls], URLS),
        "ledger": (ledger, LEDGER),
    }
    for name, (values, schema) in made.items():
        store.write_rows(values, folder / f"{name}.parquet", schema)
    return {name: folder / f"{name}.parquet" for name in made}
