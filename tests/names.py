"""Names of the library say what a thing is: words that are no names are refused, and twins.

    python tests/names.py

A part of `make lint`. WORDS are pronouns, participles and other words that fit anything. None of
them is the name of a variable, a parameter, a field, an attribute, a function or a class in the
core, in a plug-in and its tests or in the tests of _TESTS. KEYS are what params and files call a
thing, which their classes follow. No two public classes of the core and the plug-ins share a name.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WORDS = frozenset(
    (
        *("own", "found", "place", "each", "told", "given", "said", "seen", "kept", "made"),
        *("known", "whole", "every", "there", "here", "others", "rest", "these", "those"),
        *("one", "has", "says", "what", "of"),
    )
)
# Keys of the params by the files with their classes, those of lists of files, and columns.
KEYS: Mapping[str, frozenset[str]] = {
    "acquire/addresses.py": frozenset({"seen"}),
    "collect/kinds/union.py": frozenset({"of"}),
    "isotope_explain/failures.py": frozenset({"found"}),
    "isotope_judge/params.py": frozenset({"own"}),
    "models/kinds/_mix.py": frozenset({"every", "of"}),
    "models/kinds/lit.py": frozenset({"every"}),
    "models/kinds/trained.py": frozenset({"every"}),
    "params/crawl.py": frozenset({"of"}),
    "params/tabulate.py": frozenset({"here", "there"}),
    "search/kinds/_fusion.py": frozenset({"of"}),
    "search/kinds/rerank.py": frozenset({"of"}),
}
_ROOTS = (Path("workflow/lib/isotope"), Path("workflow/plugins"))
# A package of tests comes in here when its names are mended, and stays.
_TESTS = tuple(Path("tests/lib") / name for name in ("acquire", "api", "bm25", "project"))


class Fault(NamedTuple):
    """A name that says nothing."""

    file: Path
    line: int
    name: str


def faults(root: Path = ROOT) -> list[Fault]:
    """Return every fault of code below `root`, sorted."""
    return sorted(
        Fault(path.relative_to(root), line, name)
        for folder in (*_ROOTS, *_TESTS)
        for path in (root / folder).rglob("*.py")
        for line, name in bad_names(path, path.relative_to(root / folder).as_posix())
    )


def shared_classes(root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the files of every public class whose name another one has, by the name, sorted."""
    files_of: dict[str, list[Path]] = {}
    for path in sorted(path for folder in _ROOTS for path in (root / folder).rglob("*.py")):
        if "tests" not in path.relative_to(root).parts:
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    files_of.setdefault(node.name, []).append(path.relative_to(root))
    return {name: files for name, files in sorted(files_of.items()) if len(files) > 1}


def bad_names(path: Path, key: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of all that a file gives a bad name; `key` is its entry in KEYS."""
    tree = ast.parse(path.read_text("utf-8"))
    fields = {
        id(field.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        for name in _named_by(node):
            is_key = id(node) in fields and name in KEYS.get(key, ())
            if name.strip("_").lower() in WORDS and not is_key:
                yield getattr(node, "lineno", 0), name


def _named_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node gives to something."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            pass


def main() -> int:
    """Print every fault."""
    lines = [
        f"{file}:{line}: {name!r} says nothing; name the thing\n" for file, line, name in faults()
    ]
    for name, files in shared_classes().items():
        lines.append(f"{' and '.join(map(str, files))}: {name!r} twice; name each for what it is\n")
    sys.stdout.write("".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
