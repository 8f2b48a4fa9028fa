"""requirements.lock from a universal pylock.toml (PEP 751), for what isotope supports.

    python .ci/lock.py pylock.toml > requirements.lock
    python .ci/lock.py --constraints requirements.lock

The second prints the versions that are locked, for a resolution that stays with them.

uv's own requirements.txt lists the files of every platform and repeats the platforms in every
marker. Here a package has the hashes of the files that an installer takes on the platforms below,
and a marker only where some of these Pythons or platforms do without it. No addresses: any index
serves the same files.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

# The first release of each that is supported: Debian 12's, and the others' first.
PYTHONS = ("3.11.2", "3.12.0", "3.13.0", "3.14.0")
# What some target builds: pure Python, or made so by [tool.uv.config-settings-package].
SOURCES = {
    *("antlr4-python3-runtime", "connection-pool", "jsonpath-rw", "pyserini"),
    *("immutables", "mwparserfromhell"),
}


class Platform(NamedTuple):
    """A system on a processor; `tags` from the best on. No two have the same `machine`."""

    system: str
    machine: str
    tags: list[str]


class Target(NamedTuple):
    """A Python on a platform; `tags` from the best on."""

    python: str
    platform: Platform
    tags: dict[Tag, int]

    def __str__(self) -> str:
        """Name it in messages."""
        return f"Python {self.python} on {self.platform.system} {self.platform.machine}"

    def has(self, marker: str) -> bool:
        """Tell whether a requirement with this marker is of this target."""
        return not marker or Marker(marker).evaluate(
            {
                "python_version": self.python.rpartition(".")[0],
                "python_full_version": self.python,
                "platform_machine": self.platform.machine,
                "platform_system": self.platform.system,
                "sys_platform": self.platform.system.lower(),
                "os_name": "posix",
                "implementation_name": "cpython",
                "implementation_version": self.python,
                "platform_python_implementation": "CPython",
            }
        )

    def rank(self, wheel: str) -> int | None:
        """Return the place of a wheel's best tag; None if the wheel is not for this target."""
        return min(
            (self.tags[t] for t in parse_wheel_filename(wheel)[3] if t in self.tags), default=None
        )


def _glibc(machine: str, newest: int, oldest: int) -> list[str]:
    """Return the tags of Linux with glibc 2.`newest`; `oldest` is the first with the processor."""
    names = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    tags: list[str] = []
    for minor in range(newest, oldest - 1, -1):
        tags.append(f"manylinux_2_{minor}_{machine}")
        tags += [f"{names[minor]}_{machine}"] if minor in names else []
    return [*tags, f"linux_{machine}"]


# Debian 12 or later, and macOS 14 or later.
PLATFORMS = (
    Platform("Linux", "x86_64", _glibc("x86_64", 36, 5)),
    Platform("Linux", "aarch64", _glibc("aarch64", 36, 17)),
    Platform("Darwin", "arm64", [*mac_platforms((14, 0), "arm64")]),
)


def targets() -> list[Target]:
    """Return every supported Python on every supported platform."""
    return [
        Target(python, platform, _tags(python, platform.tags))
        for python, platform in product(PYTHONS, PLATFORMS)
    ]


def _tags(python: str, platforms: list[str]) -> dict[Tag, int]:
    version = tuple(map(int, python.split(".")[:2]))
    name = "cp{}{}".format(*version)
    tags = [*cpython_tags(version, [name], platforms), *compatible_tags(version, name, platforms)]
    return {tag: place for place, tag in enumerate(tags)}


def digest(package: dict[str, Any], target: Target) -> str:
    """Return the SHA-256 of the file that is installed: the best wheel, else the source.

    Raises:
        SystemExit: there is neither, or a source that is not known to do without a compiler.
    """
    wheels = {file_name(wheel): wheel for wheel in package.get("wheels", ())}
    ranks = {name: rank for name in wheels if (rank := target.rank(name)) is not None}
    file = wheels[min(ranks, key=ranks.__getitem__)] if ranks else package.get("sdist")
    if file is None:
        raise SystemExit(f"{package['name']} has no file for {target}")
    if not ranks and package["name"] not in SOURCES:
        remedy = "if its source is built without a compiler, name it in SOURCES of .ci/lock.py"
        raise SystemExit(f"{package['name']} has no wheel for {target}; {remedy}")
    return file["hashes"]["sha256"]


def file_name(file: dict[str, Any]) -> str:
    """Return the name of a file of a package."""
    return file.get("name") or file["url"].rpartition("/")[2]


def marker(having: list[Target]) -> str:
    """Return the marker of the targets that have a package, nothing where that is all.

    Raises:
        SystemExit: they are no rectangle of Pythons and platforms.
    """
    pythons = [python for python in PYTHONS if any(t.python == python for t in having)]
    platforms = [one for one in PLATFORMS if any(t.platform == one for t in having)]
    if len(having) != len(pythons) * len(platforms):
        raise SystemExit(f"no marker says {[*map(str, having)]}")
    says: list[str] = []
    if len(pythons) < len(PYTHONS):
        says.append(_among("python_version", [name.rpartition(".")[0] for name in pythons]))
    if len(platforms) < len(PLATFORMS):
        systems = {one.system for one in platforms}
        if platforms == [one for one in PLATFORMS if one.system in systems]:
            says.append(_among("sys_platform", sorted(map(str.lower, systems))))
        else:
            says.append(_among("platform_machine", [one.machine for one in platforms]))
    return " ; " + " and ".join(says) if says else ""


def _among(variable: str, names: list[str]) -> str:
    return f"{variable} {'==' if len(names) == 1 else 'in'} '{' '.join(names)}'"


def lines(packages: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a requirement per package that any target has: version, marker, hashes."""
    every = targets()
    for package in packages:
        having = [target for target in every if target.has(package.get("marker", ""))]
        if not having:
            continue
        hashes = sorted({digest(package, target) for target in having})
        pinned = f"{package['name']}=={package['version']}{marker(having)}"
        yield " \\\n    ".join([pinned, *(f"--hash=sha256:{digest}" for digest in hashes)])


def constraints(lock: str) -> list[str]:
    """Return the versions of a lock; markers stay where they tell those of one package apart."""
    pins = re.findall(r"^\S+==\S+(?: ; [^\\\n]+)?", lock, re.MULTILINE)
    versions = Counter(pin.partition("==")[0] for pin in pins)
    return [
        pin.strip() if versions[pin.partition("==")[0]] > 1 else pin.partition(" ")[0]
        for pin in pins
    ]


if __name__ == "__main__":
    if sys.argv[1] == "--constraints":
        pins = constraints(Path(sys.argv[2]).read_text(encoding="utf-8"))
        sys.stdout.write("\n".join(pins) + "\n")
        sys.exit()
    lock = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lines(lock["packages"])) + "\n")
