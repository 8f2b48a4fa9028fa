"""The credit line of a picture: who made it, under which licence, and where its file is.

Licences and file pages are read by workflow/sql/release/attributions.sql; here is what a release
does without, the author, and whether a licence lets a picture be used on a wiki.
"""

import re
import unicodedata
from urllib.parse import quote, unquote, urlsplit

UNKNOWN = "unknown"
UNKNOWN_AUTHOR, UNKNOWN_LICENCE = "author unknown", "licence unknown"
UNKNOWN_PAGE = "file page unknown"
_COMMONS = "https://commons.wikimedia.org/"
_FREE = re.compile(r"CC0|CC BY(?:-SA)?(?: [\d.]+)?|public domain|GFDL")
_UNFREE = re.compile(r"fair use|\b(?:NC|ND)\b")
# "Author: A. Person", "Foto: A. Person", "(c) A. Person", "Photo by A. Person". What a picture is
# of follows other words: "Image: ", "Foto von ", "photo de ".
_BY = re.compile(
    r"(?:\b(?:author|photo(?:graph(?:er|ed)?)?|creator|artist|credit|autor|urheber|fotograf|foto"
    r"|auteur|autore)\s*(?::|\bby\b|\bpar\b)\s*(?:by\s+)?"
    r"|(?:©|\(c\)|\bcopyright\b)\s*(?:by\s+|\d{4}\s*,?\s*(?:by\s+)?)?)"
    r"(?P<name>[^,;|/()\[\]{}<>\n]{2,80})",
    re.IGNORECASE,
)
# "A. Person, CC BY 2.0" and "A. Person / Wikimedia Commons / CC-BY-SA-3.0": the usual lines.
_LICENSED = re.compile(
    r"\b(?:cc[ -]?(?:by|0|zero)|creative\s+commons|public\s+domain|pd-\w|gfdl"
    r"|gnu\s+free|https?://creativecommons)",
    re.IGNORECASE,
)
_MOST_WORDS = 5
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# Signs that mean nothing in a path of a wiki, and do not end an address in prose.
_PLAIN = "!$&*-:_~"
_PIECES = re.compile(r"\s*[,;/|()]\s*")
_NO_NAME = re.compile(
    r"(?:via\s+)?wikimedia(?:\s+commons)?|own work|unknown.*|.*\blicen[cs]e.*|.*\breleased\b.*"
    r"|\w+:.*|deed|\d+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"\s*(?:\.|\bis\b.*|\blicen[cs]ed\b.*|\bunder\b.*|\bvia\b.*)$", re.IGNORECASE
)


def credit_line(author: str | None, licence: str | None, file_page: str | None) -> str:
    """Return `Author, licence, file page`, ready to paste; what is unknown is said to be."""
    licence = None if licence == UNKNOWN else licence
    return ", ".join(
        [author or UNKNOWN_AUTHOR, licence or UNKNOWN_LICENCE, readable(file_page) or UNKNOWN_PAGE]
    )


def readable(address: str | None) -> str:
    """Return an address with its letters as letters, `%C3%A9` as `é`, the same page for a browser.

    What would end the address in a text, or mean something else in one, stays as it is.
    """
    if not address or not urlsplit(address).netloc:
        return address or ""
    return _ENCODED.sub(_letters, address)


def _letters(encoded: re.Match[str]) -> str:
    """Return a run of encoded bytes with its letters, marks and digits as text."""
    try:
        text = unquote(encoded[0], errors="strict")
    except UnicodeDecodeError:
        return encoded[0]
    return "".join(map(_letter, text))


def _letter(sign: str) -> str:
    is_plain = sign.isalnum() or sign in _PLAIN or unicodedata.category(sign) == "Mn"
    return sign if is_plain else quote(sign)


def states_free(licence: str | None) -> bool:
    """Tell whether a licence is stated that lets a picture be used on any wiki."""
    stated = licence or UNKNOWN
    return bool(_FREE.fullmatch(stated)) and not _UNFREE.search(stated)


def author(attribution: str | None) -> str | None:
    """Return whom attribution captions name as a picture's author; None if nobody.

    Captions are joined by ` | `. The author is who stands behind a word such as `Photo:` or `©`, or
    before a licence. WIT's captions are mostly descriptions of files and name nobody.
    """
    for caption in (attribution or "").split(" | "):
        by = _BY.search(caption)
        name = _clean(by["name"]) if by else _before_licence(caption)
        if name:
            return name
    return None


def is_free(licence: str | None, file_page: str | None) -> bool | None:
    """Return whether a picture may be used on any wiki; None where nobody says.

    ASSUME a file of Wikimedia Commons without a licence in its captions is free: Commons takes no
    others (its licensing policy); no caption of WIT has to say so. A wiki's own file may be there
    by fair use alone, and without a licence it counts as unknown.
    """
    stated = licence or UNKNOWN
    if _UNFREE.search(stated):
        return False
    if _FREE.fullmatch(stated):
        return True
    return True if (file_page or "").startswith(_COMMONS) else None


def _before_licence(caption: str) -> str | None:
    match = _LICENSED.search(caption)
    if not match:
        return None
    pieces = [_clean(piece) for piece in _PIECES.split(caption[: match.start()])]
    names = [piece for piece in pieces if piece]
    return names[-1] if names else None


def _clean(name: str) -> str | None:
    """Return a name without what surrounds it; None for a sentence or what names nobody."""
    name = _TRAILING.sub("", name.strip(" \t-\u2013\u2014.:\"'"))
    is_name = len(name) > 1 and len(name.split()) <= _MOST_WORDS
    return name if is_name and not _NO_NAME.fullmatch(name) else None
