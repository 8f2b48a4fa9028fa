"""The rule graph as Mermaid text, from Snakemake's own."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from isotope.errors import ToolFailed

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
    """Return the edges of circles that come nearer to where the graph begins."""
    after, depth = _after(edges), dict[str, int]()
    now = {a for a, _ in edges} - {b for _, b in edges}
    while now:
        depth |= dict.fromkeys(now, len(set(depth.values())))
        now = {b for a in now for b in after.get(a, ())} - depth.keys()
    return {(a, b) for a, b in edges if depth.get(b, 0) <= depth.get(a, 0) and _leads(b, a, after)}


def _leads(start: str, end: str, after: dict[str, set[str]]) -> bool:
    seen, todo = {start}, [start]
    while todo:
        new = after.get(todo.pop(), set()) - seen
        seen |= new
        todo += new
    return end in seen
