"""Places of upstream files below the folder of their source, and the origin of each.

`origins.jsonl` in a source's folder says of every placed file which address and version its bytes
are of; from it follows whether local files have changed since they were acquired.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from os import stat_result
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from isotope.core import digests, store
from isotope.core.errors import BadParams
from isotope.core.patterns import Stated, UpstreamFile, is_pattern, local_path, matches
from isotope.params.acquire import Source


def places(part: str, files: Sequence[UpstreamFile]) -> dict[str, UpstreamFile]:
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
        problem = f"several addresses would take the place {min(unclear)!r}"
        raise BadParams(f"params acquire, part {part!r}", problem, "give each a part of its own")
    return {path: by_address[address] for address, path in taken.items()}


def _united(part: str, files: Sequence[UpstreamFile]) -> dict[tuple[str, ...], UpstreamFile]:
    united: dict[tuple[str, ...], UpstreamFile] = {}
    for file in files:
        address = _steps(file.stated.url)
        first = united.setdefault(address, file).stated
        both = [*zip(Stated._fields[1:], first[1:], file.stated[1:], strict=True)]
        for name, current, other in both:
            if None not in (current, other) and current != other:
                problem = f"two values of {name} for {first.url}"
                raise BadParams(f"params acquire, part {part!r}", problem, "keep one")
        merged = {name: other if current is None else current for name, current, other in both}
        united[address] = united[address]._replace(stated=first._replace(**merged))
    return united


def _groups(taken: Mapping[tuple[str, ...], str]) -> list[list[tuple[str, ...]]]:
    """Return the addresses that would overlap."""
    contested = _contested(taken.values())
    groups: dict[str, list[tuple[str, ...]]] = {}
    for address, path in taken.items():
        way = [*reversed(PurePosixPath(path).parents), PurePosixPath(path)]
        shared = next((str(step) for step in way if str(step) in contested), None)
        if shared is not None:
            groups.setdefault(shared, []).append(address)
    return list(groups.values())


def _contested(places: Iterable[str]) -> set[str]:
    """Return the places that more than one file takes, or that are a file and a folder."""
    counted = Counter(places)
    folders = {str(folder) for path in counted for folder in PurePosixPath(path).parents}
    return {p for p, n in counted.items() if n > 1 or p in folders}


def _common(addresses: Sequence[tuple[str, ...]]) -> int:
    least, most = min(addresses), max(addresses)
    same = (n for n, (a, b) in enumerate(zip(least, most, strict=False)) if a != b)
    return next(same, min(len(least), len(most)))


def _steps(url: str) -> tuple[str, ...]:
    path = local_path(url)
    if path is not None:
        return Path(os.path.abspath(path)).parts  # noqa: PTH100 (links are not followed)
    scheme, _, steps_text = url.partition("://")
    return (scheme, *(step for step in steps_text.split("/") if step))


def _safe(steps: Sequence[str]) -> str:
    """Join steps to a path that stays below its folder."""
    names = [step for step in steps if step.strip("/") not in ("", ".")]
    return "/".join("_" if step == ".." else step for step in names)


ORIGINS = "origins.jsonl"


class FileOrigin(NamedTuple):
    """Where the file at `path` (below the source's folder) came from, and what came.

    `version` is the one that these bytes were first seen with, `seen` the last one with the
    same bytes: an ETag, or when the file was last modified. `pattern` is the item of the params.
    """

    path: str
    pattern: str
    url: str
    version: str | None
    seen: str | None
    bytes: int
    sha256: str


def read_origins(folder: Path) -> dict[str, FileOrigin]:
    """Return the origins by path, without a line that a crash cut off."""
    origins: dict[str, FileOrigin] = {}
    with suppress(FileNotFoundError):
        for line in (folder / ORIGINS).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError):
                origin = FileOrigin(**json.loads(line))
                origins[origin.path] = origin
    return origins


def add_origin(folder: Path, origin: FileOrigin) -> None:
    """Append one origin; the last one of a path counts."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ORIGINS).open("a", encoding="utf-8") as out:
        out.write(_line(origin))


def write_origins(folder: Path, origins: Iterable[FileOrigin]) -> None:
    """Replace all origins."""
    with store.aside(folder / ORIGINS) as part:
        part.write_text("".join(map(_line, origins)), encoding="utf-8")


def remove_placed(folder: Path, paths: Iterable[str]) -> None:
    """Remove placed files, and the folders that they leave empty."""
    for path in (folder / p for p in paths):
        if path.is_file():
            path.unlink()
        for parent in path.relative_to(folder).parents[:-1]:
            if (folder / parent).is_dir() and not any((folder / parent).iterdir()):
                (folder / parent).rmdir()


def forget(folder: Path) -> None:
    """Remove all placed files and their origins from a folder that something else is to fill."""
    remove_placed(folder, read_origins(folder))
    (folder / ORIGINS).unlink(missing_ok=True)
    digests.forget(folder / ORIGINS)


def _line(origin: FileOrigin) -> str:
    return json.dumps(origin._asdict()) + "\n"


def modified(status: stat_result) -> str:
    """Return when a local file was last modified, UTC, to the microsecond."""
    seconds, nanoseconds = divmod(status.st_mtime_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanoseconds // 1000).isoformat()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def originals(spec: Source, folder: Path, memory: Path) -> str | None:
    """Return a digest of the present local files of a source; None if it has none.

    It depends on addresses, sizes and times, as far as the bytes are not those that were placed in
    `folder`: a touched file does not change it. Nor does an item of the params whose files are all
    gone: a finished source outlives the disk that it came from. `memory` is a file for the
    digests of touched files, so that they are read once.
    """
    origins = {(o.path.partition("/")[0], o.url): o for o in read_origins(folder).values()}
    digests = _DigestCache(memory)
    lines = {
        (part, *line)
        for part, files in spec.stated().items()
        for stated in files
        for line in _states(part, stated.url, origins, digests)
    }
    digests.save()
    return hashlib.sha256(json.dumps(sorted(lines)).encode()).hexdigest() if lines else None


def _states(
    part: str, item: str, origins: Mapping[tuple[str, str], FileOrigin], digests: "_DigestCache"
) -> Iterator[tuple[str, int, str | None]]:
    path = local_path(item)
    if path is None:
        return
    present = matches(path) if is_pattern(item) else [path] if path.is_file() else []
    for file in present:
        url = str(file) if is_pattern(item) else item
        status, origin = file.stat(), origins.get((part, url))
        same = origin is not None and _same(file, status, origin, digests)
        version = origin.version if same and origin else modified(status)
        yield url, status.st_size, version
    if not present:
        gone = (o for (at, _), o in origins.items() if at == part and o.pattern == item)
        yield from ((o.url, o.bytes, o.version) for o in gone)


def _same(path: Path, status: stat_result, origin: FileOrigin, digests: "_DigestCache") -> bool:
    if status.st_size != origin.bytes:
        return False
    now = modified(status)
    return now in (origin.version, origin.seen) or digests.sha256(path, now) == origin.sha256


class _DigestCache:
    """Digests of files by path and time, stored from one planning to the next where possible."""

    def __init__(self, file: Path) -> None:
        self._file, self._fresh = file, False
        self._digests: dict[str, list[str]] = {}
        with suppress(OSError, ValueError):
            self._digests = json.loads(file.read_text(encoding="utf-8"))

    def sha256(self, path: Path, time: str) -> str:
        if self._digests.get(str(path), [""])[0] != time:
            self._digests[str(path)], self._fresh = [time, sha256(path)], True
        return self._digests[str(path)][1]

    def save(self) -> None:
        if self._fresh:
            with suppress(OSError), store.aside(self._file) as part:
                part.write_text(json.dumps(self._digests), encoding="utf-8")
