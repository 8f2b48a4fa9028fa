"""Tests of the core hold whichever plug-ins of ours are there: they know the demo's own alone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# The encyclopedia of the demo, which stays with the core.
DEMO = "isotope_toy"
OURS = {path.name for path in (ROOT / "workflow/plugins").glob("isotope_*")} - {DEMO}
_MODULE = re.compile(r"(workflow\.plugins\.)?isotope_\w+([.:]\w+)+")
CORE = sorted((ROOT / "tests").rglob("*.py"))


def named(code: str) -> Iterator[str]:
    """Yield the packages that a module imports, or names in a text, as one that is patched."""
    for node in ast.walk(ast.parse(code)):
        modules = list[str]()
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            modules = [node.value] if _MODULE.fullmatch(node.value) else []
        for module in modules:
            first, *rest = module.replace(":", ".").split(".")
            yield rest[1] if first == "workflow" and len(rest) > 1 else first


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_test_of_the_core_imports_no_plug_in_but_that_of_the_demo(path):
    assert {*named(path.read_text("utf-8"))} & OURS == set()


@pytest.mark.parametrize(
    "code",
    [
        "import isotope_judge.pool",
        "from isotope_judge import pool",
        "def f():\n    from isotope_judge.pool import write_pool",
        "from workflow.plugins.isotope_judge.tests import tiny_vlm",
        "patch.setattr('isotope_judge.app.serve', None)",
        "call = 'isotope_judge.pool:write_pool'",
    ],
)
def test_a_plug_in_is_noticed_however_it_is_named(code):
    assert "isotope_judge" in {*named(code)}


def test_paths_and_the_plug_in_of_the_demo_are_none():
    code = "from isotope_toy import snapshot\nat = 'isotope_judge/pool.py'\nb = 'isotope.core.x'"
    assert {*named(code)} & OURS == set()
