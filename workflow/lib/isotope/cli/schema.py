"""The JSON schema of params.yaml, for editors and for the tables of docs: written by `make docs`.

No program reads it: the classes of the phases and of the kinds say what params may be.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from isotope.params.root import params_class
from isotope.params.sections import COLLECTIONS, Section, kinds

FILE = Path("workflow/schemas/params.schema.yaml")
Node = Mapping[str, Any]
# Classes for which a part of its own is worth its lines.
_FEWEST = 2


@cache
def schema() -> dict[str, Any]:
    """Return the JSON schema of params.yaml."""
    root = params_class().model_json_schema()
    # A folder of queries is a kind, too; those with a class are branches of their own.
    folder = root["$defs"]["CollectionKind"]["properties"]["kind"]
    folder["not"] = {"enum": [*kinds(COLLECTIONS)]}
    named = {name: _plain(node) for name, node in sorted(root.pop("$defs").items())}
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "params.yaml"}
    return {**draft, **_plain(root), "$defs": named}


def text() -> str:
    """Return the schema as the project keeps it, in YAML: a line a key."""
    note = "# Written by `python docs/parameters.py` from the classes of the phases and kinds.\n"
    # Whatever is named twice is written twice, as it is no longer one object.
    parts = json.loads(json.dumps(schema()))
    share(parts["$defs"])
    return note + yaml.safe_dump(
        parts, sort_keys=False, allow_unicode=True, width=9999, default_flow_style=None
    )


def share(definitions: dict[str, Any]) -> None:
    """Write the keys that classes have from a base once, in a part that theirs refer to.

    Such a part is open, and those that refer to it are closed by `unevaluatedProperties`.
    """
    classes = {name: c for c in _below(Section) if (name := _name_of(c, definitions))}
    bases = {base for c in classes.values() for base in _bases(c)}
    for base in sorted(bases, key=lambda c: (len(c.__mro__), c.__module__, c.__name__)):
        fields = ((name, base.model_fields.get(name)) for name in base.__annotations__)
        declared = [field.alias or name for name, field in fields if field]
        heirs = [definitions[name] for name in sorted(classes) if issubclass(classes[name], base)]
        shared = {key: rule for key in declared if (rule := _usual(key, heirs)) is not None}
        alike = [heir["properties"] for heir in heirs if _allows(shared, heir["properties"])]
        if not shared or len(alike) < _FEWEST:
            continue
        part = f"{base.__name__}Keys"
        definitions[part] = {"type": "object", "properties": shared}
        for heir in (heir for heir in heirs if heir["properties"] in alike):
            keys = heir["properties"].items()
            heir["properties"] = {k: v for k, v in keys if shared.get(k) != v}
            heir.setdefault("allOf", []).append({"$ref": f"#/$defs/{part}"})
            heir.pop("additionalProperties", None)
            heir["unevaluatedProperties"] = False


def _below(base: type[Section]) -> Iterator[type[Section]]:
    for section in base.__subclasses__():
        yield section
        yield from _below(section)


def _bases(section: type[Section]) -> list[type[Section]]:
    """Return a class and those that it has keys from, the most general first."""
    above = [c for c in reversed(section.__mro__) if issubclass(c, Section)]
    return [c for c in above if {*c.__annotations__} & {*c.model_fields}]


def _name_of(section: type[Section], definitions: Node) -> str:
    """Return by which name the schema has a class; an empty one for a class that is none of it."""
    long = f"{section.__module__}.{section.__qualname__}".replace(".", "__")
    return next((name for name in (long, section.__name__) if name in definitions), "")


def _usual(key: str, heirs: Sequence[Node]) -> Node | None:
    """Return the rule that most classes have for a key, if two have it."""
    rules = [heir["properties"][key] for heir in heirs if key in heir["properties"]]
    most = max(rules, key=rules.count, default=None)
    return most if rules.count(most) >= _FEWEST else None


def _allows(shared: Node, keys: Node) -> bool:
    """Tell whether a class has keys with these rules, be it by other words and defaults."""
    return all(key in keys and _tested(keys[key]) == _tested(shared[key]) for key in shared)


def _tested(rule: Node) -> Node:
    return {k: v for k, v in rule.items() if k not in ("default", "description")}


def _plain(node: Any) -> Any:  # noqa: ANN401
    """Return a node without what pydantic adds: titles, types of constants, unions with null."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    rule: dict[str, Any] = {k: v for k, v in cast(Node, node).items() if k != "title"}
    branches = rule.get("oneOf", ())
    if branches and all("$ref" in branch for branch in branches) and "type" not in rule:
        rule = {"type": "object", "required": ["kind"], **rule}
    if "patternProperties" in rule:
        [(pattern, value)] = rule.pop("patternProperties").items()
        rule |= {"propertyNames": {"pattern": pattern}, "additionalProperties": value}
    if {"const", "enum"} & rule.keys():
        rule.pop("type", None)
    if "anyOf" in rule:
        [value, null] = rule.pop("anyOf")
        rule = {**value, **rule, "type": [value["type"], null["type"]]}
    parts = {k: _plain(v) for k, v in rule.items() if k not in ("properties", "default")}
    default = {k: rule[k] for k in ("default",) if k in rule}
    if "properties" in rule:
        parts["properties"] = {k: _plain(v) for k, v in rule["properties"].items()}
    return {**parts, **default}
