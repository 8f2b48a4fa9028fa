"""Templates for tests: a wiki of a few pages, and what its articles show."""

from pathlib import Path

import pyarrow.parquet as pq

from isotope.parse.prepared import PreparedPage
from isotope.parse.site import Site
from isotope.parse.transclusion.pages import TemplatePage
from isotope.parse.transclusion.reading import read_templates
from isotope.parse.wikitext import plain_text, split_page

ENGLISH = Site.from_siteinfo(
    "https://en.wikipedia.org/wiki/",
    "en",
    {6: "File", 10: "Template", 14: "Category", 828: "Module"},
    "enwiki",
)


def pages(bodies: dict[str, str]) -> list[TemplatePage]:
    """Return pages of templates; a body that begins with `->` redirects to what follows."""
    return [
        TemplatePage(10, title, body[2:] if body.startswith("->") else "", body)
        for title, body in bodies.items()
    ]


def rows(bodies: dict[str, str], site: Site = ENGLISH) -> dict[str, dict]:
    """Return the rows of the table by title."""
    return {row["template"]: row for row in read_templates(pages(bodies), site).to_pylist()}


def site_of(bodies: dict[str, str], folder: Path, site: Site = ENGLISH) -> Site:
    """Return a site that knows these templates, of which a table is written to a folder."""
    path = folder / "templates.parquet"
    pq.write_table(read_templates(pages(bodies), site), path)
    return site.with_templates(path)


def shown(site: Site, wikitext: str, title: str = "Lark") -> str:
    """Return the words of an article's only section."""
    sections = split_page(
        PreparedPage.from_wikitext(wikitext, site.namespaces, title), site.namespaces
    ).sections
    return "\n".join(plain_text(body, site.namespaces) for _, _, body in sections)


def pictures(site: Site, wikitext: str) -> list[tuple[str, str, str]]:
    """Return file, caption and alternative text of what an article shows."""
    found = list[tuple[str, str, str]]()
    for _, use in split_page(
        PreparedPage.from_wikitext(wikitext, site.namespaces), site.namespaces
    ).files:
        words = (use.options.caption, use.options.alt)
        caption, alt = (plain_text(text, site.namespaces) for text in words)
        found.append((use.file, caption, alt))
    return found
