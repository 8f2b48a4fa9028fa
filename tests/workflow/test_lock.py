"""The lock is whole on every platform that isotope names: uv resolves what it would install."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
# What uv calls the oldest platforms that .ci/lock.py names, and the first and last of its Pythons.
PLATFORMS = ("x86_64-manylinux_2_36", "aarch64-manylinux_2_36", "aarch64-apple-darwin")
PYTHONS = ("3.11.2", "3.14.0")
CUDA = re.compile(r"^ \+ (nvidia-|triton==)", re.MULTILINE)
ENTRY = r"^({}==\S+)(?: ; (.*?))? \\\n((?:    --hash=\S+(?: \\)?\n)+)"


@pytest.fixture
def uv(tmp_path):
    """Run uv in a folder that has what it reads of the project, with a text as the lock."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)

    def run(*command: str, lock: str = LOCK) -> tuple[int, str]:
        (tmp_path / "requirements.lock").write_text(lock, encoding="utf-8")
        done = subprocess.run(
            ["uv", "pip", *command],
            cwd=tmp_path,
            env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": "14.0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout

    return run


def installation(platform: str, python: str) -> list[str]:
    """The Makefile's own options, for an installation elsewhere."""
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    [hashed] = re.findall(r"^HASHED := (.*)$", makefile, re.MULTILINE)
    return [
        *("install", "--dry-run", "--require-hashes", *hashed.split(), "--target", "none"),
        *("--python-platform", platform, "--python-version", python),
        *("--requirement", "requirements.lock"),
    ]


@pytest.mark.network
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_pins_all_that_a_python_of_a_platform_needs(uv, platform, python):
    status, told = uv(*installation(platform, python))
    assert status == 0, told
    [count] = re.findall(r"^Would install (\d+) packages$", told, re.MULTILINE)
    assert int(count) > 330
    assert bool(CUDA.search(told)) == ("linux" in platform)
    assert ("\n + pytrec-eval-terrier==" in told) == (platform != "aarch64-manylinux_2_36")


@pytest.mark.network
def test_a_lock_that_lacks_a_package_of_a_platform_is_noticed(uv):
    without = re.sub(ENTRY.format("appnope|numpy"), "", LOCK, flags=re.MULTILINE)
    status, told = uv(*installation("aarch64-apple-darwin", "3.13.0"), lock=without)
    assert (status, "numpy" in told) == (1, True)


def locked(name: str) -> set[tuple[str, str, frozenset[str]]]:
    """Version, marker and hashes of each entry of a package."""
    found = re.findall(ENTRY.format(re.escape(name)), LOCK, re.MULTILINE)
    return {
        (pin.partition("==")[2], marker, frozenset(re.findall(r"sha256:(\w+)", hashes)))
        for pin, marker, hashes in found
    }


@pytest.mark.network
def test_every_python_of_every_platform_finds_a_file_of_a_locked_hash(uv, tmp_path):
    """The index may have more files by now: one of those that were locked is enough."""
    (tmp_path / "versions").write_text("\n".join(lock.constraints(LOCK)))
    [asked] = re.findall(
        r"uv pip (compile.*?) \\\n\s*--constraints",
        (ROOT / "Makefile").read_text("utf-8"),
        re.DOTALL,
    )
    words = asked.replace("\\\n", " ").split()
    status, told = uv(*words, "--constraints", "versions", "--quiet", "-o", "pylock.toml")
    assert status == 0, told
    packages = tomllib.loads((tmp_path / "pylock.toml").read_text("utf-8"))["packages"]
    lacking: list[str] = []
    for package in packages:
        having = [target for target in lock.targets() if target.has(package.get("marker", ""))]
        if not having:
            continue
        marker = lock.marker(having).removeprefix(" ; ")
        entries = locked(package["name"])
        hashes = next((h for v, m, h in entries if (v, m) == (package["version"], marker)), set())
        lacking += [
            f"{package['name']} {package['version']} for {target}"
            for target in having
            if not hashes & usable(package, target)
        ]
    assert lacking == []
    assert len(packages) > 350


def usable(package: dict[str, Any], target: Any) -> set[str]:
    """Hashes of the files that an installer could take."""
    wheels = [w for w in package.get("wheels", ()) if target.rank(lock.file_name(w)) is not None]
    source = package.get("sdist")
    return {file["hashes"]["sha256"] for file in [*wheels, *([source] if source else [])]}


def loaded():
    """The script that writes the lock, as a module."""
    spec = spec_from_file_location("lock", ROOT / ".ci/lock.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    sys.modules["lock"] = module
    spec.loader.exec_module(module)
    return module


lock = loaded()
