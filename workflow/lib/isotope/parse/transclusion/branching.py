"""Conditions: which branch counts, as far as that is known without the arguments of a call.

A condition on a parameter stays. One on a gap takes the branch that shows a parameter.
"""

from collections.abc import Callable, Sequence

from isotope.parse.transclusion import functions
from isotope.parse.transclusion.tree import (
    Argument,
    BoxNode,
    Call,
    Gap,
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


class Branches:
    """The functions that decide which of their arguments counts."""

    def __init__(self, work_out: Callable[[Nodes], Nodes]) -> None:
        """Take the way in which an argument is worked out that counts."""
        self._work_out = work_out

    def take(self, function: str, condition: Nodes, arguments: Sequence[Argument]) -> Nodes:
        """Return what a function of `functions.BRANCHING` leaves."""
        if function == "#switch":
            return self._switch(trimmed(condition), arguments)
        values = [as_nodes(argument) for argument in arguments]
        match function:
            case "#if":
                return self._if(condition, values)
            case "#ifeq":
                return self._ifeq(condition, values)
            case "#iferror":
                return self._iferror(condition, values)
            case "#ifexpr":
                return self._ifexpr(condition, values)
            case _:
                return self._either(values, condition)

    def _branch(self, values: Sequence[Nodes], position: int) -> Nodes:
        value = values[position] if position < len(values) else ()
        return trimmed(self._work_out(value))

    def _either(self, values: Sequence[Nodes], condition: Nodes) -> Nodes:
        """Take the branch that shows a parameter, of a condition that can't be known."""
        branches = [self._branch(values, position) for position in (0, 1)]
        for branch in branches:
            if _shows_parameter(branch):
                return branch
        words = [branch for branch in branches if branch]
        return words[0] if words and not gaps(condition) else tuple(gaps(condition)[:1])

    def _if(self, condition: Nodes, values: Sequence[Nodes]) -> Nodes:
        bare = _without_gaps(condition)
        if any(isinstance(node, str) and node.strip() for node in bare):
            return self._branch(values, 0)
        if all(isinstance(node, str) for node in bare):
            return self._either(values, condition) if gaps(condition) else self._branch(values, 1)
        return self._open("#if:", bare, values[:2])

    def _open(self, name: str, condition: Nodes, values: Sequence[Nodes]) -> Nodes:
        branches = [self._branch(values, position) for position in range(len(values))]
        outcomes = [*(branches[1:] if name == "#ifeq:" else branches), ()]
        if name != "#iferror:" and outcomes[0] == outcomes[1]:
            return outcomes[0]
        arguments = tuple(Argument(None, branch) for branch in branches)
        return (Call(joined((name, *condition)), arguments),)

    def _ifeq(self, left: Nodes, values: Sequence[Nodes]) -> Nodes:
        left, other = trimmed(left), self._branch(values, 0)
        if gaps(left) or gaps(other):
            return self._either(values[1:], (*left, *other))
        one_text, other_text = text_of(left), text_of(other)
        if one_text is not None and other_text is not None:
            return self._branch(values, 1 if functions.is_equal(one_text, other_text) else 2)
        if left == other:
            return self._branch(values, 1)
        return self._open("#ifeq:", left, values[:3])

    def _ifexpr(self, condition: Nodes, values: Sequence[Nodes]) -> Nodes:
        text = text_of(condition)
        if text is not None:
            return self._branch(values, 0 if functions.is_true(text) else 1)
        if gaps(condition):
            return self._either(values, condition)
        return self._open("#ifexpr:", condition, values[:2])

    def _iferror(self, tried: Nodes, values: Sequence[Nodes]) -> Nodes:
        text = text_of(tried)
        if text is not None:
            if 'class="error"' in text:
                return self._branch(values, 0)
            return self._branch(values, 1) if len(values) > 1 else tried
        if gaps(tried):
            return self._either(list(reversed(values[:2])), tried)
        return self._open("#iferror:", tried, values[:2])

    def _switch(self, value: Nodes, arguments: Sequence[Argument]) -> Nodes:
        cases = [
            Argument(
                None if key is None else trimmed(self._work_out(key)),
                case if key is not None else trimmed(self._work_out(case)),
            )
            for key, case in arguments
        ]
        if gaps(value):
            return self._shown_case(value, cases)
        labels = [case if key is None else key for key, case in cases]
        text = text_of(value)
        if text is None or any(text_of(label) is None for label in labels[:-1]):
            return self._open_switch(value, cases)
        return self._case(text, cases)

    def _open_switch(self, value: Nodes, cases: Sequence[Argument]) -> Nodes:
        worked = tuple(
            Argument(key, case if key is None else self._branch([case], 0)) for key, case in cases
        )
        return (Call(joined(("#switch:", *value)), worked),)

    def _case(self, text: str, cases: Sequence[Argument]) -> Nodes:
        is_next, is_default, default = False, False, ()
        for key, case in cases:
            label = flat(case if key is None else key)
            is_next = is_next or functions.is_equal(label, text)
            is_default = is_default or label.strip().lower() in functions.DEFAULTS
            if key is not None and is_next:
                return self._branch([case], 0)
            if key is not None and is_default:
                is_default, default = False, case
        if cases and cases[-1].key is None:
            return cases[-1].value
        return self._branch([default], 0)

    def _shown_case(self, value: Nodes, cases: Sequence[Argument]) -> Nodes:
        for _, case in cases:
            branch = self._branch([case], 0)
            if _shows_parameter(branch):
                return branch
        return tuple(gaps(value)[:1])


def _shows_parameter(nodes: Nodes) -> bool:
    return any(isinstance(node, ParameterNode | PictureNode | BoxNode) for node in walk(nodes))


def gaps(nodes: Nodes) -> list[Gap]:
    """Return the gaps in a tree."""
    return [node for node in walk(nodes) if isinstance(node, Gap)]


def _without_gaps(nodes: Nodes) -> Nodes:
    """Return a condition without gaps; a picture is there where its file is."""
    out: list[Node] = []
    for node in nodes:
        if isinstance(node, PictureNode):
            out += node.file
        elif isinstance(node, BoxNode):
            out += [n for n in walk(node.content) if isinstance(n, ParameterNode)] or ["box"]
        elif not isinstance(node, Gap):
            out.append(node)
    return joined(out)
