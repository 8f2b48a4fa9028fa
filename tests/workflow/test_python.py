"""Which Python installs: the newest tested one that is there; any other is refused beforehand.

The lock has the files that an installer takes, and their hashes, for each of them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.markers import Marker
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


@pytest.mark.parametrize(
    "version", ["3.10.12", "3.11.0", "3.11.1", "3.15.0", "4.13.1", "2.7.18", "3.9.6"]
)
def test_another_python_is_refused_in_one_line_before_anything_runs(install, version):
    [line] = install(version).splitlines()
    assert f"is Python {version}; install Python 3.11.2 or later, 3.12, 3.13 or 3.14" in line
    assert "macOS: brew install python@3.13" in line
    assert "make PYTHON=/path/to/python3.13" in line
    assert "ran " not in line


def test_a_python_that_does_not_run_or_has_no_venv_is_refused_in_one_line(install):
    [line] = install("", told="exit 1").splitlines()
    assert "does not run or has no venv; install Python 3.11.2" in line
    assert "apt install python3-venv" in line


@pytest.mark.parametrize("version", ["3.11.2", "3.11.15", "3.12.4", "3.13.0", "3.13.12", "3.14.0"])
def test_every_tested_python_installs(install, version):
    assert "ran -m venv --clear .venv" in install(version)


def test_an_environment_keeps_its_python_and_another_python_makes_it_anew(install, tmp_path):
    (tmp_path / ".venv/lib/python3.12").mkdir(parents=True)
    assert "ran -m venv .venv" in install("3.12.4")
    assert "ran -m venv --clear .venv" in install("3.13.1")


@pytest.fixture
def find(tmp_path):
    """Look for a Python where those of the given versions are: on the PATH, of pyenv, of uv."""

    def lay(path: Path, version: str, status: int = 0) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        minor = version.rpartition(".")[0]
        asked = f'[ "$1" = -c ] && [ "$3" = {minor} ] && exit {status}; exit 1'
        path.write_text(f"#!/bin/sh\n{asked}\n")
        path.chmod(0o755)

    def look(
        here: dict[str, str],
        pyenv: Sequence[str] = (),
        broken: Sequence[str] = (),
        uv: Sequence[str] = (),
    ) -> str:
        for name, version in here.items():
            lay(tmp_path / "bin" / name, version, int(name in broken))
        for version in pyenv:
            lay(tmp_path / "pyenv/versions" / version / "bin/python", version)
        for version in uv:
            folder = tmp_path / f"home/.local/share/uv/python/cpython-{version}-macos-aarch64-none"
            lay(folder / "bin/python", version)
        env = {"PATH": str(tmp_path / "bin"), "PYENV_ROOT": str(tmp_path / "pyenv")}
        env["HOME"] = str(tmp_path / "home")
        command = ["/bin/sh", ROOT / ".ci/find-python", "3.14", "3.13", "3.12", "3.11"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        return done.stdout.strip().removeprefix(f"{tmp_path}/")

    return look


def test_the_newest_tested_python_is_found_wherever_it_is(find):
    assert find({"python3": "3.9.6"}) == "bin/python3"
    assert find({"python3": "3.11.4"}) == "bin/python3"
    assert find({"python3.11": "3.11.4", "python3": "3.15.0"}) == "bin/python3.11"
    assert find({"python3.12": "3.12.1"}, broken=["python3.12"]) == "bin/python3.11"
    assert find({"python3.12": "3.12.1"}) == "bin/python3.12"
    assert find({}, ["3.13.0", "3.15.0"]) == "pyenv/versions/3.13.0/bin/python"
    assert find({"python3.13": "3.13.2"}) == "bin/python3.13"
    assert find({}, uv=["3.14.2"]).endswith("/cpython-3.14.2-macos-aarch64-none/bin/python")
    assert find({"python3.14": "3.14.0"}) == "bin/python3.14"


def test_without_any_python_make_says_so(find):
    assert find({}) == ""


def oldest_of(marker: str) -> str:
    """The first Python that an entry of the lock is for."""
    pythons = (OLDEST, "3.12.0", "3.13.0", "3.14.0")
    of_python = ({"python_version": p[:4], "python_full_version": p} for p in pythons)
    fits = (not marker or Marker(marker).evaluate(e) for e in of_python)
    return next(p for p, is_for in zip(pythons, fits, strict=True) if is_for)


def test_every_locked_package_accepts_the_oldest_python_that_it_is_for():
    """Upper bounds aside, which uv does not read: dataclasses 0.8 says `<3.7`, and is shadowed."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    pins = re.findall(r"^([a-z0-9.-]+)==(\S+)(?: ; (.*))? \\$", lock, re.MULTILINE)
    assert len(pins) > 300
    refused = []
    for name, version, marker in pins:
        if marker and not Marker(marker).evaluate():
            continue
        found = distribution(name)
        if found.version != version:
            refused.append(f"{name} {found.version} is installed in place of {version}")
        has_bound = "Requires-Python" in found.metadata
        said = SpecifierSet(found.metadata["Requires-Python"] if has_bound else "")
        lower = [s for s in said if s.operator in (">=", ">", "!=", "==", "~=")]
        refused += [f"{name} {s}" for s in lower if not s.contains(oldest_of(marker))]
    assert refused == []


def test_the_package_the_lock_and_the_readme_name_the_same_oldest_python():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = SpecifierSet(package["requires-python"])
    assert Version(OLDEST) in declared
    assert [*declared.filter(["3.11.1", "3.12.0", "3.14.9", "3.15.0"])] == ["3.12.0", "3.14.9"]
    assert f"--python-version {OLDEST} " in (ROOT / "Makefile").read_text("utf-8")
    assert OLDEST in (ROOT / "README.md").read_text("utf-8")


def test_the_lock_holds_the_hashes_of_what_is_supported_and_no_address():
    """Most of a megabyte named the files of every platform; uv installs from this one as well."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    form = r"^\S+==\S+(?: ; .*)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+$"
    entries = re.findall(form, lock, re.MULTILINE)
    # As many equals signs stand in markers.
    lock = re.sub(r" ; .* \\$", "", lock, flags=re.MULTILINE)
    assert len(entries) == lock.count("==")
    assert len(lock) < 150_000
    assert "://" not in lock


def file(name: str, digest: str) -> dict[str, object]:
    return {"url": f"https://index.example/{name}", "hashes": {"sha256": digest * 64}}


def lock_of(*packages: Mapping[str, object], folder: Path) -> subprocess.CompletedProcess[str]:
    pylock = folder / "pylock.toml"
    pylock.write_text(toml(packages))
    command = [sys.executable, ROOT / ".ci/lock.py", pylock]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def toml(packages: Sequence[Mapping[str, object]]) -> str:
    """JSON's values are TOML's, but for the signs of its objects."""
    return "packages = " + re.sub(r'("\w+"): ', r"\1 = ", json.dumps(packages))


def test_a_package_is_locked_by_the_best_files_of_each_python_and_processor(tmp_path):
    wheels = [
        file("p-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "a"),
        file("p-1-cp311-cp311-manylinux_2_28_x86_64.whl", "b"),
        file("p-1-cp312-abi3-manylinux_2_28_x86_64.whl", "c"),
        file("p-1-cp313-cp313-manylinux_2_39_x86_64.whl", "d"),
        file("p-1-cp313-cp313-musllinux_1_2_x86_64.whl", "e"),
        file("p-1-cp312-abi3-macosx_11_0_arm64.whl", "2"),
        file("p-1-cp314-cp314-macosx_14_0_arm64.whl", "3"),
        file("p-1-cp314-cp314-macosx_15_0_arm64.whl", "4"),
        file("p-1-cp312-abi3-macosx_11_0_x86_64.whl", "5"),
        file("p-1-cp311-cp311-macosx_11_0_universal2.whl", "6"),
        file("p-1-cp312-abi3-manylinux_2_17_aarch64.whl", "1"),
        file("p-1-cp311-cp311-manylinux_2_17_aarch64.whl", "7"),
    ]
    whole = {"name": "p", "version": "1", "wheels": wheels, "sdist": file("p-1.tar.gz", "0")}
    done = lock_of(whole, folder=tmp_path)
    assert re.findall(r"sha256:(.)", done.stdout) == [*"12367bc"]
    assert done.stdout.startswith("p==1 \\\n")


def test_a_source_is_locked_if_it_is_known_to_need_no_compiler(tmp_path):
    wheels = [file("p-1-cp311-cp311-manylinux_2_28_x86_64.whl", "b")]
    package = {"version": "1", "wheels": wheels, "sdist": file("p-1.tar.gz", "0")}
    done = lock_of({"name": "immutables", **package}, folder=tmp_path)
    assert re.findall(r"sha256:(.)", done.stdout) == [*"0b"]
    done = lock_of({"name": "p", **package}, folder=tmp_path)
    assert done.returncode == 1
    assert (
        "p has no wheel for Python 3.11.2 on Linux aarch64; if its source is built" in done.stderr
    )


def test_a_package_of_some_pythons_or_platforms_has_a_marker(tmp_path):
    wheels = [file("p-1-py3-none-any.whl", "a")]
    markers = {
        "old": "python_full_version < '3.12' and sys_platform == 'linux'",
        "new": "python_full_version >= '3.12'",
        "arm": "platform_machine == 'aarch64'",
        "mac": "sys_platform == 'darwin'",
        "linux": "platform_system == 'Linux'",
        "both": "platform_machine != 'aarch64'",
        "one": "sys_platform == 'darwin' and python_version == '3.14'",
        "windows": "sys_platform == 'win32'",
        "pypy": "implementation_name == 'pypy'",
    }
    packages = [
        {"name": name, "version": "1", "marker": marker, "wheels": wheels}
        for name, marker in markers.items()
    ]
    said = [
        line for line in lock_of(*packages, folder=tmp_path).stdout.splitlines() if "==1" in line
    ]
    assert said == [
        "old==1 ; python_version == '3.11' and sys_platform == 'linux' \\",
        "new==1 ; python_version in '3.12 3.13 3.14' \\",
        "arm==1 ; platform_machine == 'aarch64' \\",
        "mac==1 ; sys_platform == 'darwin' \\",
        "linux==1 ; sys_platform == 'linux' \\",
        "both==1 ; platform_machine in 'x86_64 arm64' \\",
        "one==1 ; python_version == '3.14' and sys_platform == 'darwin' \\",
    ]


def test_a_package_for_which_no_marker_speaks_ends_the_lock(tmp_path):
    wheels = [file("p-1-py3-none-any.whl", "a")]
    some = "sys_platform == 'darwin' or python_version == '3.14'"
    done = lock_of({"name": "p", "version": "1", "marker": some, "wheels": wheels}, folder=tmp_path)
    assert done.returncode == 1
    assert "no marker says ['Python 3.11.2 on Darwin arm64'" in done.stderr


def test_a_package_without_any_file_for_a_supported_python_ends_the_lock(tmp_path):
    wheels = [file("p-1-cp311-cp311-manylinux_2_17_x86_64.whl", "a")]
    done = lock_of({"name": "p", "version": "1", "wheels": wheels}, folder=tmp_path)
    assert done.returncode == 1
    assert "p has no file for Python 3.11.2 on Linux aarch64" in done.stderr


def test_no_file_of_the_project_names_the_folder_of_one_python():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in tracked.stdout.decode().split("\0") if name]
    texts = (p for p in paths if p.is_file() and p.suffix not in (".webp", ".class", ".csv"))
    folder = re.compile(rb"lib/python3\.\d")
    naming = [p.name for p in texts if p != Path(__file__) and folder.search(p.read_bytes())]
    assert naming == []


@pytest.mark.long
def test_a_wheel_has_packages_and_their_metadata_and_no_hook_into_a_start_of_python(tmp_path):
    shutil.copytree(ROOT / "workflow/lib", tmp_path / "workflow/lib")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    build = "from setuptools.build_meta import build_wheel; print(build_wheel('out'))"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    [wheel] = (tmp_path / "out").glob("*.whl")
    assert wheel.name in done.stdout
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "isotope/irds.py" in names
    tops = {name.partition("/")[0] for name in names}
    packages = {init.parent.name for init in (ROOT / "workflow/lib").glob("*/__init__.py")}
    assert tops == {*packages, wheel.name.partition("-py3")[0] + ".dist-info"}


def test_the_page_of_dependencies_names_every_package_whose_metadata_name_the_gpl():
    page = (ROOT / "docs/dependencies.md").read_text("utf-8")
    named = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    found: set[str] = set()
    for name in re.findall(r"^([a-z0-9.-]+)==", lock, re.MULTILINE):
        with suppress(PackageNotFoundError):
            about = distribution(name).metadata
            fields = ("License", "License-Expression", "Classifier")
            says = [value for field in fields for value in about.get_all(field, [])]
            # A licence in full may name others.
            licences = [line for value in says for line in value.splitlines()[:1]]
            if re.search(r"\bA?GPL|GNU (Affero )?General Public", " ".join(licences)):
                found.add(name)
    assert found == named


WITHOUT_LIBZIM = """
import sys
from pathlib import Path
sys.modules["libzim"] = sys.modules["libzim.reader"] = None
import isotope.cli.commands, isotope.crawl.pictures
import isotope.parse.dump, isotope.parse.html_snapshots
from isotope.core import errors, files
try:
    files.open_zim(Path("x.zim"))
except errors.MissingExtra as error:
    print(error)
"""


def test_without_libzim_all_but_zim_files_is_read(tmp_path):
    (tmp_path / "x.zim").touch()
    command = [sys.executable, "-c", WITHOUT_LIBZIM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "libzim: it is not installed; pip install 'isotope-ir[zim]'\n"
