"""What the params refuse, as one sentence: the key, its value, what is allowed, and file and line.

What is allowed are pydantic's own words, or those of the class that refuses (`refuse`).
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic_core import ErrorDetails, PydanticCustomError

from isotope.core.errors import BadParams, IsotopeError
from isotope.intake.yaml import yaml_node

KeyPath = tuple[str | int, ...]
_LONGEST = 120
# What a key of a file may hold in place of a part of its name.
_FILLED = re.compile(r"\\{(?:name|root|snapshot)\\}")


def refuse(problem: str, remedy: str) -> PydanticCustomError:
    """Return what a validator raises: what it has found, and what to do about it."""
    return PydanticCustomError("refused", "{found}", {"found": problem, "remedy": remedy})


def refuse_key(key: str, value: object, remedy: str) -> PydanticCustomError:
    """Return what a validator raises for a key below its own."""
    problem = f"no such key (its value: {excerpt(value)})"
    return PydanticCustomError(
        "no_key", "{found}", {"key": key, "found": problem, "remedy": remedy}
    )


def dotted(path: Iterable[str | int]) -> str:
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


def as_error(errors: Iterable[ErrorDetails], params: object) -> BadParams:
    """Return the first of pydantic's errors, as a sentence.

    A key that nothing knows comes before any other, as a typo makes others follow.
    """
    _, where, problem, remedy = min((e["type"] != "no_key", *_sentence(e, params)) for e in errors)
    return BadParams(f"params {where}".rstrip(), problem, remedy)


def _sentence(error: ErrorDetails, params: object) -> tuple[str, str, str]:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    path = key_path(error["loc"], params)
    if "remedy" in context:
        below = (context["key"],) if "key" in context else ()
        return dotted((*path, *below)), context["found"], context["remedy"]
    if kind == "missing":
        key = str(error["loc"][-1])
        return dotted(path), f"no key {key!r} in {excerpt(value)}", f"add {key!r}"
    if kind == "kind":
        return _no_kind(path, value, context["kinds"])
    if error["loc"][-1:] == ("[key]",):
        return dotted(path), f"{excerpt(value)} can't be a name here", error["msg"]
    if kind == "literal_error":
        choices = [word.strip("'") for word in re.split(r", | or ", context["expected"])]
        return (
            dotted(path),
            f"{excerpt(value)} is none of what is known",
            suggest(str(value), choices),
        )
    types = context.get("expected_tags")
    message = re.sub(r"dictionary( or instance of \w+)?", "mapping", error["msg"])
    remedy = f"Input should be one of these types: {types}" if types else message
    return dotted(path), excerpt(value), f"{remedy}{_hint(value, kind)}"


def key_path(loc: KeyPath, value: Any) -> KeyPath:  # noqa: ANN401
    """Return the keys of an error's place, without the names of unions' branches."""
    path: list[str | int] = []
    for part in loc:
        is_item = isinstance(value, list) and isinstance(part, int)
        if is_item or (isinstance(value, Mapping) and part in value):
            path.append(part)
            value = cast("Any", value)[part]
    return tuple(path)


def _no_kind(path: KeyPath, value: Any, kinds: Sequence[str]) -> tuple[str, str, str]:  # noqa: ANN401
    if not isinstance(value, Mapping):
        return dotted(path), excerpt(value), "Input should be a mapping with a key 'kind'"
    if "kind" not in value:
        remedy = f"add 'kind', one of {', '.join(sorted(kinds))}"
        return dotted(path), f"no key 'kind' in {excerpt(value)}", remedy
    name = cast("object", value["kind"])
    return dotted((*path, "kind")), f"unknown kind {excerpt(name)}", suggest(str(name), kinds)


def _hint(value: object, kind: str) -> str:
    """Return what YAML made of a value that looks right: text of 1e-5, false of no."""
    if kind == "string_type" and not isinstance(value, list | Mapping) and value is not None:
        return ": put it in quotes"
    if isinstance(value, str) and kind in ("float_type", "int_type"):
        try:
            float(value)
        except ValueError:
            return ""
        is_short = "e" in value.lower()
        return ": YAML takes 1e-5 for text, write 1.0e-5" if is_short else ": leave out the quotes"
    return ""


@contextmanager
def located(files: Sequence[Path], overrides: Collection[str] = ()) -> Iterator[None]:
    """Add to what is refused the file and line that has the key, or the nearest one above it.

    Of several files the last that has it counts, as it is laid over the others; `overrides` are the
    top-level keys that `--config` has set.

    Raises:
        BadParams: what was refused.
    """
    try:
        yield
    except BadParams as error:
        key = error.where.removeprefix("params ")
        is_key = error.where.startswith("params ")
        line = "--config" if key in overrides else _line(key, files) if is_key else ""
        remedy = f"{error.remedy} ({line})" if line else error.remedy
        raise BadParams(error.where, error.problem, remedy) from error.__cause__


def _line(key: str, files: Sequence[Path]) -> str:
    best = 0, ""
    for file in files:
        try:
            node = yaml_node(file.read_text(encoding="utf-8"), file)
        except (OSError, UnicodeDecodeError, IsotopeError):
            continue
        left, mark = _nearest(node, f".{key}", None) if node else ("", None)
        if mark is not None and len(key) - len(left) >= best[0]:
            best = len(key) - len(left), f"{file}:{mark.line + 1}"
    return best[1]


def _nearest(
    node: yaml.Node, remainder: str, mark: yaml.Mark | None
) -> tuple[str, yaml.Mark | None]:
    """Return what is left of a key's path where a file stops saying it, and the mark there."""
    if isinstance(node, yaml.MappingNode):
        for key, value in sorted(node.value, key=lambda pair: -len(str(pair[0].value))):
            pattern = _FILLED.sub(".+?", re.escape(str(key.value)))
            if match := re.match(rf"\.{pattern}(?=[.\[]|$)", remainder):
                return _nearest(value, remainder[match.end() :], key.start_mark)
    if isinstance(node, yaml.SequenceNode) and (match := re.match(r"\[(\d+)\]", remainder)):
        # An item that is repeated for each snapshot moves the others.
        moved = any("{snapshot}" in str(item.value) for item in node.value)
        if not moved and int(match[1]) < len(node.value):
            item = node.value[int(match[1])]
            return _nearest(item, remainder[match.end() :], item.start_mark)
    return remainder, mark
