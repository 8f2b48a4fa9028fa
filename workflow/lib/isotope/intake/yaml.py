"""YAML that somebody wrote: where it can't be read, the error has its line; bombs do not go off.

A few aliases of aliases stand for more values than a memory holds (the "billion laughs"), so the
values that a text stands for are counted before any is made.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from isotope.core.errors import BadParams
from isotope.intake.limits import reason_of

MOST_VALUES = 1_000_000
_MEND = "mend that line"


@contextmanager
def parsing(path: str | Path) -> Generator[None]:
    """Name the file, the line and the column where YAML can't be read.

    Raises:
        BadParams: where it can't.
    """
    try:
        yield
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise BadParams(_location(path, mark), f"not YAML: {problem}", _MEND) from error
    except RecursionError as error:
        raise BadParams(path, "YAML of too many levels", "write it flatter") from error


def yaml_node(text: str, path: str | Path) -> yaml.Node | None:
    """Return the nodes of a text, aliases counted; None for an empty one.

    Raises:
        BadParams: no YAML, with line and column; more values than `MOST_VALUES`, or an alias within
            what it stands for.
    """
    with parsing(path):
        node = yaml.compose(text, yaml.SafeLoader)
        if node is not None:
            _count(node, path, {})
    return node


def yaml_value(text: str, path: str | Path) -> Any:  # noqa: ANN401 (any YAML)
    """Return what a text says.

    Raises:
        BadParams: as `yaml_node`; a date that is none, a number that is too long.
    """
    node = yaml_node(text, path)
    if node is None:
        return None
    try:
        with parsing(path):
            return yaml.safe_load(text)
    except BadParams:
        raise
    except Exception as error:
        mark = _culprit(node)
        raise BadParams(_location(path, mark), f"no value: {reason_of(error)}", _MEND) from error


def _location(path: str | Path, mark: "yaml.Mark | None") -> str:
    return f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _count(node: yaml.Node, path: str | Path, counted: dict[int, int]) -> int:
    """Return how many values a node stands for; one under way has 0."""
    if id(node) in counted:
        if not counted[id(node)]:
            raise BadParams(_location(path, node.start_mark), "an alias within itself", _MEND)
        return counted[id(node)]
    counted[id(node)] = 0
    count = 1 + sum(_count(child, path, counted) for child in _children(node))
    if count > MOST_VALUES:
        problem = f"aliases that stand for more than {MOST_VALUES:,} values"
        raise BadParams(_location(path, node.start_mark), problem, _MEND)
    counted[id(node)] = count
    return count


def _culprit(node: yaml.Node) -> "yaml.Mark | None":
    """Return where the first value stands that can't be made."""
    if isinstance(node, yaml.ScalarNode):
        try:
            yaml.SafeLoader("").construct_object(node)
        except Exception:
            return node.start_mark
        return None
    return next((mark for child in _children(node) if (mark := _culprit(child))), None)
