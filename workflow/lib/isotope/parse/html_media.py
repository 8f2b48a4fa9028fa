"""Files that a rendered page shows: what they are called, and what is said of them.

Formats: https://www.mediawiki.org/wiki/Specs/HTML/2.8.0#Media, the classic parser's
`div.thumb`, and mwoffliner's, which keeps no more of a file's name than its address.
"""

import re
from dataclasses import dataclass
from itertools import takewhile

from lxml.html import HtmlElement

from isotope.core.wikimedia import file_name, file_of

GONE, BOX, GALLERY, MEDIA, HEADING, TEXT = "gone", "box", "gallery", "media", "heading", "text"
_BLOCK_TAGS = (
    "address article aside blockquote body br caption center dd details div dl dt fieldset "
    "figcaption footer form header hr li main nav ol p pre section summary table tbody tfoot "
    "thead tr ul"
)
BLOCKS = frozenset(_BLOCK_TAGS.split())
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NO_TEXT = (
    "audio button head input link map math meta noscript object script select source style svg "
    "template title track video"
)
_GONE_TAGS = frozenset(_NO_TEXT.split())
# ASSUME formulas, code listings, scores and maps are no running text, as in wikitext; no
# paper says.
_GONE_EXTENSIONS = re.compile(
    r"mw:Extension/(?:ref|references|math|chem|ce|syntaxhighlight|source|timeline|score|imagemap"
    r"|inputbox|hiero|categorytree|graph|map\w*|templatedata|templatestyles|indicator)\b"
)
_MEDIA = re.compile(r"mw:(?:File|Image|Video|Audio)\b")
_BESIDE = (
    "ambox authority-control bandeau-container catlinks cmbox collapsible-list-header dablink "
    "dmbox error fmbox geo-inline hatnote homonymie imbox mbox-small metadata mw-editsection "
    "mw-empty-elt mw-highlight mw-indicators mw-jump-link mw-kartographer-container mw-ref "
    "mw-references-wrap mwe-math-element navbar navbox navbox-styles navigation-box "
    "navigation-not-searchable noexcerpt nomobile noprint ombox portalbox portal-bar printfooter "
    "reference references reflist rellink shortdescription side-box sidebar sistersitebox "
    "sortkey tmbox toc vertical-navbox Z3988 zim-footer firstHeading mw-first-heading"
)
_GONE_CLASSES = frozenset(_BESIDE.split())
_AROUND = "coordinates toc contentSub siteSub catlinks firstHeading titleHeading mw-navigation"
_GONE_IDS = frozenset(_AROUND.split())
_BOX_CLASSES = frozenset(("infobox", "taxobox", "sinottico", "biota"))
_THUMBS = frozenset(("thumb", "tmulti", "tsingle"))
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def classes(node: HtmlElement) -> list[str]:
    """Return the classes of an element."""
    return node.get("class", "").split()


def role(node: HtmlElement) -> str:
    """Return GONE, BOX, GALLERY, MEDIA, HEADING or TEXT; comments are GONE."""
    tag = node.tag
    if not isinstance(tag, str) or tag in _GONE_TAGS or _HIDDEN.search(node.get("style", "")):
        return GONE
    kind, named = node.get("typeof", ""), classes(node)
    if _is_box(node, named):
        return BOX
    if "gallery" in named or "mw:Extension/gallery" in kind:
        return GALLERY
    if _holds_media(tag, kind, named):
        return MEDIA
    if _GONE_CLASSES.intersection(named) or node.get("id") in _GONE_IDS or _is_made(node, kind):
        return GONE
    return HEADING if tag in HEADINGS else TEXT


def _is_box(node: HtmlElement, named: list[str]) -> bool:
    told = any(name in _BOX_CLASSES or name.startswith("infobox_") for name in named)
    return told or node.get("id", "").startswith("Vorlage_Infobox")


def _holds_media(tag: str, kind: str, named: list[str]) -> bool:
    return bool(
        tag in ("figure", "figure-inline", "img")
        or (tag == "div" and _THUMBS.intersection(named))
        or _MEDIA.search(kind)
    )


def _is_made(node: HtmlElement, kind: str) -> bool:
    """Tell whether an extension, a citation, or a table that a template made stands here.

    ASSUME templates that make tables make no running text, as templates of wikitext make none; no
    paper says.
    """
    if _GONE_EXTENSIONS.search(kind) or (node.tag == "cite" and "citation" in classes(node)):
        return True
    return node.tag == "table" and (
        "mw:Transclusion" in kind or node.get("about", "").startswith("#mwt")
    )


_CAPTIONS = ".//figcaption | .//*[contains(@class, 'thumbcaption')]"
_SHOWN = (
    "descendant-or-self::*[self::img or self::video or self::audio or (@resource and not(self::a))]"
)
_FRAMED = re.compile(r"mw:\w+/(?:Thumb|Frame)\b")


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
