"""The JSON schema of params.yaml, for editors and for the tables of docs: written by `make docs`.

No program reads it: the classes of the phases and of the kinds say what params may be.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from isotope.params.root import params_class
from isotope.params.sections import COLLECTIONS, kinds

FILE = Path("workflow/schemas/params.schema.yaml")
Node = Mapping[str, Any]


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
    return note + yaml.safe_dump(
        parts, sort_keys=False, allow_unicode=True, width=9999, default_flow_style=None
    )


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
