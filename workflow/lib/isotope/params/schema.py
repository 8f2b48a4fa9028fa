"""The schema of params.yaml, and what it refuses as one sentence: key, value, what is allowed.

The classes of the phases and of the kinds make the schema; workflow/schemas/params.schema.yaml is
written from them, for editors and for people.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from isotope.core.errors import BadParams
from isotope.params.root import written_class

FILE = Path("workflow/schemas/params.schema.yaml")
Node = Mapping[str, Any]
_LONGEST = 120
_FILLS = ("name", "root", "snapshots")
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


@cache
def schema() -> dict[str, Any]:
    """Return the JSON schema of params.yaml."""
    whole = written_class().model_json_schema()
    named = {name: _plain(node) for name, node in sorted(whole.pop("$defs").items())}
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "params.yaml"}
    return {**draft, **_plain(whole), "$defs": named}


def text() -> str:
    """Return the schema as the project keeps it, in YAML: a line a key."""
    note = "# Written by `python docs/parameters.py` from the classes of the phases and kinds.\n"
    return note + yaml.dump(
        schema(), Dumper=_Lines, sort_keys=False, allow_unicode=True, width=9999
    )


class _Lines(yaml.SafeDumper):
    """Writes what has no parts on one line."""

    def represent_mapping(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, tag: str, mapping: Mapping[str, Any], flow_style: bool | None = None
    ) -> yaml.MappingNode:
        """Return the node of a mapping."""
        parts = {"properties", "oneOf", "$defs", "additionalProperties", "items"}
        flat = "type" in mapping and not any(isinstance(mapping.get(k), dict | list) for k in parts)
        return super().represent_mapping(tag, mapping, flow_style=flat or flow_style)

    def ignore_aliases(self, data: object) -> bool:
        """Write every part where it stands."""
        return True


def _plain(node: Any) -> Any:  # noqa: ANN401
    """Return a node without what pydantic adds: titles, types of constants, unions with null."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, Mapping):
        return node
    rule: dict[str, Any] = {
        k: v for k, v in cast(Node, node).items() if k not in ("title", "discriminator")
    }
    if "discriminator" in node:
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


class Refusal(NamedTuple):
    """Where in the params, what was found there, and what to do about it."""

    path: tuple[str | int, ...]
    found: str
    remedy: str


def demand_types(config: object) -> None:
    """Check what has to hold before placeholders are filled in: types, and what fills them in.

    Raises:
        BadParams: the first value of another type; a bad `name`, `root` or `snapshots`.
    """
    _refuse(config, lambda e: _is_type(e) or {*e["loc"]} & {*_FILLS})


def validate(params: object) -> None:
    """Check against the classes; the error names the key and, for a typo, the likely one.

    Raises:
        BadParams: the first violation: a key that nothing knows before any other, as a typo makes
            others follow.
    """
    _refuse(params, lambda _: True)


def _is_type(error: ErrorDetails) -> bool:
    return error["type"].endswith("_type") or error["type"] == "finite_number"


def _refuse(params: object, counts: Callable[[ErrorDetails], object]) -> None:
    try:
        written_class().of_plain(params)
    except ValidationError as error:
        words = _Words(schema(), params)
        refusals = [
            (each["type"] != "extra_forbidden", words.refusal(each))
            for each in error.errors(include_url=False)
            if counts(each)
        ]
        if refusals:
            _, first = min(refusals, key=lambda each: (each[0], place(each[1].path)))
            where = f"params {place(first.path)}".rstrip()
            raise BadParams(where, first.found, first.remedy) from None


def place(path: Iterable[str | int]) -> str:
    """Return a key's path as people write it: `score.measures[1]`."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return "".join(parts).removeprefix(".")


def suggest(name: str, names: Iterable[str]) -> str:
    """Return what to write in place of an unknown name: the likely one, and all that are known."""
    ordered = sorted(set(names))
    near = difflib.get_close_matches(name, ordered, n=1)
    choices = f"known: {', '.join(ordered) or 'none'}"
    return f"did you mean {near[0]!r}? ({choices})" if near else choices


def excerpt(value: object) -> str:
    """Return a value as an error cites it, cut where it is long."""
    text = str(value) if type(value).__name__ in ("date", "datetime") else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class _Words:
    """Puts errors into words; the schema says what is allowed instead."""

    def __init__(self, schema: Node, params: object) -> None:
        self._schema, self._params = schema, params
        self._definitions: Node = schema["$defs"]

    def refusal(self, error: ErrorDetails) -> Refusal:
        """Return what to tell of an error."""
        path, node, is_key = self._place(error["loc"])
        kind, value = error["type"], error["input"]
        if not is_key and kind != "missing":
            value = self._value(path)
        if kind == "extra_forbidden":
            keys = self._rule(self._place(error["loc"][:-1])[1]).get("properties", {})
            key = str(path[-1])
            return Refusal(path, f"no such key (its value: {excerpt(value)})", suggest(key, keys))
        if kind == "missing":
            return self._missing_key(path[:-1], str(path[-1]), cast("Node", value))
        if kind == "either":
            return _either(path, cast("Node", value), self._rule(node)["oneOf"])
        if kind == "needs":
            needs = cast("Mapping[str, list[str]]", self._rule(node)["dependentRequired"])
            lacking = next(k for key in needs if key in value for k in needs[key] if k not in value)
            return self._missing_key(path, lacking, cast("Node", value))
        if kind.startswith("union_tag") and "kind" in self._rule(node).get("required", ()):
            return self._no_kind(path, cast("Node", value), self._rule(node)["oneOf"])
        return self._plain(path, self._rule(node), error, is_key=is_key)

    def _place(self, loc: Iterable[str | int]) -> tuple[tuple[str | int, ...], Node, bool]:
        """Return the key's path, its node, and whether the key itself is wrong."""
        path: list[str | int] = []
        node, above = self._schema, self._schema
        for part in loc:
            rule = self._rule(node)
            if part == "[key]":
                return tuple(path), self._rule(above)["propertyNames"], True
            if "oneOf" in rule and "properties" not in rule:
                node = next(b for b in rule["oneOf"] if part in self._tags(b).values())
                continue
            path.append(part)
            above = node
            node = self._child(rule, part)
        return tuple(path), node, False

    def _value(self, path: Iterable[str | int]) -> Any:  # noqa: ANN401
        """Return the value at a key as it was read."""
        value: Any = self._params
        for part in path:
            value = value[part]
        return value

    def _tags(self, branch: Node) -> dict[str, object]:
        """Return what tells the branch of a union: its kind, or its type."""
        rule = self._rule(branch)
        kind = rule.get("properties", {}).get("kind", {}).get("const")
        return {"kind": kind} if kind else {"type": rule.get("type")}

    def _plain(
        self, path: tuple[str | int, ...], rule: Node, error: ErrorDetails, *, is_key: bool
    ) -> Refusal:
        kind = error["type"]
        value = error["input"] if is_key else self._value(path)
        allowed = f"give {self.allowed(rule)}{_hint(value, rule)}"
        if is_key:
            return Refusal(path, f"{excerpt(value)} can't be a name here", allowed)
        if kind == "literal_error":
            choices = map(str, cast("list[object]", rule.get("enum") or [rule["const"]]))
            found = f"{excerpt(value)} is none of what is known"
            return Refusal(path, found, suggest(str(value), choices))
        return Refusal(path, f"{excerpt(value)} {_fault(error, rule)}", allowed)

    def _missing_key(self, path: tuple[str | int, ...], key: str, value: Node) -> Refusal:
        above = self._node(path)
        rule = self._rule(above.get("properties", {}).get(key, {}))
        allowed = f": {self.allowed(rule)}" if rule else ""
        return Refusal(path, f"no key {key!r} in {excerpt(value)}", f"add {key!r}{allowed}")

    def _node(self, path: Iterable[str | int]) -> Node:
        """Return the rule at a path; values tell which branch of a union is meant."""
        node, value = self._schema, cast("Any", self._params)
        for part in path:
            node, value = self._child(self._branch(node, value), part), value[part]
        return self._branch(node, value)

    def _branch(self, node: Node, value: object) -> Node:
        rule = self._rule(node)
        if "properties" in rule or "oneOf" not in rule or not isinstance(value, Mapping):
            return rule
        entries = cast("Mapping[str, object]", value)
        tags = {"kind": entries["kind"]} if "kind" in entries else {"type": "object"}
        branches = map(self._rule, rule["oneOf"])
        return next((b for b in branches if tags.items() <= self._tags(b).items()), rule)

    def _child(self, rule: Node, part: str | int) -> Node:
        each = rule.get("items" if rule.get("type") == "array" else "additionalProperties")
        return rule.get("properties", {}).get(part, each) or {}

    def _no_kind(
        self, path: tuple[str | int, ...], value: Node, branches: Sequence[Node]
    ) -> Refusal:
        kinds = [str(self._tags(branch)["kind"]) for branch in branches]
        if "kind" not in value:
            choices = ", ".join(sorted(kinds))
            return Refusal(
                path, f"no key 'kind' in {excerpt(value)}", f"add 'kind', one of {choices}"
            )
        found = f"unknown kind {excerpt(value['kind'])}"
        return Refusal((*path, "kind"), found, suggest(str(value["kind"]), kinds))

    def _rule(self, node: Any) -> Node:  # noqa: ANN401
        if not isinstance(node, Mapping):
            return {}
        rule = cast(Node, node)
        if "$ref" in rule:
            return {**self._definitions[rule["$ref"].rpartition("/")[2]], **rule}
        return rule

    def allowed(self, node: Node) -> str:
        """Return what a rule takes, in words."""
        rule = self._rule(node)
        if "const" in rule:
            return str(rule["const"])
        if "enum" in rule:
            return f"one of {', '.join(map(str, rule['enum']))}"
        if "type" not in rule:
            branches = rule.get("oneOf", ())
            return " or ".join(map(self.allowed, branches)) or _pattern(rule) or "another value"
        kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
        return " or ".join(self._of_type(kind, rule) for kind in kinds)

    def _of_type(self, kind: str, rule: Node) -> str:
        if kind == "array":
            return f"{_sized('a list', rule, 'Items')} of {self.allowed(rule['items'])}"
        if kind == "object":
            keys = ", ".join(rule.get("properties", {}))
            return _sized("a mapping", rule, "Properties") + (
                f" with keys of {keys}" if keys else ""
            )
        if kind == "string":
            return _pattern(rule) or ("text that is not empty" if rule.get("minLength") else "text")
        bounds = [f", {word} {rule[key]}" for key, word in _BOUNDS.items() if key in rule]
        return _TYPES[kind] + ("".join(bounds) if kind in ("integer", "number") else "")


def _either(path: tuple[str | int, ...], value: Node, branches: Sequence[Node]) -> Refusal:
    keys = [key for branch in branches for key in branch["required"]]
    both = [key for key in keys if key in value]
    found = f"{' and '.join(both) or 'none'} of {', '.join(keys)}"
    return Refusal(path, f"{found} in {excerpt(value)}", "give exactly one of them")


def _fault(error: ErrorDetails, rule: Node) -> str:
    """Return what is wrong with a value, in words that do not cite it."""
    kind = error["type"]
    if _is_type(error) and not kind.startswith("union_tag"):
        return f"is not of type {_named(rule.get('type', 'object'))}"
    words = {
        "union_tag_not_found": "is of no type that is known here",
        "union_tag_invalid": "is of no type that is known here",
        "string_pattern_mismatch": "can't be a value here",
        "too_short": "has too few keys" if rule.get("type") == "object" else "is too short",
        "too_long": "is too long",
        "string_too_short": "is too short",
        "unique": "has an item twice",
        "few_keys": "has too few keys",
        "many_keys": "has too many keys",
    }
    return words.get(kind, "is out of bounds")


def _named(kinds: object) -> str:
    listed = cast(list[str], kinds) if isinstance(kinds, list) else [str(kinds)]
    return " or ".join(map(repr, listed))


def _hint(value: object, rule: Node) -> str:
    """Return what YAML made of a value that looks right: text of 1e-5, false of no."""
    kinds = _named(rule.get("type", ""))
    if isinstance(value, str) and ("number" in kinds or "integer" in kinds):
        return _number_hint(value)
    if "string" in kinds and not isinstance(value, str | list | Mapping) and value is not None:
        return ", in quotes"
    return ""


def _number_hint(value: str) -> str:
    try:
        float(value)
    except ValueError:
        return ""
    in_e = "e" in value.lower()
    return "; YAML takes 1e-5 for text: write 1.0e-5" if in_e else ", without quotes"


def _sized(what: str, rule: Node, of: str) -> str:
    least, most = rule.get(f"min{of}"), rule.get(f"max{of}")
    noun = "items" if of == "Items" else "keys"
    if least is not None and least == most:
        return f"{what} of {least} {noun}"
    bounds = [f"at least {least} {noun}"] * bool(least) + [f"at most {most} {noun}"] * bool(most)
    unique = ["each once"] * bool(rule.get("uniqueItems"))
    return " ".join([what, *([f"({', '.join([*bounds, *unique])})"] if bounds or unique else [])])


def _pattern(rule: Node) -> str:
    return f"text that matches {rule['pattern']}" if "pattern" in rule else ""
