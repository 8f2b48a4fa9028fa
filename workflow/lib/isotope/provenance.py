"""Which of our files a rule's answer depends on: Snakemake tracks a script, not what it imports."""

import ast
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).parent
# They shape messages and what a job may take, never tables.
_NEVER = {"errors", "memory", "progress"}
# What a module starts as a program of its own.
_PROGRAMS = {
    "lucene": ("BatchSearch.java", "BatchSearch.class", "BatchSearch$AtLeast.class"),
    "lucene_merge": ("MergeIndexes.java", "MergeIndexes.class"),
}
# What a module reads that decides its answers.
_DATA = {"wiki_words": ["wiki_words.json"]}
_STARTS = {module: [f"java/{name}" for name in names] for module, names in _PROGRAMS.items()}
_BESIDE = {**_STARTS, **_DATA}


@cache
def imports(module: str) -> frozenset[str]:
    """Return the names of isotope's modules that a module of isotope imports anywhere in it."""
    tree = ast.parse((LIBRARY / f"{module}.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "isotope":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isotope."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("isotope.")}
    return frozenset(f for f in found if (LIBRARY / f"{f}.py").exists())


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
    return [f"{m}.py" for m in named] + [f for m in named for f in _BESIDE.get(m, [])]
