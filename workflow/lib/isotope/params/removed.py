"""Keys of earlier versions whose values are constants now: read for one version more.

A section lists its own in `Section.removed`, a plug-in's as well. A key with the value of the
constant changes nothing, and one line says that it may be deleted; any other value is refused with
the constant and its reason.
"""

import copy
import sys
from collections.abc import Iterable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any, NamedTuple, cast

from pydantic_core import ErrorDetails, PydanticCustomError

from isotope.params.messages import KeyPath, dotted, excerpt, key_path, refuse_key

# The type of an error that only says what may be deleted.
_MAY_GO = "removed"


class Constant(NamedTuple):
    """A value that the params no longer say."""

    source: object
    """Where code has it, `module:NAME`, or the value itself; a tuple is a list of the params."""
    reason: str
    """Why nobody has to set it, or who has set it; it ends the sentence that refuses another."""

    @property
    def value(self) -> Any:  # noqa: ANN401 (whatever the key held)
        """The value, as YAML would have it."""
        is_name = isinstance(self.source, str) and ":" in self.source
        value: Any = resolve_name(str(self.source)) if is_name else self.source
        return list(value) if isinstance(value, tuple) else value


class Derived(NamedTuple):
    """A value that follows from others; whatever a key says of it, it may go."""

    origin: str
    """What it follows from."""


# By key; a mapping is a section of which no key is left.
Row = Constant | Derived | Mapping[str, Constant]
Removed = Mapping[str, Row]


def may_go(value: object, row: Row) -> bool:
    """Tell whether a removed key with this value changes nothing."""
    return refuse_removed("", value, row).type == _MAY_GO


def refuse_removed(key: str, value: object, row: Row) -> PydanticCustomError:
    """Return what a validator raises for a key that is listed as removed."""
    if isinstance(row, Derived):
        return _may_go(key, f"it follows from {row.origin} now")
    rows = row if isinstance(row, Mapping) else {"": row}
    entries = value if isinstance(row, Mapping) else {"": value}
    if not isinstance(entries, Mapping) or entries.keys() - rows.keys():
        return refuse_key(key, value, "leave it out: it had only keys that are constants now")
    values = cast("Mapping[str, object]", entries)
    for name, item in values.items():
        if item != rows[name].value:
            path, constant = dotted(filter(None, (key, name))), rows[name]
            remedy = f"leave it out: it is always {excerpt(constant.value)} now, {constant.reason}"
            return refuse_key(path, item, remedy)
    words = " and ".join(f"{name} {excerpt(rows[name].value)}".strip() for name in rows)
    return _may_go(key, f"it is always {words} now")


def _may_go(key: str, problem: str) -> PydanticCustomError:
    context = {"key": key, "found": problem, "remedy": "delete the key"}
    return PydanticCustomError(_MAY_GO, "{found}", context)


def that_may_go(errors: Iterable[ErrorDetails], params: object) -> list[KeyPath]:
    """Return the keys that may be deleted, by what pydantic says of params; print their lines."""
    paths = list[KeyPath]()
    for error in errors:
        if error["type"] == _MAY_GO:
            context = error.get("ctx", {})
            paths.append((*key_path(error["loc"], params), context["key"]))
            line = f"params {dotted(paths[-1])}: {context['found']}; {context['remedy']}\n"
            sys.stderr.write(line)
    return paths


def without(params: object, paths: Sequence[KeyPath]) -> object:
    """Return plain params without some keys."""
    changed = copy.deepcopy(params)
    for *above, key in paths:
        section: Any = changed
        for part in above:
            section = section[part]
        del section[key]
    return changed
