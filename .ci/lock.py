"""requirements.lock from a universal pylock.toml (PEP 751), for what isotope supports.

    python .ci/lock.py pylock.toml > requirements.lock

uv's own requirements.txt lists the files of every platform and repeats the platforms in every
marker. Here a package has the hashes of the files that an installer takes on Linux with glibc 2.36
or later (Debian 12) on x86-64 and aarch64, and a marker only where some of these Pythons or
processors do without it. No addresses: any index serves the same files.
"""

import sys
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

# The first release of each that is supported: Debian 12's, and the others' first.
PYTHONS = ("3.11.2", "3.12.0", "3.13.0")
MACHINES = ("x86_64", "aarch64")
GLIBC = 36
# The oldest glibc that wheels of a processor are made for.
OLDEST = {"x86_64": 5, "aarch64": 17}


class Target(NamedTuple):
    """A Python on a processor; `tags` from the best on."""

    python: str
    machine: str
    tags: dict[Tag, int]

    def has(self, marker: str) -> bool:
        """Tell whether a requirement with this marker is of this target."""
        return not marker or Marker(marker).evaluate(
            {
                "python_version": self.python.rpartition(".")[0],
                "python_full_version": self.python,
                "platform_machine": self.machine,
                "platform_system": "Linux",
                "sys_platform": "linux",
                "os_name": "posix",
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
            }
        )

    def rank(self, wheel: str) -> int | None:
        """Return the place of a wheel's best tag; None if the wheel is not for this target."""
        return min(
            (self.tags[t] for t in parse_wheel_filename(wheel)[3] if t in self.tags), default=None
        )


def targets() -> list[Target]:
    """Return every supported Python on every supported processor."""
    return [
        Target(python, machine, _tags(python, machine))
        for python, machine in product(PYTHONS, MACHINES)
    ]


def _tags(python: str, machine: str) -> dict[Tag, int]:
    platforms = [f"manylinux_2_{n}_{machine}" for n in range(GLIBC, OLDEST[machine] - 1, -1)]
    old = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    for glibc, name in old.items():
        if glibc >= OLDEST[machine]:
            platforms.insert(
                platforms.index(f"manylinux_2_{glibc}_{machine}") + 1, f"{name}_{machine}"
            )
    platforms.append(f"linux_{machine}")
    version = tuple(map(int, python.split(".")[:2]))
    name = "cp{}{}".format(*version)
    tags = [*cpython_tags(version, [name], platforms), *compatible_tags(version, name, platforms)]
    return {tag: place for place, tag in enumerate(tags)}


def digest(package: dict[str, Any], target: Target) -> str:
    """Return the SHA-256 of the file that is installed: the best wheel, else the source.

    Raises:
        SystemExit: there is neither.
    """
    wheels = {_name(wheel): wheel for wheel in package.get("wheels", ())}
    ranks = {name: rank for name in wheels if (rank := target.rank(name)) is not None}
    file = wheels[min(ranks, key=ranks.__getitem__)] if ranks else package.get("sdist")
    if file is None:
        raise SystemExit(f"{package['name']} has no file for {target.python} on {target.machine}")
    return file["hashes"]["sha256"]


def _name(file: dict[str, Any]) -> str:
    return file.get("name") or file["url"].rpartition("/")[2]


def marker(having: list[Target]) -> str:
    """Return the marker of the targets that have a package, nothing where that is all.

    Raises:
        SystemExit: they are no rectangle of Pythons and processors.
    """
    pythons = {target.python for target in having}
    machines = {target.machine for target in having}
    if len(having) != len(pythons) * len(machines):
        raise SystemExit(f"no marker says {[target[:2] for target in having]}")
    says: list[str] = []
    if len(pythons) < len(PYTHONS):
        minors = [python.rpartition(".")[0] for python in sorted(pythons)]
        relation = "==" if len(minors) == 1 else "in"
        says.append(f"python_version {relation} '{' '.join(minors)}'")
    if len(machines) < len(MACHINES):
        says.append(f"platform_machine == '{machines.pop()}'")
    return " ; " + " and ".join(says) if says else ""


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


if __name__ == "__main__":
    lock = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lines(lock["packages"])) + "\n")
