"""Links between articles: which titles a page's running text points to, and redirects.

Grammar: https://www.mediawiki.org/wiki/Help:Links and `Title.php` of MediaWiki 1.39.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable
from html import unescape
from urllib.parse import unquote

from isotope.parse.links import Namespaces

_TARGET = re.compile(r"\[\[:?+([^\[\]|#\n<>{}]++)(?=[|#\]])")


def targets(text: str, namespaces: Namespaces, prefixes: Collection[str]) -> list[str]:
    """List the titles that wikitext links to, each once, in page order, as their pages have them.

    Pictures, categories, other wikis and the wiki's own `prefixes` (lower case) are left out, and
    so are links within the page. Links in a picture's caption count.
    """
    titles = dict.fromkeys(_TARGET.findall(text))
    return article_titles(titles, namespaces, prefixes)


def article_titles(
    titles: Iterable[str], namespaces: Namespaces, prefixes: Collection[str]
) -> list[str]:
    """Return the titles of articles among these, each once, as their pages have them."""
    found = (title for title in titles if not _elsewhere(title, namespaces, prefixes))
    return [title for title in dict.fromkeys(map(_normal, found)) if title]


def redirect_target(page: ET.Element, wikitext: str) -> str:
    """Return the title that a redirect leads to, without a section; empty where none is told."""
    told = page.find("redirect")
    title = told.get("title", "") if told is not None else ""
    found = [title.partition("#")[0]] if title else _TARGET.findall(wikitext)
    return _normal(found[0]) if found else ""


def _elsewhere(title: str, namespaces: Namespaces, prefixes: Collection[str]) -> bool:
    prefix, colon, _ = title.partition(":")
    return bool(colon) and (prefix.strip().lower() in prefixes or namespaces.hides(prefix))


def _normal(title: str) -> str:
    if "%" in title:
        title = unquote(title)
    if "&" in title:
        title = unescape(title)
    # ASSUME titles begin with a capital, as in all Wikipedias; a page of a dump does not say.
    title = " ".join(title.replace("_", " ").split())
    return title[:1].upper() + title[1:]
