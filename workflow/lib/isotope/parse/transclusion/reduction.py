"""A template's body worked out as far as it goes without the arguments of a call.

What depends on a parameter stays: parameters, conditions on them, functions of them. Templates
within are put in, with their arguments in place of their parameters. The same reading with the
arguments of a call leaves nothing but text. What can't be known (a Lua module, the time) is a gap;
a condition on a gap takes the branch that shows a parameter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from isotope.parse.site import Namespaces
from isotope.parse.transclusion import functions, modules
from isotope.parse.transclusion.arguments import Arguments
from isotope.parse.transclusion.branching import Branches
from isotope.parse.transclusion.pages import template_title
from isotope.parse.transclusion.pictures import cell
from isotope.parse.transclusion.tree import (
    Argument,
    BoxNode,
    Call,
    Gap,
    Link,
    Node,
    Nodes,
    ParameterNode,
    PictureNode,
    as_nodes,
    flat,
    joined,
    text_of,
    trimmed,
    walk,
)
from isotope.parse.transclusion.words import rule_of

# Nodes that the reading of one template, or of one call, may make.
MOST_STEPS = 60_000
# So many letters cost what a node costs.
_LETTERS = 100
# Templates within templates, as MediaWiki bounds them ($wgMaxTemplateDepth).
MOST_DEEP = 40
_DROPPED = (
    "ref references gallery math syntaxhighlight source timeline score imagemap inputbox hiero"
    " categorytree graph mapframe maplink templatedata templatestyles indicator nowiki pre"
)
_DROPPED_TAGS = frozenset(_DROPPED.split())
_CALLED = "#module"
_BY_ARGUMENT = "a template named by an argument"
_INVOKE = ("#invoke", "#invoque", "#вызвать")
_DATA = "data"
# Gives the tree of a template by its title; None where no page has it.
Library = Callable[[str], Nodes | None]


class TooLong(Exception):
    """A reading that made more nodes than `MOST_STEPS`, or went deeper than `MOST_DEEP`."""


@dataclass
class Bound:
    """The arguments of a call by name, each worked out when it is first asked for."""

    raw: Mapping[str, Nodes]
    work_out: Callable[[Nodes], Nodes] | None = None
    _values: dict[str, Nodes] = field(default_factory=dict[str, Nodes])

    def get(self, name: str) -> Nodes | None:
        """Return an argument; None where there is none of this name."""
        if name not in self._values:
            if name not in self.raw:
                return None
            value = self.raw[name]
            value = value if self.work_out is None else self.work_out(value)
            self._values[name] = value if name.isdecimal() else trimmed(value)
        return self._values[name]

    def all(self) -> dict[str, Nodes]:
        """Return every argument."""
        return {name: self.get(name) or () for name in self.raw}


class Reduction:
    """The reading of one body, or of one call; `title` is that of the page that calls."""

    def __init__(
        self,
        namespaces: Namespaces,
        language: str,
        library: Library,
        *,
        title: str | None = None,
    ) -> None:
        self._namespaces, self._language = namespaces, language
        self._library, self._title = library, title
        # Those that are left.
        self.steps, self._depth = MOST_STEPS, 0

    def nodes(self, nodes: Nodes, frame: Bound | None) -> Nodes:
        """Work out nodes; without a frame their parameters stay open.

        Raises:
            TooLong: more nodes than `MOST_STEPS`, or more templates within each other than
                `MOST_DEEP`.
        """
        self.steps -= len(nodes)
        if self.steps < 0:
            raise TooLong
        if len(nodes) == 1 and isinstance(nodes[0], str):
            return nodes
        out: list[Node] = []
        for node in nodes:
            if isinstance(node, str):
                out.append(node)
            else:
                out += self._node(node, frame)
        self.steps -= sum(len(node) for node in out if isinstance(node, str)) // _LETTERS
        if self.steps < 0:
            raise TooLong
        return joined(out)

    def _node(self, node: Node, frame: Bound | None) -> Nodes:
        match node:
            case ParameterNode():
                return self._parameter(node, frame)
            case Call():
                return self._call(node, frame)
            case Link(parts):
                return self._link(tuple(self.nodes(part, frame) for part in parts))
            case PictureNode():
                return (self._picture(node, frame),)
            case BoxNode(content, is_infobox):
                return (BoxNode(self.nodes(content, frame), is_infobox),)
            case _:
                return (node,)

    def _picture(self, picture: PictureNode, frame: Bound | None) -> PictureNode:
        file, caption, alt, size, is_framed = picture
        file, caption, alt, size = (self.nodes(n, frame) for n in (file, caption, alt, size))
        return PictureNode(file, caption, alt, size, is_framed)

    def _parameter(self, node: ParameterNode, frame: Bound | None) -> Nodes:
        name = text_of(trimmed(self.nodes(node.name, frame)))
        if not name:
            return self.nodes(node.default or (), frame)
        if frame is None:
            default = None if node.default is None else self.nodes(node.default, None)
            return (ParameterNode((name,), default),)
        value = frame.get(name)
        if value is not None:
            return value
        return (f"{{{{{{{name}}}}}}}",) if node.default is None else self.nodes(node.default, frame)

    def _link(self, parts: tuple[Nodes, ...]) -> Nodes:
        """Drop categories: those that a template adds are not the page's own."""
        first = parts[0][0] if parts and parts[0] else ""
        prefix, colon, _ = first.partition(":") if isinstance(first, str) else ("", "", "")
        return () if colon and self._namespaces.is_category(prefix) else (Link(parts),)

    def _call(self, call: Call, frame: Bound | None) -> Nodes:
        name = trimmed(self.nodes(call.name, frame))
        if not name or not isinstance(name[0], str):
            return self._awaiting(name, call, frame)
        first = functions.without_prefix(name[0].lstrip())
        first = first.strip() if len(name) == 1 else first
        head, colon, tail = first.partition(":")
        left = (
            self._parser_function(head, joined((tail, *name[1:])), call, frame) if colon else None
        )
        if left is None:
            left = self._variable(head, colon, joined((tail, *name[1:])))
        if left is not None:
            return left
        if head.startswith("#"):
            return (Gap(head),)
        if len(name) > 1:
            return self._awaiting(name, call, frame)
        return self._template(first, call, frame)

    def _awaiting(self, name: Nodes, call: Call, frame: Bound | None) -> Nodes:
        """Keep the call of a template whose name an argument makes."""
        if not any(isinstance(node, ParameterNode | Call) for node in name):
            return (Gap(_BY_ARGUMENT),)
        bound = self._bind(call.arguments, frame).all()
        return (Call(name, tuple(Argument((key,), value) for key, value in bound.items())),)

    def _parser_function(
        self, head: str, after: Nodes, call: Call, frame: Bound | None
    ) -> Nodes | None:
        """Return what a parser function leaves, or None of what is none."""
        function = functions.english(head)
        if function in functions.BRANCHING:
            branches = Branches(lambda nodes: self.nodes(nodes, frame))
            return branches.take(function, after, call.arguments)
        if function in _INVOKE or function == _CALLED:
            return self._invoke(function, after, call.arguments, frame)
        if function in functions.FUNCTIONS:
            return self._function(function, after, call.arguments, frame)
        if function == "#tag":
            return self._tag(flat(after).strip().lower(), call, frame)
        return None

    def _variable(self, head: str, colon: str, after: Nodes) -> Nodes | None:
        """Return what a variable leaves, or None of what is none."""
        if not colon and head in functions.CONSTANTS:
            return (functions.CONSTANTS[head],)
        if head in functions.TITLES:
            return after if colon else self._titled(head)
        if functions.english(head) in functions.SILENT and (colon or head.isupper()):
            return ()
        if colon and head.lower() in ("ns", "nse"):
            return (functions.namespace(flat(after).strip()),)
        return (Gap(head),) if functions.is_of_the_time(head) else None

    def _titled(self, variable: str) -> Nodes:
        if self._title is None:
            return (Call((variable,)),)
        return (functions.title_of(variable, self._title),)

    def _tag(self, name: str, call: Call, frame: Bound | None) -> Nodes:
        if name in _DROPPED_TAGS or not call.arguments:
            return ()
        content = self.nodes(as_nodes(call.arguments[0]), frame)
        return joined((f"<{name}>", *content, f"</{name}>"))

    def _function(
        self, function: str, after: Nodes, arguments: Sequence[Argument], frame: Bound | None
    ) -> Nodes:
        values = [after, *(self.nodes(as_nodes(argument), frame) for argument in arguments)]
        values = [tuple(n for n in value if not isinstance(n, Gap)) for value in values]
        if any(text_of(value) is None for value in values) and not self._is_last:
            extra = tuple(Argument(None, value) for value in values[1:])
            return (Call(joined((f"{function}:", *values[0])), extra),)
        return joined((functions.FUNCTIONS[function]([flat(v) for v in values], self._language),))

    @property
    def _is_last(self) -> bool:
        return self._title is not None

    def _bind(self, arguments: Sequence[Argument], frame: Bound | None) -> Bound:
        raw, count = dict[str, Nodes](), 0
        for key, value in arguments:
            if key is None:
                count += 1
                raw[str(count)] = value
            else:
                name = text_of(trimmed(self.nodes(key, frame)))
                raw.update({} if name is None else {name: value})
                if name is not None and name.isdecimal():
                    raw[name] = trimmed(value)
        return Bound(raw, lambda nodes: self.nodes(nodes, frame))

    def _template(self, name: str, call: Call, frame: Bound | None) -> Nodes:
        prefix, colon, tail = name.partition(":")
        if colon and (not prefix.strip() or self._namespaces.is_file(prefix)):
            return (Gap(f"a page: {name}"),)
        name = tail if colon and prefix.strip().lower() in self._namespaces.template else name
        rule, tree = rule_of(name), self._library(template_title(name))
        if self._is_last and tree is None:
            bound = self._bind(call.arguments, frame).all()
            return (rule(as_written(name, bound)),) if rule else ()
        if (
            not self._is_last
            and rule
            and (tree is None or any(isinstance(node, Gap) for node in walk(tree)))
        ):
            bound = self._bind(call.arguments, frame).all()
            return (Call((name,), tuple(Argument((key,), v) for key, v in bound.items())),)
        if tree is None and modules.kind_of(name, "") == modules.INFOBOX:
            return (self._box(self._bind(call.arguments, frame), modules.INFOBOX),)
        if tree is None:
            return (Gap(f"no page of {template_title(name)}"),)
        return self._expanded(tree, self._bind(call.arguments, frame)) if tree else ()

    def _expanded(self, tree: Nodes, bound: Bound) -> Nodes:
        if self._depth >= MOST_DEEP:
            raise TooLong
        self._depth += 1
        left = self.nodes(tree, bound)
        self._depth -= 1
        return left

    def _invoke(
        self, function: str, after: Nodes, arguments: Sequence[Argument], frame: Bound | None
    ) -> Nodes:
        module, called = flat(after).strip(), flat(self._first(arguments, frame)).strip()
        kind, bound = modules.kind_of(module, called), self._bind(arguments[1:], frame)
        is_open = frame is None and function in _INVOKE and not self._is_last
        match kind:
            case modules.SILENT:
                return ()
            case modules.UNKNOWN:
                return (Gap(f"Module:{module}"),)
            case modules.PICTURE:
                return modules.picture(bound.get)
            case modules.WORDS:
                handed = frame if function in _INVOKE else None
                return self._words(
                    module, called, bound.all(), None if is_open else handed, is_open
                )
            case _ if is_open and not bound.raw:
                return (Call((f"#invoke:{module}",), (Argument(None, (called,)),)),)
            case _:
                return (self._box(bound if bound.raw or frame is None else frame, kind),)

    def _words(
        self, module: str, called: str, values: dict[str, Nodes], frame: Bound | None, is_open: bool
    ) -> Nodes:
        """Return the words of a module; without its arguments, its call."""
        if frame is not None and not (values and modules.has_own_arguments(module)):
            values = {**frame.all(), **values}
        if is_open or any(text_of(value) is None for value in values.values()):
            name = f"#invoke:{module}" if is_open else f"{_CALLED}:{module}"
            named = (Argument((key,), value) for key, value in values.items())
            return (Call((name,), (Argument(None, (called,)), *named)),)
        return joined((modules.read(module, called, as_written(called, values)),))

    def _first(self, arguments: Sequence[Argument], frame: Bound | None) -> Nodes:
        return self.nodes(as_nodes(arguments[0]), frame) if arguments else ()

    def _box(self, bound: Bound, kind: str) -> BoxNode:
        """Return a box of what a module for boxes is given, a cell after the other."""
        cells: list[Node] = []
        for picture, captions, alts in modules.picture_arguments(bound.raw, kind):
            caption, alt = (
                joined(n for key in keys for n in bound.get(key) or ()) for keys in (captions, alts)
            )
            cells += cell(bound.get(picture) or (), caption, alt, self._namespaces)
        for key, value in bound.raw.items():
            has_label = key.startswith(_DATA) and f"label{key.removeprefix(_DATA)}" in bound.raw
            if key.startswith(_DATA) and not has_label and self._may_show_picture(value):
                cells += cell(bound.get(key) or (), (), (), self._namespaces)
        return BoxNode(joined(cells), kind == modules.INFOBOX)

    def _may_show_picture(self, nodes: Nodes) -> bool:
        return any(isinstance(node, Link | Call | PictureNode | BoxNode) for node in walk(nodes))


def as_written(name: str, values: Mapping[str, Nodes]) -> Arguments:
    """Return arguments as the rules by hand have them; those by number stand in their order."""
    numbers = sorted(int(key) for key in values if key.isdecimal() and len(key) < 4)  # noqa: PLR2004
    positional = [flat(values[str(n)]).strip(" \t") for n in numbers if str(n) in values]
    named = {key: flat(value) for key, value in values.items() if not key.isdecimal()}
    return Arguments(name.strip().replace("_", " ").lower(), positional, named)
