"""Every key of params.yaml in words, from its schema and from the code that has the defaults."""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from isotope.core import lucene
from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.index import dense
from isotope.models.kinds.dates import DatesRecipe
from isotope.params.recipes import HeadsRecipe, Means, MixRecipe, Recipe
from isotope.search import fuse
from isotope.toy import snapshot

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


def parameters(chosen: Sequence[str], schema_file: Path) -> list[Parameter]:
    """Describe top-level keys and all below them; `models:hash` chooses one kind of a key.

    Raises:
        BadParams: a key that the schema lacks.
    """
    schema = yaml.safe_load(schema_file.read_text(encoding="utf-8"))
    walk = _Walk(schema["$defs"])
    found: list[Parameter] = []
    for word in chosen:
        key, _, kind = word.partition(":")
        if key not in schema["properties"]:
            raise BadParams("<!-- parameters -->", f"no key {key!r}", f"see {schema_file}")
        need = "required" if key in schema["required"] else ""
        rows = walk.rows(key, schema["properties"][key], need=need, kind=kind)
        found += [row for row in rows if "." in row.key or row not in found]
    return found


class _Walk:
    """Walks a schema depth first; `$defs` are the parts that it refers to."""

    def __init__(self, definitions: Node) -> None:
        self._definitions = definitions

    def rows(self, key: str, node: Node, *, need: str, kind: str) -> Iterator[Parameter]:
        """Yield the row of a node and those below it, of alternatives only those of `kind`."""
        node = self._resolved(node)
        yield Parameter(key, self._kind(node), need or _default(key, node), self._told(node))
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
        for branch in node.get("oneOf", ()):
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


def _default(key: str, node: Node) -> str:
    known = {**_in_code(), **({key: node["default"]} if "default" in node else {})}
    return f"`{json.dumps(known[key])}`" if key in known else "none"


@cache
def _in_code() -> dict[str, object]:
    """Return the defaults that no schema states, from the functions that have them."""
    learned = {**Recipe().values(), **Means().values()}
    recipe = {f"models.<model>.train.{k}": v for k, v in learned.items()}
    heads = {f"models.<model>.heads.{k}": v for k, v in HeadsRecipe().values().items()}
    mix = {f"models.<model>.learn.{k}": v for k, v in MixRecipe().values().items()}
    near = {f"systems.<system>.{k}": v for k, v in dense.DEFAULTS.items()}
    made = {f"acquire.<source>.generate.{k}": v for k, v in _signature(snapshot.generate).items()}
    bm25 = lucene.Bm25()
    return {
        **recipe,
        **heads,
        **mix,
        **near,
        **made,
        **{f"models.<model>.{k}": v for k, v in DatesRecipe().values().items()},
        "models.<model>.train.seed": 0,
        "models.<model>.revision": None,
        "models.<model>.top": 10,
        "models.<model>.fields": FIVE_FIELDS,
        "models.<model>.pretrained": None,
        "systems.<system>.seed": 0,
        "systems.<system>.k1": bm25.k1,
        "systems.<system>.b": bm25.b,
        "systems.<system>.fields": FIVE_FIELDS,
        "systems.<system>.k": _signature(fuse.rrf)["k"],
    }


def _signature(function: Callable[..., object]) -> dict[str, object]:
    found = inspect.signature(function).parameters.items()
    return {name: p.default for name, p in found if p.default is not inspect.Parameter.empty}
