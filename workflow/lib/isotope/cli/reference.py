"""The generated parts of README and docs, from `<!-- name -->` to `<!-- /name -->`."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from isotope import tables
from isotope.cli.reference_graph import rule_graph
from isotope.cli.reference_params import parameters
from isotope.core.errors import BadParams
from isotope.core.measures import MEASURES

_BLOCK = re.compile(r"<!-- ([a-z]+)((?: [\w:]+)*) -->\n.*?<!-- /\1 -->", re.DOTALL)
_LIST = re.compile(r"list<\w+: (.*)>")


def documents(root: Path) -> list[Path]:
    """Return the README and every page of docs."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def rewrite(text: str, root: Path) -> str:
    """Return a page with its generated parts made anew from the project in `root`.

    Raises:
        BadParams: a part that nothing generates, a table or a parameter that does not exist.
    """
    return _BLOCK.sub(lambda found: _block(found[1], found[2].split(), root), text)


def _block(name: str, words: Sequence[str], root: Path) -> str:
    if name not in PARTS:
        raise BadParams(f"<!-- {name} -->", "no such part", f"use one of {', '.join(PARTS)}")
    head = " ".join([name, *words])
    return f"<!-- {head} -->\n{PARTS[name](words, root)}\n<!-- /{name} -->"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(c.replace("|", r"\|") for c in line) + " |" for line in lines
    )


def _parameters(words: Sequence[str], root: Path) -> str:
    found = parameters(words, root / "workflow/schemas/params.schema.yaml")
    rows = [[f"`{p.key}`", p.kind, p.default, p.description] for p in found]
    return grid(["key", "type", "default", "description"], rows)


def _columns(words: Sequence[str], _: Path) -> str:
    schema: Any = getattr(tables, words[0].upper(), None)
    if schema is None:
        raise BadParams("<!-- columns -->", f"no table {words[0]!r}", "see isotope.tables")
    pairs = zip(schema.names, schema.types, strict=True)
    return grid(["column", "type"], [[f"`{name}`", kind_of(kind)] for name, kind in pairs])


def kind_of(kind: pa.DataType) -> str:
    """Return the type of a column in words."""
    inner = _LIST.fullmatch(str(kind))
    return f"list of {inner[1]}" if inner else str(kind)


def _measures(_: Sequence[str], __: Path) -> str:
    rows = [[f"`{name}`", m.description, m.source] for name, m in MEASURES.items()]
    return grid(["measure", "value for one query", "source"], rows)


def _graph(_: Sequence[str], root: Path) -> str:
    return f"```mermaid\n{rule_graph(root)}\n```"


PARTS: dict[str, Callable[[Sequence[str], Path], str]] = {
    "parameters": _parameters,
    "columns": _columns,
    "measures": _measures,
    "rulegraph": _graph,
}
