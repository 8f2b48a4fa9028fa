"""What the statements of our modules name: other names, texts, imports, and paths below names.

A module of isotope is called without the package's name, `core.store`; one of a plug-in has its
own, `isotope_judge.pool`. So have their files: `core/store.py`, `isotope_judge/pool.py`.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from isotope.core import plugins
from isotope.core.resources import PACKAGE

NAME = "isotope"
# Stands for all names of a module.
ALL_NAMES = "*"
# Calls that ask for an installed package by its name.
ASKED = {("extras", "folder"), ("extras", "package")}


class TopLevelName(NamedTuple):
    """A top-level name of a module, or all of them."""

    module: str
    name: str = ALL_NAMES


def module_of(dotted: str) -> str | None:
    """Return what a module that Python calls so is called here; None for what is not ours."""
    package, _, below = dotted.partition(".")
    if package == NAME:
        return below
    return dotted if package in plugins.packages() else None


def located(file: str) -> Path:
    """Return where a file of isotope, or of a plug-in, lies: `core/store.py`."""
    package, _, below = file.partition("/")
    folder = plugins.packages().get(package)
    return folder / below if folder else PACKAGE / file


def file_of(path: Path) -> str:
    """Return what a file below a package is called here: the opposite of `located`."""
    for package, folder in plugins.packages().items():
        if path.is_relative_to(folder):
            return f"{package}/{path.relative_to(folder).as_posix()}"
    return path.relative_to(PACKAGE).as_posix()


def path_of(module: str) -> Path:
    """Return the file of a module or package, `core.store` for `isotope.core.store`."""
    path = located(module.replace(".", "/"))
    return path / "__init__.py" if path.is_dir() else path.with_name(f"{path.name}.py")


class Below(NamedTuple):
    """A path below what a name stands for, as a pattern; `sql.SQL` is the name `sql` and SQL."""

    name: str
    attribute: str | None
    pattern: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, or a pattern of files, and no folder."""
        return "." in self.pattern.rpartition("/")[2]


class Module(NamedTuple):
    """A module's statements by the names that they bind, and where imported names lead."""

    nodes: dict[str, list[ast.stmt]]
    imported: dict[str, TopLevelName]
    # The names that stand for paths below others.
    folders: dict[str, Below]
    # Statements that bind nothing run whenever the module is imported.
    always: list[ast.stmt]
    # Packages of others that its head imports.
    packages: frozenset[str]


@cache
def read(module: str) -> Module:
    """Return the statements of a module, `core.store` for `isotope.core.store`.

    Raises:
        FileNotFoundError: no such module.
    """
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    nodes: dict[str, list[ast.stmt]] = {}
    imported: dict[str, TopLevelName] = {}
    folders: dict[str, Below] = {}
    always: list[ast.stmt] = []
    packages: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imported |= _imports(statement)
            packages |= _packages(statement)
            continue
        if isinstance(statement, ast.Assign):
            folders |= _folders(statement)
        bound = list(_bound(statement))
        for name in bound:
            nodes.setdefault(name, []).append(statement)
        if not bound and not _is_text(statement):
            always.append(statement)
    return Module(nodes, imported, folders, always, frozenset(packages))


def _folders(statement: ast.Assign) -> Iterator[tuple[str, Below]]:
    """Yield the names that a statement binds to paths below others: `X = sql.SQL / "folder"`."""
    [target, *_] = statement.targets
    pairs = [(target, statement.value)]
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        pairs = list(zip(target.elts, statement.value.elts, strict=False))
    for name, value in pairs:
        if isinstance(name, ast.Name) and (below := _below(value)) and below.pattern:
            yield name.id, below


def _below(node: ast.AST) -> Below | None:
    """Return the path below a name that an expression makes by `/` and `glob`, if any."""
    if isinstance(node, ast.Name):
        return Below(node.id, None, "")
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return Below(node.value.id, node.attr, "")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        above, further = _below(node.left), _pattern(node.right)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("glob", "rglob"):
        above, further = _below(cast("ast.Attribute", node.func).value), _pattern(*node.args)
        further = f"**/{further}" if cast("ast.Attribute", node.func).attr == "rglob" else further
    else:
        return None
    return above and above._replace(pattern=f"{above.pattern}/{further}".removeprefix("/"))


def _pattern(node: ast.AST) -> str:
    """Return the pattern of one part of a path: what is no constant may be anything."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(_pattern(p) if isinstance(p, ast.Constant) else "*" for p in parts)


def _imports(statement: ast.Import | ast.ImportFrom) -> dict[str, TopLevelName]:
    """Return what of isotope a statement imports, by the name that it gets here."""
    if isinstance(statement, ast.Import):
        pairs = [(alias.asname, module_of(alias.name)) for alias in statement.names]
        return {name: TopLevelName(module) for name, module in pairs if name and module}
    module = module_of(statement.module or "")
    if module is None:
        return {}
    origins: dict[str, TopLevelName] = {}
    for alias in statement.names:
        inner = f"{module}.{alias.name}".removeprefix(".")
        leads = (
            TopLevelName(inner) if path_of(inner).is_file() else TopLevelName(module, alias.name)
        )
        if path_of(leads.module).is_file():
            origins[alias.asname or alias.name] = leads
    return origins


def _packages(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the packages that a statement imports from, ours among them."""
    if isinstance(statement, ast.Import):
        return {alias.name.partition(".")[0] for alias in statement.names}
    return {(statement.module or "").partition(".")[0]}


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


class StatementNames(NamedTuple):
    """What one walk through a statement finds."""

    # Names that are read or bound, each with the attribute that is taken of it, if any.
    names: frozenset[tuple[str, str | None]]
    texts: frozenset[str]
    imported: dict[str, TopLevelName]
    # Functions that are called by their names, with a text as the first argument.
    calls: frozenset[tuple[str, str]]
    # Paths below names, and names that may stand for such.
    below: frozenset[Below]
    # Packages that it imports, or asks for by ASKED.
    packages: frozenset[str]


class _Walk(ast.NodeVisitor):
    """A walk through a statement; a name that a function binds for itself is not the module's."""

    def __init__(self) -> None:
        self.names: set[tuple[str, str | None]] = set()
        self.texts: set[str] = set()
        self.imported: dict[str, TopLevelName] = {}
        self.calls: set[tuple[str, str]] = set()
        self.below: set[Below] = set()
        self.packages: set[str] = set()
        self._local = frozenset[str]()
        # Parts of a path are no paths of their own.
        self._is_within = False
        self._is_typing = False

    def visit(self, node: ast.AST) -> None:
        local, is_within = self._local, self._is_within
        if isinstance(node, _FUNCTIONS | _COMPREHENSIONS):
            self._local |= {*_bound_in(node)}
        path = None if is_within else _below(node)
        if path and path.name not in local:
            self.below.add(path)
            self._is_within = True
        super().visit(node)
        self._local, self._is_within = local, is_within

    def visit_Name(self, node: ast.Name, attribute: str | None = None) -> None:
        if node.id not in self._local:
            self.names.add((node.id, attribute))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            self.visit_Name(node.value, node.attr)
        else:
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        self.texts |= {node.value} if isinstance(node.value, str) else set()

    def visit_Import(self, node: ast.Import) -> None:
        self.imported |= _imports(node)
        self.packages |= set() if self._is_typing else _packages(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imported |= _imports(node)
        self.packages |= set() if self._is_typing else _packages(node)

    def visit_If(self, node: ast.If) -> None:
        before = self._is_typing
        self._is_typing = before or getattr(node.test, "id", "") == "TYPE_CHECKING"
        self.generic_visit(node)
        self._is_typing = before

    def visit_Call(self, node: ast.Call) -> None:
        first = node.args[0] if node.args else None
        if isinstance(node.func, ast.Name) and isinstance(first, ast.Constant):
            self.calls |= {(node.func.id, first.value)} if isinstance(first.value, str) else set()
        elif _is_asked(node.func) and isinstance(first, ast.Constant):
            self.packages |= {str(first.value)}
        self.generic_visit(node)


def _is_asked(called: ast.expr) -> bool:
    owner = called.value if isinstance(called, ast.Attribute) else None
    return isinstance(owner, ast.Name) and (owner.id, getattr(called, "attr", "")) in ASKED


_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = _FUNCTIONS | ast.ClassDef | _COMPREHENSIONS


def _bound_in(scope: ast.AST) -> Iterator[str]:
    """Yield the names that a function, or a comprehension, binds for itself, but by imports."""
    waiting = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        waiting += [] if isinstance(node, _SCOPES) else ast.iter_child_nodes(node)


def facts_of(statement: ast.stmt) -> StatementNames:
    """Return what a statement names."""
    walk = _Walk()
    walk.visit(statement)
    # A name of a folder counts where it is used.
    is_binding = isinstance(statement, ast.Assign)
    below = {path for path in walk.below if path.is_file or not is_binding}
    named = (frozenset(walk.names), frozenset(walk.texts), walk.imported, frozenset(walk.calls))
    return StatementNames(*named, frozenset(below), frozenset(walk.packages))
