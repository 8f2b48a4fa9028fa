"""The pages of Template: and Module: as the table of what each template shows."""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from isotope.parse.site import Namespaces, Site
from isotope.parse.templates import strip_blocks
from isotope.parse.transclusion import modules, naming
from isotope.parse.transclusion.elements import ASIDE, INFOBOX, is_balanced, without_asides
from isotope.parse.transclusion.functions import without_prefix
from isotope.parse.transclusion.known import BOX, NOTHING, PARTLY, TEXT, UNKNOWN
from isotope.parse.transclusion.pages import (
    TEMPLATE,
    TemplateData,
    TemplatePage,
    included,
    template_data,
    template_title,
)
from isotope.parse.transclusion.pictures import (
    branches,
    file_names,
    names,
    of_link,
    pictures_of,
    telling,
)
from isotope.parse.transclusion.reduction import Reduction, TooLong
from isotope.parse.transclusion.tree import (
    DEEPEST,
    BoxNode,
    Call,
    Gap,
    Link,
    Node,
    Nodes,
    ParameterNode,
    PictureNode,
    as_nodes,
    parse,
    text_of,
    trimmed,
    walk,
    written,
)
from isotope.schemas.parse import TEMPLATES

# A template that shows more than this is no part of a sentence.
LONGEST_SHOWN = 20_000
# A page is read up to here; MediaWiki's own limit is 2 MiB.
_LONGEST_BODY = 2 << 20
_BATCH = 10_000
_MOST_REASONS = 3
_MARK = "\x01"
_WORD = re.compile(rf"[\w{_MARK}]")
# A part of a table.
_ROWS = ("|-", "|+", "|\n", "| ", "! ")
_INVOKED = ("#invoke:", "#module:")
_TAGS = re.compile(r"</?[a-zA-Z][^<>]*>|__[^\W\d_]{3,20}__|&(?:nbsp|#160|#32);")
_WIDTH = re.compile(r"\s*(\d{1,5})\s*(?:x\d*)?\s*px\s*")
Row = dict[str, object]


def read_templates(pages: Iterable[TemplatePage], site: Site) -> pa.Table:
    """Read a wiki's templates into a table of `schemas.TEMPLATES`, in the order of their titles.

    A page that can't be read has its reason in the table; of two pages of one title the last
    counts. The pages are held in memory as their compressed bodies.
    """
    shelf = _Shelf()
    for page in pages:
        shelf.add(page)
    return _table({"wiki": site.wiki, **row} for row in _Reading(shelf, site).rows())


@dataclass
class _Shelf:
    """The bodies of a wiki's templates, without documentation, and what their pages say."""

    bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])
    redirects: dict[str, str] = field(default_factory=dict[str, str])
    data: dict[str, TemplateData] = field(default_factory=dict[str, TemplateData])

    def add(self, page: TemplatePage) -> None:
        if page.namespace != TEMPLATE:
            return
        if page.redirect:
            self.redirects[page.title] = page.redirect
            return
        self.redirects.pop(page.title, None)
        text = page.text[:_LONGEST_BODY]
        declared = template_data(text)
        if declared is not None:
            for title in (page.title, page.title.rpartition("/")[0]):
                self.data.setdefault(title, declared)
        body = strip_blocks(included(text)) if "<" in text else text
        self.bodies[page.title] = zlib.compress(body.encode("utf-8", "replace"), 1)

    def body(self, title: str) -> str:
        return zlib.decompress(self.bodies[title]).decode()

    def target(self, title: str) -> str:
        """Follow redirects to their end; of a circle the last before it closes counts."""
        visited = {title}
        while (following := self.redirects.get(title)) and following not in visited:
            visited.add(following)
            title = following
        return title


@dataclass(frozen=True)
class _Leaving:
    """What a template leaves: the wikitext of a text, and whether it is an infobox."""

    prints: str
    shows: str = ""
    is_infobox: bool = False


class _Reading:
    """The templates of a wiki, each read after those that it calls."""

    def __init__(self, shelf: _Shelf, site: Site) -> None:
        self._shelf, self._site = shelf, site
        self._trees: dict[str, Nodes] = {}
        self._leaving: dict[str, _Leaving] = {}
        self._begun: set[str] = set()

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all templates and redirects."""
        shelf = self._shelf
        for title in sorted({*shelf.bodies, *shelf.redirects}):
            if title in shelf.redirects:
                yield self._redirect(title)
            else:
                self._read(title)
                yield self._row(title)

    def _redirect(self, title: str) -> Row:
        target = self._shelf.target(title)
        is_known = target in self._shelf.bodies
        known_by = "redirect" if is_known else f"unknown: a redirect to no template, {target}"
        return _as_row(title, known_by=known_by, redirect_to=target, prints="")

    def _read(self, title: str) -> None:
        """Read a template and all that it calls, those that call nothing first."""
        stack = [self._begin(title)] if title not in self._begun else []
        while stack:
            top, tree, called = stack[-1]
            following = next((name for name in called if name not in self._begun), None)
            if following is None:
                self._trees[top], self._leaving[top] = self._left_by(tree)
                stack.pop()
            else:
                stack.append(self._begin(following))

    def _begin(self, title: str) -> tuple[str, Nodes, Iterator[str]]:
        self._begun.add(title)
        tree = parse(self._shelf.body(title))
        return title, tree, self._called(tree)

    def _called(self, tree: Nodes) -> Iterator[str]:
        """Yield the templates of the wiki that a body calls by their names."""
        for node in walk(tree):
            if isinstance(node, Call) and node.name and isinstance(node.name[0], str):
                name = without_prefix(node.name[0].strip())
                prefix, colon, title_part = name.partition(":")
                is_prefixed = colon and prefix.strip().lower() in self._site.namespaces.template
                title = self._shelf.target(template_title(title_part if is_prefixed else name))
                if title in self._shelf.bodies:
                    yield title

    def _tree(self, title: str) -> Nodes | None:
        """Return what a template that another calls leaves; None of no page."""
        title = self._shelf.target(title)
        if title in self._trees:
            return self._trees[title]
        if title in self._begun:
            return (Gap(f"a loop through {title}"),)
        return (Gap(f"a name made of words: {title}"),) if title in self._shelf.bodies else None

    def _left_by(self, tree: Nodes) -> tuple[Nodes, _Leaving]:
        site = self._site
        try:
            reduced = Reduction(site.namespaces, site.language, self._tree).nodes(tree, None)
            reduced = trimmed(reduced)
            if depth_of(reduced) > DEEPEST // 2:
                reduced = (Gap("too deep"),)
            leaving = left_by(reduced, site.namespaces)
        except TooLong:
            return (Gap("too long"),), _Leaving(UNKNOWN)
        except RecursionError:
            return (Gap("too deep"),), _Leaving(UNKNOWN)
        if len(leaving.shows) > LONGEST_SHOWN:
            return (Gap("too long"),), _Leaving(UNKNOWN)
        return _settled(reduced, leaving, site.namespaces), leaving

    def _row(self, title: str) -> Row:
        tree, leaving = self._trees[title], self._leaving.pop(title)
        gaps = list(dict.fromkeys(node.reason for node in walk(tree) if isinstance(node, Gap)))
        reasons = "; ".join(gaps[:_MOST_REASONS])
        known_by = "module" if any(map(is_invoke, walk(tree))) else "body"
        pictures = [row for picture in self._pictures(tree) if (row := self._picture(picture))]
        declared = self._shelf.data.get(title)
        if declared is not None and declared.files and not pictures:
            pictures, known_by = (
                [_by_data(name, declared) for name in declared.files],
                "templatedata",
            )
        if leaving.prints == UNKNOWN and known_by != "templatedata":
            known_by = f"unknown: {reasons}"
        elif gaps:
            known_by += f"{PARTLY}{reasons}"
        return _as_row(
            title,
            prints=leaving.prints,
            shows=leaving.shows,
            pictures=pictures,
            is_infobox=leaving.is_infobox,
            known_by=known_by,
        )

    def _pictures(self, tree: Nodes) -> Iterator[PictureNode]:
        yield from pictures_of(tree, self._site.namespaces)
        for node in walk(tree):
            if isinstance(node, Call) and is_invoke(node):
                yield from _standard(node)

    def _picture(self, picture: PictureNode) -> Row | None:
        parameters, fixed = file_names(picture.file, self._site.namespaces)
        if not parameters and not fixed:
            return None
        width = _WIDTH.fullmatch(written(picture.size))
        return {
            "file": parameters,
            "name": fixed if not parameters else "",
            "caption": names(picture.caption),
            "alt": names(picture.alt),
            "size": names(picture.size),
            "width": int(width[1]) if width else None,
            "is_framed": picture.is_framed,
        }


def left_by(tree: Nodes, namespaces: Namespaces) -> _Leaving:
    """Tell what a body that is worked out leaves."""
    text, kinds = without_asides(_skeleton(tree, namespaces))
    if text.lstrip().startswith(_ROWS):
        text, kinds = "", [*kinds, ASIDE]
    nodes = list(walk(tree))
    boxes = [node for node in nodes if isinstance(node, BoxNode)]
    invoked = [_kind(node) for node in nodes if isinstance(node, Call)]
    is_infobox = (
        INFOBOX in kinds or any(box.is_infobox for box in boxes) or modules.INFOBOX in invoked
    )
    has_gaps = any(isinstance(node, Gap) for node in nodes)
    visible = _TAGS.sub("", text)
    if visible.strip() and not (has_gaps and not _WORD.search(visible)):
        return _Leaving(TEXT, written(tree), is_infobox)
    if kinds or boxes or is_infobox or not set(modules.BOXES).isdisjoint(invoked):
        return _Leaving(BOX, "", is_infobox)
    return _Leaving(UNKNOWN if has_gaps else NOTHING)


def _skeleton(nodes: Nodes, namespaces: Namespaces) -> str:
    """Return the text of a body with a mark for what an argument or a module fills in."""
    pieces = list[str]()
    for node in nodes:
        match node:
            case str():
                pieces.append(node)
            case ParameterNode():
                pieces.append(_MARK)
            case Call() if _is_condition(node):
                pieces += (_skeleton(branch, namespaces) for branch in branches(node))
            case Call():
                pieces.append("" if _is_box(node) else _MARK)
            case Link(parts) if of_link(parts, namespaces) is None:
                pieces.append(_skeleton(parts[-1], namespaces))
            case _:
                pass
    return "".join(pieces)


def _is_condition(call: Call) -> bool:
    name = call.name[0] if call.name else ""
    return isinstance(name, str) and name.startswith(("#if", "#switch:"))


def is_invoke(node: Node) -> bool:
    """Tell whether a node is a call of a module that awaits its arguments."""
    return isinstance(node, Call) and (text_of(node.name[:1]) or "").startswith(_INVOKED)


def _kind(call: Call) -> str:
    if not is_invoke(call):
        return ""
    function = text_of(call.arguments[0].value) if call.arguments else ""
    return modules.kind_of(written(call.name).partition(":")[2], function or "")


def _is_box(call: Call) -> bool:
    return _kind(call) in modules.BOXES


def _settled(tree: Nodes, leaving: _Leaving, namespaces: Namespaces) -> Nodes:
    """Return what others need of a body: of one that prints no words its pictures."""
    if leaving.prints in (TEXT, UNKNOWN) or not is_balanced(_skeleton(tree, namespaces)):
        return tree
    awaiting = tuple(node for node in walk(tree) if isinstance(node, Call) and _is_box(node))
    content = telling(tree, namespaces)
    if not any(isinstance(node, ParameterNode | PictureNode | Link) for node in walk(content)):
        content = ()
    if content and leaving.prints == NOTHING:
        return tree
    if leaving.prints == BOX:
        return (*awaiting, BoxNode(content, leaving.is_infobox))
    return awaiting


def _standard(call: Call) -> Iterator[PictureNode]:
    """Yield the pictures of a module for boxes that gets the arguments of its template."""
    if _is_box(call):
        for file, beside in modules.STANDARD[_kind(call)].items():
            caption, alt = ((ParameterNode((name,)),) for name in beside)
            yield PictureNode((ParameterNode((file,)),), caption, alt, is_framed=True)


def depth_of(nodes: Nodes) -> int:
    """Return how many brackets enclose the innermost node."""
    deepest, stack = 0, [(nodes, 0)]
    while stack:
        inner, depth = stack.pop()
        deepest = max(deepest, depth)
        for node in inner:
            match node:
                case ParameterNode(name, default):
                    stack.append(((*name, *(default or ())), depth + 1))
                case Call(name, arguments):
                    stack.append((name, depth + 1))
                    stack += ((as_nodes(argument), depth + 1) for argument in arguments)
                case Link(parts):
                    stack += ((part, depth + 1) for part in parts)
                case BoxNode(content, _):
                    stack.append((content, depth + 1))
                case PictureNode():
                    stack.append((sum(node[:4], ()), depth + 1))
                case _:
                    pass
    return deepest


def _by_data(name: str, declared: TemplateData) -> Row:
    """Return a picture that TemplateData tells of, with what its name says of the others."""
    neighbours = [
        naming.beside(name, declared.names, kind) for kind in (naming.CAPTION, naming.ALT)
    ]
    caption, alt = (
        [a for n in some for a in (n, *declared.aliases.get(n, ()))] for some in neighbours
    )
    file = [name, *declared.aliases.get(name, ())]
    empty = {"size": list[str](), "width": None, "is_framed": True}
    return {"file": file, "name": "", "caption": caption, "alt": alt, **empty}


def _as_row(title: str, **columns: object) -> Row:
    usual = {"redirect_to": "", "shows": "", "pictures": list[Row](), "is_infobox": False}
    return {"template": title, **usual, **columns}


def _table(rows: Iterable[Row]) -> pa.Table:
    batches, batch = list[pa.RecordBatch](), list[Row]()
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            batches.append(pa.RecordBatch.from_pylist(batch, schema=TEMPLATES))
            batch = []
    batches.append(pa.RecordBatch.from_pylist(batch, schema=TEMPLATES))
    return pa.Table.from_batches(batches, schema=TEMPLATES)
