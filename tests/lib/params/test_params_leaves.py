"""Every leaf of the schema, with a value that it can't take: one sentence names key and remedy."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from isotope.cli import schema
from isotope.core.errors import BadParams
from isotope.params import messages, resolve, root

ROOT = Path(__file__).parents[3]
RULES: dict[str, Any] = schema.schema()
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
STRANGER = "stranger"
OTHERS = "types that the other branches of a union take"
# A name for what the user names: as the schema's own patterns allow it.
NAMED = "x"
# Bounds, and how far beyond them a value is tried.
BOUNDS = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
WRONG = {
    "string": [7],
    "integer": ["many", 1.5, True],
    "number": ["high", True, float("nan"), float("inf")],
    "boolean": ["maybe"],
    "array": ["alone"],
    "object": ["flat"],
}


class Leaf(NamedTuple):
    """A rule of the schema, the keys above it, and what stands beside each of them."""

    path: tuple[str | int, ...]
    rule: dict[str, Any]
    around: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Its place, with the kind of the union that it stands in."""
        kinds = [str(beside["kind"]) for beside in self.around if "kind" in beside]
        return ":".join([messages.dotted(self.path), *kinds])


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    named = RULES["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else {}
    return {**named, **{k: v for k, v in node.items() if k != "$ref"}}


def example(node: dict[str, Any]) -> Any:
    """Return the least value that a rule takes."""
    rule = resolved(node)
    if "const" in rule or "enum" in rule:
        return rule.get("const", rule.get("enum", [None])[0])
    if "type" not in rule:
        return example(rule["oneOf"][0])
    kind = rule["type"] if isinstance(rule["type"], str) else rule["type"][0]
    if kind in ("object", "array", "boolean"):
        return least(rule) if kind == "object" else items(rule) if kind == "array" else True
    if kind in ("integer", "number"):
        low = rule.get("minimum", rule.get("exclusiveMinimum", 0))
        top = rule.get("maximum", rule.get("exclusiveMaximum", low + 2))
        return low if kind == "integer" else (low + top) / 2
    return text(rule)


def text(rule: dict[str, Any]) -> str:
    for guess in ("x", "en", "20230101", "http://h", *("0" * n for n in (32, 40, 64))):
        if re.search(rule.get("pattern", ""), guess):
            return guess
    raise AssertionError(rule)


def items(rule: dict[str, Any]) -> list[Any]:
    of, count = resolved(rule["items"]), rule.get("minItems", 0)
    if rule.get("uniqueItems") and "enum" not in of and of.get("type") == "string":
        return [f"{text(of)}{n}" for n in range(count)]
    return of["enum"][:count] if "enum" in of else [example(of) for _ in range(count)]


def least(rule: dict[str, Any]) -> dict[str, Any]:
    needed = [*rule.get("required", ()), *rule.get("oneOf", [{}])[0].get("required", ())]
    made = {
        k: example(rule["properties"][k]) for k in dict.fromkeys(needed) if k in rule["properties"]
    }
    if len(made) < rule.get("minProperties", 0):
        each: dict[Any, Any] = rule.get("properties", {})
        each = each or dict.fromkeys((0, 1), rule["additionalProperties"])
        names = list(each)[: rule["minProperties"]]
        made |= {k: example(each[k]) for k in names}
    return made


def walk(
    node: dict[str, Any], path: tuple[str | int, ...], around: tuple[Any, ...]
) -> Iterator[Leaf]:
    rule = resolved(node)
    if "properties" not in rule and "oneOf" in rule:
        for branch in alternatives(rule):
            yield from walk(branch, path, around)
        return
    if "const" not in rule:
        yield Leaf(path, rule, around)
    for key, child in rule.get("properties", {}).items():
        yield from walk(child, (*path, key), (*around, beside(key, rule)))
    each = rule.get("additionalProperties")
    if isinstance(each, dict):
        name, more = ("0", {"1": "x"}) if path[-1] == "scale" else (NAMED, {})
        yield from walk(each, (*path, name), (*around, more))
    if "items" in rule:
        yield from walk(rule["items"], (*path, 0), (*around, items(rule)))


def alternatives(rule: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the branches of a union: with their kind, or with the types of the others."""
    for branch in map(resolved, rule["oneOf"]):
        if "kind" in branch.get("properties", {}):
            yield {**branch, "type": "object", "required": ["kind", *branch.get("required", ())]}
        else:
            others = [resolved(b)["type"] for b in rule["oneOf"]]
            yield {**branch, OTHERS: [kind for kind in others if kind != branch["type"]]}


def beside(key: str, rule: dict[str, Any]) -> dict[str, Any]:
    """Return what stands beside a key: what is needed, but not what excludes it."""
    needs = rule.get("dependentRequired", {}).get(key, ())
    either = [b["required"][0] for b in rule.get("oneOf", ()) if "properties" not in b]
    excluded = {*rule["properties"]} - {*rule.get("required", ())}
    if not (rule.get("maxProperties") == 1 or {key, *needs} & {*either}):
        excluded = set[str]()
    found = {k: v for k, v in least(rule).items() if k not in excluded}
    return found | {k: example(rule["properties"][k]) for k in needs}


def leaves() -> list[Leaf]:
    found = [leaf for key, rule in RULES["properties"].items() for leaf in walk(rule, (key,), ())]
    return [leaf for leaf in found if leaf.path]


LEAVES = leaves()


def overlay(leaf: Leaf, value: object) -> dict[str, Any]:
    """Return the default params with `value` at a leaf, and around it what must be there."""
    config = copy.deepcopy(CONFIG)
    made: Any = value
    for key, beside in zip(reversed(leaf.path[1:]), reversed(leaf.around), strict=True):
        made = [made, *beside[1:]] if isinstance(key, int) else {**beside, key: made}
    top = str(leaf.path[0])
    if isinstance(made, dict) and isinstance(config.get(top), dict):
        config[top] = {**config[top], **made}
    else:
        config[top] = made
    return config


def wrong(rule: dict[str, Any]) -> Iterator[object]:
    """Yield values of another type, then those that are out of bounds or of no known name."""
    kinds = rule["type"] if isinstance(rule.get("type"), list) else [rule.get("type", "string")]
    if "enum" in rule:
        yield from ([STRANGER], STRANGER, f"{rule['enum'][0]}s")
    elif "integer" in kinds and "string" in kinds:
        yield [STRANGER]
    else:
        yield from WRONG[kinds[0]]
        yield {"a": 1} if kinds[0] != "object" else [1]
    if "null" not in kinds:
        yield None
    yield from beyond(rule)


def fits(value: object, kinds: list[str]) -> bool:
    types = {"string": str, "object": dict, "array": list, "integer": int, "number": (int, float)}
    return any(isinstance(value, types[kind]) for kind in kinds)


def beyond(rule: dict[str, Any]) -> Iterator[object]:
    if "minimum" in rule:
        yield rule["minimum"] - 1
    if "maximum" in rule:
        yield rule["maximum"] + 1
    if "exclusiveMinimum" in rule:
        yield rule["exclusiveMinimum"]
    if "exclusiveMaximum" in rule:
        yield rule["exclusiveMaximum"]
    if "pattern" in rule:
        yield " ;, "
    if rule.get("minLength"):
        yield ""
    if rule.get("minItems"):
        yield []
    if "properties" in rule:
        yield {**least(rule), STRANGER: 1}


def refused(config: dict[str, Any], leaf: Leaf) -> BadParams:
    """Return what is said of a leaf, whatever else is wrong with the values around it."""
    with pytest.raises(BadParams):
        resolve.resolve(config)
    errors = (e for e in errors_of(config) if path_of(e, config) == leaf.path or is_of_type(e))
    return messages.as_error(errors, config)


def errors_of(config: dict[str, Any]) -> list[ErrorDetails]:
    """Return what pydantic says of params."""
    try:
        root.params_class().of_plain(config)
    except ValidationError as error:
        return error.errors()
    return []


def is_of_type(error: ErrorDetails) -> bool:
    """Tell whether a type refuses a value, and not a check of what stands beside it."""
    return error["type"] != "refused"


def path_of(error: ErrorDetails, config: dict[str, Any]) -> tuple[str | int, ...]:
    return messages.key_path(error["loc"], config)


def test_the_walk_meets_every_key_of_the_schema():
    keys = {key for leaf in LEAVES for key in leaf.path if isinstance(key, str)}

    def named(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (
                node.get("properties", {}) if isinstance(node.get("properties"), dict) else ()
            )
        for child in (
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        ):
            yield from named(child)

    assert set(named(RULES)) - keys == {"kind"} - keys
    assert len(LEAVES) > 300


@pytest.mark.parametrize("top", RULES["properties"])
def test_what_stands_around_a_leaf_is_as_the_schema_wants_it(top):
    for leaf in LEAVES:
        if leaf.path[0] == top:
            errors = errors_of(overlay(leaf, example(leaf.rule)))
            assert not [error for error in errors if is_of_type(error)]


@pytest.mark.parametrize("leaf", LEAVES, ids=[leaf.name for leaf in LEAVES])
def test_a_leaf_with_a_wrong_value_is_named_with_the_value_and_what_is_allowed(leaf):
    for value in wrong(leaf.rule):
        if fits(value, leaf.rule.get(OTHERS, [])):
            continue
        error = refused(overlay(leaf, value), leaf)
        assert "any of the given schemas" not in str(error)
        where = f"params {messages.dotted(leaf.path)}"
        added = isinstance(value, dict) and STRANGER in value
        assert error.where == (f"{where}.{STRANGER}" if added else where), value
        assert messages.excerpt(1 if added else value) in error.problem
        assert len(str(error).splitlines()) == 1
        for known in leaf.rule.get("enum", ()):
            assert str(known) in error.remedy
        for bound, moved in BOUNDS.items():
            if (
                bound in leaf.rule
                and type(value) is type(leaf.rule[bound])
                and value == leaf.rule[bound] + moved
            ):
                assert str(leaf.rule[bound]) in error.remedy
