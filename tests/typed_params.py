"""Params are objects outside `params/`: no plain mapping holds them, and nobody reads them by key.

    python tests/typed_params.py

A part of `make lint`. NAMES are kept for params, whatever mapping else a file has: what bears one
of them is annotated with a class of the params, and has no literal key. A function that a rule
calls has no parameter that is a mapping of anything, since what a rule gives it beside paths comes
from params.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
NAMES = frozenset({"params", "spec", "entry", "settings"})
_LIBRARY, _PLUGINS = Path("workflow/lib/isotope"), Path("workflow/plugins")
# The params of a query are its `$names`.
_OF_QUERIES = Path("core/sql.py")
_MAPPINGS = frozenset({"Mapping", "MutableMapping", "dict"})
_ANYTHING = frozenset({"Any", "object"})
_CALL = re.compile(r'"([a-z_0-9.]+):([a-z_0-9]+)"')
_KEY_IN_RULE = re.compile(rf"\b(?:{'|'.join(sorted(NAMES))})(?:\[|\.get\()\"")


class Fault(NamedTuple):
    """A line that treats params as a plain mapping."""

    file: Path
    line: int
    found: str


def faults(root: Path = ROOT) -> list[Fault]:
    """Return every fault of the library and of the rules below `root`, sorted."""
    library, plugins = root / _LIBRARY, root / _PLUGINS
    rules = [*(root / "workflow/rules").glob("*.smk"), *plugins.glob("*/rules/*.smk")]
    modules = [*library.rglob("*.py"), *plugins.glob("*/[!t]*.py"), *plugins.glob("*/[!t]*/*.py")]
    trees = {file: ast.parse(file.read_text("utf-8")) for file in sorted(modules)}
    places = {file: library if library in file.parents else plugins for file in trees}
    aliases = {_module(f.relative_to(places[f])): _aliases(tree) for f, tree in trees.items()}
    callers = [*rules, *(file for file in trees if {"plan", "kinds"} & {*file.parts})]
    called = {call for file in callers for call in _CALL.findall(file.read_text("utf-8"))}
    of_rules = {
        (place / f"{module.replace('.', '/')}.py", name)
        for module, name in called
        for place in (library, plugins)
    }
    # A plug-in has its section of the params in a module of this name.
    own = [*plugins.glob("*/params.py")]
    found = [
        Fault(file.relative_to(root), line, what)
        for file, tree in trees.items()
        if library / "params" not in file.parents and file not in (library / _OF_QUERIES, *own)
        for line, what in _of_module(
            tree, {name for of, name in of_rules if of == file}, _known(tree, aliases)
        )
    ]
    for file in [root / "Snakefile", *rules]:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if key := _KEY_IN_RULE.search(line):
                found.append(Fault(file.relative_to(root), number, f"a key is read: {key[0]}"))
    return sorted(found)


def _of_module(
    tree: ast.Module, of_rules: set[str], aliases: frozenset[str]
) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        for name, hint in _annotated(node):
            if name in NAMES and _is_plain(hint, aliases):
                yield hint.lineno, f"{name} is {ast.unparse(hint)}"
        if isinstance(node, ast.FunctionDef) and node.name in of_rules:
            for name, hint in _annotated(node):
                if name not in NAMES and _has_plain_mapping(hint, aliases):
                    yield hint.lineno, f"a rule gives {name}, which is {ast.unparse(hint)}"
        if (read := _read_by_key(node)) is not None and _last_name(read) in NAMES:
            yield read.lineno, f"a key is read: {ast.unparse(node)}"


def _annotated(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a function, or the one annotated variable, with their annotation."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        of = node.args
        for arg in (*of.posonlyargs, *of.args, *of.kwonlyargs):
            if arg.annotation is not None:
                yield arg.arg.lstrip("_"), _unquoted(arg.annotation)
    if isinstance(node, ast.AnnAssign):
        yield _last_name(node.target), _unquoted(node.annotation)


def _unquoted(hint: ast.expr) -> ast.expr:
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
        return ast.copy_location(ast.parse(hint.value, mode="eval").body, hint)
    return hint


def _last_name(node: ast.expr) -> str:
    """Return the name of a variable or an attribute, without underscores before it."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return str(name).lstrip("_")


def _read_by_key(node: ast.AST) -> ast.expr | None:
    """Return what is read by a literal key: `x` of `x["k"]` and of `x.get("k")`."""
    if isinstance(node, ast.Subscript) and _is_text(node.slice):
        return node.value
    if isinstance(node, ast.Call) and node.args and _is_text(node.args[0]):
        got = node.func
        return got.value if isinstance(got, ast.Attribute) and got.attr == "get" else None
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_plain(hint: ast.expr, aliases: frozenset[str]) -> bool:
    """Tell whether what has this annotation may be plain data."""
    is_anything = isinstance(hint, ast.Name) and hint.id in _ANYTHING
    return is_anything or _has_plain_mapping(hint, aliases)


def _has_plain_mapping(hint: ast.expr, aliases: Iterable[str]) -> bool:
    """Tell whether an annotation is, or has within it, a mapping to anything."""
    return any(
        (isinstance(node, ast.Name) and node.id in aliases)
        or (
            isinstance(node, ast.Subscript)
            and _last_name(node.value) in _MAPPINGS
            and isinstance(node.slice, ast.Tuple)
            and isinstance(value := node.slice.elts[-1], ast.Name)
            and value.id in _ANYTHING
        )
        for node in ast.walk(hint)
    )


def _aliases(tree: ast.Module) -> frozenset[str]:
    """Return the names that a module gives to mappings of anything."""
    named = (node for node in tree.body if isinstance(node, ast.Assign))
    return frozenset(
        _last_name(target)
        for node in named
        if _has_plain_mapping(node.value, ())
        for target in node.targets
    )


def _known(tree: ast.Module, aliases: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return such names as a module gives or imports."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = (
        name.asname or name.name
        for node in imports
        for name in node.names
        if name.name in aliases.get(node.module or "", ())
    )
    return _aliases(tree) | {*imported}


def _module(file: Path) -> str:
    return ".".join(("isotope", *file.with_suffix("").parts)).removesuffix(".__init__")


def main() -> int:
    """Print every fault."""
    said = [
        f"{file}:{line}: {what}; give it a class of isotope.params\n"
        for file, line, what in faults()
    ]
    sys.stdout.write("".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
