"""The head of a MediaWiki export: which wiki it is, and how its namespaces are called."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mwparserfromhtml.parse.const import NAMESPACES

from isotope.core.errors import CorruptFile
from isotope.parse.links import Namespaces
from isotope.parse.words import wiki_name, words_for

_HEAD_LIMIT_BYTES = 16 << 20
_END = b"</siteinfo>"
_NAMESPACE_URI = re.compile(r"^\{[^}]*\}")
_REMEDY = "give a MediaWiki export such as enwiki-20221101-pages-articles-multistream.xml.bz2"


@dataclass(frozen=True)
class Site:
    """What a page's record takes from the dump's head.

    `wiki` is the name of its database with `-` for `_`, or else of its host; `has_words` tells
    whether the words that it is read with (`namespaces.wiki`) are its own, or only the nearest.
    """

    base_url: str
    language: str
    namespaces: Namespaces
    prefixes: frozenset[str]
    wiki: str
    has_words: bool

    @property
    def words(self) -> str | None:
        """The wiki of `wiki_words` that has its own words, or None."""
        return self.namespaces.wiki if self.has_words else None

    @classmethod
    def of(cls, base_url: str, language: str, names: Mapping[int, str], database: str) -> "Site":
        """Make a site of the names of its namespaces, by number, with its wiki's own words."""
        wiki = wiki_name(database, base_url)
        words, has_words = words_for(wiki, language)
        own = Namespaces.named(names, words)
        told = {name.lower() for number, name in names.items() if number and name}
        prefixes = frozenset(told) | own.file | own.category | own.template
        return cls(base_url, language, own, prefixes, wiki, has_words)


def read_site(path: Path, xml: Iterator[bytes]) -> Site:
    """Read the site from the first bytes of a dump.

    Raises:
        CorruptFile: no complete, well-formed `<siteinfo>` with a `<base>` at the beginning.
    """
    head = b""
    for piece in xml:
        head += piece
        if _END in head or len(head) > _HEAD_LIMIT_BYTES:
            break
    if _END not in head:
        raise CorruptFile(path, f"no <siteinfo> in its first {len(head):,} bytes", _REMEDY)
    try:
        root = ET.fromstring(head[: head.index(_END) + len(_END)] + b"</mediawiki>")
    except ET.ParseError as error:
        raise CorruptFile(path, f"malformed head ({error})", _REMEDY) from error
    return _site(path, root)


@cache
def known_site(language: str, base_url: str, database: str = "") -> Site:
    """Return the site of the Wikipedia of a language, for snapshots that don't tell namespaces.

    `base_url` ends where titles begin. The names are those that `mwparserfromhtml` keeps of all
    Wikipedias; a language that has none is taken for English, whose names count everywhere.
    File, Template and Category have those of `wiki_words` too.
    """
    names = {number: name for name, number in NAMESPACES.get(language, NAMESPACES["en"]).items()}
    every = {*NAMESPACES.get(language, ()), *NAMESPACES["en"]}
    site = Site.of(base_url, language, names, database)
    return replace(site, prefixes=site.prefixes | {name.lower() for name in every})


def _site(path: Path, root: ET.Element) -> Site:
    for element in root.iter():
        element.tag = _NAMESPACE_URI.sub("", element.tag)
    base = root.findtext("siteinfo/base", "")
    if "/" not in base:
        raise CorruptFile(path, f"<base> is {base!r}, not an address", _REMEDY)
    names = {int(n.get("key", "0")): n.text or "" for n in root.iter("namespace")}
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    database = root.findtext("siteinfo/dbname", "").strip()
    return Site.of(base.rpartition("/")[0] + "/", language, names, database)
