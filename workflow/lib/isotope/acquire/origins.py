"""What every placed file of a source is of: its address, the version seen there, and its bytes."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from os import stat_result
from pathlib import Path
from typing import Any, NamedTuple

from isotope.acquire.addresses import Entry, is_pattern, local_path, matches
from isotope.core import store

NAME = "origins.jsonl"


class Origin(NamedTuple):
    """Where the file at `path` (below the source's folder) came from, and what came.

    `version` is the one that these bytes were first seen with, `seen` the last one that had the
    same bytes: an ETag, or when the file was last modified. `pattern` is the item of the params.
    """

    path: str
    pattern: str
    url: str
    version: str | None
    seen: str | None
    bytes: int
    sha256: str


def read(folder: Path) -> dict[str, Origin]:
    """Return the origins by path; a line that a crash cut off is left out, its file is unknown."""
    found: dict[str, Origin] = {}
    with suppress(FileNotFoundError):
        for line in (folder / NAME).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError):
                origin = Origin(**json.loads(line))
                found[origin.path] = origin
    return found


def add(folder: Path, origin: Origin) -> None:
    """Append one origin; the last one of a path counts."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / NAME).open("a", encoding="utf-8") as out:
        out.write(_line(origin))


def write(folder: Path, origins: Iterable[Origin]) -> None:
    """Replace all origins."""
    with store.aside(folder / NAME) as part:
        part.write_text("".join(map(_line, origins)), encoding="utf-8")


def _line(origin: Origin) -> str:
    return json.dumps(origin._asdict()) + "\n"


def modified(status: stat_result) -> str:
    """Return when a local file was last modified, UTC, to the microsecond."""
    seconds, rest = divmod(status.st_mtime_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000).isoformat()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def originals(spec: Mapping[str, Any], folder: Path, memory: Path) -> str | None:
    """Return a digest of what the local files of a source are now; nothing if it has none.

    It depends on addresses, sizes and times, as far as the bytes are not those that were placed in
    `folder`: a touched file does not change it. Nor does an item of the params whose files are all
    gone: a finished source outlives the disk that it came from. `memory` keeps the digests of
    touched files, so that they are read once.
    """
    own = {(o.path.partition("/")[0], o.url): o for o in read(folder).values()}
    recall = _Memory(memory)
    lines = {
        (part, *line)
        for part, entries in spec.get("files", {}).items()
        for entry in entries
        for line in _now(part, _url(entry), own, recall)
    }
    recall.save()
    return hashlib.sha256(json.dumps(sorted(lines)).encode()).hexdigest() if lines else None


def _url(entry: str | Entry) -> str:
    return entry if isinstance(entry, str) else str(entry["url"])


def _now(
    part: str, item: str, own: Mapping[tuple[str, str], Origin], recall: "_Memory"
) -> Iterator[tuple[str, int, str | None]]:
    path = local_path(item)
    if path is None:
        return
    present = matches(path) if is_pattern(item) else [path] if path.is_file() else []
    for each in present:
        url = str(each) if is_pattern(item) else item
        status, origin = each.stat(), own.get((part, url))
        same = origin is not None and _same(each, status, origin, recall)
        version = origin.version if same and origin else modified(status)
        yield url, status.st_size, version
    if not present:
        gone = (o for (at, _), o in own.items() if at == part and o.pattern == item)
        yield from ((o.url, o.bytes, o.version) for o in gone)


def _same(path: Path, status: stat_result, origin: Origin, recall: "_Memory") -> bool:
    if status.st_size != origin.bytes:
        return False
    now = modified(status)
    return now in (origin.version, origin.seen) or recall.sha256(path, now) == origin.sha256


class _Memory:
    """Digests of files by path and time, kept from one planning to the next where possible."""

    def __init__(self, file: Path) -> None:
        self._file, self._fresh = file, False
        self._known: dict[str, list[str]] = {}
        with suppress(OSError, ValueError):
            self._known = json.loads(file.read_text(encoding="utf-8"))

    def sha256(self, path: Path, time: str) -> str:
        if self._known.get(str(path), [""])[0] != time:
            self._known[str(path)], self._fresh = [time, sha256(path)], True
        return self._known[str(path)][1]

    def save(self) -> None:
        if self._fresh:
            with suppress(OSError), store.aside(self._file) as part:
                part.write_text(json.dumps(self._known), encoding="utf-8")
