"""The boxes around pictures: classes of HTML, as wikitext and rendered pages have them alike.

Names are those of Wikipedias' style sheets: MediaWiki:Common.css and the styles of Module:Navbox,
Module:Side box, Module:Message box, `Modèle:Palette`, `Vorlage:Navigationsleiste` and their like.
"""

import re
from collections.abc import Collection

# What a picture stands in; of several the first one counts.
ASIDE, FOLDED, INFOBOX, NO_BOX = "aside", "folded", "infobox", ""
_STRENGTH = (NO_BOX, INFOBOX, FOLDED, ASIDE)
# Navigation, sister projects, portals, messages, stubs: what is in them is no part of a section.
_ASIDES = (
    "ambox asbox authority-control autres-projets bandeau-container bandeau-portail campaignbox "
    "catlinks cmbox dablink dmbox fmbox hatnote homonymie imbox interProject mbox-small metadata "
    "mw-authority-control navbar navbox navbox-container navbox-styles navigatiesjabloon "
    "navigation-box navigation-not-searchable NavPic nomobile noprint ombox portal-bar portalbox "
    "rellink side-box sidebar sisterproject sistersitebox stub tmbox vertical-navbox"
)
ASIDES = frozenset(_ASIDES.split())
# What else is no running text, by class and by id.
_WORDLESS = (
    "collapsible-list-header error geo-inline mw-editsection mw-empty-elt mw-highlight "
    "mw-indicators mw-jump-link mw-kartographer-container mw-ref mw-references-wrap "
    "mwe-math-element noexcerpt printfooter reference references reflist shortdescription sortkey "
    "toc Z3988 zim-footer firstHeading mw-first-heading"
)
WORDLESS = ASIDES.union(_WORDLESS.split())
_FRAMES = "coordinates toc contentSub siteSub catlinks firstHeading titleHeading mw-navigation"
FRAMES = frozenset(_FRAMES.split())
# Around a picture and its caption.
THUMBS = frozenset(("thumb", "tmulti", "tsingle"))
HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
# ASSUME what folds or has the colours of a table of contents is content in one article and
# navigation in another: pictures under a frame of their own are content there; no paper says.
_FOLDED = frozenset(("NavFrame", "toccolours"))
_INFOBOXES = frozenset(("infobox", "taxobox", "sinottico", "biota"))
_CLASS = re.compile(r"\bclass\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'|>]+))", re.IGNORECASE)
# ASSUME templates whose name has one of these words make such a box, or an icon; they are the words
# of large Wikipedias, and no paper says which.
_ASIDE_NAMES = re.compile(
    r"\s*(?:.*\b(?:navbox|navigation|navigationsleiste|navleiste|sidebar|campaignbox|portail"
    r"|portale?|ambox|stub|sister[ _]project\w*|schwesterprojekt\w*|interprogetto|autres[ _]projets"
    r"|proyectos[ _]hermanos|навигац\w*|навигационная\w*|портал\w*)\b"
    r"|palette\b|(?:commons|wikiquote|wikisource|wiktionary|wikinews|wikibooks|wikivoyage"
    r"|wikiversity|wikispecies)\b|.*(?:导航|導航|ナビゲーション|姊妹|姉妹|포털))",
    re.IGNORECASE,
)
_ICON_NAMES = re.compile(
    r"\s*(?:.*\b(?:flag|icon|drapeau|bandera|bandeira|bandiera|flagge|vlag|flagga|icône|icono|ikona"
    r"|флаг|прапор)|.*(?:flagicon|旗|깃발|国旗))",
    re.IGNORECASE,
)


def box_of(classes: Collection[str]) -> str:
    """Return ASIDE, FOLDED, INFOBOX or NO_BOX for the classes of an element."""
    if not ASIDES.isdisjoint(classes):
        return ASIDE
    if not _FOLDED.isdisjoint(classes):
        return FOLDED
    is_infobox = any(name in _INFOBOXES or name.startswith("infobox_") for name in classes)
    return INFOBOX if is_infobox else NO_BOX


def is_infobox(classes: Collection[str], identity: str) -> bool:
    """Tell whether an element of these classes and this id is an infobox."""
    return box_of(classes) == INFOBOX or identity.startswith("Vorlage_Infobox")


def box_of_attributes(attributes: str) -> str:
    """Return the same for the attributes of a tag or of a table, as wikitext has them."""
    match = _CLASS.search(attributes)
    return box_of((match[1] or match[2] or match[3] or "").split()) if match else NO_BOX


def is_aside(template: str) -> bool:
    """Tell whether a template of this name makes an ASIDE."""
    return _ASIDE_NAMES.match(template) is not None


def is_icon(template: str) -> bool:
    """Tell whether a template of this name shows a picture as an icon."""
    return _ICON_NAMES.match(template) is not None


def stronger(box: str, other: str) -> str:
    """Return which of two boxes, one in the other, decides."""
    return max(box, other, key=_STRENGTH.index)
