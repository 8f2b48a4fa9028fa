"""A picture's date, or any typed column, in the words that a model reads of a text."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence

from isotope.core.errors import BadParams

TEXT = "text"
# What a template may say of a date; of a value of another type only `value`.
PLACES = (TEXT, "value", "year", "decade", "month")
_PLACE = re.compile(r"\{(\w+)\}")
Frame = tuple[str, ...]


def check(templates: Sequence[str], where: str) -> None:
    """Refuse templates without `{text}`, or with a place that nothing fills.

    Raises:
        BadParams: such a template.
    """
    for template in templates:
        named = _PLACE.findall(template)
        unknown = [name for name in named if name not in PLACES]
        if unknown or TEXT not in named:
            found = f"template {template!r}"
            known = ", ".join(f"{{{name}}}" for name in PLACES)
            raise BadParams(where, found, f"use {{text}} and any of {known}")


def frame(value: object, templates: Sequence[str]) -> Frame:
    """Fill in the templates for one value, all but `{text}`; without a value the text stands alone.

    Raises:
        BadParams: a template that asks for the year of what is no date.
    """
    if value is None:
        return ("{text}",)
    told = facts(value)

    def fill(place: re.Match[str]) -> str:
        if place[1] == TEXT:
            return place[0]
        if place[1] not in told:
            raise BadParams("systems: templates", f"{place[0]} of {value!r}", "use {value}")
        return told[place[1]]

    return tuple(_PLACE.sub(fill, template) for template in templates)


def facts(value: object) -> dict[str, str]:
    """Return what can be said of a value; of a date its year, decade and month as well."""
    if not isinstance(value, dt.date):
        return {"value": str(value)}
    year, decade = f"{value.year}", f"{value.year // 10 * 10}s"
    return {"value": f"{value:%Y-%m-%d}", "year": year, "decade": decade, "month": f"{value:%B}"}


def frames(items: Iterable[tuple[str, object]], templates: Sequence[str]) -> dict[Frame, list[str]]:
    """Return the ids of the (id, value) items that share a frame, by frame, both sorted."""
    found: dict[Frame, list[str]] = {}
    for ident, value in items:
        found.setdefault(frame(value, templates), []).append(ident)
    return {key: sorted(found[key]) for key in sorted(found)}


def apply(template: str, texts: Sequence[str]) -> list[str]:
    """Put each text in its place."""
    return [template.replace("{text}", text) for text in texts]
