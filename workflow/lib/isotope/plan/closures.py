"""Closures of functions, kept between runs: to find those of all rules is half of a small plan.

They lie in one file under the digest of the whole library, with that of plug-ins. A library that
differs in one byte, or a file that is not as it was written, has them found anew. The file is
written when all rules are read, for the jobs of a cluster, which read them again; what is asked
later is written at the exit.
"""

import atexit
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import xxhash

from isotope.core import extras, plugins, provenance, store
from isotope.core.errors import IsotopeError
from isotope.core.resources import PACKAGE
from isotope.core.syntax import located

CACHE_FILE = Path(".isotope/closures.json")
# What no job uses: what Python compiles, and what a plug-in has for people and tests.
_UNUSED = {"__pycache__", "docs", "tests"}


class Closures:
    """Answers as `provenance.closure`, from a file where it can."""

    def __init__(self, file: Path = CACHE_FILE) -> None:
        """Read what an earlier run has kept."""
        self._file = file.absolute()
        self._library = library_digest(PACKAGE, *plugins.packages().values())
        self._closures = _read(file, self._library)
        self._digests = dict[str, str]()
        self._roots = dict[str, set[tuple[str, ...]]]()
        self._is_kept = True

    def files_of(self, *roots: str) -> list[str]:
        """Return the files that functions depend on.

        Raises:
            As `provenance.closure`.
        """
        key = " ".join(roots)
        if key not in self._closures:
            self._closures[key] = provenance.closure(*roots)
            self._ask_to_keep()
        return [*self._closures[key]]

    def digest(self, *roots: str) -> str:
        """Return the XXH128 of these files, by names and bytes: the same wherever they lie.

        Raises:
            As `of`.
        """
        key = " ".join(roots)
        if key not in self._digests:
            lines = (f"{file} {file_digest(file)}" for file in self.files_of(*roots))
            self._digests[key] = xxhash.xxh3_128_hexdigest("\n".join(lines).encode())
            self._roots.setdefault(self._digests[key], set()).add(roots)
        return self._digests[key]

    def demand(self, digests: Iterable[str], *read: Iterable[str]) -> None:
        """Demand the packages that functions with these digests can't do without, and others.

        Raises:
            MissingExtra: the first package that is not installed.
        """
        roots = set[tuple[str, ...]]().union(
            *(self._roots.get(digest, ()) for digest in {*digests})
        )
        needed = {package for function_roots in roots for package in self._packages(function_roots)}
        extras.demand(needed.union(*read))

    def _packages(self, roots: tuple[str, ...]) -> list[str]:
        key = f"packages of {' '.join(roots)}"
        if key not in self._closures:
            self._closures[key] = sorted(provenance.packages(*roots))
            self._ask_to_keep()
        return self._closures[key]

    def _ask_to_keep(self) -> None:
        if self._is_kept:
            self._is_kept = False
            atexit.register(self.keep)

    def keep(self) -> None:
        """Write what was found; where that can't be, or was interrupted, a run finds it again."""
        if self._is_kept:
            return
        self._is_kept = True
        atexit.unregister(self.keep)
        content = {"library": self._library, "closures": self._closures}
        text = json.dumps({**content, "xxh128": _digest(content)})
        with suppress(IsotopeError, OSError), store.aside(self._file) as part:
            part.write_text(text, encoding="utf-8")


@cache
def file_digest(file: str) -> str:
    """Return the XXH128 of a file of ours, in hexadecimal; each is read once."""
    return xxhash.xxh3_128_hexdigest(located(file).read_bytes())


def library_digest(*packages: Path) -> str:
    """Return the XXH128 of all files of packages that jobs may use, names and bytes; and of the
    names of their queries, which lie behind a link in a checkout.
    """
    digest = xxhash.xxh3_128()
    for package in packages:
        queries = sorted(package.joinpath("sql").rglob("*.sql"))
        digest.update(b"\0".join(map(bytes, queries)))
        for path in files_of_jobs(package):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def files_of_jobs(folder: Path) -> Iterator[Path]:
    """Yield the files below a package or a folder of it that jobs may use, sorted."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _UNUSED & {folder.name, *path.relative_to(folder).parts}:
            yield path


def _read(file: Path, library: str) -> dict[str, list[str]]:
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.pop("xxh128") == _digest(content) and content["library"] == library:
            return content["closures"]
    return {}


def _digest(content: Mapping[str, object]) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(content, sort_keys=True).encode())
