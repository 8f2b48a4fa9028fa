"""Upstream bytes: fetched once, checked, placed read-only, and listed in a manifest."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from isotope import remote, store, toy
from isotope.errors import (
    AccessDenied,
    ChecksumMismatch,
    CorruptFile,
    FetchFailed,
    IsotopeError,
    MissingFile,
    TruncatedFile,
)
from isotope.params import expand_files
from isotope.progress import Progress, log

_BLOCK = 1 << 20
# Beside a multistream dump lies a list of its streams; nothing needs it, the streams are scanned.
_INDEX = "-index.txt"
_DIGESTS = ("md5", "sha1", "sha256")
Entry = dict[str, Any]


def acquire(spec: Mapping[str, Any], manifest: Path, scratch: Path) -> None:
    """Fill the manifest's folder from `spec` (params `acquire.<source>`) and write the manifest.

    Interrupted downloads stay in `scratch` and go on from there.

    Raises:
        FetchFailed, AccessDenied, ChecksumMismatch, MissingFile: nothing incomplete is placed.
    """
    folder = manifest.parent
    if "generate" in spec:
        generate(spec["generate"], folder, scratch / "generated")
        entries = [describe(p, folder) for p in generated(folder)]
    else:
        wanted, at = expand_files(spec["files"]), {"endpoint": spec.get("endpoint")}
        entries = [fetch(at | e, folder, part, scratch) for part in wanted for e in wanted[part]]
    with store.aside(manifest) as part:
        part.write_text(json.dumps({"files": entries}, indent=1) + "\n", encoding="utf-8")
    log.info("%d files, %d bytes", len(entries), sum(e["bytes"] for e in entries))


def generate(spec: Mapping[str, Any], folder: Path, aside: Path) -> None:
    """Make the embedded encyclopedia aside, then put it in place of an earlier one."""
    shutil.rmtree(aside, ignore_errors=True)
    toy.generate(aside, **spec)
    for made in sorted(aside.iterdir()):
        place = folder / made.name
        if place.is_dir():
            shutil.rmtree(place)
        made.replace(place)


def generated(folder: Path) -> list[Path]:
    """Return the generated files that later phases read; pictures are crawled, not read."""
    return sorted(p for part in ("wit", "dump") for p in (folder / part).iterdir())


def describe(path: Path, folder: Path, url: str | None = None) -> Entry:
    """Return the manifest's row of a placed file: its path below `folder`, size and SHA-256."""
    with path.open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
    relative = path.relative_to(folder)
    return {
        "part": relative.parts[0],
        "path": relative.as_posix(),
        "bytes": path.stat().st_size,
        "sha256": digest,
        "url": url,
    }


def fetch(entry: Entry, folder: Path, part: str, scratch: Path) -> Entry:
    """Download one file unless it is placed already; verify what is published about it."""
    url = entry["url"]
    path = folder / part / url.rstrip("/").rsplit("/", 1)[-1]
    if not path.exists():
        partial = scratch / part / path.name
        download(url, partial, entry.get("endpoint"))
        verify(partial, entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.chmod(0o444)
        partial.replace(path)
        _note(partial).unlink(missing_ok=True)
        log.info("%s fetched on %s", url, datetime.now(UTC).isoformat(timespec="seconds"))
    verify(path, entry)
    return describe(path, folder, url)


def download(url: str, partial: Path, endpoint: str | None = None) -> None:
    """Append to `partial` what it still lacks of `url` (any scheme of fsspec, or a local path).

    Raises:
        MissingFile: nothing is there.
        AccessDenied: a server wants other credentials; what arrived stays.
        FetchFailed: the connection broke; the next call goes on where this one stopped.
    """
    partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        with remote.opened(url, endpoint, ahead=8 * _BLOCK) as source:
            size = cast(int | None, getattr(source, "size", None))
            start = resume_point(partial, {"url": url, "size": size} | _version(source))
            copy(source, partial, start, Progress(f"bytes of {url}", size))
    except Exception as error:
        raise _named(error, url, partial) from error


def _named(error: Exception, url: str, partial: Path) -> IsotopeError:
    """Say what went wrong with a download, and what to do about it."""
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):
        return MissingFile(url, "nothing is there", "check the address in params")
    if remote.refused(error):
        return AccessDenied(url, told, "give credentials as boto3 reads them, then run again")
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        return FetchFailed(str(partial), f"cannot write: {error}", "free space and run again")
    return FetchFailed(url, told, "run again to resume")


def _version(source: BinaryIO) -> dict[str, str]:
    """Return what tells this content from another of its size, where the server says it."""
    tag = remote.version(source)
    return {"version": tag} if tag else {}


def resume_point(partial: Path, of: Mapping[str, Any]) -> int:
    """Return how many bytes of `partial` are of this address, size and version; forget others."""
    note, now = _note(partial), json.dumps(of)
    if of["size"] is None or not note.exists() or note.read_text(encoding="utf-8") != now:
        partial.unlink(missing_ok=True)
        note.write_text(now, encoding="utf-8")
    return partial.stat().st_size if partial.exists() else 0


def _note(partial: Path) -> Path:
    """Return the file that says what a partial download is of; no upstream file is named so."""
    return partial.with_name(f".{partial.name}.of")


def copy(source: BinaryIO, partial: Path, start: int, progress: Progress) -> None:
    """Append the bytes from `start` on, in blocks."""
    if start:
        source.seek(start)
        progress.add(start)
    with partial.open("ab") as out:
        while block := source.read(_BLOCK):
            out.write(block)
            progress.add(len(block))
    progress.finish()
    if progress.total is not None and progress.done != progress.total:
        raise EOFError(f"{progress.done} of {progress.total} bytes arrived")


def verify(path: Path, entry: Entry) -> None:
    """Compare with the published size and digests, where there are any.

    Raises:
        ChecksumMismatch: the file is removed, so that the next run fetches it again.
    """
    found: dict[str, Any] = {"bytes": path.stat().st_size}
    for name in _DIGESTS:
        if name in entry:
            with path.open("rb") as f:
                found[name] = hashlib.file_digest(f, name).hexdigest()
    for name, value in found.items():
        if name in entry and entry[name] != value:
            path.unlink()
            published = f"published {name} is {entry[name]}"
            raise ChecksumMismatch(entry["url"], f"{name} {value}", f"{published}; run again")


def parts(manifest: Path) -> list[str]:
    """Return the names of the acquired parts, in the order of the params."""
    entries = cast(Sequence[Entry], json.loads(manifest.read_text(encoding="utf-8"))["files"])
    return list(dict.fromkeys(e["part"] for e in entries))


def placed(manifest: Path, part: str) -> list[Path]:
    """Return the acquired files of one part, in the order of the params, after checking sizes.

    Raises:
        MissingFile: no such part, or a file that is gone.
        TruncatedFile, CorruptFile: a file whose size is not the one acquired.
    """
    chosen = placed_if_any(manifest, part)
    if not chosen:
        raise MissingFile(manifest, f"no files of part {part!r}", "add them to params acquire")
    return chosen


def placed_if_any(manifest: Path, part: str) -> list[Path]:
    """Return what `placed` does, or nothing if there is no such part.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: as `placed`, of files that are there.
    """
    entries = cast(Sequence[Entry], json.loads(manifest.read_text(encoding="utf-8"))["files"])
    chosen = [e for e in entries if e["part"] == part and _INDEX not in e["path"]]
    return [_checked(manifest.parent / e["path"], e["bytes"]) for e in chosen]


def _checked(path: Path, size: int) -> Path:
    remedy = f"delete {path.parent.parent / 'manifest.json'} and this file, then run again"
    if not path.exists():
        raise MissingFile(path, "acquired before, now gone", remedy)
    found = path.stat().st_size
    if found != size:
        kind = TruncatedFile if found < size else CorruptFile
        raise kind(path, f"{found} bytes, {size} were acquired", remedy)
    return path
