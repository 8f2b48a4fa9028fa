"""Addresses of upstream files: what a pattern with `*` names, and the place of each file."""

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from isotope.core.errors import BadParams, MissingFile

Entry = dict[str, Any]
_FILE = re.compile(r"file:(//)?")


class Upstream(NamedTuple):
    """A file to fetch: its entry {url, bytes?, md5?, ...}, its path below the fixed part of the
    pattern that names it (the last part of an address without pattern), and that pattern."""

    entry: Entry
    below: str
    pattern: str


def local_path(url: str) -> Path | None:
    """Return the path that a local address names, and nothing for one of a server."""
    if _FILE.match(url):
        return Path(_FILE.sub("", url, count=1))
    return None if "://" in url else Path(url)


def is_pattern(url: str) -> bool:
    """Tell whether an address has a `*` in its path; a query of HTTP is no path."""
    asks = url.startswith(("http://", "https://"))
    return "*" in (url.partition("?")[0] if asks else url)


def fixed_steps(steps: Sequence[str]) -> int:
    """Return how many steps of a path come before the first one with `*`."""
    return next((n for n, step in enumerate(steps) if "*" in step), len(steps) - 1)


def expand(entry: str | Mapping[str, Any]) -> list[Upstream]:
    """Return the files of an item of `acquire.<source>.files`, those of a local pattern sorted.

    A `*` may be in any step of a path, and `**` is any number of folders. Patterns of servers
    stay as they are.

    Raises:
        MissingFile: a pattern that matches no file.
    """
    given = {"url": entry} if isinstance(entry, str) else dict(entry)
    url = str(given["url"])
    path = local_path(url)
    if path is None or not is_pattern(url):
        return [Upstream(given, _last(url), url)]
    root = Path(*path.parts[: fixed_steps(path.parts)])
    found = matches(path)
    if not found:
        raise MissingFile(url, "no such file", "check the path, or `root` in --config")
    return [
        Upstream({**given, "url": str(each)}, each.relative_to(root).as_posix(), url)
        for each in found
    ]


def matches(pattern: Path) -> list[Path]:
    """Return what a local pattern names except folders, sorted; a step without `*` is literal."""
    steps = [step if "*" in step else glob.escape(step) for step in pattern.parts]
    found = glob.glob(str(Path(*steps)), recursive=True, include_hidden=True)  # noqa: PTH207 (Path has no escape)
    return sorted(path for path in map(Path, found) if not path.is_dir())


def places(part: str, files: Sequence[Upstream]) -> dict[str, Upstream]:
    """Return the files of a part by the path that each takes below the part's folder.

    That is `below`. Where two addresses would take one place, or one the place of the other's
    folder, theirs is the path from where the addresses differ. An address that comes twice is one
    file.

    Raises:
        BadParams: two entries of one address that publish different things; addresses that can't
            be told apart.
    """
    by_address = _united(part, files)
    taken = {address: _safe(file.below.split("/")) for address, file in by_address.items()}
    for group in _groups(taken):
        common = _common(group)
        taken |= {a: _safe(a[min(common, len(a) - 1) :]) for a in group}
    unclear = _contested(taken.values())
    if unclear:
        found = f"several addresses would take the place {min(unclear)!r}"
        raise BadParams(f"params acquire, part {part!r}", found, "give each a part of its own")
    return {place: by_address[address] for address, place in taken.items()}


def _united(part: str, files: Sequence[Upstream]) -> dict[tuple[str, ...], Upstream]:
    united: dict[tuple[str, ...], Upstream] = {}
    for file in files:
        address = _steps(str(file.entry["url"]))
        first = united.setdefault(address, file).entry
        for key in (first.keys() & file.entry.keys()) - {"url"}:
            if first[key] != file.entry[key]:
                found = f"two values of {key} for {first['url']}"
                raise BadParams(f"params acquire, part {part!r}", found, "keep one")
        united[address] = united[address]._replace(entry=file.entry | first)
    return united


def _groups(taken: Mapping[tuple[str, ...], str]) -> list[list[tuple[str, ...]]]:
    """Return the addresses that are in each other's way."""
    contested = _contested(taken.values())
    groups: dict[str, list[tuple[str, ...]]] = {}
    for address, place in taken.items():
        way = [*reversed(PurePosixPath(place).parents), PurePosixPath(place)]
        shared = next((str(step) for step in way if str(step) in contested), None)
        if shared is not None:
            groups.setdefault(shared, []).append(address)
    return list(groups.values())


def _contested(places: Iterable[str]) -> set[str]:
    """Return the places that more than one file takes, or that are a file and a folder."""
    counted = Counter(places)
    folders = {str(folder) for place in counted for folder in PurePosixPath(place).parents}
    return {p for p, n in counted.items() if n > 1 or p in folders}


def _common(addresses: Sequence[tuple[str, ...]]) -> int:
    least, most = min(addresses), max(addresses)
    same = (n for n, (a, b) in enumerate(zip(least, most, strict=False)) if a != b)
    return next(same, min(len(least), len(most)))


def _steps(url: str) -> tuple[str, ...]:
    path = local_path(url)
    if path is not None:
        return Path(os.path.abspath(path)).parts  # noqa: PTH100 (links are not followed)
    scheme, _, rest = url.partition("://")
    return (scheme, *(step for step in rest.split("/") if step))


def _last(url: str) -> str:
    return url.rstrip("/").rsplit("/", 1)[-1]


def _safe(steps: Sequence[str]) -> str:
    """Join steps to a path that stays below its folder."""
    kept = [step for step in steps if step.strip("/") not in ("", ".")]
    return "/".join("_" if step == ".." else step for step in kept)
