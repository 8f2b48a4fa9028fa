"""The generated parts of README and docs, from `<!-- name -->` to `<!-- /name -->`."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

import pyarrow as pa

import isotope.schemas
from isotope.cli import schema
from isotope.core import plugins, schemas
from isotope.core.errors import BadParams, ToolFailed
from isotope.core.measures import MEASURES
from isotope.params.sections import RARELY

Node = Mapping[str, Any]
# Between the keys that a new experiment sets and the others.
_RARE = "Few experiments set these:"
_KIND = ".kind"
_PLACES = {
    "acquire": "source",
    "parse": "source",
    "crawl": "source",
    "project": "source",
    "collect": "collection",
    "models": "model",
    "systems": "system",
    "files": "folder",
    "tokenizers": "name",
    "facts": "collection",
    "against": "collection",
    "failures": "collection",
    "after": "collection",
    "summaries": "summary",
    "captioners": "captioner",
    "side_by_side": "source",
    "groups": "group",
    "<group>": "part",
    "relations": "table",
    "scale": "grade",
    "about": "collection",
    "languages": "column",
}


class ParameterRow(NamedTuple):
    """One row of a parameter table, as Markdown."""

    key: str
    kind: str
    default: str
    description: str
    is_rare: bool = False
    """Whether few experiments set it, or what it stands in."""


def parameters(chosen: Sequence[str]) -> list[ParameterRow]:
    """Describe top-level keys and all below them; `models:hash` chooses one kind of a key.

    Raises:
        BadParams: a key that the schema lacks.
    """
    described = schema.schema()
    walk = _Walk(described["$defs"])
    listed: list[ParameterRow] = []
    for word in chosen:
        key, _, kind = word.partition(":")
        if key not in described["properties"]:
            raise BadParams("<!-- parameters -->", f"no key {key!r}", "see params.yaml")
        need = "required" if key in described["required"] else ""
        rows = walk.rows(key, described["properties"][key], need=need, kind=kind)
        listed += [row for row in rows if "." in row.key or row not in listed]
    return listed


class _Walk:
    """Walks a schema depth first; `$defs` are the parts that it refers to."""

    def __init__(self, definitions: Node) -> None:
        self._definitions = definitions

    def rows(self, key: str, node: Node, *, need: str, kind: str) -> Iterator[ParameterRow]:
        """Yield the row of a node and those below it, of alternatives only those of `kind`."""
        node = self._resolved(node)
        row = ParameterRow(key, self._kind(node), need or _default(node), self._description(node))
        rows = [row, *self._below(key, node, kind)]
        is_rare = bool(node.get(RARELY))
        yield from (row._replace(is_rare=True) for row in rows) if is_rare else rows

    def _description(self, node: Node) -> str:
        if "const" in node:
            return f"Choose `{node['const']}` for the keys below."
        return node.get("description") or self._description(self._resolved(node["items"]))

    def _below(self, key: str, node: Node, kind: str) -> Iterator[ParameterRow]:
        user_named = node.get("additionalProperties")
        if isinstance(user_named, Mapping):
            yield from self._named_by_user(key, self._resolved(user_named), kind)
        # Keys that a kind has from a base class stand before its own.
        keys: Node = node.get("properties", {})
        for name, child in sorted(keys.items(), key=lambda pair: pair[0] != "kind"):
            yield from self.rows(f"{key}.{name}", child, need=_need(name, node), kind=kind)
        if "items" in node:
            yield from self._below(f"{key}[]", self._resolved(node["items"]), kind)
        # What a kind without a class has, all others have, too.
        common: list[ParameterRow] = []
        branches = [*map(self._resolved, node.get("oneOf", ()))]
        for branch in sorted(branches, key=lambda child_branch: _kind_of(child_branch) is not None):
            if kind in ("", _kind_of(branch) or kind):
                needed = [*node.get("required", ()), *branch.get("required", ())]
                rows = [*self._below(key, {**branch, "required": needed}, kind)]
                yield from (row for row in rows if row not in common)
                common += rows if _kind_of(branch) is None else ()

    def _named_by_user(self, key: str, node: Node, kind: str) -> Iterator[ParameterRow]:
        path = f"{key}.<{_PLACES[key.rpartition('.')[2]]}>"
        if not {"properties", "oneOf"} & set(node):
            yield from self.rows(path, node, need="", kind=kind)
        else:
            yield from self._below(path, node, kind)

    def _resolved(self, node: Node) -> Node:
        if "$ref" not in node:
            return node
        return {**self._definitions[node["$ref"].rpartition("/")[2]], **node}

    def _kind(self, node: Node) -> str:
        node = self._resolved(node)
        if "const" in node:
            return f"`{node['const']}`"
        if "enum" in node:
            return " or ".join(f"`{value}`" for value in node["enum"])
        if "oneOf" in node and "type" not in node:
            return " or ".join(self._kind(branch) for branch in node["oneOf"])
        return self._named(node)

    def _named(self, node: Node) -> str:
        if node["type"] == "array":
            return f"list of {self._kind(node['items'])}"
        if node["type"] == "object":
            return "mapping"
        named = node["type"] if isinstance(node["type"], str) else " or ".join(node["type"])
        return named + _bounds(node)


def _kind_of(branch: Node) -> str | None:
    return branch.get("properties", {}).get("kind", {}).get("const")


def _bounds(node: Node) -> str:
    words = {"minimum": "at least", "exclusiveMinimum": "above"}
    upper = {"maximum": "at most", "exclusiveMaximum": "below"}
    limits = [f"{word} {node[key]}" for key, word in {**words, **upper}.items() if key in node]
    return ", ".join(["", *limits])


def _need(name: str, node: Node) -> str:
    if name in node.get("required", ()):
        return "required"
    either = [b["required"] for b in node.get("oneOf", ()) if "properties" not in b]
    return "this or its alternative" if [name] in either else ""


def _default(node: Node) -> str:
    return f"`{json.dumps(node['default'])}`" if "default" in node else "none"


_NODE = re.compile(r'^\s*(\d+)\[label = "([^"]+)"', re.MULTILINE)
_EDGE = re.compile(r"^\s*(\d+) -> (\d+)\s*$", re.MULTILINE)
_TARGET = "all"
Edges = set[tuple[str, str]]


def rule_graph(root: Path) -> str:
    """Return the graph of the default experiment, built in an empty folder.

    Edges that longer paths imply are left out, and so is the target `all`.

    Raises:
        ToolFailed: Snakemake could not plan the experiment.
    """
    edges = sorted(edge for edge in reduced(read_dot(_rulegraph(root))) if edge[1] != _TARGET)
    after = {a: " & ".join(b for start, b in edges if start == a) for a, _ in edges}
    return "\n".join(["flowchart TD", *(f"    {a} --> {after[a]}" for a in after)])


def _rulegraph(root: Path) -> str:
    where = ["--snakefile", str(root / "Snakefile"), "--configfile", str(root / "params.yaml")]
    with tempfile.TemporaryDirectory(prefix="isotope-") as empty:
        command = [sys.executable, "-m", "snakemake", *where, "--directory", empty, "--rulegraph"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        remedy = f"run it by hand: {' '.join(command)}"
        raise ToolFailed("snakemake --rulegraph", done.stderr.strip()[-500:], remedy)
    return done.stdout


def read_dot(dot: str) -> Edges:
    """Return the edges of a graph in Snakemake's DOT, by rule name."""
    names = dict(_NODE.findall(dot))
    return {(names[a], names[b]) for a, b in _EDGE.findall(dot)}


def reduced(edges: Edges) -> Edges:
    """Return the edges of a graph without those that a longer path implies, or that lead back.

    A rule waits for a later one where a source goes on from another (`crawl.<source>.after`).
    """
    edges = edges - _back(edges)
    after = _after(edges)
    return {(a, b) for a, b in edges if not any(_leads(c, b, after) for c in after[a] - {b})}


def _after(edges: Edges) -> dict[str, set[str]]:
    return {a: {b for start, b in edges if start == a} for a, _ in edges}


def _back(edges: Edges) -> Edges:
    """Return the edges that lead to a rule which comes before their own."""
    order = {name: n for n, name in enumerate(_order(edges))}
    return {(a, b) for a, b in edges if order[b] <= order[a]}


def _order(edges: Edges) -> list[str]:
    """Return the rules, each after those that it needs.

    A circle is entered where most lies behind: at the rule that the longest way leads to.
    """
    after = _after(edges)
    needs: dict[str, set[str]] = {name: set() for edge in edges for name in edge}
    for a, b in edges:
        needs[b].add(a)
    circles = {name: {n for n in needs[name] if _leads(name, n, after)} for name in needs}
    depth = dict[str, int]()

    def behind(name: str) -> tuple[bool, bool, int, int, str]:
        absent = needs[name] - depth.keys()
        depths = [depth[n] for n in needs[name] - absent]
        return not absent, absent <= circles[name], max(depths, default=-1), len(depths), name

    while left := needs.keys() - depth.keys():
        name = max(left, key=behind)
        depth[name] = behind(name)[2] + 1
    return [*depth]


def _leads(start: str, end: str, after: dict[str, set[str]]) -> bool:
    visited, todo = {start}, [start]
    while todo:
        new = after.get(todo.pop(), set()) - visited
        visited |= new
        todo += new
    return end in visited


_BLOCK = re.compile(r"<!-- ([a-z]+)((?: [\w:]+)*) -->\n.*?<!-- /\1 -->", re.DOTALL)
_LIST = re.compile(r"list<\w+: (.*?)(?: not null)?>")


def documents(root: Path) -> list[Path]:
    """Return the README and every page of docs, those of plug-ins among them."""
    of_plugins = sorted((root / "workflow/plugins").glob("*/docs/*.md"))
    return [root / "README.md", *sorted((root / "docs").glob("*.md")), *of_plugins]


def rewrite(text: str, root: Path) -> str:
    """Return a page with its generated parts updated from the project in `root`.

    Raises:
        BadParams: a part that nothing generates, a table or a parameter that does not exist.
    """
    return _BLOCK.sub(lambda match: _block(match[1], match[2].split(), root), text)


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


def _parameters(words: Sequence[str], _: Path) -> str:
    listed = parameters(words)
    usual, rare = ([p for p in listed if p.is_rare is is_rare] for is_rare in (False, True))
    tables = [_parameter_table(rows) for rows in (usual, rare) if rows]
    return f"\n\n{_RARE}\n\n".join(tables)


def _parameter_table(listed: Iterable[ParameterRow]) -> str:
    rows = [[f"`{p.key}`", p.kind, p.default, p.description] for p in _once(listed)]
    return grid(["key", "type", "default", "description"], rows)


def _once(listed: Iterable[ParameterRow]) -> list[ParameterRow]:
    """Return the rows without those of an earlier kind, which the row of a later kind names."""
    rows: list[ParameterRow] = []
    shared: dict[ParameterRow, list[str]] = {}
    kind: ParameterRow | None = None
    for row in listed:
        if row.key.endswith(_KIND):
            kind = row
        if row not in rows:
            rows.append(row)
        elif kind and row.key.startswith(f"{kind.key.removesuffix(_KIND)}."):
            shared.setdefault(kind, []).append(row.key[len(kind.key) - len(_KIND) + 1 :])
    return [_sharing(row, shared[row]) if row in shared else row for row in rows]


def _sharing(kind: ParameterRow, names: Sequence[str]) -> ParameterRow:
    tops = [f"`{name}`" for name in names if name.rpartition(".")[0] not in names]
    return kind._replace(description=f"{kind.description[:-1]}, and {', '.join(tops)} above.")


def _columns(words: Sequence[str], _: Path) -> str:
    schema: Any = _schemas().get(words[0].upper())
    if schema is None:
        remedy = "see the modules of isotope/schemas, and of plug-ins"
        raise BadParams("<!-- columns -->", f"no table {words[0]!r}", remedy)
    names: dict[str, list[str]] = {}
    for name, kind in zip(schema.names, schema.types, strict=True):
        names.setdefault(kind_of(kind), []).append(f"`{name}`")
    return "\n".join(f"* {kind}: {', '.join(of_kind)}" for kind, of_kind in names.items())


def _schemas() -> dict[str, pa.Schema]:
    """Return the schemas of all phases and plug-ins by name, `SECTIONS`, and with that of the phase
    or plug-in before it, `SUGGEST.SECTIONS`; a plug-in has them in its module `schemas`.

    A name that two phases use is by itself that of the first of them in the alphabet.
    """
    names = sorted(module.name for module in iter_modules(isotope.schemas.__path__))
    modules = {name: import_module(f"isotope.schemas.{name}") for name in names}
    for plugin in plugins.registered().values():
        if plugin.file("schemas.py").is_file():
            modules[plugin.name] = import_module(f"{plugin.package}.schemas")
    by_name: dict[str, pa.Schema] = {}
    for phase, module in {"core": schemas, **modules}.items():
        schemas_of_module = {n: s for n, s in vars(module).items() if isinstance(s, pa.Schema)}
        by_name = {
            **schemas_of_module,
            **by_name,
            **{f"{phase.upper()}.{n}": s for n, s in schemas_of_module.items()},
        }
    return by_name


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
