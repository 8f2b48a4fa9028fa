"""The core stands alone: each plug-in of ours is taken away in turn, and what is left holds."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests import forkserver
from tests.demo import copy_project

from isotope.core import plugins

ROOT = Path(__file__).parents[2]
# The encyclopedia of the demo is one of them, and stays for the demo.
OURS = [name for name in plugins.registered() if name != "toy"]
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def with_its_needs(name: str) -> list[str]:
    """Return a plug-in and those that do not work without it."""
    return [one for one, of in plugins.registered().items() if one == name or name in of.needs]


def taken(place: Path, names: list[str]) -> Path:
    """Take plug-ins away from a copy of the project: their folders, links and lines."""
    project = place / "pyproject.toml"
    text = project.read_text("utf-8")
    for package in (plugins.registered()[name].package for name in names):
        shutil.rmtree(place / "workflow/plugins" / package)
        (place / "workflow/lib" / package).unlink()
        text = re.sub(rf'^\w+ = "{package}:\w+"\n', "", text, flags=re.MULTILINE)
        text = re.sub(rf', "{package}"|"{package}", ', "", text)
        assert package not in text
    project.write_text(text, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """A copy of the project without a plug-in, and the folder that its wheel is installed in."""
    made = dict[str, tuple[Path, Path]]()

    def without(name: str) -> tuple[Path, Path]:
        if name not in made:
            place = tmp_path_factory.mktemp(f"without-{name}")
            project = taken(copy_project(place / "project"), with_its_needs(name))
            pip = [sys.executable, "-m", "pip"]
            quiet = ["--quiet", "--no-deps", "--no-index"]
            wheels, target = place / "wheels", place / "installed"
            build = ["wheel", *quiet, "--no-build-isolation", "--wheel-dir", wheels, project]
            subprocess.run([*pip, *build], check=True, capture_output=True)
            [wheel] = wheels.iterdir()
            install = ["install", *quiet, "--target", target, wheel]
            subprocess.run([*pip, *install], check=True, capture_output=True)
            made[name] = project, target
        return made[name]

    return without


def run(target: Path, place: Path, *command: str) -> tuple[int, str]:
    """Run a program with what is installed in a folder; return its status and what it printed."""
    env = {**os.environ, "PYTHONPATH": str(target), "COLUMNS": "200"}
    done = forkserver.run(command, cwd=place, env=env, timeout=600)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", OURS)
def test_without_a_plug_in_the_demo_is_planned_and_its_section_is_refused(core, name, tmp_path):
    project, target = core(name)
    gone = {plugins.registered()[one].package for one in with_its_needs(name)}
    assert not [path for path in target.iterdir() if path.name in gone]
    for file in ("Snakefile", "params.yaml"):
        shutil.copy(project / file, tmp_path / file)
    status, told = run(target, tmp_path, "snakemake", "-n", "--cores", "all")
    assert status == 0, told[-4_000:]
    rules = set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)) - {"all", "total"}
    assert {"collect_tables", "search_bm25", "tabulate_report", "tabulate_overview"} <= rules
    assert not {rule.partition("_")[0] for rule in rules} & {*with_its_needs(name)}
    if plugins.registered()[name].section:
        (tmp_path / "more.yaml").write_text(yaml.safe_dump({name: {}}))
        asked = ("snakemake", "-n", "--configfile", "params.yaml", "more.yaml")
        status, told = run(target, tmp_path, *asked)
        assert status == 1
        assert f"package isotope_{name}" in told
    status, told = run(target, tmp_path, "isotope", "plugins")
    assert status == 0
    assert {*re.findall(r"^(\w+)  isotope-ir", told, re.MULTILINE)} == {
        *(one for one in plugins.registered() if one not in with_its_needs(name))
    }


@pytest.mark.long
@pytest.mark.parametrize("name", OURS)
def test_without_a_plug_in_the_links_of_the_cores_pages_lead_to_files(core, name):
    project, _ = core(name)
    pages = [project / "README.md", *sorted((project / "docs").glob("*.md"))]
    broken = [
        f"{page.relative_to(project)}: {link}"
        for page in pages
        for link in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


# Tests of the core that go through what is registered; all others are at least imported.
ASKING = (
    *("tests/lib/cli/test_cli_bad.py", "tests/lib/tabulate/test_catalog.py"),
    *("tests/lib/tabulate/test_examples.py", "tests/sql/test_order.py"),
    *("tests/lib/params/test_params.py", "tests/lib/plan/test_paths.py"),
)


@pytest.mark.long
@pytest.mark.parametrize("name", OURS)
def test_without_a_plug_in_the_tests_of_the_core_are_imported_and_what_they_ask_holds(core, name):
    project, target = core(name)
    quiet = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    env = {**os.environ, "PYTHONPATH": str(target)}
    for asked in (["--collect-only", "tests"], ASKING):
        done = subprocess.run(
            [*quiet, *asked],
            check=False,
            cwd=project,
            env=env,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, done.stdout[-4_000:]


@pytest.mark.long
def test_without_verification_the_demo_is_built_and_says_nothing_of_it(core, tmp_path):
    project, target = core("verify")
    for file in ("Snakefile", "params.yaml"):
        shutil.copy(project / file, tmp_path / file)
    status, told = run(target, tmp_path, "snakemake", "--cores", "all", "--quiet", "rules")
    assert status == 0, told[-4_000:]
    pages = tmp_path / "results/report/toy"
    assert "Verification" not in (pages / "cite.html").read_text("utf-8")
    assert not list(tmp_path.glob("results/tables/toy/verified.*"))
    assert "Nothing to be done" in run(target, tmp_path, "snakemake", "-n", "--cores", "all")[1]
