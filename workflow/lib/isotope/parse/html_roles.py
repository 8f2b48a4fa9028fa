"""What an element of a rendered page is to its reader: text, picture, or none of the article's.

Formats: Parsoid's HTML, https://www.mediawiki.org/wiki/Specs/HTML/2.8.0, and what the classic
parser and mwoffliner (https://github.com/openzim/mwoffliner) make of a page. The classes are those
that MediaWiki's own extension TextExtracts removes ($wgExtractsRemoveClasses), and those of the
boxes around articles.
"""

import re

from lxml.html import HtmlElement

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
