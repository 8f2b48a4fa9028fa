"""What shows that a command of the pages does what they say, and how an overlay is laid out.

`tests/workflow/test_commands.py` has those of the core. A plug-in has a module tests/effects.py
with its own: EFFECTS, by command, and RUN_BY, the tests that run its overlays.
"""

import ast
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml
from tests import forkserver
from tests.plugged import ROOT

from isotope.cli import commands as main
from isotope.tabulate.table import FORMS

# The plan of a documented command has as few shards; test_layout.py plans them all.
FEW = {
    "shards": dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 2),
    "encode": {"shards": 2},
}
SNAKEMAKE = "snakemake --cores all"
# Why a reader of the demo's folder does not run a command.
NETWORK = "it asks servers or hubs that no test may ask"
SLURM_NODES = "it needs a cluster"
COMPILER = "it needs a compiler of Java"
PUBLISHED = "it reads published data, of which another test makes a little in its form"
CLONE = "it compares clones or revisions, which another test makes"
PACKAGE = "it needs a package of one's own, which another test builds and installs"
HOURS = "it takes hours; another test looks at its plan or runs a share of it"
REASONS = (NETWORK, SLURM_NODES, COMPILER, PUBLISHED, CLONE, PACKAGE, HOURS)


def overlays_in(words: Sequence[str]) -> list[str]:
    """Return those words that are overlays of the project or of a plug-in."""
    return [word for word in words if re.search(r"(^|/)params/[\w-]+\.yaml$", word)]


def elsewhere(why: str, path: str, name: str, *more: str) -> Callable[..., None]:
    """A test of another file shows the effect; `why`, one of REASONS, the reader does not.

    Its code, with what it calls in its file, has the words of the command, or `more`, and asserts
    something: a test that is emptied shows nothing.
    """

    assert why in REASONS

    def check(request: pytest.FixtureRequest) -> None:
        program, first, *others = request.node.callspec.params["command"].split()
        overlays = overlays_in([first, *others])
        asked = more or (overlays if program == "snakemake" and overlays else (first,))
        shown = Shown((ROOT / path).read_text("utf-8"), name)
        assert [word for word in asked if not shown.says(Path(word).name)] == []
        assert shown.asserts

    return check


class Shown:
    """A test of a file with the functions, classes and values of that file which it uses."""

    def __init__(self, source: str, name: str) -> None:
        top: dict[str, ast.AST] = {}
        for node in ast.parse(source).body:
            targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
            named = [n.id for t in targets if t for n in ast.walk(t) if isinstance(n, ast.Name)]
            top |= dict.fromkeys([*named, getattr(node, "name", "")], node)
        self._nodes: dict[str, ast.AST] = {}
        wanted = [name]
        assert name in top
        while wanted:
            if (now := wanted.pop()) in top and now not in self._nodes:
                self._nodes[now] = top[now]
                wanted += [n.id for n in ast.walk(top[now]) if isinstance(n, ast.Name)]
                wanted += [n.arg for n in ast.walk(top[now]) if isinstance(n, ast.arg)]

    def says(self, word: str) -> bool:
        """Tell whether a text or a name in the code has the word."""
        every = [n for node in self._nodes.values() for n in ast.walk(node)]
        texts = [n.value for n in every if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        names = [n.attr for n in every if isinstance(n, ast.Attribute)]
        return any(word in text for text in [*texts, *names])

    @property
    def asserts(self) -> bool:
        """Whether anything is asserted that depends on what was done."""
        every = [n for node in self._nodes.values() for n in ast.walk(node)]
        asked = [n.test for n in every if isinstance(n, ast.Assert)]
        return any(isinstance(n, ast.Name | ast.Call) for test in asked for n in ast.walk(test))


def answered(request: pytest.FixtureRequest, place: Path, *words: object) -> str:
    """Run an `isotope` command in `place`, in this process; return what it printed.

    The Python that it starts is forked.
    """
    captured, patch = (request.getfixturevalue(name) for name in ("capsys", "monkeypatch"))
    patch.chdir(place)
    patch.setattr(sys, "executable", str(forkserver.stand_in("python")))
    status = main.main([str(word) for word in words])
    out, err = captured.readouterr()
    assert status == 0, err or out
    return out


def printed(*forms: str) -> Callable[..., None]:
    """The command, in the embedded project, prints what each of the forms matches."""

    def check(request: pytest.FixtureRequest) -> None:
        words = shlex.split(request.node.callspec.params["command"])[1:]
        out = answered(request, request.getfixturevalue("embedded"), *words)
        assert [form for form in forms if not re.search(form, out, re.MULTILINE)] == [], out

    return check


def laid(folder: Path, overlays: list[str]) -> None:
    """Put an empty file wherever the overlays look for local ones below {root}."""
    for overlay in overlays:
        text = (ROOT / overlay).read_text("utf-8")
        for pattern in re.findall(r"\{root\}/([\w./*{}-]+)", text):
            path = folder / pattern.replace("*", "x").replace("{name}", "mine")
            if path.suffix:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            else:
                path.mkdir(parents=True, exist_ok=True)


def with_few_shards(words: list[str], place: Path) -> None:
    """Set the overlays of a command between the project's params and FEW."""
    (place / "few.yaml").write_text(yaml.safe_dump(FEW))
    at = words.index("--configfile") + 1 if "--configfile" in words else 1
    base = [] if "--configfile" in words else ["--configfile"]
    end = at + len(overlays_in(words))
    words[at:end] = [*base, str(ROOT / "params.yaml"), *words[at:end], "few.yaml"]


def planned(
    *rules: str, without: tuple[str, ...] = (), tables: tuple[str, ...] = ()
) -> Callable[..., None]:
    """Snakemake plans these rules and tables from nothing, and not others."""

    def check(request: pytest.FixtureRequest) -> None:
        place, shell = request.getfixturevalue("tmp_path"), request.getfixturevalue("shell")
        words = shlex.split(request.node.callspec.params["command"])
        overlays = overlays_in(words)
        laid(place / "files", overlays)
        words = [f"root={place / 'files'}" if w.startswith("root=") else w for w in words]
        ours = ("params/", "workflow/")
        words = [str(ROOT / word) if word.startswith(ours) else word for word in words]
        with_few_shards(words, place)
        where = ["--snakefile", ROOT / "Snakefile", "--directory", place]
        asked = ["--summary"] if tables else ["-n", "--quiet", "rules"]
        told = shell(words[0], *asked, *where, *words[1:], cwd=place)
        found = set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE))
        if tables:
            lines = [line.split("\t") for line in told.splitlines()]
            made = {line[0]: line[2] for line in lines if line[-1] == "update pending"}
            expected = {f"results/tables/{t}.{s}" for t in tables for s in FORMS}
            assert expected - made.keys() == set()
            found = {*made.values()}
        assert set(rules) <= found, told
        assert not [rule for rule in found if rule.startswith(without)]

    return check
