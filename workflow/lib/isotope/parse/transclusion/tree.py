"""Wikitext with its braces and links as a tree.

The brackets are matched as `Preprocessor_Hash` of MediaWiki 1.39 matches them: from the innermost
out, three braces before two, and what stays open is text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# Brackets deeper than this are text: what is read of a tree goes down it by recursion.
DEEPEST = 60
_TOKEN = re.compile(r"\{{2,}|\}{2,}|\[\[|\]\]|[|=]")
_TEMPLATE, _PARAMETER = 2, 3


class ParameterNode(NamedTuple):
    """`{{{name|default}}}`; without a bar there is no default."""

    name: "Nodes"
    default: "Nodes | None" = None


class Argument(NamedTuple):
    """An argument of a call; one without `=` has no key."""

    key: "Nodes | None"
    value: "Nodes"


class Call(NamedTuple):
    """`{{name|...}}`: a template, a parser function (`#if:` and what follows) or a variable."""

    name: "Nodes"
    arguments: tuple[Argument, ...] = ()


class Link(NamedTuple):
    """`[[...]]`, cut at its bars."""

    parts: tuple["Nodes", ...]


class Gap(NamedTuple):
    """What can't be read leaves nothing but the reason."""

    reason: str


class PictureNode(NamedTuple):
    """A file with what stands with it, each with the parameters that it is made of."""

    file: "Nodes"
    caption: "Nodes" = ()
    alt: "Nodes" = ()
    size: "Nodes" = ()
    is_framed: bool = False


class BoxNode(NamedTuple):
    """What prints no running text, with what of it tells of pictures."""

    content: "Nodes" = ()
    is_infobox: bool = False


Node = str | ParameterNode | Call | Link | Gap | PictureNode | BoxNode
Nodes = tuple[Node, ...]


def text_of(nodes: Nodes) -> str | None:
    """Return nodes that are nothing but text, or None."""
    if len(nodes) == 1 and isinstance(nodes[0], str):
        return nodes[0]
    return None if nodes else ""


def joined(nodes: Iterable[Node]) -> Nodes:
    """Return nodes with neighbouring texts as one."""
    merged, run = list[Node](), list[str]()
    for node in nodes:
        if isinstance(node, str):
            run.append(node)
            continue
        if run:
            merged.append("".join(run))
            run = []
        merged.append(node)
    merged.append("".join(run))
    return tuple(node for node in merged if node != "")


def trimmed(nodes: Nodes) -> Nodes:
    """Return nodes without white space at both ends."""
    if len(nodes) == 1 and isinstance(nodes[0], str):
        text = nodes[0].strip()
        return (text,) if text else ()
    if nodes and isinstance(nodes[0], str):
        nodes = (nodes[0].lstrip(), *nodes[1:])
    if nodes and isinstance(nodes[-1], str):
        nodes = (*nodes[:-1], nodes[-1].rstrip())
    return tuple(node for node in nodes if node != "")


def written(nodes: Nodes) -> str:
    """Return the wikitext of a tree, which `parse` reads as the same tree.

    What is text though it looks like braces, or like a bar within braces, is written as such.
    """
    return "".join(_written(node, within=False) for node in nodes)


def _written(node: Node, *, within: bool) -> str:
    match node:
        case str():
            text = node.replace("{{", _BRACES[0]).replace("}}", _BRACES[1])
            return text.replace("|", "{{!}}") if within else text
        case ParameterNode(name, default):
            end = "" if default is None else "|" + _inside(default)
            return f"{{{{{{{_inside(name)}{end}}}}}}}"
        case Call(name, arguments):
            first = name[0] if name and isinstance(name[0], str) else ""
            write = _value if first.startswith(_FUNCTIONS) else _argument
            return "{{" + "|".join([_inside(name), *map(write, arguments)]) + "}}"
        case Link(parts):
            return "[[" + "|".join(map(written, parts)) + "]]"
        case _:
            return ""


_BRACES = ("&#123;&#123;", "&#125;&#125;")


def _inside(nodes: Nodes) -> str:
    return "".join(_written(node, within=True) for node in nodes)


# To these `=` is a character as any other.
_FUNCTIONS = ("#if", "#expr", "lc:", "uc:", "ucfirst:", "lcfirst:")


def _value(argument: Argument) -> str:
    return _inside(as_nodes(argument))


def _argument(argument: Argument) -> str:
    if argument.key is not None:
        return f"{_inside(argument.key)}={_inside(argument.value)}"
    return "".join(
        _written(node, within=True).replace("=", "{{=}}")
        if isinstance(node, str)
        else _written(node, within=True)
        for node in argument.value
    )


def as_nodes(argument: Argument) -> Nodes:
    """Return an argument of a function, to which `=` is a character as any other."""
    return argument.value if argument.key is None else (*argument.key, "=", *argument.value)


def flat(nodes: Nodes) -> str:
    """Return what a tree without calls leaves in a page; a parameter without a value stays."""
    return "".join(map(_flat, nodes))


def _flat(node: Node) -> str:
    match node:
        case str():
            return node
        case Link(parts):
            return "[[" + "|".join(map(flat, parts)) + "]]"
        case ParameterNode(name, _):
            return f"{{{{{{{flat(name)}}}}}}}"
        case _:
            return ""


@dataclass
class _Part:
    """What stands between two bars; `equals` is the place of the first `=` among its nodes."""

    nodes: list[Node] = field(default_factory=list[Node])
    equals: int | None = None

    def tree(self) -> Nodes:
        return joined(self.nodes)

    def argument(self) -> Argument:
        if self.equals is None:
            return Argument(None, joined(self.nodes))
        return Argument(joined(self.nodes[: self.equals]), joined(self.nodes[self.equals + 1 :]))


@dataclass
class _Open:
    """Brackets that are not closed yet: `mark` is `{`, `[`, or empty for the whole."""

    mark: str
    count: int
    parts: list[_Part] = field(default_factory=lambda: [_Part()])

    def as_text(self) -> list[Node]:
        nodes: list[Node] = [self.mark * self.count, *self.parts[0].nodes]
        for part in self.parts[1:]:
            nodes += ["|", *part.nodes]
        return nodes


def parse(text: str) -> Nodes:
    """Read wikitext; time is linear in its length, and any text has a tree."""
    stack, at = [_Open("", 0)], 0
    for token in _TOKEN.finditer(text):
        part = stack[-1].parts[-1]
        if token.start() > at:
            part.nodes.append(text[at : token.start()])
        _step(stack, token[0])
        at = token.end()
    stack[-1].parts[-1].nodes.append(text[at:])
    while len(stack) > 1:
        inner = stack.pop()
        stack[-1].parts[-1].nodes += inner.as_text()
    return stack[0].parts[0].tree()


def _step(stack: list[_Open], token: str) -> None:
    top, mark = stack[-1], token[0]
    part = top.parts[-1]
    if mark in "{[" and len(stack) <= DEEPEST:
        stack.append(_Open(mark, len(token)))
    elif mark == "}" and top.mark == "{":
        _close(stack, len(token))
    elif mark == "]" and top.mark == "[":
        stack.pop()
        stack[-1].parts[-1].nodes.append(Link(tuple(inner.tree() for inner in top.parts)))
    elif mark == "|" and top.mark:
        top.parts.append(_Part())
    else:
        if mark == "=" and top.mark == "{" and len(top.parts) > 1 and part.equals is None:
            part.equals = len(part.nodes)
        part.nodes.append(token)


def _close(stack: list[_Open], closing: int) -> None:
    """Close the braces on the top, three at once where both sides have them."""
    while closing >= _TEMPLATE and stack[-1].mark == "{":
        top = stack.pop()
        used = min(closing, top.count, _PARAMETER)
        node = _parameter(top.parts) if used == _PARAMETER else _call(top.parts)
        closing -= used
        left = top.count - used
        if left >= _TEMPLATE:
            stack.append(_Open("{", left))
        elif left:
            stack[-1].parts[-1].nodes.append("{" * left)
        stack[-1].parts[-1].nodes.append(node)
    if closing:
        stack[-1].parts[-1].nodes.append("}" * closing)


def _parameter(parts: Sequence[_Part]) -> ParameterNode:
    return ParameterNode(parts[0].tree(), parts[1].tree() if len(parts) > 1 else None)


def _call(parts: Sequence[_Part]) -> Call:
    return Call(parts[0].tree(), tuple(part.argument() for part in parts[1:]))


def walk(nodes: Nodes) -> Iterator[Node]:
    """Yield every node of a tree."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        match node:
            case ParameterNode(name, default):
                stack += (*name, *(default or ()))
            case Call(name, arguments):
                stack += name
                for argument in arguments:
                    stack += as_nodes(argument)
            case Link(parts):
                for part in parts:
                    stack += part
            case BoxNode(content, _):
                stack += content
            case _:
                pass
