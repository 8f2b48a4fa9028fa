"""Which of our files a function depends on: Snakemake tracks a script, not what it imports.

The closure of a function is made of names, not of modules: what the function uses, what that uses,
and the files in which all of it stands. A module that is imported and not used does not count.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

LIBRARY = Path(__file__).parents[1]
_PACKAGE = "isotope"
# They shape messages and what a job may take, never tables.
_NEVER = {"core.errors", "core.memory", "core.progress"}
# Stands for all names of a module.
WHOLE = "*"


class Name(NamedTuple):
    """A top-level name of a module, or all of them."""

    module: str
    name: str = WHOLE


def path_of(module: str) -> Path:
    """Return the file of a module of isotope, `core.store` for `isotope.core.store`."""
    return LIBRARY / f"{module.replace('.', '/')}.py"


def closure(*roots: str) -> list[str]:
    """Return the files, below the library, that functions depend on, sorted.

    A root is `package.module:function`, or `package.module` for all that stands in it. Files are
    modules, what they start as programs (Java classes, `python -m isotope...`), and the files
    beside a module that its code names.

    Raises:
        FileNotFoundError: a root that is no module.
        KeyError: a module without such a name.
    """
    seen: set[Name] = set()
    waiting = [Name(*root.split(":")) for root in roots]
    for root in waiting:
        if root.name != WHOLE and root.name not in _read(root.module).nodes:
            raise KeyError(f"{root.module} has no {root.name}")
    files: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name.module in _NEVER:
            continue
        seen.add(name)
        found = _uses(name)
        files |= {path_of(name.module).relative_to(LIBRARY).as_posix(), *found.files}
        waiting += found.names
    return sorted(files)


class _Module(NamedTuple):
    """A module's statements by the names that they bind, and where imported names lead."""

    nodes: dict[str, list[ast.stmt]]
    imported: dict[str, Name]
    # Statements that bind nothing run whenever the module is imported.
    always: list[ast.stmt]


class _Uses(NamedTuple):
    names: list[Name]
    files: list[str]


@cache
def _read(module: str) -> _Module:
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    nodes: dict[str, list[ast.stmt]] = {}
    imported: dict[str, Name] = {}
    always: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imported |= _imports(statement)
            continue
        bound = list(_bound(statement))
        for name in bound:
            nodes.setdefault(name, []).append(statement)
        if not bound and not _is_text(statement):
            always.append(statement)
    return _Module(nodes, imported, always)


def _imports(statement: ast.Import | ast.ImportFrom) -> dict[str, Name]:
    """Return what of isotope a statement imports, by the name that it gets here."""
    if isinstance(statement, ast.Import):
        pairs = [(a.name, a.asname) for a in statement.names]
        return {
            own: Name(name.removeprefix(f"{_PACKAGE}."))
            for name, own in pairs
            if own and name.startswith(f"{_PACKAGE}.")
        }
    package, _, module = (statement.module or "").partition(".")
    if package != _PACKAGE:
        return {}
    found: dict[str, Name] = {}
    for alias in statement.names:
        inner = f"{module}.{alias.name}".removeprefix(".")
        leads = Name(inner) if path_of(inner).is_file() else Name(module, alias.name)
        if path_of(leads.module).is_file():
            found[alias.asname or alias.name] = leads
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.If | ast.Try):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@cache
def _uses(name: Name) -> _Uses:
    module = _read(name.module)
    everything = [node for nodes in module.nodes.values() for node in nodes]
    of = everything if name.name == WHOLE else module.nodes.get(name.name, [])
    names: list[Name] = []
    files: list[str] = []
    for statement in [*of, *module.always]:
        inner = {**module.imported}
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                inner |= _imports(node)
        names += _names(statement, name.module, module, inner)
        files += _named_files(statement, name.module)
        names += _programs(statement)
    return _Uses(names, files)


def _names(
    statement: ast.stmt, own: str, module: _Module, imported: dict[str, Name]
) -> Iterator[Name]:
    through = {
        id(node.value): node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(statement):
        if not isinstance(node, ast.Name):
            continue
        leads = imported.get(node.id)
        if leads is None:
            yield from [Name(own, node.id)] if node.id in module.nodes else []
        elif leads.name != WHOLE:
            yield _origin(leads)
        else:
            attribute = through.get(id(node))
            yield _origin(Name(leads.module, attribute)) if attribute else leads


def _origin(name: Name) -> Name:
    """Return where a name is from, if the module that it is taken from imports it itself."""
    if name.module in _NEVER:
        return name
    module = _read(name.module)
    if name.name in module.nodes or name.name not in module.imported:
        return name
    return _origin(module.imported[name.name])


def _texts(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _named_files(statement: ast.stmt, module: str) -> Iterator[str]:
    """The files beside a module, and the Java classes, that its code names."""
    beside = path_of(module).parent
    for text in _texts(statement):
        if text.isidentifier() and (LIBRARY / "java" / f"{text}.java").is_file():
            found = sorted((LIBRARY / "java").glob(f"{text}*"))
            yield from (path.relative_to(LIBRARY).as_posix() for path in found)
        elif text.endswith((".json", ".csv")) and "/" not in text and (beside / text).is_file():
            yield (beside / text).relative_to(LIBRARY).as_posix()


def _programs(statement: ast.stmt) -> Iterator[Name]:
    """The modules that code starts by `python -m`."""
    for text in _texts(statement):
        module = text.removeprefix(f"{_PACKAGE}.")
        if module != text and module.replace(".", "").isidentifier() and path_of(module).is_file():
            yield Name(module)
