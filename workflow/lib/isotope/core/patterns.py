"""Addresses of files, local ones and those of servers: what a pattern with `*` names."""

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from isotope.core.errors import MissingFile

_FILE = re.compile(r"file:(//)?")
# What a run and its tools read and write in the current folder: files of people lie beside it.
_OF_RUNS = (
    *(".dvc", ".dvcignore", ".git", ".gitignore", ".isotope", ".snakemake", "dvc.lock", "dvc.yaml"),
    *("judgements/README.md", "logs", "params", "params.yaml", "profiles", "results"),
    *("runs/README.md", "Snakefile"),
    *(f"data/{phase}" for phase in ("acquire", "parse", "crawl", "project", "collect")),
    *(f"data/{phase}" for phase in ("train", "encode", "index")),
)


class Stated(NamedTuple):
    """An address or pattern, and what the publisher states of the file: size and digests."""

    url: str
    bytes: int | None = None
    md5: str | None = None
    sha1: str | None = None
    sha256: str | None = None


class UpstreamFile(NamedTuple):
    """A file to fetch: its path below the fixed part of the pattern that names it (the last part of
    an address without pattern), and that pattern."""

    stated: Stated
    below: str
    pattern: str


def local_path(url: str) -> Path | None:
    """Return the path that a local address names, and nothing for one of a server."""
    if _FILE.match(url):
        return Path(_FILE.sub("", url, count=1))
    return None if "://" in url else Path(url)


def is_pattern(url: str) -> bool:
    """Tell whether an address has a `*` in its path; the query of an HTTP address is no path."""
    is_http = url.startswith(("http://", "https://"))
    return "*" in (url.partition("?")[0] if is_http else url)


def fixed_steps(steps: Sequence[str]) -> int:
    """Return how many steps of a path come before the first one with `*`."""
    return next((n for n, step in enumerate(steps) if "*" in step), len(steps) - 1)


def expand(stated: Stated) -> list[UpstreamFile]:
    """Return the files of an item of `acquire.<source>.files`, those of a local pattern sorted.

    A `*` may be in any step of a path, and `**` is any number of folders. Patterns of servers
    stay as they are.

    Raises:
        MissingFile: a pattern that matches no file.
    """
    url = stated.url
    path = local_path(url)
    if path is None or not is_pattern(url):
        return [UpstreamFile(stated, url.rstrip("/").rsplit("/", 1)[-1], url)]
    root = Path(*path.parts[: fixed_steps(path.parts)])
    paths = matches(path)
    if not paths:
        raise MissingFile(url, "no such file", "check the path, or `root` in --config")
    return [
        UpstreamFile(
            stated._replace(url=str(path_found)), path_found.relative_to(root).as_posix(), url
        )
        for path_found in paths
    ]


def matches(pattern: Path) -> list[Path]:
    """Return what a local pattern names except folders, sorted; a step without `*` is literal.

    What runs write in the current folder is none of it, unless the pattern begins there.
    """
    steps = [step if "*" in step else glob.escape(step) for step in pattern.parts]
    paths = glob.glob(str(Path(*steps)), recursive=True, include_hidden=True)  # noqa: PTH207 (Path has no escape)
    apart = of_runs_below(Path(*pattern.parts[: fixed_steps(pattern.parts)]))
    return sorted(
        path
        for path in map(Path, paths)
        if not (apart and apart & {(full := _absolute(path)), *full.parents}) and not path.is_dir()
    )


def of_runs_below(folder: Path) -> set[Path]:
    """Return the files and folders of the experiment here that are no data of a folder above it."""
    top = _absolute(folder)
    of_runs = {Path.cwd() / name for name in _OF_RUNS}
    return {path for path in of_runs if top != path and path.is_relative_to(top)}


def _absolute(path: Path) -> Path:
    # Links are not followed.
    return Path(os.path.abspath(path))  # noqa: PTH100
