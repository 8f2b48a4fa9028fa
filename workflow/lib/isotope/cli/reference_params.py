"""Every key of params.yaml in words, from the classes of the phases and kinds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from isotope.core.errors import BadParams
from isotope.params import schema

Node = Mapping[str, Any]
_PLACES = {
    "acquire": "source",
    "parse": "source",
    "crawl": "source",
    "project": "source",
    "collect": "collection",
    "models": "model",
    "systems": "system",
    "files": "folder",
    "tokenizers": "name",
    "facts": "collection",
    "against": "collection",
    "explain": "collection",
    "after": "collection",
    "summaries": "summary",
    "captioners": "captioner",
    "side_by_side": "source",
    "groups": "group",
    "<group>": "part",
    "relations": "table",
    "scale": "grade",
}


class Parameter(NamedTuple):
    """One row of a parameter table, as Markdown."""

    key: str
    kind: str
    default: str
    description: str


def parameters(chosen: Sequence[str]) -> list[Parameter]:
    """Describe top-level keys and all below them; `models:hash` chooses one kind of a key.

    Raises:
        BadParams: a key that the schema lacks.
    """
    known = schema.schema()
    walk = _Walk(known["$defs"])
    found: list[Parameter] = []
    for word in chosen:
        key, _, kind = word.partition(":")
        if key not in known["properties"]:
            raise BadParams("<!-- parameters -->", f"no key {key!r}", "see params.yaml")
        need = "required" if key in known["required"] else ""
        rows = walk.rows(key, known["properties"][key], need=need, kind=kind)
        found += [row for row in rows if "." in row.key or row not in found]
    return found


class _Walk:
    """Walks a schema depth first; `$defs` are the parts that it refers to."""

    def __init__(self, definitions: Node) -> None:
        self._definitions = definitions

    def rows(self, key: str, node: Node, *, need: str, kind: str) -> Iterator[Parameter]:
        """Yield the row of a node and those below it, of alternatives only those of `kind`."""
        node = self._resolved(node)
        yield Parameter(key, self._kind(node), need or _default(node), self._told(node))
        yield from self._below(key, node, kind)

    def _told(self, node: Node) -> str:
        if "const" in node:
            return f"Choose `{node['const']}` for the keys below."
        return node.get("description") or self._told(self._resolved(node["items"]))

    def _below(self, key: str, node: Node, kind: str) -> Iterator[Parameter]:
        each = node.get("additionalProperties")
        if isinstance(each, Mapping):
            yield from self._named_by_user(key, self._resolved(each), kind)
        for name, child in node.get("properties", {}).items():
            yield from self.rows(f"{key}.{name}", child, need=_need(name, node), kind=kind)
        if "items" in node:
            yield from self._below(f"{key}[]", self._resolved(node["items"]), kind)
        for branch in map(self._resolved, node.get("oneOf", ())):
            if kind in ("", branch.get("properties", {}).get("kind", {}).get("const", kind)):
                needed = [*node.get("required", ()), *branch.get("required", ())]
                yield from self._below(key, {**branch, "required": needed}, kind)

    def _named_by_user(self, key: str, each: Node, kind: str) -> Iterator[Parameter]:
        place = f"{key}.<{_PLACES[key.rpartition('.')[2]]}>"
        if not {"properties", "oneOf"} & set(each):
            yield from self.rows(place, each, need="", kind=kind)
        else:
            yield from self._below(place, each, kind)

    def _resolved(self, node: Node) -> Node:
        if "$ref" not in node:
            return node
        return {**self._definitions[node["$ref"].rpartition("/")[2]], **node}

    def _kind(self, node: Node) -> str:
        node = self._resolved(node)
        if "const" in node:
            return f"`{node['const']}`"
        if "enum" in node:
            return " or ".join(f"`{value}`" for value in node["enum"])
        if "oneOf" in node and "type" not in node:
            return " or ".join(self._kind(branch) for branch in node["oneOf"])
        return self._named(node)

    def _named(self, node: Node) -> str:
        if node["type"] == "array":
            return f"list of {self._kind(node['items'])}"
        if node["type"] == "object":
            return "mapping"
        named = node["type"] if isinstance(node["type"], str) else " or ".join(node["type"])
        return named + _bounds(node)


def _bounds(node: Node) -> str:
    words = {"minimum": "at least", "exclusiveMinimum": "above"}
    upper = {"maximum": "at most", "exclusiveMaximum": "below"}
    given = [f"{word} {node[key]}" for key, word in {**words, **upper}.items() if key in node]
    return ", ".join(["", *given])


def _need(name: str, node: Node) -> str:
    if name in node.get("required", ()):
        return "required"
    either = [b["required"] for b in node.get("oneOf", ()) if "properties" not in b]
    return "this or its alternative" if [name] in either else ""


def _default(node: Node) -> str:
    return f"`{json.dumps(node['default'])}`" if "default" in node else "none"
