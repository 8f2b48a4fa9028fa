"""Which of our files a function depends on: Snakemake tracks a script, not what it imports.

The closure of a function is made of names, not of modules: what the function uses, what that uses,
and the files in which all of it stands. A module that is imported and not used does not count.
"""

import ast
import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, meta

LIBRARY = Path(__file__).parents[1]
_PACKAGE = "isotope"
# Modules that shape messages, and what params may say, never tables.
_NEVER = {
    *("core.errors", "core.progress", "models.kinds"),
    *("params.messages", "params.phases", "params.references", "params.sections"),
}
# Methods of the class of a kind that are called before there is a job.
_BEFORE = {"check", "roots"}
# Stands for all names of a module.
WHOLE = "*"


class Name(NamedTuple):
    """A top-level name of a module, or all of them."""

    module: str
    name: str = WHOLE


# Who writes pages by the names of their templates, how these end, and what else code names.
_PAGES, _PAGE = Name("report.site", "write_page"), ".html.j2"
_NAMED = (_PAGE, ".yaml")


def path_of(module: str) -> Path:
    """Return the file of a module or package, `core.store` for `isotope.core.store`."""
    path = LIBRARY / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_name(f"{path.name}.py")


def closure(*roots: str) -> list[str]:
    """Return the files, below the library, that functions depend on, sorted.

    A root is `package.module:function`, or `package.module` for all that stands in it. Files are
    modules, what they start as programs (Java classes, `python -m isotope...`), the files beside a
    module that its code names, and the templates of the pages that it writes.

    Raises:
        FileNotFoundError: a root that is no module.
        KeyError: a module without such a name.
    """
    return list(_closure(roots))


@cache
def _closure(roots: tuple[str, ...]) -> tuple[str, ...]:
    """The same, found once: a plan asks for it with every job."""
    visited: set[Name] = set()
    waiting = [Name(*root.split(":")) for root in roots]
    for root in waiting:
        if root.name != WHOLE and root.name not in _read(root.module).nodes:
            raise KeyError(f"{root.module} has no {root.name}")
    files: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in visited or name.module in _NEVER:
            continue
        visited.add(name)
        uses = _uses(name)
        files |= {path_of(name.module).relative_to(LIBRARY).as_posix(), *uses.files}
        waiting += uses.names
    return tuple(sorted(files))


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
    origins: dict[str, Name] = {}
    for alias in statement.names:
        inner = f"{module}.{alias.name}".removeprefix(".")
        leads = Name(inner) if path_of(inner).is_file() else Name(module, alias.name)
        if path_of(leads.module).is_file():
            origins[alias.asname or alias.name] = leads
    return origins


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


class _Facts(NamedTuple):
    """What one walk through a statement finds."""

    # Names that are read or bound, each with the attribute that is taken of it, if any.
    names: frozenset[tuple[str, str | None]]
    texts: frozenset[str]
    imported: dict[str, Name]
    # Functions that are called by their names, with a text as the first argument.
    calls: frozenset[tuple[str, str]]


def _facts(statement: ast.stmt) -> _Facts:
    names: set[tuple[str, str | None]] = set()
    texts: set[str] = set()
    imported: dict[str, Name] = {}
    calls: set[tuple[str, str]] = set()
    through: dict[int, str] = {}
    # A node comes before what it consists of.
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            names.add((node.id, through.get(id(node))))
        elif isinstance(node, ast.Attribute):
            through[id(node.value)] = node.attr
        elif isinstance(node, ast.Constant):
            texts |= {node.value} if isinstance(node.value, str) else set()
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imported |= _imports(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                calls.add((node.func.id, first.value))
    return _Facts(frozenset(names), frozenset(texts), imported, frozenset(calls))


@cache
def _uses(name: Name) -> _Uses:
    module = _read(name.module)
    own = _statements(name.module, name.name)
    names: set[Name] = set()
    files: set[str] = set()
    for facts in own if name.name == WHOLE else [*own, *_statements(name.module, None)]:
        names |= {*_names(facts, name.module, module), *_programs(facts)}
        files |= {*_named_files(facts, name.module), *_templates(facts, module)}
    return _Uses(sorted(names), sorted(files))


@cache
def _statements(module: str, name: str | None) -> list[_Facts]:
    """The statements that bind a name, or any name, or none; each is walked through once."""
    read = _read(module)
    if name is None:
        return [_facts(statement) for statement in read.always]
    if name == WHOLE:
        bound = [facts for each in read.nodes for facts in _statements(module, each)]
        return [*bound, *_statements(module, None)]
    is_kind = "kinds" in module.split(".")
    return [_facts(_at_work(s) if is_kind else s) for s in read.nodes.get(name, [])]


def _at_work(statement: ast.stmt) -> ast.stmt:
    """Return what a job uses of the class of a kind: not what checks params and plans jobs."""
    if not isinstance(statement, ast.ClassDef):
        return statement
    at_work = copy.copy(statement)
    at_work.body = [s for s in statement.body if getattr(s, "name", None) not in _BEFORE]
    return at_work


def _names(facts: _Facts, own: str, module: _Module) -> Iterator[Name]:
    imported = {**module.imported, **facts.imported}
    for name, attribute in facts.names:
        leads = imported.get(name)
        if leads is None:
            yield from [Name(own, name)] if name in module.nodes else []
        elif leads.name != WHOLE:
            yield _origin(leads)
        else:
            yield _origin(Name(leads.module, attribute)) if attribute else leads


def _origin(name: Name) -> Name:
    """Return where a name is from, if the module that it is taken from imports it itself."""
    if name.module in _NEVER:
        return name
    module = _read(name.module)
    if name.name in module.nodes or name.name not in module.imported:
        return name
    return _origin(module.imported[name.name])


def _named_files(facts: _Facts, module: str) -> Iterator[str]:
    """The files beside a module, and the Java classes, that its code names."""
    beside = path_of(module).parent
    for text in facts.texts:
        if text in _java_classes():
            files = sorted((LIBRARY / "java").glob(f"{text}*"))
            yield from (path.relative_to(LIBRARY).as_posix() for path in files)
        elif text.endswith((".json", ".csv")) and "/" not in text and (beside / text).is_file():
            yield (beside / text).relative_to(LIBRARY).as_posix()


def _templates(facts: _Facts, module: _Module) -> Iterator[str]:
    """The templates that code names, and those of pages that it writes, with all that they use."""
    folder = LIBRARY / "templates"
    there = {path.name for path in folder.iterdir()}
    writers = {name for name, leads in module.imported.items() if _origin(leads) == _PAGES}
    pages = [text for name, text in facts.calls if name in writers]
    waiting = [f"{name}{suffix}" for name in pages for suffix in (_PAGE, ".js")]
    waiting += ["report.js"] if pages else []
    waiting += [text.removeprefix("templates/") for text in facts.texts if text.endswith(_NAMED)]
    found = set[str]()
    for name in waiting:
        if name in there and name not in found:
            found.add(name)
            tree = Environment(autoescape=True).parse((folder / name).read_text("utf-8"))
            waiting += filter(None, meta.find_referenced_templates(tree))
            yield f"templates/{name}"


@cache
def _java_classes() -> frozenset[str]:
    return frozenset(path.stem for path in (LIBRARY / "java").glob("*.java"))


def _programs(facts: _Facts) -> Iterator[Name]:
    """The modules that code starts by `python -m`."""
    for text in facts.texts:
        module = text.removeprefix(f"{_PACKAGE}.")
        if module != text and module.replace(".", "").isidentifier() and path_of(module).is_file():
            yield Name(module)
