"""Where a collection comes from: the files that its source was made of, as acquired."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

_DAY = re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(?!\d)")
_MOST = 40


class Upstream(NamedTuple):
    """A file that was fetched or made: its path in the source's folder, size and digest."""

    path: str
    size: int
    sha256: str
    url: str


class Origin(NamedTuple):
    """The first files of a source, how many there are, dates in their names, isotope's version."""

    files: list[Upstream]
    total: int
    dates: list[str]
    version: str


def origin(root: Path, sources: Sequence[str]) -> Origin:
    """Return what the sources' manifests say; nothing for a source that was not acquired."""
    manifests = [root / "data/acquire" / source / "manifest.json" for source in sources]
    told = [json.loads(m.read_text(encoding="utf-8")) for m in manifests if m.is_file()]
    listed = [file for manifest in told for file in manifest["files"]]
    files = [Upstream(f["path"], f["bytes"], f["sha256"], f["url"] or "") for f in listed]
    days = {"-".join(found.groups()) for f in files if (found := _DAY.search(f.path))}
    return Origin(files[:_MOST], len(files), sorted(days), version("isotope-ir"))


def fingerprint(params: Any) -> str:  # noqa: ANN401
    """Return 16 hex digits of the SHA-256 of params, whatever the order of their keys."""
    told = json.dumps(params, sort_keys=True, ensure_ascii=False)
    return sha256(told.encode()).hexdigest()[:16]
