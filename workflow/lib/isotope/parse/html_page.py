"""A rendered page as an article: what Wikimedia Enterprise's records and Kiwix's entries share.

lxml reads the HTML: BeautifulSoup, on which `mwparserfromhtml` builds, needs eight times as long
for its tree alone as libxml2 for the tree and the walk over it. Formats of files on a page:
https://www.mediawiki.org/wiki/Specs/HTML/2.8.0#Media, the classic parser's `div.thumb`, and
mwoffliner's, which keeps no more of a file's name than its address.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from typing import cast
from urllib.parse import unquote

from lxml import html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from isotope.core.languages import is_language, wiki_language
from isotope.core.titles import CATEGORIES, Capitals, file_name, spaced
from isotope.core.uploads import file_of
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.parse.articles import (
    DISAMBIGUATION,
    Article,
    ArticleFile,
    Markup,
    ParsedBatch,
    article_titles,
)
from isotope.parse.boxes import (
    ASIDE,
    FOLDED,
    FRAMES,
    HIDDEN,
    INFOBOX,
    NO_BOX,
    THUMBS,
    WORDLESS,
    box_of,
    is_infobox,
    stronger,
)
from isotope.parse.files import pixels
from isotope.parse.html_variants import choose_variant
from isotope.parse.site import Site
from isotope.parse.templates import strip_blocks

SKIPPED, BOX, GALLERY, MEDIA, HEADING, TEXT = (
    "skipped",
    "box",
    "gallery",
    "media",
    "heading",
    "text",
)
ITEM, ROW, REFERENCE = "item", "row", "reference"
# As of lines that begin with `*`, `#`, `;` and `:` in wikitext.
_COUNTED = {"li": ITEM, "dt": ITEM, "dd": ITEM, "tr": ROW}
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
_SKIPPED_TAGS = frozenset(_NO_TEXT.split())
# ASSUME formulas, code listings, scores and maps are no running text, as in wikitext; no
# paper says.
_SKIPPED_EXTENSIONS = re.compile(
    r"mw:Extension/(?:ref|references|math|chem|ce|syntaxhighlight|source|timeline|score|imagemap"
    r"|inputbox|hiero|categorytree|graph|map\w*|templatedata|templatestyles|indicator)\b"
)
_REFERENCE = re.compile(r"mw:Extension/ref\b(?!erences)")
_REFERENCE_CLASSES = frozenset(("reference", "mw-ref"))
_WIKIPEDIA = re.compile(r"(?:https?:)?//([a-z-]+)\.(?:m\.)?wikipedia\.org/wiki/([^#?]+)")
_MEDIA = re.compile(r"mw:(?:File|Image|Video|Audio)\b")
_CAPTIONS = ".//figcaption | .//*[contains(@class, 'thumbcaption')]"
_MEDIA_ELEMENTS = (
    "descendant-or-self::*[self::img or self::video or self::audio or (@resource and not(self::a))]"
)
_FRAMED = re.compile(r"mw:\w+/(?:Thumb|Frame)\b")
_LEGENDS = frozenset(("legend", "infobox-caption", "thumbcaption"))
_TAXOBOXES = frozenset(("biota", "taxobox"))
_CELLS = ("td", "th")
_PARSER = html.HTMLParser(encoding="utf-8", huge_tree=True)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?=//)|//|#|mailto:|data:|javascript:", re.IGNORECASE)
_LEADING = re.compile(r"^(?:\./|(?:\.\./)+(?:A/)?|/wiki/)")
_MARKS = frozenset(("disambigbox", "dmbox-disambig", "disambig", "Vorlage_Begriffsklärung"))
_NOT_ARTICLES = ("mw:ExtLink", "mw:WikiLink/Interwiki", "mw:MediaLink")
PAGE_IMAGE = re.compile(r".*\.(?:jpe?g|png|gif|svg|tiff?|webp)", re.IGNORECASE)
# Returns the title of the page that a link's address leads to; None where it is no page.
TitleOf = Callable[[str], str | None]


def parse_html(page: bytes) -> HtmlElement | None:
    """Read a page, its head included; None where there is nothing to read.

    Raises:
        ValueError: elements nested so deep that libxml2 would drop what follows.
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


def add_page(
    parsed: ParsedBatch,
    root: HtmlElement | None,
    ids: tuple[int, int | None, str],
    site: Site,
    title_of: TitleOf = title_of_address,
) -> None:
    """Add a page of the article namespace, or reject it: empty, disambiguation.

    `ids` are page id, revision id and title; `title_of` finds the title that an address leads to.
    The page's own categories come from Parsoid's `link`s; those that a template adds don't count.
    """
    if root is not None and site.variant is not None:
        choose_variant(root, site.variant)
    if root is None or not _has_content(root):
        parsed.reject("empty", ids[2])
    elif _is_disambiguation(root):
        parsed.reject("disambiguation", ids[2])
    else:
        parsed.add(_article(root, ids, site, title_of), site)


def _has_content(root: HtmlElement) -> bool:
    body = root.find("body")
    visible = ".//text()[not(parent::style or parent::script)]"
    return body is not None and (
        any(text.strip() for text in body.xpath(visible))
        or bool(body.xpath(".//img | .//figure | .//video | .//audio"))
    )


def _is_disambiguation(root: HtmlElement) -> bool:
    if root.xpath("//meta[@property='mw:PageProp/disambiguation']"):
        return True
    candidates = root.xpath("//*[@id or contains(@class, 'disambig')]")
    if any(_MARKS.intersection((*classes(node), node.get("id", ""))) for node in candidates):
        return True
    return any(
        DISAMBIGUATION.match(f"{{{{{strip_blocks(name).strip()}}}}}") for name in _templates(root)
    )


def _templates(root: HtmlElement) -> Iterator[str]:
    """Yield the names of the templates that the page itself calls."""
    for data in root.xpath("//@data-mw[contains(., '\"template\"')]"):
        try:
            call = json_value(data)
        except Refused:
            continue
        for part in _list(_field(call, "parts")):
            target = _field(_field(part, "template"), "target")
            if isinstance(target, dict):
                yield str(_field(target, "wt") or "")


def _field(value: object, name: str) -> object:
    """Return what a record of JSON has by this name; None of what is no record."""
    return cast(dict[str, object], value).get(name) if isinstance(value, dict) else None


def _list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []


def _article(
    root: HtmlElement, ids: tuple[int, int | None, str], site: Site, title_of: TitleOf
) -> Article:
    content = read_content(root.find("body"))
    raw = [[t for a in some if (t := target_of(a, ids[2], title_of))] for some in content.hrefs]
    return Article(
        *ids,
        sections=content.sections,
        categories=_categories(root, site),
        links=article_titles(chain.from_iterable(raw), site.namespaces, site.prefixes),
        files=content.files,
        box_picture=box_picture(content.files),
        markup=markup_of(content.counts, raw, site),
        languages=_languages(root, site),
    )


def box_picture(files: Iterable[ArticleFile]) -> str | None:
    """Return the first picture of a page's infoboxes, or None."""
    in_boxes = (use.file for use in files if use.origin == INFOBOX)
    return next((file for file in in_boxes if PAGE_IMAGE.fullmatch(file)), None)


def markup_of(
    counts: Iterable[Counter[str]], linked: Iterable[Sequence[str]], site: Site
) -> list[Markup]:
    """Return what each section has, by its counts of ITEM, ROW, REFERENCE and BOX and its links."""
    return [
        Markup(
            count[ITEM],
            count[ROW],
            count[REFERENCE],
            count[BOX] > 0,
            article_titles(targets, site.namespaces, site.prefixes),
        )
        for count, targets in zip(counts, linked, strict=True)
    ]


def target_of(link: HtmlElement, title: str, title_of: TitleOf = title_of_address) -> str | None:
    """Return the title that a link leads to; None where it leaves the wiki or stays on the page."""
    href, kinds = link.get("href", "").strip(), link.get("rel", "").split()
    if not href or _SCHEME.match(href) or any(kind in kinds for kind in _NOT_ARTICLES):
        return None
    path, _, within = href.partition("#")
    target = spaced(title_of(path.partition("?")[0]) or "")
    return None if within and target == title else target or None


def _categories(root: HtmlElement, site: Site) -> list[str]:
    names: dict[str, None] = {}
    for link in root.xpath("//link[contains(@rel, 'mw:PageProp/Category')]"):
        if not link.get("about", "").startswith("#mwt"):
            target = title_of_address(link.get("href", "").partition("#")[0])
            prefix, colon, name = target.partition(":")
            if colon and site.namespaces.is_category(prefix):
                names[site.namespaces.capitals.title(name, CATEGORIES)] = None
    return [name for name in names if name]


def _languages(root: HtmlElement, site: Site) -> list[str]:
    """Return the pages in other Wikipedias that the page's own text names, as Parsoid has them."""
    names: dict[str, None] = {}
    for address in root.xpath("//link[contains(@rel, 'mw:PageProp/Language')]/@href"):
        wikipedia = _WIKIPEDIA.match(address)
        code = wiki_language(wikipedia[1]) if wikipedia and is_language(wikipedia[1]) else ""
        title = Capitals(code).target(wikipedia[2]) if wikipedia else ""
        if title and code and code != wiki_language(site.language):
            names[f"{code}:{title}"] = None
    return list(names)


@dataclass
class PageContent:
    """What a page holds: sections as (level, heading, text), the addresses it links to, its files.

    `hrefs` and `counts`, of ITEM, ROW, REFERENCE and BOX, have an item a section. Of galleries and
    boxes no links are followed, as of templates in wikitext.
    """

    sections: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    hrefs: list[list[HtmlElement]] = field(default_factory=list[list[HtmlElement]])
    counts: list[Counter[str]] = field(default_factory=list[Counter[str]])
    files: list[ArticleFile] = field(default_factory=list[ArticleFile])


def read_content(root: HtmlElement) -> PageContent:
    """Read a page's tree; the first section ends at the first heading."""
    walk = _Walk()
    walk.inside(root)
    walk.close()
    return walk.content


def text_of(node: HtmlElement) -> str:
    """Return what an element says, as one section, without links and pictures."""
    return "\n".join(filter(None, (text for _, _, text in read_content(node).sections)))


@dataclass(frozen=True)
class ShownFile:
    """A file that is shown; `title`, its link's, is the text of an unframed one without any."""

    name: str
    origin: str
    caption: HtmlElement | None
    alt: str
    title: str
    width: int | None
    is_framed: bool


class _Walk:
    """A walk over a page's tree that collects its content."""

    def __init__(self) -> None:
        self.content = PageContent()
        self._level, self._heading = 0, ""
        self._text: list[str] = []
        self._hrefs, self._counts = list[HtmlElement](), Counter[str]()
        self._tables = self._rows = self._pre = self._folded = 0

    def close(self) -> None:
        """End the present section."""
        lines = ("".join(self._text)).split("\n")
        text = "\n".join(line for line in (" ".join(raw.split()) for raw in lines) if line)
        self.content.sections.append((self._level, self._heading, text))
        self.content.hrefs.append(self._hrefs)
        self.content.counts.append(self._counts)
        self._text, self._hrefs, self._counts = [], [], Counter()

    def inside(self, node: HtmlElement) -> None:
        """Read an element's content."""
        self._add_text(node.text)
        for child in node:
            self._visit(child)
            self._add_text(child.tail)

    def _visit(self, node: HtmlElement) -> None:
        kind = role(node)
        if kind == HEADING:
            self.close()
            self._level, self._heading = HEADINGS[node.tag], text_of(node).replace("\n", " ")
        elif kind == MEDIA:
            self._add_files(media_files(node))
        elif kind == GALLERY:
            self._add_files(gallery_files(node))
        elif kind == BOX:
            self._counts[BOX] += 1
            self._add_files(infobox_files(node), INFOBOX)
        elif kind == SKIPPED:
            self._counts[REFERENCE] += _is_reference(node)
            self._add_unread(node)
        else:
            self._element(node)

    def _element(self, node: HtmlElement) -> None:
        tag = node.tag
        if tag == "a" and node.get("href"):
            self._hrefs.append(node)
        if tag in _COUNTED:
            self._counts[_COUNTED[tag]] += 1
        folded = box_of(classes(node)) == FOLDED
        self._folded += folded
        self._tables += tag == "table"
        self._break(tag)
        self._rows += tag == "tr"
        self._pre += tag == "pre"
        self.inside(node)
        self._pre -= tag == "pre"
        self._rows -= tag == "tr"
        self._tables -= tag == "table"
        self._folded -= folded
        self._break(tag)

    def _break(self, tag: str) -> None:
        """Begin a new line where a block begins or ends, but within a table's row."""
        if tag in _CELLS or (self._rows and tag in BLOCKS):
            self._text.append(" ")
        elif tag in BLOCKS:
            self._text.append("\n")

    def _add_text(self, text: str | None) -> None:
        if text:
            self._text.append(text if self._pre and not self._rows else text.replace("\n", " "))

    def _add_unread(self, node: HtmlElement) -> None:
        """Add the files of an aside, or of a table that a template made, whose words are no text.

        Files in them are none that the section itself links to.
        """
        if not isinstance(node.tag, str) or HIDDEN.search(node.get("style", "")):
            return
        box = box_of(classes(node))
        if (box != ASIDE and node.tag != "table") or node.find(".//img") is None:
            return
        walk = _Walk()
        walk.inside(node)
        box = stronger(box, FOLDED if self._folded else NO_BOX)
        section, is_table = len(self.content.sections), node.tag == "table"
        self.content.files += [
            replace(
                file,
                section=section,
                origin="template",
                box=stronger(box, file.box),
                is_in_table=is_table or file.is_in_table,
            )
            for file in walk.content.files
        ]

    def _add_files(self, files: list[ShownFile], box: str = NO_BOX) -> None:
        box = stronger(box, FOLDED if self._folded else NO_BOX)
        for file in files:
            caption, alt, section = "", file.alt, len(self.content.sections)
            within = list[ArticleFile]()
            if file.caption is not None:
                under = read_content(file.caption)
                caption = "\n".join(filter(None, (text for _, _, text in under.sections)))
                if file.origin == "link":
                    self._hrefs += chain.from_iterable(under.hrefs)
                    within = [replace(inner, section=section, box=box) for inner in under.files]
            if not file.is_framed:
                caption, alt = "", alt or caption or file.title
            layout = (file.width, file.is_framed, self._tables > 0 and file.origin != "infobox")
            self.content.files += [
                ArticleFile(section, file.name, file.origin, caption, alt, *layout, box=box),
                *within,
            ]


def role(node: HtmlElement) -> str:
    """Return SKIPPED, BOX, GALLERY, MEDIA, HEADING or TEXT; comments are SKIPPED."""
    tag = node.tag
    if not isinstance(tag, str) or tag in _SKIPPED_TAGS or HIDDEN.search(node.get("style", "")):
        return SKIPPED
    kind, names = node.get("typeof", ""), classes(node)
    if _is_box(node, names):
        return BOX
    if "gallery" in names or "mw:Extension/gallery" in kind:
        return GALLERY
    if _holds_media(tag, kind, names):
        return MEDIA
    if WORDLESS.intersection(names) or node.get("id") in FRAMES or _is_generated(node, kind):
        return SKIPPED
    return HEADING if tag in HEADINGS else TEXT


def classes(node: HtmlElement) -> list[str]:
    """Return the classes of an element."""
    return node.get("class", "").split()


def _is_box(node: HtmlElement, names: list[str]) -> bool:
    return is_infobox(names, node.get("id", ""))


def _holds_media(tag: str, kind: str, names: list[str]) -> bool:
    return bool(
        tag in ("figure", "figure-inline", "img")
        or (tag == "div" and THUMBS.intersection(names))
        or _MEDIA.search(kind)
    )


def _is_reference(node: HtmlElement) -> bool:
    """Tell whether an element is the mark of a footnote, not the list of them."""
    return isinstance(node.tag, str) and (
        bool(_REFERENCE.search(node.get("typeof", "")))
        or (node.tag in ("sup", "span") and bool(_REFERENCE_CLASSES.intersection(classes(node))))
    )


def _is_generated(node: HtmlElement, kind: str) -> bool:
    """Tell whether an element is an extension, a citation, or a table that a template made.

    ASSUME templates that make tables make no running text, as templates of wikitext make none; no
    paper says.
    """
    if _SKIPPED_EXTENSIONS.search(kind) or (node.tag == "cite" and "citation" in classes(node)):
        return True
    # Of a table that is the page's own a template may make the attributes alone.
    makes_parts = "mw:ExpandedAttrs" in kind and "mw:Transclusion" not in kind
    is_made = "mw:Transclusion" in kind or node.get("about", "").startswith("#mwt")
    return node.tag == "table" and is_made and not makes_parts


def media_files(node: HtmlElement) -> list[ShownFile]:
    """Read a figure, a thumbnail, several of them in one frame, or a bare picture."""
    several = node.xpath(".//div[contains(concat(' ', @class, ' '), ' tsingle ')]")
    if several:
        return [file for single in several for file in _file(single, "template", True)]
    framed = bool(_FRAMED.search(node.get("typeof", ""))) or "thumb" in classes(node)
    return _file(node, "template" if "tsingle" in classes(node) else "link", framed)


def gallery_files(node: HtmlElement) -> list[ShownFile]:
    """Read a gallery: its boxes, each with a picture and a caption."""
    boxes = node.xpath(".//li[contains(concat(' ', @class, ' '), ' gallerybox ')]")
    text = ".//*[contains(@class, 'gallerytext')]"
    return [file for box in boxes for file in _file(box, "gallery", True, text)]


def infobox_files(node: HtmlElement) -> list[ShownFile]:
    """Read an infobox: what fills a row is one of its pictures, anything else is an icon."""
    files: list[ShownFile] = []
    for element in _outermost(node):
        around = _within(node, element)
        cell = next((a for a in around if a.tag in _CELLS), None)
        single = next((a for a in around if "tsingle" in classes(a)), None)
        if single is not None:
            files += _file(single, "infobox", True)
        elif cell is None or _fills_row(cell):
            files += _file(element, "infobox", True, beside=_beside(node, element, cell))
        else:
            files += _file(element, "link", False)
    return files


def _beside(
    node: HtmlElement, element: HtmlElement, cell: HtmlElement | None
) -> HtmlElement | None:
    """Return the element of the words under a picture: its cell, or what follows it.

    A box may have no rows (`infobox_v3` of the French Wikipedia); a taxobox has a row of its own
    for these words.
    """
    if cell is None:
        return _following(node, element)
    if _TAXOBOXES.isdisjoint(classes(node)) or text_of(cell):
        return cell
    row = cell.getparent().getnext()
    cells = [] if row is None else list(row)
    is_caption = len(cells) == 1 and cells[0].tag == "td" and not cells[0].xpath(_MEDIA_ELEMENTS)
    return cells[0] if is_caption else cell


def _following(node: HtmlElement, element: HtmlElement) -> HtmlElement | None:
    """Return the element of words under a picture that stands behind it in a box."""
    around = (element, *_within(node, element))
    beside = (after for a in around if (after := a.getnext()) is not None)
    return next((after for after in beside if _LEGENDS.intersection(classes(after))), None)


def _fills_row(cell: HtmlElement) -> bool:
    spans = cell.get("colspan", "1")
    is_marked = any(name in ("infobox-image", "infobox-full-data") for name in classes(cell))
    has_several = spans.isdecimal() and (pixels(spans) or 0) > 1
    return is_marked or has_several or len(cell.getparent()) == 1


def _within(node: HtmlElement, inner: HtmlElement) -> list[HtmlElement]:
    """Return what encloses `inner` within `node`, from the inside out."""
    return list(takewhile(lambda around: around is not node, inner.iterancestors()))


def _is_media(node: HtmlElement) -> bool:
    return bool(_MEDIA.search(node.get("typeof", "")))


def _outermost(node: HtmlElement) -> list[HtmlElement]:
    """Return the figures, spans and bare pictures of a box, none within another."""
    places: list[HtmlElement] = []
    for element in node.xpath(_MEDIA_ELEMENTS):
        kinds = [a for a in _within(node, element) if a.tag == "figure" or _is_media(a)]
        outermost = kinds[-1] if kinds else element
        if outermost not in places:
            places.append(outermost)
    return places


def _file(
    node: HtmlElement,
    origin: str,
    framed: bool,
    text: str = _CAPTIONS,
    beside: HtmlElement | None = None,
) -> list[ShownFile]:
    elements = node.xpath(_MEDIA_ELEMENTS)
    name = _name(node, elements[0]) if elements else None
    if name is None:
        return []
    alt = " ".join(elements[0].get("alt", "").split())
    captions = node.xpath(text)
    caption = captions[0] if captions else beside
    link = next(iter(node.xpath("descendant-or-self::a[@title]")), None)
    title = link.get("title", "") if link is not None else ""
    alt, title = ("" if file_name(text) == name else text for text in (alt, title))
    wide = elements[0].get("width", "")
    width = pixels(wide) if wide.isdecimal() and not framed else None
    return [ShownFile(name, origin, caption, alt, title, width, framed)]


def _name(node: HtmlElement, element: HtmlElement) -> str | None:
    links = [a.get("href") for a in node.xpath("descendant-or-self::a[@href]")]
    around = next(element.iterancestors("a"), None)
    hrefs = [around.get("href", "")] if around is not None else links[:1]
    addresses = [element.get("resource"), element.get("src"), element.get("poster"), *hrefs]
    return next((name for address in addresses if address and (name := file_of(address))), None)
