"""A grade as a page sends it."""

import json
from collections.abc import Mapping
from typing import Any

from isotope.judge.lines import Form, Grade, Item


def record(body: bytes) -> dict[str, Any] | None:
    """Return what JSON says, None if it is no object with an assessor and a collection."""
    try:
        given: Any = json.loads(body)
        named = [given[name] for name in ("assessor", "collection")]
    except (ValueError, KeyError, TypeError):
        return None
    return given if all(isinstance(word, str) for word in named) else None


def graded(
    given: Mapping[str, Any], form: Form[Item, Grade]
) -> tuple[Item, Grade | None, Grade | None] | None:
    """Return an item, its grade and the one that the page showed before; None if it has none."""
    if not {"grade", "seen"} <= given.keys():
        return None
    found, before = form.read(given), form.read({**given, "grade": given["seen"]})
    return None if found is None or before is None else (*found, before[1])
