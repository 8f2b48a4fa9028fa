"""Whole workflows in throw-away copies of the project."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forkserver
from tests.once import once

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
# What a busy machine may need for a whole run.
LIMIT_S = 1_800


def run(*command: str | Path, cwd: Path, check: bool = True, forked: bool = True) -> str:
    """Run a program in `cwd`; return what it printed.

    Programs of the environment, and those that it or a script starts, are forked from a warm
    process, or started.
    """
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    if forked and str(command[0]) in forkserver.PROGRAMS:
        done = forkserver.run(command, cwd=cwd, env=env, timeout=LIMIT_S, merged=True, jobs=True)
    else:
        if forked and (command[0] == "bash" or "/" in str(command[0])):
            env["PATH"] = f"{forkserver.stand_in('python').parent}{os.pathsep}{env['PATH']}"
        done = subprocess.run(
            [str(c) for c in command],
            cwd=cwd,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert not check or done.returncode == 0, done.stdout[-8_000:]
    return done.stdout


def copy_project(place: Path) -> Path:
    """Copy what git tracks, or would, and make it a repository of its own."""
    # Between nulls: git quotes names that are not ASCII where a line ends them.
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        # `profiles` is a link to a folder.
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name, follow_symlinks=False)
    run("git", "init", "-q", "-b", "main", cwd=place)
    commit(place, "the project")
    return place


def commit(place: Path, message: str) -> None:
    """Commit everything that is not ignored."""
    run("git", "add", "-A", cwd=place)
    author = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
    run("git", *author, "commit", "-qm", message, "--allow-empty", cwd=place)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the file that builds the demo first, and files that wait for it after those that don't.

    While one worker builds it, the other has the workflows that have no need of it and the tests of
    the library; the longest of those that wait comes first of them, and the shortest files come
    last, so that both end together.
    """
    waiting = {i.path for i in items if "embedded" in getattr(i, "fixturenames", ())}
    tests = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        if item.path.name == "test_commands.py":
            return 0
        if item.path in waiting:
            return 3 if item.path.name == "test_targets.py" else 4
        if item.path.parent == tests / "workflow":
            return 1
        return 5 if item.path.is_relative_to(tests / "sql") else 2

    items.sort(key=place)


@pytest.fixture(scope="session")
def shell() -> Callable[..., str]:
    """Run a program of the environment: `shell(*command, cwd=...)`."""
    return run


@pytest.fixture(scope="session")
def commit_all() -> Callable[[Path, str], None]:
    """Commit everything in a repository: `commit_all(place, message)`."""
    return commit


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Make fresh copies of the project."""
    return lambda: copy_project(tmp_path_factory.mktemp("project"))


# Makes an environment, and prints where the packages of its Python are.
CREATE = """
import sys, sysconfig, venv
venv.create(sys.argv[1], symlinks=True)
print(sysconfig.get_path("purelib"))
"""
BUILD = "import setuptools.build_meta as backend; print(backend.build_wheel('.'))"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from this checkout."""
    tree = copy_project(tmp_path_factory.mktemp("checkout") / "project")
    built = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=tree, check=True, capture_output=True, text=True
    )
    return tree / built.stdout.split()[-1]


@pytest.fixture(scope="session")
def venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> "Venv":
    """An environment in which the wheel is installed, and no checkout is."""
    made = Venv(tmp_path_factory.mktemp("venv"))
    made.install(wheel)
    return made


class Venv:
    """A virtual environment, with links to the packages of the tests' own but isotope.

    They lie side by side, as an installer puts them, since some shadow modules of Python's own for
    whatever has their folder first on its path. Path files make an installation editable.
    """

    def __init__(self, place: Path, python: str | Path = sys.executable) -> None:
        """Make one at a place, of a Python that has the packages: that of the tests by default."""
        self.place = place
        packages = run(python, "-c", CREATE, place, cwd=place.parent, forked=False)
        [self.packages] = place.glob("lib/python*/site-packages")
        for path in Path(packages.strip()).iterdir():
            link = self.packages / path.name
            if path.suffix != ".pth" and "isotope" not in path.name and not link.exists():
                link.symlink_to(path)
        for program in ("snakemake", "dvc"):
            module, _, function = forkserver.PROGRAMS[program].partition(":")
            script = place / "bin" / program
            ends = f"raise SystemExit({function}())"
            script.write_text(f"#!{place}/bin/python\nfrom {module} import {function}\n{ends}\n")
            script.chmod(0o755)

    def install(self, wheel: Path) -> None:
        """Put a wheel in place of the one that is installed."""
        options = ["--offline", "--no-deps", "--no-cache", "--reinstall", "--python", self.place]
        run(BIN / "uv", "pip", "install", "--quiet", *options, wheel, cwd=self.place)

    def run(self, *command: str | Path, cwd: Path) -> str:
        """Run a program of this environment, as a process; return what it printed."""
        outside = {"PYTHONPATH", "VIRTUAL_ENV"}
        env = {name: value for name, value in os.environ.items() if name not in outside}
        env |= {"PATH": f"{self.place / 'bin'}{os.pathsep}{env['PATH']}", "COLUMNS": "200"}
        done = subprocess.run(
            [self.place / "bin" / command[0], *command[1:]],
            cwd=cwd,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-8_000:]
        return done.stdout


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after `snakemake --cores all` with the default params, a copy for each worker.

    It is built once in a session; beside it lies `demo.printed`, what was printed. Its jobs are
    forked: that they give the same when they are started is a test of the layout.
    """

    def build(place: Path) -> None:
        copy_project(place)
        printed = run("snakemake", "--cores", "all", cwd=place)
        place.with_suffix(".printed").write_text(printed)

    place = tmp_path_factory.mktemp("embedded") / "project"
    shutil.copytree(once("demo", build), place, symlinks=True)
    return place
