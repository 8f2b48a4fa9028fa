"""Which of our files a function depends on: Snakemake tracks a script, not what it imports.

The closure of a function is made of names, not of modules: what the function uses, what that uses,
and the files in which all of it stands. A module that is imported and not used does not count.
"""

import ast
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from jinja2 import Environment, meta

from isotope.core import plugins
from isotope.core.resources import PACKAGE
from isotope.core.syntax import (
    ALL_NAMES,
    Below,
    Module,
    StatementNames,
    TopLevelName,
    facts_of,
    file_of,
    module_of,
    path_of,
    read,
)

# Modules that shape messages, what params may say, and what is installed, never tables.
_NEVER = {
    *("core.errors", "core.extras", "core.plugins", "core.progress", "models.kinds"),
    *("params.messages", "params.phases", "params.references", "params.removed"),
    "params.sections",
}
# Methods of the class of a kind that are called before there is a job.
_BEFORE = {"check", "roots"}
# What stands for a package's folder in code: of a plug-in it is in a module of the same name; and
# who writes pages by the names of their templates, how these end, and what else code names.
_PACKAGE = "PACKAGE"
_PAGES, _PAGE = TopLevelName("report.site", "write_page"), ".html.j2"
_NAMED = (_PAGE, ".yaml")
# Code that names one of these looks whether an extra is there, and does something else without it.
COPES = {"MissingExtra", "is_installed", "named"}


def closure(*roots: str) -> list[str]:
    """Return the files, of isotope and of plug-ins, that functions depend on, sorted.

    They are called as by `syntax.file_of`. A root is `package.module:function`, `package.module`
    for all that stands in it, or a pattern of files, in which there is a slash. Files are modules,
    what they start as programs (Java classes, `python -m isotope...`), the files beside a module
    that its code names, the templates of the pages that it writes, and what it names below its
    package, as queries are below `sql.SQL`: by `/` and `glob`, of which what a value says may be
    anything.

    Raises:
        FileNotFoundError: a root that is no module.
        KeyError: a module without such a name.
    """
    return list(_closure(roots))


@cache
def _closure(roots: tuple[str, ...]) -> tuple[str, ...]:
    """The same, found once: a plan asks for it with every job."""
    files = {file for root in roots if "/" in root for file in _glob(root)}
    for name in _reached(roots, _uses):
        files |= {file_of(path_of(name.module)), *_uses(name).files}
    return tuple(sorted(files))


@cache
def packages(*roots: str) -> frozenset[str]:
    """Return the packages of others that functions can't do without, by the roots of `closure`.

    They are imported at the head of a module that has something of the closure, or where the code
    stands, or asked for by the calls `syntax.ASKED`. Code that names one of COPES does without what
    it uses, and a module that is started as a program says itself what it lacks.

    Raises:
        As `closure`.
    """
    required = {
        package
        for name in _reached(roots, _demands)
        for package in (*read(name.module).packages, *_demands(name).packages)
    }
    return frozenset(required)


class _Uses(NamedTuple):
    names: list[TopLevelName]
    files: list[str]
    packages: frozenset[str]


def _reached(roots: tuple[str, ...], uses: Callable[[TopLevelName], _Uses]) -> set[TopLevelName]:
    """Return the roots that are names, and all that they use, and that these use."""
    visited: set[TopLevelName] = set()
    waiting = [TopLevelName(*root.split(":")) for root in roots if "/" not in root]
    for root in waiting:
        if root.name != ALL_NAMES and root.name not in read(root.module).nodes:
            raise KeyError(f"{root.module} has no {root.name}")
    while waiting:
        name = waiting.pop()
        if name not in visited and name.module not in _NEVER:
            visited.add(name)
            waiting += uses(name).names
    return visited


@cache
def _uses(name: TopLevelName) -> _Uses:
    return _used(name, _facts(name), programs=True)


@cache
def _demands(name: TopLevelName) -> _Uses:
    """The same of what can't do without an extra."""
    return _used(name, (f for f in _facts(name) if not _copes(f)), programs=False)


def _copes(facts: StatementNames) -> bool:
    return any(COPES & {*pair} for pair in facts.names)


def _facts(name: TopLevelName) -> list[StatementNames]:
    statements = _statements(name.module, name.name)
    return statements if name.name == ALL_NAMES else [*statements, *_statements(name.module, None)]


def _used(name: TopLevelName, statements: Iterable[StatementNames], *, programs: bool) -> _Uses:
    module = read(name.module)
    names: set[TopLevelName] = set()
    files: set[str] = set()
    packages: set[str] = set()
    for facts in statements:
        packages |= facts.packages
        names |= {*_names(facts, name.module, module), *(_programs(facts) if programs else ())}
        files |= {*_named_files(facts, name.module), *_templates(facts, module)}
        files |= {*_resources(facts, name.module, {**module.imported, **facts.imported})}
    return _Uses(sorted(names), sorted(files), frozenset(packages))


@cache
def _statements(module: str, name: str | None) -> list[StatementNames]:
    """The statements that bind a name, or any name, or none; each is walked through once."""
    statements = read(module)
    if name is None:
        return [facts_of(statement) for statement in statements.always]
    if name == ALL_NAMES:
        bound = [
            facts for bound_name in statements.nodes for facts in _statements(module, bound_name)
        ]
        return [*bound, *_statements(module, None)]
    is_kind = "kinds" in module.split(".")
    return [facts_of(_at_work(s) if is_kind else s) for s in statements.nodes.get(name, [])]


def _at_work(statement: ast.stmt) -> ast.stmt:
    """Return what a job uses of the class of a kind: not what checks params and plans jobs."""
    if not isinstance(statement, ast.ClassDef):
        return statement
    at_work = copy.copy(statement)
    at_work.body = [s for s in statement.body if getattr(s, "name", None) not in _BEFORE]
    return at_work


def _names(facts: StatementNames, module_name: str, module: Module) -> Iterator[TopLevelName]:
    imported = {**module.imported, **facts.imported}
    for name, attribute in facts.names:
        leads = imported.get(name)
        if leads is None:
            yield from [TopLevelName(module_name, name)] if name in module.nodes else []
        elif leads.name != ALL_NAMES:
            yield _origin(leads)
        else:
            yield _origin(TopLevelName(leads.module, attribute)) if attribute else leads


def _origin(name: TopLevelName) -> TopLevelName:
    """Return where a name is from, if the module that it is taken from imports it itself."""
    if name.module in _NEVER:
        return name
    module = read(name.module)
    if name.name in module.nodes or name.name not in module.imported:
        return name
    return _origin(module.imported[name.name])


def _named_files(facts: StatementNames, module: str) -> Iterator[str]:
    """The files beside a module, and the Java classes, that its code names."""
    beside = path_of(module).parent
    for text in facts.texts:
        if text in _java_classes():
            files = sorted((PACKAGE / "java").glob(f"{text}*"))
            yield from map(file_of, files)
        elif text.endswith((".json", ".csv")) and "/" not in text and (beside / text).is_file():
            yield file_of(beside / text)


def _resources(
    facts: StatementNames, module_of_code: str, imported: Mapping[str, TopLevelName]
) -> Iterator[str]:
    """The queries that code names, or a folder of them, and other files below the package."""
    for path in facts.below:
        package, pattern = _below_package(path, module_of_code, imported) or ("", "")
        # All queries, or any file of the package, are none that is named.
        if "/" in pattern and not pattern.startswith("*"):
            yield from _matching(package, pattern)


@cache
def _matching(package: str, pattern: str) -> list[str]:
    """Return the files that a pattern is, or the queries of the folder that it is."""
    is_file = pattern.endswith((".sql", ".json"))
    pattern = pattern if is_file else f"{pattern.removesuffix('*').rstrip('/')}/**/*.sql"
    return _glob(f"{package}/{pattern}".removeprefix("/"))


def _glob(pattern: str) -> list[str]:
    """Return the files that a pattern of them stands for."""
    package, _, below = pattern.partition("/")
    folder = plugins.packages().get(package)
    return [file_of(path) for path in (folder.glob(below) if folder else PACKAGE.glob(pattern))]


def _below_package(
    path: Below, module_of_code: str, imported: Mapping[str, TopLevelName]
) -> tuple[str, str] | None:
    """Return the package, empty for isotope itself, that a path is below, and its pattern there;
    None for any other path.
    """
    leads = imported.get(path.name) or TopLevelName(module_of_code, path.name)
    if path.attribute:
        leads = (
            TopLevelName(leads.module, path.attribute)
            if leads.name == ALL_NAMES
            else TopLevelName("", "")
        )
    if leads.module in _NEVER or not path_of(leads.module).is_file():
        return None
    leads = _origin(leads)
    package, _, module_name = leads.module.rpartition(".")
    if leads.name == _PACKAGE and module_name == "resources":
        return package.removeprefix("core"), path.pattern
    module = read(leads.module)
    folder = module.folders.get(leads.name)
    above = _below_package(folder, leads.module, module.imported) if folder else None
    return above and (above[0], "/".join(filter(None, (above[1], path.pattern))))


def _templates(facts: StatementNames, module: Module) -> Iterator[str]:
    """The templates that code names, and those of pages that it writes, with all that they use."""
    templates = plugins.templates()
    writers = {name for name, leads in module.imported.items() if _origin(leads) == _PAGES}
    pages = [text for name, text in facts.calls if name in writers]
    waiting = [f"{name}{suffix}" for name in pages for suffix in (_PAGE, ".js")]
    waiting += ["report.js"] if pages else []
    waiting += [text.removeprefix("templates/") for text in facts.texts if text.endswith(_NAMED)]
    visited = set[str]()
    for name in waiting:
        if name in templates and name not in visited:
            visited.add(name)
            tree = Environment(autoescape=True).parse(templates[name].read_text("utf-8"))
            waiting += filter(None, meta.find_referenced_templates(tree))
            yield file_of(templates[name])


@cache
def _java_classes() -> frozenset[str]:
    return frozenset(path.stem for path in (PACKAGE / "java").glob("*.java"))


def _programs(facts: StatementNames) -> Iterator[TopLevelName]:
    """The modules that code starts by `python -m`."""
    for text in facts.texts:
        is_dotted = "." in text and text.replace(".", "").isidentifier()
        module = module_of(text) if is_dotted else None
        if module and path_of(module).is_file():
            yield TopLevelName(module)
