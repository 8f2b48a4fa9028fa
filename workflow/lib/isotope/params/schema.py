"""What the schema of params.yaml refuses, as one sentence: key, value, and what is allowed."""

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from isotope.core.errors import BadParams

Node = Mapping[str, Any]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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


def _is_finite(_: object, value: object) -> bool:
    return _NUMBERS.is_type(value, "number") and math.isfinite(cast(float, value))


# No bound catches what is infinite, or no number at all.
_NUMBERS = Draft202012Validator.TYPE_CHECKER
_TYPE_CHECKER = _NUMBERS.redefine("number", _is_finite)
_Validator = extend(Draft202012Validator, type_checker=_TYPE_CHECKER)


class Refusal(NamedTuple):
    """Where in the params, what was found there, and what to do about it."""

    path: tuple[str | int, ...]
    found: str
    remedy: str


@cache
def schema_of(file: Path) -> dict[str, Any]:
    """Return the schema; a process reads it once."""
    return yaml.load(file.read_text(encoding="utf-8"), _LOADER)


def demand_types(config: object, schema: Node) -> None:
    """Check what has to hold before placeholders are filled in: types, and what fills them in.

    Raises:
        BadParams: the first value of another type; a bad `name`, `root` or `snapshots`.
    """
    _refuse(config, schema, lambda e: e.validator == "type" or {*e.path} & {*_FILLS})


def validate(params: object, schema: Node) -> None:
    """Check against the schema; the error names the key and, for a typo, the likely one.

    Raises:
        BadParams: the first violation: a key that nothing knows before any other, as a typo makes
            others follow.
    """
    _refuse(params, schema, lambda _: True)


def _refuse(params: object, schema: Node, counts: Callable[[ValidationError], object]) -> None:
    errors: Iterable[ValidationError] = _Validator(schema).iter_errors(params)
    leaves = [leaf for error in errors for leaf in _leaves(error) if counts(leaf)]
    if leaves:
        order = {e: (e.validator != "additionalProperties", place(e.absolute_path)) for e in leaves}
        found = _Words(schema.get("$defs", {})).refusal(min(leaves, key=order.__getitem__))
        raise BadParams(f"params {place(found.path)}".rstrip(), found.found, found.remedy)


def place(path: Iterable[str | int]) -> str:
    """Return a key's path as people write it: `score.measures[1]`."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return "".join(parts).removeprefix(".")


def suggest(found: str, known: Iterable[str]) -> str:
    """Return what to write in place of an unknown name: the likely one, and all that are known."""
    names = sorted(set(known))
    near = difflib.get_close_matches(found, names, n=1)
    choices = f"known: {', '.join(names) or 'none'}"
    return f"did you mean {near[0]!r}? ({choices})" if near else choices


def shown(value: object) -> str:
    """Return a value as an error cites it, cut where it is long."""
    text = str(value) if type(value).__name__ in ("date", "datetime") else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Yield what is wrong in the branch of a union that is meant: by its kind, or by its type."""
    branches = cast(list[Node], error.validator_value) if error.validator == "oneOf" else []
    meant = _meant(branches, error.instance)
    below = [e for e in error.context or () if e.schema_path[0] == meant]
    if meant is None or not below:
        yield error
        return
    for each in below:
        yield from _leaves(each)


def _meant(branches: Sequence[Node], value: object) -> int | None:
    kinds = [_kind(branch) for branch in branches]
    for i, (kind, branch) in enumerate(zip(kinds, branches, strict=True)):
        own = isinstance(value, Mapping) and value.get("kind") == kind
        if own if kind else "type" in branch and _is(value, branch["type"]):
            return i
    return None


def _kind(branch: Node) -> str | None:
    return branch.get("properties", {}).get("kind", {}).get("const")


def _is(value: object, kind: str) -> bool:
    return _TYPE_CHECKER.is_type(value, kind)


class _Words:
    """Puts the errors of a schema, and its rules, in words; `$defs` are what it refers to."""

    def __init__(self, definitions: Node) -> None:
        self._definitions = definitions
        self._by: dict[str, Callable[[ValidationError], Refusal]] = {
            "additionalProperties": self._unknown_key,
            "required": self._missing_key,
            "dependentRequired": self._missing_key,
            "propertyNames": self._bad_key,
            "pattern": self._bad_key,
            "oneOf": self._no_branch,
            "enum": self._none_of,
        }

    def refusal(self, error: ValidationError) -> Refusal:
        """Return what to tell of an error that is not a union's."""
        return self._by.get(str(error.validator), self._plain)(error)

    def _plain(self, error: ValidationError) -> Refusal:
        rule = self._rule(error.schema)
        remedy = f"give {self.allowed(rule)}{_hint(error.instance, rule)}"
        return Refusal(_path(error), _found(error), remedy)

    def _unknown_key(self, error: ValidationError) -> Refusal:
        given = cast(Mapping[str, object], error.instance)
        known = list(self._rule(error.schema).get("properties", {}))
        key = next(str(k) for k in given if k not in known)
        found = f"no such key (its value: {shown(given[key])})"
        return Refusal((*_path(error), key), found, suggest(key, known))

    def _missing_key(self, error: ValidationError) -> Refusal:
        given = cast(Mapping[str, object], error.instance)
        lacking = next(k for k in self._required(error, given) if k not in given)
        rule = self._rule(self._rule(error.schema).get("properties", {}).get(lacking, {}))
        allowed = f": {self.allowed(rule)}" if rule else ""
        found = f"no key {lacking!r} in {shown(given)}"
        return Refusal(_path(error), found, f"add {lacking!r}{allowed}")

    @staticmethod
    def _required(error: ValidationError, given: Mapping[str, object]) -> list[str]:
        if error.validator == "required":
            return cast(list[str], error.validator_value)
        needs = cast(Mapping[str, list[str]], error.validator_value)
        return [k for key, others in needs.items() if key in given for k in others]

    def _bad_key(self, error: ValidationError) -> Refusal:
        rule = self._rule(error.schema)
        key = "propertyNames" in [*error.schema_path]
        path = (*_path(error), str(error.instance)) if key else _path(error)
        what = f"{shown(error.instance)} can't be {'a name here' if key else 'a value here'}"
        return Refusal(path, what, f"give {self.allowed(rule)}{_hint(error.instance, rule)}")

    def _none_of(self, error: ValidationError) -> Refusal:
        if "propertyNames" in [*error.schema_path]:
            return self._bad_key(error)
        known = [str(v) for v in cast(list[object], error.validator_value)]
        found = f"{shown(error.instance)} is none of what is known"
        return Refusal(_path(error), found, suggest(str(error.instance), known))

    def _no_branch(self, error: ValidationError) -> Refusal:
        branches = [self._rule(b) for b in cast(list[Node], error.validator_value)]
        kinds = [kind for b in branches if (kind := _kind(b))]
        value, path = error.instance, _path(error)
        if kinds and isinstance(value, Mapping):
            return self._no_kind(path, cast(Mapping[str, object], value), kinds)
        if all("properties" not in b and "required" in b for b in branches) and isinstance(
            value, Mapping
        ):
            either = [k for b in branches for k in b["required"]]
            both = [k for k in either if k in value]
            found = f"{' and '.join(both) or 'none'} of {', '.join(either)}"
            return Refusal(path, f"{found} in {shown(value)}", "give exactly one of them")
        return self._plain(error)

    @staticmethod
    def _no_kind(
        path: tuple[str | int, ...], value: Mapping[str, object], kinds: Sequence[str]
    ) -> Refusal:
        if "kind" not in value:
            known = ", ".join(sorted(kinds))
            return Refusal(path, f"no key 'kind' in {shown(value)}", f"add 'kind', one of {known}")
        found = f"unknown kind {shown(value['kind'])}"
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


def _path(error: ValidationError) -> tuple[str | int, ...]:
    return tuple(error.absolute_path)


def _found(error: ValidationError) -> str:
    """Return the words of jsonschema for plain rules, which cite the value, but no long one."""
    words = {
        "type": f"{shown(error.instance)} is not of type {_named(error.validator_value)}",
        "oneOf": f"{shown(error.instance)} is of no type that is known here",
        "minItems": f"{shown(error.instance)} is too short",
        "maxItems": f"{shown(error.instance)} is too long",
        "uniqueItems": f"{shown(error.instance)} has an item twice",
        "minLength": f"{shown(error.instance)} is too short",
        "minProperties": f"{shown(error.instance)} has too few keys",
        "maxProperties": f"{shown(error.instance)} has too many keys",
    }
    return words.get(str(error.validator), f"{shown(error.instance)} is out of bounds")


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
