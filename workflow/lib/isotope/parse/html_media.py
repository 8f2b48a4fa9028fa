"""Files that a rendered page shows: what they are called, and what is said of them.

Formats: https://www.mediawiki.org/wiki/Specs/HTML/2.8.0#Media, the classic parser's
`div.thumb`, and mwoffliner's, which keeps no more of a file's name than its address.
"""

import re
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import unquote

from lxml.html import HtmlElement

from isotope.parse.files import file_name
from isotope.parse.html_roles import classes

_ENDINGS = (
    r"jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|stl|og[gav]|webm|wav|mp3|midi?|flac|opus|mpe?g"
)
_NAME = re.compile(rf".+\.(?:{_ENDINGS})", re.IGNORECASE | re.DOTALL)
# What a thumbnail of another kind than its file, or one that Kiwix made smaller, adds to the name.
_THUMBNAIL = re.compile(
    r"(?P<name>.+\.(?:svg|tiff?|xcf|pdf|djvu|stl|og[gv]|webm|mpe?g))\.(?:png|jpe?g)", re.IGNORECASE
)
_SMALLER = re.compile(rf"(?P<name>.+\.(?:{_ENDINGS}))\.webp", re.IGNORECASE)
_SIZED = re.compile(r"(?:lossy-|lossless-)?(?:page\d+-|lang[\w-]+-)*\d+px-+", re.IGNORECASE)
_UPLOAD = re.compile(r"/thumb/[0-9a-f]/[0-9a-f]{2}/([^/]+)/")
_CAPTIONS = ".//figcaption | .//*[contains(@class, 'thumbcaption')]"
_SHOWN = (
    "descendant-or-self::*[self::img or self::video or self::audio or (@resource and not(self::a))]"
)
_FRAMED = re.compile(r"mw:\w+/(?:Thumb|Frame)\b")
_MEDIA = re.compile(r"mw:(?:File|Image|Video|Audio)\b")


@dataclass(frozen=True)
class File:
    """A file that is shown; `said` is what is read out of an unframed one for want of more."""

    name: str
    origin: str
    caption: HtmlElement | None
    alt: str
    said: str
    width: int | None
    is_framed: bool


def media(node: HtmlElement) -> list[File]:
    """Read a figure, a thumbnail, several of them in one frame, or a bare picture."""
    several = node.xpath(".//div[contains(concat(' ', @class, ' '), ' tsingle ')]")
    if several:
        return [file for one in several for file in _one(one, "template", True)]
    framed = bool(_FRAMED.search(node.get("typeof", ""))) or "thumb" in classes(node)
    return _one(node, "template" if "tsingle" in classes(node) else "link", framed)


def gallery(node: HtmlElement) -> list[File]:
    """Read a gallery: its boxes, each with a picture and a caption."""
    boxes = node.xpath(".//li[contains(concat(' ', @class, ' '), ' gallerybox ')]")
    text = ".//*[contains(@class, 'gallerytext')]"
    return [file for box in boxes for file in _one(box, "gallery", True, text)]


def boxed(node: HtmlElement) -> list[File]:
    """Read an infobox: what fills a row is one of its pictures, anything else is a sign in it."""
    found: list[File] = []
    for shown in _outermost(node):
        cell = next((a for a in _within(node, shown) if a.tag in ("td", "th")), None)
        if cell is None or _fills(cell):
            found += _one(shown, "infobox", True, beside=cell)
        else:
            found += _one(shown, "link", False)
    return found


def file_of(address: str) -> str | None:
    """Return the name of the file that an address shows, or that the page of a file has.

    `./File:A_b.jpg`, an upload's address, that of its thumbnail, and a path within a ZIM will do.
    """
    path = unquote(address.partition("?")[0].partition("#")[0])
    upload = _UPLOAD.search(path)
    last = upload[1] if upload else path.rpartition("/")[2]
    _, colon, name = last.rpartition(":")
    if colon:
        last = name
    elif not upload:
        last = _plain(last)
    return file_name(last) if _NAME.fullmatch(last) else None


def _plain(last: str) -> str:
    last = _SIZED.sub("", last, count=1) if _SIZED.match(last) else last
    for added in (_SMALLER, _THUMBNAIL):
        found = added.fullmatch(last)
        last = found["name"] if found else last
    return last


def _fills(cell: HtmlElement) -> bool:
    spans = cell.get("colspan", "1")
    told = any(name in ("infobox-image", "infobox-full-data") for name in classes(cell))
    return told or (spans.isdecimal() and int(spans) > 1) or len(cell.getparent()) == 1


def _within(node: HtmlElement, inner: HtmlElement) -> list[HtmlElement]:
    """Return what encloses `inner` within `node`, from the inside out."""
    return list(takewhile(lambda around: around is not node, inner.iterancestors()))


def _is_media(node: HtmlElement) -> bool:
    return bool(_MEDIA.search(node.get("typeof", "")))


def _outermost(node: HtmlElement) -> list[HtmlElement]:
    """Return the figures, spans and bare pictures of a box, none within another."""
    found: list[HtmlElement] = []
    for shown in node.xpath(_SHOWN):
        kinds = [a for a in _within(node, shown) if a.tag == "figure" or _is_media(a)]
        place = kinds[-1] if kinds else shown
        if place not in found:
            found.append(place)
    return found


def _one(
    node: HtmlElement,
    origin: str,
    framed: bool,
    text: str = _CAPTIONS,
    beside: HtmlElement | None = None,
) -> list[File]:
    shown = node.xpath(_SHOWN)
    name = _name(node, shown[0]) if shown else None
    if name is None:
        return []
    alt = " ".join(shown[0].get("alt", "").split())
    captions = node.xpath(text)
    caption = captions[0] if captions else beside
    link = next(iter(node.xpath("descendant-or-self::a[@title]")), None)
    said = link.get("title", "") if link is not None else ""
    alt, said = ("" if file_name(told) == name else told for told in (alt, said))
    wide = shown[0].get("width", "")
    width = int(wide) if wide.isdecimal() and not framed else None
    return [File(name, origin, caption, alt, said, width, framed)]


def _name(node: HtmlElement, shown: HtmlElement) -> str | None:
    links = [a.get("href") for a in node.xpath("descendant-or-self::a[@href]")]
    around = next(shown.iterancestors("a"), None)
    hrefs = [around.get("href", "")] if around is not None else links[:1]
    told = [shown.get("resource"), shown.get("src"), shown.get("poster"), *hrefs]
    return next((name for address in told if address and (name := file_of(address))), None)
