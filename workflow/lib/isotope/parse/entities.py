"""An entity of Wikidata: its page in a wiki, its names, picture, category and classes.

Two forms of JSON are read: Wikibase's own, of the public dumps,
https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html, and Wikimedia Enterprise's,
whose records have it in `entity`, https://enterprise.wikimedia.com/docs/data-dictionary/ (Wikidata,
beta): a label is a text there, a statement has `property`, `value` and `rank`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from isotope.core.titles import file_name, spaced
from isotope.intake.limits import Refused

# https://www.wikidata.org/wiki/Property:P18 (image), P373 (Commons category), P31 (instance of).
PICTURE, CATEGORY, CLASS = "P18", "P373", "P31"
_ITEM = re.compile(r"[QL]?[1-9]\d*")
_DEPRECATED, _PREFERRED = "deprecated", "preferred"
Json = Mapping[str, Any]


def entity_row(record: object, wiki: str, language: str) -> dict[str, Any] | None:
    """Return the row of `schemas.ENTITIES` of a record; None for one without a page in the wiki.

    `wiki` is the name of its database, such as `dewiki`; names are those in `language` and its
    variants (`zh-hant` of `zh`), the label first. Of several statements the preferred ones count,
    or else the normal ones.

    Raises:
        Refused: no entity, or one of another form.
    """
    envelope = _record(record, "an entity")
    entity = _record(envelope.get("entity") or envelope, "an entity")
    link = _record(entity.get("sitelinks") or {}, "sitelinks").get(wiki)
    if link is None:
        return None
    title = link.get("title") if isinstance(link, dict) else link
    if not isinstance(title, str) or not title.strip():
        raise Refused(f"a link to {wiki} without a title")
    modified = entity.get("modified") or envelope.get("date_modified")
    return {
        "item": _identifier(entity),
        "page_title": spaced(title),
        "names": list(dict.fromkeys(_names(entity, language))),
        "pictures": [file_name(name) for name in _texts(entity, PICTURE)],
        "category": next(_texts(entity, CATEGORY), None),
        "classes": list(_items(entity, CLASS)),
        "modified": str(modified or ""),
    }


def is_entity(record: object) -> bool:
    """Tell whether a record is an entity of either form, by what it has."""
    envelope = cast(Json, record) if isinstance(record, dict) else {}
    inner = cast(object, envelope.get("entity"))
    entity = cast(Json, inner) if isinstance(inner, dict) else envelope
    kind = entity.get("type")
    return kind in ("item", "property", "lexeme") and ("id" in entity or "identifier" in entity)


def _record(value: object, subject: str) -> Json:
    """Return a record; an empty list stands for an empty one, as PHP writes it."""
    if value == []:
        return {}
    if not isinstance(value, dict):
        raise Refused(f"{subject}: no record but {type(value).__name__}")
    return cast(Json, value)


def _list(value: object, subject: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise Refused(f"{subject}: no list but {type(value).__name__}")
    return cast(list[object], value)


def _identifier(entity: Json) -> str:
    item = str(entity.get("id") or entity.get("identifier") or "")
    if not _ITEM.fullmatch(item):
        raise Refused(f"an entity whose identifier is {item[:40]!r}")
    return item


def _names(entity: Json, language: str) -> Iterator[str]:
    """Yield the names in a language, its own before those of its variants."""
    labels = _record(entity.get("labels") or {}, "labels")
    aliases = _record(entity.get("aliases") or {}, "aliases")
    codes = [c for c in {**labels, **aliases} if c == language or c.startswith(f"{language}-")]
    for code in sorted(codes):
        if code in labels:
            yield _text(labels[code])
        if code in aliases:
            yield from map(_text, _list(aliases[code], "aliases"))


def _text(name: object) -> str:
    text = cast(Json, name).get("value") if isinstance(name, dict) else name
    if not isinstance(text, str):
        raise Refused(f"a name that is no text but {type(text).__name__}")
    return " ".join(text.split())


def _values(entity: Json, number: str) -> list[object]:
    """Return the values of a property's best statements, as they are written."""
    claims = entity.get("claims") or entity.get("statements") or {}
    if isinstance(claims, list):
        statements = (_record(s, "a statement") for s in cast(list[object], claims))
        some = [s for s in statements if _property(s) == number]
    else:
        named = _record(claims, "statements").get(number)
        some = [_record(s, "a statement") for s in _list(named or [], f"statements of {number}")]
    ranked = [(str(s.get("rank") or "normal"), _value(s)) for s in some]
    valued = [(rank, value) for rank, value in ranked if value is not None and rank != _DEPRECATED]
    best = [value for rank, value in valued if rank == _PREFERRED]
    return best or [value for _, value in valued]


def _property(statement: Json) -> str:
    named = _record(statement.get("property") or {}, "a property")
    return str(named.get("identifier") or named.get("id") or "")


def _value(statement: Json) -> object:
    """Return a statement's value; None where it is unknown or none."""
    if "mainsnak" in statement:
        snak = _record(statement["mainsnak"], "a snak")
        return _record(snak.get("datavalue") or {}, "a value").get("value")
    value = _record(statement.get("value") or {}, "a value")
    return value.get("content") or value.get("content_data")


def _texts(entity: Json, number: str) -> Iterator[str]:
    for value in _values(entity, number):
        if not isinstance(value, str):
            raise Refused(f"a value of {number} that is no text but {type(value).__name__}")
        yield value


def _items(entity: Json, number: str) -> Iterator[str]:
    """Yield the items that a property names; old dumps have a number in place of an identifier."""
    for value in _values(entity, number):
        item_value = cast(Json, value) if isinstance(value, dict) else {"id": value}
        item = str(
            item_value.get("id")
            or item_value.get("identifier")
            or item_value.get("numeric-id")
            or ""
        )
        if not _ITEM.fullmatch(item):
            raise Refused(f"a value of {number} that is no item: {str(value)[:40]!r}")
        yield item if item[0] in "QL" else f"Q{item}"
