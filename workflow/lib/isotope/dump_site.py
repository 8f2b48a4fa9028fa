"""The head of a MediaWiki export: which wiki it is, and how its namespaces are called."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mwparserfromhtml.parse.const import NAMESPACES

from isotope.errors import CorruptFile
from isotope.wikitext_links import Namespaces

_HEAD_LIMIT_BYTES = 16 << 20
_END = b"</siteinfo>"
_NAMESPACE_URI = re.compile(r"^\{[^}]*\}")
_REMEDY = "give a MediaWiki export such as enwiki-20221101-pages-articles-multistream.xml.bz2"


@dataclass(frozen=True)
class Site:
    """What a page's record takes from the dump's head."""

    base_url: str
    language: str
    namespaces: Namespaces
    prefixes: frozenset[str]


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
def known_site(language: str, base_url: str) -> Site:
    """Return the site of the Wikipedia of a language, for snapshots that don't tell namespaces.

    `base_url` ends where titles begin. The names are those that `mwparserfromhtml` keeps of all
    Wikipedias; a language that has none is taken for English, whose names count everywhere.
    """
    names = {number: name for name, number in NAMESPACES.get(language, NAMESPACES["en"]).items()}
    every = {*NAMESPACES.get(language, ()), *NAMESPACES["en"]}
    prefixes = frozenset(name.lower() for name in every)
    return Site(base_url, language, Namespaces.named(names), prefixes)


def _site(path: Path, root: ET.Element) -> Site:
    for element in root.iter():
        element.tag = _NAMESPACE_URI.sub("", element.tag)
    base = root.findtext("siteinfo/base", "")
    if "/" not in base:
        raise CorruptFile(path, f"<base> is {base!r}, not an address", _REMEDY)
    names = {int(n.get("key", "0")): n.text or "" for n in root.iter("namespace")}
    prefixes = frozenset(name.lower() for key, name in names.items() if key and name)
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    return Site(base.rpartition("/")[0] + "/", language, Namespaces.named(names), prefixes)
