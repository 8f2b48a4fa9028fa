"""The manifest of a source: which files were acquired, part by part, and whether they are whole."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from isotope.core import digests, store
from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.progress import log

# Beside a multistream dump lies a list of its streams; nothing needs it, the streams are scanned.
_INDEX = "-index.txt"


def entry(
    path: str, size: int, sha256: str, url: str | None = None, version: str | None = None
) -> dict[str, Any]:
    """Return the entry of the file at `path` below the source's folder, of so many bytes."""
    part = path.partition("/")[0]
    listed = {"part": part, "path": path, "bytes": size, "sha256": sha256}
    return listed | {"url": url, "version": version}


def write(manifest: Path, files: Sequence[dict[str, Any]]) -> None:
    """Write the entries of all files, in the order of the params; they are in place by then."""
    with store.aside(manifest) as part:
        part.write_text(json.dumps({"files": files}, indent=1) + "\n", encoding="utf-8")
    log.info("%d files, %d bytes", len(files), sum(file["bytes"] for file in files))


def entries(manifest: Path) -> list[dict[str, Any]]:
    """Return the entries of all files: part, path, bytes, sha256, and url and version or None."""
    listed = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return cast(list[dict[str, Any]], listed)


def parts(manifest: Path) -> list[str]:
    """Return the names of the acquired parts, in the order of the params."""
    return list(dict.fromkeys(e["part"] for e in entries(manifest)))


def placed(manifest: Path, part: str) -> list[Path]:
    """Return the acquired files of one part, in the order of the params, after checking sizes.

    A job compares the digests too.

    Raises:
        MissingFile: no such part, or a file that is gone.
        TruncatedFile, CorruptFile: a file whose size is not the one acquired.
        ChecksumMismatch: in a job, a file with other bytes.
    """
    chosen = placed_if_any(manifest, part)
    if not chosen:
        raise MissingFile(manifest, f"no files of part {part!r}", "add them to params acquire")
    return chosen


def placed_if_any(manifest: Path, part: str) -> list[Path]:
    """Return what `placed` does, or nothing if there is no such part.

    Raises:
        MissingFile, TruncatedFile, CorruptFile, ChecksumMismatch: as `placed`.
    """
    chosen = [e for e in entries(manifest) if e["part"] == part and _INDEX not in e["path"]]
    files = [_checked(manifest.parent / e["path"], e["bytes"]) for e in chosen]
    digests.demand(*files)
    return files


def _checked(path: Path, size: int) -> Path:
    remedy = f"delete {path.parent.parent / 'manifest.json'} and this file, then run again"
    if not path.exists():
        raise MissingFile(path, "acquired before, now gone", remedy)
    present = path.stat().st_size
    if present != size:
        kind = TruncatedFile if present < size else CorruptFile
        raise kind(path, f"{present} bytes, {size} were acquired", remedy)
    return path
