"""Which Python installs: Debian 12's own 3.11.2 and later 3.11; any other is refused beforehand."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parents[2]
OLDEST = "3.11.2"


@pytest.fixture
def install(tmp_path):
    """Make the demo with a Python that says it is of a version, and no network."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    def make(version: str, *, told: str = "") -> str:
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && echo {version} || echo "ran $@"\n{told}\n')
        python.chmod(0o755)
        command = ["make", f"PYTHON={python}", "demo"]
        # What a make above this one says of itself is not for this one.
        outer = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=outer,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode
        return done.stdout

    return make


@pytest.mark.parametrize("version", ["3.10.12", "3.11.0", "3.11.1", "3.12.4", "3.13.1", "2.7.18"])
def test_another_python_is_refused_in_one_line_before_anything_runs(install, version):
    [line] = install(version).splitlines()
    assert f"is Python {version}; install Python 3.11, at least 3.11.2" in line
    assert "make PYTHON=/path/to/python3.11" in line
    assert "ran " not in line


def test_a_python_that_does_not_run_or_has_no_venv_is_refused_in_one_line(install):
    [line] = install("", told="exit 1").splitlines()
    assert "does not run or has no venv; install Python 3.11" in line
    assert "apt install python3.11-venv" in line


@pytest.mark.parametrize("version", ["3.11.2", "3.11.5", "3.11.15"])
def test_python_3_11_from_3_11_2_on_installs(install, version):
    assert "ran -m venv .venv" in install(version)


def test_every_locked_package_accepts_the_oldest_python():
    """Upper bounds aside, which uv does not read: dataclasses 0.8 says `<3.7`, and is shadowed."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    pins = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", lock, re.MULTILINE))
    assert len(pins) > 300
    refused = []
    for name, version in pins.items():
        found = distribution(name)
        if found.version != version:
            refused.append(f"{name} {found.version} is installed in place of {version}")
        said = SpecifierSet(found.metadata["Requires-Python"] or "")
        lower = [s for s in said if s.operator in (">=", ">", "!=", "==", "~=")]
        refused += [f"{name} {s}" for s in lower if not s.contains(OLDEST)]
    assert refused == []


def test_the_package_the_lock_and_the_readme_name_the_same_oldest_python():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = SpecifierSet(package["requires-python"])
    assert Version(OLDEST) in declared
    assert not {"3.11.1", "3.12.0"} & set(declared.filter(["3.11.1", "3.12.0"]))
    assert f"--python-version {OLDEST} " in (ROOT / "Makefile").read_text("utf-8")
    assert OLDEST in (ROOT / "README.md").read_text("utf-8")


def test_the_lock_holds_the_files_of_one_platform():
    """Half a megabyte named the files of every platform; uv installs from this one all the same."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    entries = re.findall(r"^\S+==\S+(?: \\\n    --hash=sha256:[0-9a-f]{64})+$", lock, re.MULTILINE)
    assert len(entries) == lock.count("==")
    assert len(lock) < 100_000
    assert "://" not in lock


def test_an_installed_package_has_every_file_of_data_of_the_library():
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    library = ROOT / data["packages"]["find"]["where"][0] / "isotope"
    packed = {path for glob in data["package-data"]["isotope"] for path in library.glob(glob)}
    there = {path for path in library.rglob("*.*") if path.is_file()}
    # Python and numba keep there what they have compiled.
    kept = {path for path in there if path.parent.name != "__pycache__"}
    assert {p for p in kept if p.suffix not in (".py", ".pyi")} == packed
