"""Every import is declared: the looks of deptry that `make lint` takes, and what they refuse."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECLARED = (ROOT / "pyproject.toml").read_text("utf-8")
IGNORED = tomllib.loads(DECLARED)["tool"]["deptry"]["per_rule_ignores"]


@pytest.fixture
def refused(tmp_path):
    """What the looks of the lint refuse by a text of pyproject.toml: rule and name."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [code] = re.findall(r"^FOLDERS := (.*)$", makefile, re.MULTILINE)
    looks = re.findall(r"^\t(deptry .*)$", makefile, re.MULTILINE)
    assert len(looks) == 2
    file = tmp_path / "pyproject.toml"

    def look(text: str) -> set[tuple[str, str]]:
        file.write_text(text, encoding="utf-8")
        told = ""
        for command in looks:
            words = shlex.split(command.replace("$(FOLDERS)", code))
            done = subprocess.run(
                [*words, "--config", file, "--no-ansi"],
                cwd=ROOT,
                check=False,
                capture_output=True,
                text=True,
            )
            says = done.stdout + done.stderr
            assert done.returncode == int("DEP0" in says), says
            told += says
        return {*re.findall(r" (DEP\d+) '([^']+)'", told)}

    return look


def without(line: str) -> str:
    """pyproject.toml without a line of a list."""
    assert DECLARED.count(f"    {line},\n") == 1
    return DECLARED.replace(f"    {line},\n", "")


def test_what_is_declared_is_what_is_imported(refused):
    assert refused(DECLARED) == set()


@pytest.mark.parametrize(
    ("line", "module"), [("yarl", "yarl"), ("s3fs", "s3fs"), ("tokenizers", "tokenizers")]
)
def test_an_import_that_comes_with_another_package_alone_is_refused(refused, line, module):
    assert refused(without(f'"{line}"')) == {("DEP003", module)}


def test_an_import_of_the_library_that_only_a_group_has_is_refused(refused):
    [extra] = re.findall(r"^ir-datasets = .*\n", DECLARED, re.MULTILINE)
    in_dev = DECLARED.replace(extra, "").replace("\ndev = [", '\ndev = [\n    "ir_datasets",')
    assert refused(in_dev) == {("DEP004", "ir_datasets")}


@pytest.mark.parametrize("place", ["\ndependencies = [", "\ndev = ["])
def test_what_is_declared_and_imported_nowhere_is_refused(refused, place):
    assert refused(DECLARED.replace(place, f'{place}\n    "attrs",', 1)) == {("DEP002", "attrs")}


def test_every_exception_of_the_lint_is_needed(refused):
    above, _, below = DECLARED.partition("[tool.deptry.per_rule_ignores]")
    _, _, beyond = below.partition("\n[tool.")
    bare = refused(f"{above}\n[tool.{beyond}")
    assert bare == {(rule, name) for rule, names in IGNORED.items() for name in names}
