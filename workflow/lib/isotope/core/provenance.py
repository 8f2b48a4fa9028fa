"""Which of our files a rule's answer depends on: Snakemake tracks a script, not what it imports."""

import ast
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).parents[1]
# They shape messages and what a job may take, never tables.
_NEVER = {"core.errors", "core.memory", "core.progress"}
# What a module starts as a program of its own.
_PROGRAMS = {
    "core.lucene": (
        *("BatchSearch.java", "BatchSearch.class", "BatchSearch$AtLeast.class"),
        *("MergeIndexes.java", "MergeIndexes.class"),
    ),
}
# What a module reads that decides its answers.
_DATA = {"parse.words": ["parse/wiki_words.json"]}
_STARTS = {module: [f"java/{name}" for name in names] for module, names in _PROGRAMS.items()}
_BESIDE = {**_STARTS, **_DATA}


def path_of(module: str) -> Path:
    """Return the file of a module of isotope, `core.store` for `isotope.core.store`."""
    return LIBRARY / f"{module.replace('.', '/')}.py"


@cache
def imports(module: str) -> frozenset[str]:
    """Return the names of isotope's modules that a module of isotope imports anywhere in it."""
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    ours = {name.removeprefix("isotope.") for name in found if name.startswith("isotope.")}
    return frozenset(name for name in ours if path_of(name).exists())


def modules(*roots: str) -> list[str]:
    """Return the roots and all that they import, sorted; a file that is absent is an error.

    Raises:
        FileNotFoundError: a root that is no module.
    """
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports(module)
    return sorted(seen - _NEVER)


def files(*roots: str) -> list[str]:
    """Return the files, below the library, of what `modules` returns, its programs and data.

    Raises:
        FileNotFoundError: a root that is no module.
    """
    named = modules(*roots)
    own = [path_of(m).relative_to(LIBRARY).as_posix() for m in named]
    return own + [f for m in named for f in _BESIDE.get(m, [])]
