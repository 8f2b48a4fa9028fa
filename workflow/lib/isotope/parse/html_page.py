"""A rendered page as an article: what Wikimedia Enterprise's records and Kiwix's entries share.

lxml reads the HTML: BeautifulSoup, on which `mwparserfromhtml` builds, needs eight times as long
for its tree alone as libxml2 for the tree and the walk over it.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, cast
from urllib.parse import unquote

from lxml import html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from isotope.parse.articles import Article, Parsed
from isotope.parse.html_roles import classes
from isotope.parse.html_text import read
from isotope.parse.page_links import article_titles
from isotope.parse.pages import DISAMBIGUATION
from isotope.parse.site import Site

# What finds the title of the page that the address of a link leads to, if it leads to one.
Titled = Callable[[str], str | None]
_PARSER = html.HTMLParser(encoding="utf-8", huge_tree=True)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?=//)|//|#|mailto:|data:|javascript:", re.IGNORECASE)
_LEADING = re.compile(r"^(?:\./|(?:\.\./)+(?:A/)?|/wiki/)")
_MARKS = frozenset(("disambigbox", "dmbox-disambig", "disambig", "Vorlage_Begriffsklärung"))
_NOT_ARTICLES = ("mw:ExtLink", "mw:WikiLink/Interwiki", "mw:MediaLink")
_PAGE_IMAGE = re.compile(r".*\.(?:jpe?g|png|gif|svg|tiff?|webp)", re.IGNORECASE)


def tree(page: bytes) -> HtmlElement | None:
    """Read a page, its head included; None where there is nothing to read.

    Raises:
        ValueError: elements too deep within each other, from which on libxml2 would see nothing.
    """
    try:
        root = html.document_fromstring(page, parser=_PARSER)
    except ParserError:
        return None
    fatal = _PARSER.error_log.filter_from_fatals()
    if fatal:
        raise ValueError(fatal[0].message)
    return root


def title_of_address(address: str) -> str:
    """Return the title in an address as Parsoid writes it, which has nothing but the title."""
    return unquote(_LEADING.sub("", address, count=1))


def enter(
    parsed: Parsed,
    root: HtmlElement | None,
    ids: tuple[int, int | None, str],
    site: Site,
    titled: Titled = title_of_address,
) -> None:
    """Enter a page of the article namespace by its tree, or leave it out: empty, disambiguation.

    `ids` are page id, revision id and title; `titled` finds the title that an address leads to. The
    page's own categories come from Parsoid's `link`s; those that a template adds don't count.
    """
    if root is None or not _says(root):
        parsed.leave_out("empty", ids[2])
    elif _is_disambiguation(root):
        parsed.leave_out("disambiguation", ids[2])
    else:
        parsed.take(_article(root, ids, site, titled), site)


def _article(
    root: HtmlElement, ids: tuple[int, int | None, str], site: Site, titled: Titled
) -> Article:
    found = read(root.find("body"))
    own = (target for a in found.hrefs if (target := target_of(a, ids[2], titled)))
    boxed = (use.file for use in found.shown if use.origin == "infobox")
    return Article(
        *ids,
        sections=found.sections,
        categories=_categories(root, site),
        links=article_titles(own, site.namespaces, site.prefixes),
        shown=found.shown,
        box_picture=next((file for file in boxed if _PAGE_IMAGE.fullmatch(file)), None),
    )


def target_of(link: HtmlElement, title: str, titled: Titled = title_of_address) -> str | None:
    """Return the title that a link leads to; None where it leaves the wiki or stays on the page."""
    href, kinds = link.get("href", "").strip(), link.get("rel", "").split()
    if not href or _SCHEME.match(href) or any(kind in kinds for kind in _NOT_ARTICLES):
        return None
    path, _, within = href.partition("#")
    target = (titled(path.partition("?")[0]) or "").replace("_", " ")
    return None if within and target == title else target or None


def _says(root: HtmlElement) -> bool:
    body = root.find("body")
    seen = ".//text()[not(parent::style or parent::script)]"
    return body is not None and (
        any(text.strip() for text in body.xpath(seen))
        or bool(body.xpath(".//img | .//figure | .//video | .//audio"))
    )


def _is_disambiguation(root: HtmlElement) -> bool:
    if root.xpath("//meta[@property='mw:PageProp/disambiguation']"):
        return True
    marked = root.xpath("//*[@id or contains(@class, 'disambig')]")
    if any(_MARKS.intersection((*classes(node), node.get("id", ""))) for node in marked):
        return True
    return any(DISAMBIGUATION.match(f"{{{{{name.strip()}}}}}") for name in _templates(root))


def _templates(root: HtmlElement) -> Iterator[str]:
    """Yield the names of the templates that the page itself calls."""
    for told in root.xpath("//@data-mw[contains(., '\"template\"')]"):
        try:
            parts = json.loads(told).get("parts", ())
        except ValueError:
            continue
        made = (part["template"]["target"] for part in parts if _is_template(part))
        yield from (str(target.get("wt", "")) for target in made)


def _is_template(part: Any) -> bool:  # noqa: ANN401 (of JSON)
    return isinstance(part, dict) and "target" in cast(dict[str, Any], part).get("template", ())


def _categories(root: HtmlElement, site: Site) -> list[str]:
    found: dict[str, None] = {}
    for link in root.xpath("//link[contains(@rel, 'mw:PageProp/Category')]"):
        if not link.get("about", "").startswith("#mwt"):
            target = title_of_address(link.get("href", "").partition("#")[0])
            prefix, colon, name = target.partition(":")
            if colon and site.namespaces.is_category(prefix):
                found[" ".join(name.replace("_", " ").split())] = None
    return [name for name in found if name]
