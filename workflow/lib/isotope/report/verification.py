"""What the report says of its own verification: when, by what, and whether it still holds.

`isotope verify` leaves a record in `results/verify/<collection>.json`, and writes what it says into
the pages at once (`stamp`). A page that is built later reads the record (`block`). A record has the
digest of what was verified: where it does not fit any more, the page says so.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotope.core import digests, store
from isotope.report.site import environment

PAGES = ("index", "cite")
_FOLDER = Path("results/verify")
_FILES = (
    *("results/score/{c}.parquet", "results/score/{c}.significance.parquet"),
    *(f"results/tables/{{c}}/{name}.csv" for name in ("table3", "table5", "headline", "intervals")),
    "results/tables/{c}/metrics.json",
)
_START, _END = "<!-- verification -->", "<!-- /verification -->"
_BLOCK = re.compile(f"{_START}.*?{_END}", re.DOTALL)


def place(collection: str, root: Path = Path()) -> Path:
    """Return where the record of a collection lies."""
    return root / _FOLDER / f"{collection}.json"


def digest(collection: str, root: Path = Path()) -> str:
    """Return the SHA-256 of the scores, tests and tables that a verification is about."""
    total = hashlib.sha256()
    for pattern in _FILES:
        path = root / pattern.format(c=collection)
        own = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"
        total.update(f"{pattern} {own}\n".encode())
    return total.hexdigest()


def read_record(collection: str, root: Path = Path()) -> dict[str, Any] | None:
    """Return the record of a collection, or None where there is none that can be read."""
    path = place(collection, root)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "checks" in found else None


def write_record(record: Mapping[str, Any], root: Path = Path()) -> Path:
    """Write the record of a collection; return where.

    Raises:
        DiskFull, Unwritable: no room or no leave to write.
    """
    path = place(record["collection"], root)
    with store.aside(path) as part:
        text = json.dumps(record, indent=1, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8")
    digests.write(path)
    return path


def block(collection: str, page: str, root: Path = Path()) -> str:
    """Return the HTML that a page has of its verification, between two comments."""
    record = read_record(collection, root)
    fits = record is not None and record.get("digest") == digest(collection, root)
    template = environment().get_template("verified.html.j2")
    html = template.render(collection=collection, record=record, fits=fits, brief=page == PAGES[0])
    return f"{_START}\n{html.strip()}\n{_END}"


def stamp(collection: str, root: Path = Path()) -> list[Path]:
    """Write the verification into the collection's pages; return those that have a place for it.

    Their times stay, so that Snakemake has nothing to build again.

    Raises:
        ChecksumMismatch: a page that is not as it was written.
        DiskFull, Unwritable: no room or no leave to write.
    """
    stamped: list[Path] = []
    for name in PAGES:
        path = root / "results/report" / collection / f"{name}.html"
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        if _BLOCK.search(old):
            # Without a record of its own a page gets none for bytes that nobody has compared.
            written = digests.demand_written(path)
            times = path.stat()
            own = block(collection, name, root)
            with store.aside(path) as part:
                part.write_text(
                    _BLOCK.sub(lambda _, own=own: own, old), encoding="utf-8", newline="\n"
                )
                os.utime(part, ns=(times.st_atime_ns, times.st_mtime_ns))
            if written is not None:
                digests.write(path)
            stamped.append(path)
    return stamped
