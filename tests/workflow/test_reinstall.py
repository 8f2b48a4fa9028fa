"""What reruns does not hang on when and where isotope was installed, nor on the Python."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.demo import Venv
from tests.workflow.test_addresses import readers
from tests.workflow.test_dvc import NOTHING

from isotope.core import provenance

ROOT = Path(__file__).parents[2]
TESTED = ("3.14", "3.13", "3.12", "3.11")
OTHERS = [minor for minor in TESTED if not sys.version.startswith(f"{minor}.")]
# The demo up to its projection: each rule with what it calls and the rules that come after it.
TARGET = "project"
CALLS = {
    "toy_acquire": "isotope_toy.source:acquire_toy",
    "parse_wit": "parse.wit:parse_source",
    "parse_templates": "parse.template_pages:read_source",
    "parse_dump": "parse.dump:parse_source",
    "project_source": "project.match:project_source",
}
AFTER = {
    "toy_acquire": {"parse_wit", "parse_templates", "parse_dump", "project_source"},
    "parse_wit": {"project_source"},
    "parse_templates": {"parse_dump", "project_source"},
    "parse_dump": {"project_source"},
    "project_source": set[str](),
}
# A file of the package, a function in it, and the rules that call that.
EDITS = [
    ("parse/wit.py", "parse_source", {"parse_wit"}),
    ("parse/transclusion/functions.py", "is_equal", {"parse_templates", "parse_dump"}),
    ("core/uploads.py", "canonical_url", {"parse_wit", "parse_dump", "project_source"}),
    ("project/match.py", "project_source", {"project_source"}),
    ("isotope_toy/scenes.py", "paint", {"toy_acquire"}),
    ("tabulate/table.py", "markdown", set[str]()),
]


@pytest.fixture(scope="module")
def made(venv, tmp_path_factory) -> Path:
    """A folder in which the wheel alone has built the target."""
    place = tmp_path_factory.mktemp("made") / "demo"
    venv.run("isotope", "new", place.name, cwd=place.parent)
    venv.run("snakemake", "--cores", "all", TARGET, cwd=place)
    assert NOTHING in planned(venv, place)
    return place


def planned(venv: Venv, place: Path) -> str:
    """What Snakemake says that it would do for the target."""
    return venv.run("snakemake", "-n", TARGET, cwd=place)


@pytest.fixture(scope="module")
def elsewhere(wheel, made, tmp_path_factory) -> Venv:
    """Another environment with the same wheel, installed after the run."""
    venv = Venv(tmp_path_factory.mktemp("elsewhere") / "another_name")
    venv.install(wheel)
    return venv


@pytest.mark.long
def test_the_same_wheel_installed_again_plans_nothing(made, venv, wheel):
    before = venv.packages.joinpath("isotope/rules/parse.smk").stat()
    venv.install(wheel)
    after = venv.packages.joinpath("isotope/rules/parse.smk").stat()
    last = max(path.stat().st_mtime for path in made.glob("data/project/**/*"))
    assert before.st_mtime < last < after.st_mtime
    assert NOTHING in planned(venv, made)


@pytest.mark.long
def test_the_same_wheel_in_another_environment_plans_nothing(made, elsewhere):
    asked = "import isotope; print(isotope.__file__)"
    [told] = elsewhere.run("python", "-c", asked, cwd=made).splitlines()
    assert Path(told).is_relative_to(elsewhere.packages)
    assert NOTHING in planned(elsewhere, made)


PACKAGES = """
import json, sys
from importlib.metadata import PackageNotFoundError, distribution
lacking = []
for name in json.loads(sys.argv[1]):
    try:
        distribution(name)
    except PackageNotFoundError:
        lacking.append(name)
print(json.dumps(lacking))
"""


def pythons(minor: str) -> list[str]:
    """The Pythons of a version here; `.ci/pythons` leaves one with all packages below .isotope."""
    of_ci = ROOT.glob(f".isotope/python{minor}/.venv/bin/python")
    return [*map(str, of_ci), *found(minor)]


def name_of(line: str) -> str:
    return Requirement(line).name


def lacking(python: str, minor: str) -> list[str]:
    """What the package requires and a Python of a version does not have."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    of_extras = chain(*declared["optional-dependencies"].values())
    every = [Requirement(line) for line in (*declared["dependencies"], *of_extras)]
    without = {"isotope-ir", *map(name_of, declared["optional-dependencies"]["offline"])}
    needed = [one for one in every if one.name not in without]
    here = {"python_version": minor}
    names = [one.name for one in needed if one.marker is None or one.marker.evaluate(here)]
    return json.loads(run_python(python, "-c", PACKAGES, json.dumps(names)))


def found(minor: str) -> list[str]:
    """The Python of a version that `make` would take, if there is one."""
    told = subprocess.run(
        [ROOT / ".ci/find-python", minor], check=True, capture_output=True, text=True
    )
    python = told.stdout.strip()
    version = run_python(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    return [python] if version.strip() == minor else []


def run_python(python: str, *arguments: str | Path, path: str = "") -> str:
    """What a Python prints, with folders of modules before its own."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env |= {"PYTHONPATH": path} if path else {}
    done = subprocess.run(
        [python, *arguments], env=env, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{python}\n{done.stderr[-8_000:]}"
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("minor", OTHERS)
def test_the_same_wheel_under_another_python_plans_nothing(made, wheel, tmp_path, minor):
    without = {python: lacking(python, minor) for python in pythons(minor)}
    python = next((python for python, packages in without.items() if not packages), None)
    if python is None:
        pytest.skip(f"no Python {minor} with all packages; run .ci/pythons {minor}")
    venv = Venv(tmp_path / "venv", python)
    venv.install(wheel)
    told = planned(venv, made)
    assert f"Python version: {minor}." in told
    assert NOTHING in told


RULES = ("workflow/rules/*.smk", "workflow/plugins/*/rules/*.smk")
CLOSURES = """
import json, sys
from isotope.core import provenance
print(json.dumps({call: provenance.closure(call) for call in json.loads(sys.argv[1])}))
"""


@pytest.mark.long
@pytest.mark.parametrize("minor", OTHERS)
def test_another_python_finds_the_same_code_of_every_job(venv, tmp_path, minor):
    """Syntax trees differ between versions; to read them takes two parsers and no more packages.

    What the wheel installed and these stand alone: other packages shadow modules of Python's own.
    """
    files = [path for folder in RULES for path in ROOT.glob(folder)]
    rules = "\n".join(path.read_text("utf-8") for path in files)
    calls = sorted({*re.findall(r'call="([\w.]+:\w+)"', rules)})
    assert len(calls) > 80
    python = next(iter(found(minor)), None)
    if python is None:
        pytest.skip(f"no Python {minor} is here")
    for name in ("jinja2", "markupsafe", "yaml"):
        spec = find_spec(name)
        assert spec
        assert spec.origin
        (tmp_path / name).symlink_to(Path(spec.origin).parent)
    for installed in venv.packages.glob("isotope*"):
        (tmp_path / installed.name).symlink_to(installed)
    told = run_python(python, "-B", "-c", CLOSURES, json.dumps(calls), path=str(tmp_path))
    assert json.loads(told) == {call: provenance.closure(call) for call in calls}


def with_a_statement(text: str, function: str) -> str:
    """The text of a module, with a statement more at the end of a function."""
    [found] = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    lines = text.splitlines(keepends=True)
    last = found.body[-1]
    lines.insert(last.lineno - 1, " " * last.col_offset + "edited = True\n")
    return "".join(lines)


@pytest.mark.long
@pytest.mark.parametrize(("file", "function", "callers"), EDITS)
def test_an_edited_function_plans_what_calls_it_and_what_comes_after(
    made, elsewhere, file, function, callers
):
    assert callers == {rule for rule, call in CALLS.items() if file in provenance.closure(call)}
    package = "" if file.startswith("isotope_") else "isotope"
    module = elsewhere.packages / package / file
    text = module.read_text("utf-8")
    module.write_text(with_a_statement(text, function), encoding="utf-8")
    try:
        told = planned(elsewhere, made)
    finally:
        module.write_text(text, encoding="utf-8")
    after = set[str]().union(*(AFTER[rule] for rule in callers))
    assert {*re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)} & {*CALLS} == callers | after
    assert readers(f"exit status 0{told}") == callers - after
