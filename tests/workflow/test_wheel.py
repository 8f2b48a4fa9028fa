"""The wheel has all that a run needs, and what reruns does not hang on where it is installed."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.workflow.conftest import copy_project

from isotope.core.resources import PACKAGE

ROOT = Path(__file__).parents[2]
BUILD = "import setuptools.build_meta as backend; print(backend.build_wheel('.'))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with what the wheel of this checkout puts among a Python's packages."""
    tree = tmp_path_factory.mktemp("checkout") / "project"
    copy_project(tree)
    built = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=tree, check=True, capture_output=True, text=True
    )
    place = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(tree / built.stdout.split()[-1]) as wheel:
        wheel.extractall(place)
    return place


def files(package: Path) -> set[str]:
    """The files of a package by their paths below it, through links to folders."""
    below = set[str]()
    for folder in (path for path in package.iterdir() if path.is_dir()):
        whole = folder.resolve()
        below |= {f"{folder.name}/{p.relative_to(whole)}" for p in whole.rglob("*") if p.is_file()}
    return {path for path in below if "__pycache__" not in path}


def test_the_wheel_has_every_file_of_the_package(installed):
    own = files(PACKAGE)
    assert {Path(path).suffix for path in own} >= {".py", ".sql", ".smk", ".j2", ".class", ".json"}
    assert files(installed / "isotope") == own


@pytest.mark.long
def test_by_the_wheel_alone_the_demo_is_built_and_the_checkout_plans_nothing_anew(
    installed, shell, tmp_path, monkeypatch
):
    for name in ("Snakefile", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "workflow/profiles/default", tmp_path / "profiles/default")
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(installed))
        told = shell("snakemake", "--cores", "all", cwd=tmp_path)
    assert "54 of 54 jobs" in told
    assert "Nothing to be done" in shell("snakemake", "--cores", "all", "-n", cwd=tmp_path)
