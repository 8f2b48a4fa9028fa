"""Which parameters of a template are a picture, its caption and its alternative text.

What stands in one cell with a picture is its caption, as in `html_page`. A cell ends where a row or
a cell of a table begins or ends; an argument of an infobox is a cell of its own.
"""

import re
from collections.abc import Iterator, Sequence

from isotope.parse.site import Namespaces
from isotope.parse.transclusion import naming
from isotope.parse.transclusion.tree import (
    BoxNode,
    Call,
    Gap,
    Link,
    Node,
    Nodes,
    ParameterNode,
    PictureNode,
    flat,
    joined,
    parse,
    text_of,
    trimmed,
    written,
)

# Where a cell ends, where what follows is said to be a caption, and what else a tag may be.
_MARK = re.compile(
    r"^[ \t:]*[|!{]|\|\||!!|</?t[dhr]\b|(?P<tag><[a-z][a-z0-9]*\b)|(?P<end>>)",
    re.MULTILINE | re.IGNORECASE,
)
_CAPTION = re.compile(r"\bclass\s*=\s*[\"']?[^\"'<>]*?(?:caption|legend)", re.IGNORECASE)
_PART = re.compile(r"\bclass\s*=\s*[\"']?[^\"'<>]*?\b(?:tsingle|gallerybox)\b", re.IGNORECASE)
_LEGEND = "legend"
_LONGEST_TAG = 1000
_MARKS = re.compile(r"[<>|!{]|\n[ \t:]*[|!{]")
_OPTION = re.compile(r"\s*[^\W\d_]+\s*=")
_CONDITIONS = ("#if:", "#ifeq:", "#ifexpr:", "#iferror:", "#switch:")
_MOST_NAMES = 8


def pictures_of(nodes: Nodes, namespaces: Namespaces) -> tuple[PictureNode, ...]:
    """List the pictures of a body, each with what stands beside it in its cell."""
    pictures: list[PictureNode] = []
    cell: list[Node] = []
    for event in [*_Cells(namespaces).events(nodes), None]:
        if event is None:
            pictures += _captioned(cell)
            cell = []
        else:
            cell.append(event)
    return tuple(pictures)


def _captioned(cell: Sequence[Node]) -> Iterator[PictureNode]:
    """Yield the pictures of a cell with its text, that of a legend if one follows."""
    for position, node in enumerate(cell):
        if isinstance(node, PictureNode):
            legend = next((n for n in range(position, len(cell)) if cell[n] == _LEGEND), 0)
            beside = [n for n in cell[legend:] if not isinstance(n, PictureNode | str)]
            yield node if node.caption else node._replace(caption=tuple(beside))


class _Cells:
    """A walk over a body that tells text from attributes of tags."""

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces = namespaces
        self._is_in_tag = False

    def events(self, nodes: Nodes) -> Iterator[Node | None]:
        """Yield pictures and parameters that are text; None where a cell ends."""
        for node in nodes:
            match node:
                case str():
                    yield from self._marks(node)
                case PictureNode():
                    yield node
                case ParameterNode():
                    yield from () if self._is_in_tag else (node,)
                case Gap():
                    pass
                case _:
                    yield from self._inside(node)

    def _inside(self, node: Call | Link | BoxNode) -> Iterator[Node | None]:
        match node:
            case Call():
                for branch in branches(node):
                    yield from self.events(branch)
            case Link(parts):
                picture = of_link(parts, self._namespaces)
                yield from self.events(parts[-1]) if picture is None else (picture,)
            case BoxNode(content, _):
                yield None
                yield from self.events(content)
                yield None

    def _marks(self, text: str) -> Iterator[Node | None]:
        for mark in _MARK.finditer(text):
            if mark["end"]:
                self._is_in_tag = False
            elif mark["tag"]:
                self._is_in_tag = True
                attributes = text[mark.end() : mark.end() + _LONGEST_TAG].partition(">")[0]
                if _PART.search(attributes):
                    yield None
                elif _CAPTION.search(attributes):
                    yield _LEGEND
            else:
                self._is_in_tag = mark[0].startswith("<")
                yield None


def telling(nodes: Nodes, namespaces: Namespaces) -> Nodes:
    """Return of a body what tells of pictures: parameters, files, and where cells end."""
    out: list[Node] = []
    for node in nodes:
        match node:
            case str():
                out.append(node if _MARKS.search(node) else "")
            case Call():
                out += (part for branch in branches(node) for part in telling(branch, namespaces))
            case Link(parts) if of_link(parts, namespaces) is None:
                out += telling(parts[-1], namespaces)
            case Gap():
                pass
            case BoxNode(content, _):
                out += ("\n|\n", *content, "\n|\n")
            case _:
                out.append(node)
    return joined(out)


def branches(call: Call) -> Iterator[Nodes]:
    """Yield what a call may leave: of a condition its branches, of a function its arguments."""
    name = call.name[0] if call.name and isinstance(call.name[0], str) else ""
    if not name.startswith(_CONDITIONS):
        yield (name.partition(":")[2], *call.name[1:])
    values = call.arguments[1:] if name.startswith("#ifeq:") else call.arguments
    for key, value in values:
        if key is not None and not name.startswith("#"):
            yield key
        if key is not None or not name.startswith("#switch:") or value == values[-1].value:
            yield value


def of_link(parts: Sequence[Nodes], namespaces: Namespaces) -> PictureNode | None:
    """Return what a link to a file shows; None of any other link."""
    first = parts[0][0] if parts and parts[0] else None
    if not isinstance(first, str):
        return None
    prefix, colon, file_title = first.partition(":")
    if not colon or not namespaces.is_file(prefix):
        return None
    words, alt, size, caption, is_framed = namespaces.words, (), (), (), False
    for part in map(trimmed, parts[1:]):
        text = written(part).strip()
        flag = words.flags.get(text)
        valued = words.valued.fullmatch(text)
        if flag is not None:
            is_framed |= flag
        elif valued is not None:
            is_framed |= valued[2] is not None
            alt = alt if valued[1] is None else trimmed(parse(valued[1]))
        elif _is_size(text, part, namespaces):
            size = size or part
        elif not _OPTION.match(text):
            caption = part or caption
    caption, alt = (caption, alt) if is_framed else ((), alt or caption)
    return PictureNode(trimmed((file_title, *parts[0][1:])), caption, alt, size, is_framed)


def _is_size(text: str, part: Nodes, namespaces: Namespaces) -> bool:
    usual = part[0].default if len(part) == 1 and isinstance(part[0], ParameterNode) else part
    constant = text_of(usual or ())
    if constant and namespaces.words.size.fullmatch(constant.strip()):
        return True
    ends = part[-1] if part else ""
    if isinstance(ends, str) and ends.rstrip().endswith("px"):
        return True
    parameters = names(part)
    return bool(parameters) and all(naming.name_of(name).kind == naming.SIZE for name in parameters)


def names(nodes: Nodes) -> list[str]:
    """Return the parameters that nodes show, those that come first where there are several."""
    parameters: dict[str, None] = {}
    _add_names(nodes, parameters)
    return list(parameters)[:_MOST_NAMES]


def _add_names(nodes: Nodes, parameters: dict[str, None]) -> None:
    for node in nodes:
        match node:
            case ParameterNode(name, default):
                parameters.setdefault(flat(name).strip())
                _add_names(default or (), parameters)
            case Call():
                for branch in branches(node):
                    _add_names(branch, parameters)
            case Link(parts):
                _add_names(parts[-1] if parts else (), parameters)
            case PictureNode(file=file):
                _add_names(file, parameters)
            case _:
                pass


def file_names(nodes: Nodes, namespaces: Namespaces) -> tuple[list[str], str]:
    """Return the parameters that are a file's whole name, and a name that is always the same.

    A name that is made of a parameter and other words, such as `Flag of {{{1}}}.svg`, is neither.
    """
    shown = [node for node in _without_prefix(trimmed(nodes), namespaces) if node != ""]
    solid = [node for node in shown if not isinstance(node, str) or node.strip()]
    if len(solid) != 1:
        return [], ""
    node = solid[0]
    match node:
        case str():
            return [], node.strip()
        case ParameterNode(name, default):
            aliases, fixed = file_names(default or (), namespaces)
            return [flat(name).strip(), *aliases], fixed
        case Call():
            either = [file_names(branch, namespaces) for branch in branches(node)]
            parameters = dict.fromkeys(name for some, _ in either for name in some)
            return list(parameters)[:_MOST_NAMES], next((fixed for _, fixed in either if fixed), "")
        case PictureNode() | Link():
            inside = node.file if isinstance(node, PictureNode) else node.parts[0]
            return file_names(inside, namespaces)
        case _:
            return [], ""


def _without_prefix(nodes: Nodes, namespaces: Namespaces) -> Nodes:
    if nodes and isinstance(nodes[0], str):
        prefix, colon, remainder = nodes[0].partition(":")
        if colon and namespaces.is_file(prefix):
            return (remainder, *nodes[1:])
    return nodes


def cell(picture: Nodes, caption: Nodes, alt: Nodes, namespaces: Namespaces) -> Nodes:
    """Return an argument of a box, with the caption that the box puts below, as a cell.

    An argument that is a parameter as a whole is a picture.
    """
    if not pictures_of(picture, namespaces) and file_names(picture, namespaces)[0]:
        picture = (PictureNode(picture, alt=alt, is_framed=True),)
    below = (f'<div class="{_LEGEND}">', *caption, "</div>") if caption else ()
    return ("\n|\n", *picture, *below, "\n|\n")
