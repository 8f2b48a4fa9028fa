"""Polars takes a path for a pattern unless it is told not to: brackets in a folder's name hide it.

    python tests/literal_paths.py

A part of `make lint`. Every call of READERS in the library says `glob=False`, or `glob=True` where
a pattern is meant; those of WITHOUT can't say it, so another reader serves. DuckDB's readers get
paths by `core.sql`, and pyarrow has no patterns.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_FORMS = ("parquet", "csv", "ipc", "lines")
_SCANS = (f"scan_{form}" for form in _FORMS)
READERS = frozenset(("read_parquet", "read_csv", "read_lines", *_SCANS))
WITHOUT = frozenset(("read_ndjson", "scan_ndjson", "read_ipc", "read_parquet_schema"))


class Fault(NamedTuple):
    """A call that takes its path for a pattern."""

    file: Path
    line: int
    call: str


def faults(root: Path = ROOT) -> list[Fault]:
    """Return every fault of the library below `root`, sorted."""
    library = (root / "workflow/lib/isotope").rglob("*.py")
    plugins = (root / "workflow/plugins").rglob("*.py")
    files = (*library, *(path for path in plugins if "tests" not in path.parts))
    return sorted(
        Fault(path.relative_to(root), line, call)
        for path in files
        for line, call in _calls(ast.parse(path.read_text("utf-8")))
    )


def _calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    nodes = [*ast.walk(tree)]
    literal = {
        node.func
        for node in nodes
        if isinstance(node, ast.Call) and "glob" in {keyword.arg for keyword in node.keywords}
    }
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="pl"), attr=reader):
                if reader in WITHOUT or (reader in READERS and node not in literal):
                    yield node.lineno, f"pl.{reader}"
            case _:
                pass


def main() -> int:
    """Print what is wrong; return an exit status."""
    wrong = faults()
    sys.stdout.writelines(
        f"{file}:{line}: {call} takes its path for a pattern; say glob=False\n"
        for file, line, call in wrong
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
