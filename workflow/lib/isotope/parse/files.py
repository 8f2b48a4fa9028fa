"""Where wikitext shows files: links, galleries, infoboxes and other templates, in page order.

Grammar: https://www.mediawiki.org/wiki/Help:Images, Help:Gallery_tag and Help:Templates.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

from isotope.core.titles import decoded, file_name, prefixed, spaced
from isotope.parse.boxes import (
    ASIDE,
    INFOBOX,
    NO_BOX,
    box_of_attributes,
    is_aside,
    is_icon,
    stronger,
)
from isotope.parse.picture_arguments import CallArguments, Options, by_place, slots_by_hand
from isotope.parse.site import (
    ENGLISH_WIKI,
    Namespaces,
    SiteWords,
    words_of,
)
from isotope.parse.templates import (
    BAR,
    GALLERY,
    MAX_DEPTH,
    show_bars,
    strip_blocks,
    strip_templates,
)
from isotope.parse.transclusion.known import Template
from isotope.parse.transclusion.pages import template_title

ENGLISH_WORDS = words_of(ENGLISH_WIKI)
_OPENING, _CLOSING = ("[[", "{{"), ("]]", "}}")
_DIGITS = 9
# ASSUME the width that thumbnails of Wikipedias had from 2010 to 2025 (250 px since), and
# MediaWiki's $wgThumbUpright; a dump does not say.
_THUMB_WIDTH, _UPRIGHT = 220, 0.75
# What Template:Flagicon image of the English Wikipedia shows a picture at.
_ICON_WIDTH = 23
_BAR = re.compile(r"\[\[|\]\]|\{\{|\}\}|\|")
# A table within a caption has bars of its own, and so may the address of an external link.
_BAR_OF_LINK = re.compile(
    rf"^[ \t:*]*\{{\||^[ \t]*\|\}}(?!\}})|\[(?:https?:)?//[^\[\]\n]*|{_BAR.pattern}", re.MULTILINE
)


def pixels(digits: str) -> int | None:
    """Return a number of pixels; None for more digits than any picture's size has."""
    return int(digits) if len(digits) <= _DIGITS else None


def parts(content: str, bar: re.Pattern[str] = _BAR) -> list[str]:
    """Split at the bars that are not within links or templates."""
    if "|" not in content:
        return [content]
    pieces, begin, depth = list[str](), 0, 0
    for mark in bar.finditer(content):
        kind = mark[0]
        if kind == "|":
            if not depth:
                pieces.append(content[begin : mark.start()])
                begin = mark.end()
        elif kind in _OPENING or kind.endswith("{|"):
            depth += 1
        elif kind in _CLOSING or kind.endswith("|}"):
            depth = max(0, depth - 1)
    return [*pieces, content[begin:]]


def link_parts(content: str) -> list[str]:
    """Split what a link to a file says at the bars that are its own.

    Those of a table or an external link are not: MediaWiki reads these before it reads the link.
    """
    has_others = "{|" in content or "//" in content
    return parts(content, _BAR_OF_LINK) if has_others else parts(content)


def read_options(
    arguments: list[str], words: SiteWords = ENGLISH_WORDS, *, framed: bool = False
) -> Options:
    """Read the parts after a file's name; of several captions the last one counts, as in MediaWiki.

    The caption of a picture that is neither a thumbnail nor framed is not displayed: MediaWiki uses
    it as the alternative text.
    """
    captions, alt, width = list[str](), "", None
    usual, share = None, 1.0
    for part in filter(None, map(str.strip, arguments)):
        flag = words.flags.get(part)
        if flag is not None:
            # Of several formats the first one counts.
            framed |= flag and usual is None
            usual = _THUMB_WIDTH if part in words.frameless else usual
            share = _UPRIGHT if words.upright.fullmatch(part) else share
        elif (size := words.size.fullmatch(part)) and (size[1] or size[2]):
            width = pixels(size[1] or size[2])
        elif valued := words.valued.fullmatch(part):
            framed |= valued[2] is not None and usual is None
            alt = alt if valued[1] is None else valued[1].strip()
            share = _share(words.upright.fullmatch(part), share)
        else:
            captions.append(part)
    if usual and not framed and width is None:
        width = round(usual * share)
    caption, unread = (captions[-1] if captions else ""), tuple(captions[:-1])
    if framed:
        return Options(caption, alt, width, framed, unread)
    return Options("", alt or caption, width, framed, unread)


def _share(upright: re.Match[str] | None, usual: float) -> float:
    """Return what `upright=` says, which may be no number."""
    if upright is None or upright.lastindex is None:
        return usual
    try:
        return float(upright[upright.lastindex].replace(",", "."))
    except ValueError:
        return usual


# What is uploaded to a wiki and shown on its pages (https://commons.wikimedia.org/wiki/COM:FT).
_ENDING = (
    r"jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|stl|og[gav]|webm|wav|mp3|midi?|flac|opus|mp[eg4]g?"
)
_HAS_FILE = re.compile(rf"\.(?:{_ENDING})\b", re.IGNORECASE)
_NAME = re.compile(rf"[^\n|\[\]{{}}<>#:/]{{1,240}}\.(?:{_ENDING})", re.IGNORECASE)
# `|}}` at the begin of a line ends a template, and no table.
_TOKEN = re.compile(
    rf"\{{\{{|\}}\}}|\[\[|\]\]|^[ \t:*]*\{{\||^[ \t]*\|\}}(?!\}}(?!\}}))|{GALLERY}"
    r"|</?(?:[tT][aA][bB][lL][eE]|[dD][iI][vV])\b[^<>]*>",
    re.MULTILINE,
)
_TEMPLATE_NAME = re.compile(r"[^|{}\n]{0,120}")
_SIZE = re.compile(r"(\d{1,5})?(?:x(\d{1,5}))?\s*(?:px)?", re.IGNORECASE)
# ASSUME these templates are what readers call an infobox; wikis have more, in their own languages,
# and no paper says which.
_BOX = re.compile(
    r"\s*(?:[^|\n]*infobox|[^|\n]*taxobox|speciesbox|subspeciesbox|chembox|drugbox|geobox|ficha"
    r"|info/|infoboîte|infoboks|карточка|基礎情報|صندوق معلومات|ज्ञानसन्दूक)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FileUse:
    """A file that a page shows.

    `at` is the offset of the outermost template around it, or its own; `origin` is link, gallery,
    infobox or template; `box` is what the file stands in, one of `parse.boxes`.
    """

    at: int
    file: str
    origin: str
    options: Options
    is_in_table: bool = False
    box: str = NO_BOX


def file_uses(text: str, galleries: Sequence[str], namespaces: Namespaces) -> list[FileUse]:
    """List the files that a page shows, in page order.

    `text` is wikitext without comments and references, and GALLERY for each of `galleries`. Markup
    that is not closed takes nothing along. Of brackets nested deeper than MAX_DEPTH only the inner
    ones are read, so that time is linear in the length of `text`.
    """
    if not galleries and not _HAS_FILE.search(text):
        return []
    scan = _Scan(text, galleries, namespaces)
    for token in _TOKEN.finditer(text):
        scan.step(token)
    return sorted(scan.uses, key=lambda use: use.at)


@dataclass(slots=True)
class _Bracket:
    """An opening bracket that is not closed yet.

    Before it `uses` files were met and `around` tables and divisions were open; `levels` are the
    brackets that were read within it.
    """

    mark: str
    start: int
    end: int
    around: int
    uses: int
    levels: int = 0
    box: str = NO_BOX


class _Element(NamedTuple):
    """An open table or division; `tables` are open with it, `box` is the strongest around."""

    is_table: bool
    tables: int
    is_in_table: bool
    box: str


_PAGE = _Element(False, 0, False, NO_BOX)


class _Scan:
    """A walk over brackets, tables and divisions with the open ones on stacks."""

    def __init__(self, text: str, galleries: Sequence[str], namespaces: Namespaces) -> None:
        self.text, self.namespaces = text, namespaces
        self.uses: list[FileUse] = []
        # Where the markup of each use begins.
        self._begins: list[int] = []
        self._templates_by_title = namespaces.templates.by_title
        self._galleries = iter(galleries)
        self._open: list[_Bracket] = []
        # Of the open brackets those of templates.
        self._templates: list[_Bracket] = []
        # Of these, counted from the outermost one, so many have their box.
        self._boxed = 0
        self._around = [_PAGE]

    def step(self, token: re.Match[str]) -> None:
        mark = token[0]
        if mark in _OPENING:
            around, uses = len(self._around), len(self.uses)
            self._open.append(_Bracket(mark, token.start(), token.end(), around, uses))
            if mark == "{{":
                self._templates.append(self._open[-1])
        elif mark == "}}":
            if self._templates:
                self._close("{{", token, self._template)
        elif mark == "]]":
            if self._open and self._open[-1].mark == "[[":
                self._close("[[", token, self._link)
        elif mark == GALLERY:
            self._gallery(token.start(), next(self._galleries))
        else:
            self._element(mark.strip(" \t:*"), token.end())

    def _element(self, mark: str, end: int) -> None:
        """Read the begin or the end of a table or a division."""
        if mark == "{|":
            line = self.text.find("\n", end)
            self._enter(True, self.text[end : line if line >= 0 else None])
        elif mark == "|}" or mark.startswith("</"):
            self._leave(mark == "|}" or mark[2] in "tT")
        elif not mark.endswith("/>"):
            self._enter(mark[1] in "tT", mark)

    def _enter(self, is_table: bool, attributes: str) -> None:
        """Open a table or a division."""
        around, box = self._around[-1], box_of_attributes(attributes)
        counts = is_table and box != INFOBOX
        self._around.append(
            _Element(
                is_table,
                around.tables + is_table,
                around.is_in_table or counts,
                stronger(around.box, box),
            )
        )

    def _leave(self, is_table: bool) -> None:
        """Close the nearest table, or a division that no table is open in."""
        if is_table and self._around[-1].tables:
            while not self._around.pop().is_table:
                pass
        elif not is_table and not self._around[-1].is_table and len(self._around) > 1:
            self._around.pop()

    def _close(
        self, mark: str, token: re.Match[str], read: Callable[[_Bracket, str], None]
    ) -> None:
        """Read what the nearest such bracket opened; a link open within a template is none."""
        levels, bracket = 0, self._open.pop()
        while bracket.mark != mark:
            levels, bracket = max(levels, bracket.levels), self._open.pop()
        if mark == "{{":
            self._templates.pop()
            self._boxed = min(self._boxed, len(self._templates))
            del self._around[bracket.around :]
        levels = max(levels, bracket.levels) + 1
        if self._open:
            self._open[-1].levels = max(self._open[-1].levels, levels)
        if levels <= MAX_DEPTH:
            read(bracket, self.text[bracket.end : token.start()])

    def _outermost(self, start: int) -> int:
        return self._templates[0].start if self._templates else start

    def _box(self) -> str:
        """Return the box of what is read now, by the elements and templates around it."""
        for n in range(self._boxed, len(self._templates)):
            around = self._templates[n - 1].box if n else NO_BOX
            name = _name_at(self.text, self._templates[n].end)
            self._templates[n].box = stronger(around, self._box_of_template(name))
        self._boxed = len(self._templates)
        inner = self._templates[-1].box if self._templates else NO_BOX
        return stronger(inner, self._around[-1].box)

    def _add(self, start: int, file: str, origin: str, options: Options, box: str = NO_BOX) -> None:
        self.uses.append(
            FileUse(
                self._outermost(start),
                file_name(file, self.namespaces.capitals.language),
                origin,
                options,
                self._around[-1].is_in_table,
                stronger(box, self._box()),
            )
        )
        self._begins.append(start)

    def _link(self, bracket: _Bracket, content: str) -> None:
        if ":" not in content and "%" not in content and "&" not in content:
            return
        content = show_bars(content) if BAR in content else content
        prefix, colon, name = prefixed(content.partition("|")[0])
        if not colon or not self.namespaces.is_file(prefix):
            return
        target, *arguments = link_parts(content)
        if "{{" in content:
            # A template may tell the file or an option; what is in a caption is read later.
            arguments = [self._expanded(part) for part in arguments]
            name = prefixed(strip_templates(target, self.namespaces))[2]
            end = bracket.end + len(target)
            self._keep([not bracket.end <= begin < end for begin in self._begins])
        name = name.partition("#")[0]
        if name.strip(" _\t\n"):
            self._add(bracket.start, name, "link", read_options(arguments, self.namespaces.words))

    def _keep(self, is_left: list[bool]) -> None:
        self.uses, self._begins = (
            list(compress(self.uses, is_left)),
            list(compress(self._begins, is_left)),
        )

    def _expanded(self, part: str) -> str:
        is_call = part.lstrip().startswith("{{")
        return strip_templates(part, self.namespaces) if is_call else part

    def _gallery(self, start: int, content: str) -> None:
        for line in strip_blocks(content).split("\n"):
            target, _, options_text = line.partition("|")
            target = spaced(decoded(target))
            prefix, colon, name = target.partition(":")
            name = name.lstrip() if colon and self.namespaces.is_file(prefix) else target
            if _NAME.fullmatch(name):
                options = read_options(
                    link_parts(options_text) if options_text else [],
                    self.namespaces.words,
                    framed=True,
                )
                self._add(start, name, "gallery", options)

    def _template(self, bracket: _Bracket, content: str) -> None:
        if not _HAS_FILE.search(content):
            return
        name, *arguments = parts(content)
        template, box = self._template_of(name), self._box_of_template(name)
        origin = "infobox" if box == INFOBOX else "template"
        call = CallArguments(arguments, slots_by_hand(name) if template is None else template.slots)
        begin = bracket.end + len(name) + 1
        bare_files = [self._bare_of(*both) for both in zip(arguments, call.arguments, strict=True)]
        files = [key for (key, _), bare in zip(call.arguments, bare_files, strict=True) if bare]
        placed = by_place(call, files, self.namespaces.words.flags) if template is None else {}
        for argument, (key, value), bare in zip(arguments, call.arguments, bare_files, strict=True):
            if bare:
                options_text = value.partition(BAR)[2]
                options = call.options(key)
                if key in placed and not options.caption:
                    options = replace(placed[key], alt=options.alt or placed[key].alt)
                shown = (
                    read_options(options_text.split(BAR), self.namespaces.words)
                    if options_text
                    else Options()
                )
                options = replace(options, alt=options.alt or shown.alt)
                if origin == "template":
                    options = _sized(options, arguments, call.named, name)
                self._add(bracket.start, bare, origin, options, box)
            elif bracket.uses < len(self.uses) and call.is_picture(key):
                self._share(bracket.uses, (begin, begin + len(argument)), call.options(key))
            begin += len(argument) + 1

    def _bare_of(self, argument: str, keyed: tuple[str, str]) -> str | None:
        file = keyed[1].partition(BAR)[0]
        return None if keyed[1] == argument and "=" in file else self._bare(file)

    def _template_of(self, name: str) -> Template | None:
        return (
            self._templates_by_title.get(template_title(name)) if self._templates_by_title else None
        )

    def _box_of_template(self, name: str) -> str:
        template = self._template_of(name)
        if (template is not None and template.is_infobox) or _BOX.match(name):
            return INFOBOX
        return ASIDE if is_aside(name) else NO_BOX

    def _share(self, first: int, span: tuple[int, int], options: Options) -> None:
        """Give files within an argument, which have no caption, that of their template."""
        for position in range(first, len(self.uses)):
            use = self.uses[position]
            if span[0] <= self._begins[position] < span[1] and not use.options.caption:
                alt = use.options.alt or options.alt
                shared = replace(use.options, caption=options.caption, alt=alt)
                self.uses[position] = replace(use, options=shared)

    def _bare(self, value: str) -> str | None:
        """Return the file that an argument names without brackets."""
        value = spaced(decoded(value))
        prefix, colon, name = value.partition(":")
        name = name.strip() if colon and self.namespaces.is_file(prefix) else value
        return name if _NAME.fullmatch(name) else None


def _name_at(text: str, at: int) -> str:
    name = _TEMPLATE_NAME.match(text, at)
    return name[0] if name else ""


def _sized(options: Options, arguments: list[str], named: dict[str, str], name: str) -> Options:
    """Give a template's picture the width that an argument tells, or an icon's."""
    sizes_named = [value for key, value in named.items() if key.endswith(("size", "width"))]
    sizes_named += [argument for argument in arguments if argument.rstrip().lower().endswith("px")]
    sizes = (m for value in sizes_named if (m := _SIZE.fullmatch(value.strip())))
    width = next((pixels(m[1] or m[2]) for m in sizes if m[1] or m[2]), None)
    if width is None and is_icon(name):
        width = _ICON_WIDTH
    return options if width is None else replace(options, width=width)
