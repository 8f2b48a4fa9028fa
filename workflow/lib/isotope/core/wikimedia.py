"""Wikimedia's wikis: the wiki that a ZIM file holds.

`core.titles` has the names of files, `core.uploads` their addresses, `core.languages` what
languages are called. A file is one of Wikimedia
Commons or of the wiki itself; `intake.wiki_files` reads the tables that say which.
"""

import re
from functools import cache
from pathlib import Path

from isotope.core.files import zim_metadata
from isotope.core.languages import wiki_language

_EDITIONS = (
    *("wikipedia", "wiktionary", "wikibooks", "wikinews", "wikiquote", "wikisource"),
    *("wikiversity", "wikivoyage"),
)
_WITHOUT_EDITIONS = {
    "mediawiki": "www.mediawiki.org",
    "wikispecies": "species.wikimedia.org",
}
_WIKI_NAMED = re.compile(r"(?P<project>[a-z]+)_(?P<language>[a-z]{2,}(?:-[a-z]+)*)(?:_|$)")
_SIMPLE = re.compile(r"[a-z]+_en[_-]simple(?:_|$)")
_HOST = re.compile(r"(?:https?:)?(?://)?(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:[:/]|$)")


@cache
def wiki_of(path: Path) -> tuple[str, str]:
    """Return language and host of the wiki, as the metadata Source, Name or Language tell.

    ASSUME a file that names neither its source nor a project of Wikimedia is one of Wikipedia, in
    its first language; the file does not say.

    Raises:
        MissingFile, CorruptFile: as `open_zim`; metadata that can't be read.
    """
    metadata = zim_metadata(path, ("Source", "Name", "Language"))
    spoken = wiki_language(metadata.get("Language", "eng").partition(",")[0].strip())
    source = _HOST.match(metadata.get("Source", "").strip().lower())
    if source is None:
        return _by_name(metadata.get("Name", ""), spoken)
    host = source["host"].replace(".m.", ".", 1)
    edition, _, domain = host.partition(".")
    return (edition if domain.removesuffix(".org") in _EDITIONS else spoken), host


def _by_name(name: str, spoken: str) -> tuple[str, str]:
    """Return language and host by a name such as `wikibooks_fr_all`."""
    named = _WIKI_NAMED.match(name)
    if named is None or named["project"] not in {*_EDITIONS, *_WITHOUT_EDITIONS}:
        return spoken, f"{spoken}.wikipedia.org"
    project, language = named["project"], wiki_language(named["language"])
    if project in _WITHOUT_EDITIONS:
        return spoken, _WITHOUT_EDITIONS[project]
    if language == "mul":
        return language, f"{project}.org"
    language = "simple" if _SIMPLE.match(name) else language
    return language, f"{language}.{project}.org"
