"""A page of `isotope show` as one HTML file with its pictures inside."""

from pathlib import Path

from isotope.cli.show import Page
from isotope.core import store
from isotope.core.catalog_open import CATALOG, ask, opened
from isotope.core.thumbnails import thumbnail
from isotope.report.templates import environment

_IDS = ("image_id", "doc_id")


def write_html(page: Page, out: Path, *, catalog: Path = CATALOG) -> None:
    """Write the page; every image that it names is shown where its pixels were crawled.

    Raises:
        DiskFull: no room for it.
        MissingFile, BadQuery: no catalog, or a shard that it names and that is gone.
    """
    html = (
        environment()
        .get_template("show.html.j2")
        .render(page=page, pictures=_pictures(page, catalog))
    )
    with store.aside(out) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def _pictures(page: Page, catalog: Path) -> dict[str, str]:
    ids = {page.ident}
    for section in page.sections:
        for i, column in enumerate(section.columns):
            ids |= {str(row[i]) for row in section.rows if column in _IDS}
    with opened(catalog, threads=1) as con:
        wanted = {"ids": sorted(ids)}
        shards = [row[0] for row in ask(con, "shards", wanted)[1]]
        found = ask(con, "pictures", {**wanted, "shards": shards})[1] if shards else []
    small = {str(ident): thumbnail(bytes(webp)) for ident, webp in found}  # pyright: ignore[reportArgumentType]
    return {ident: uri for ident, uri in small.items() if uri}
