"""Hosts that had answered a source's crawl and then stopped: how often, since when, and for good.

One job after the other finds such a host down. After so many of them, the last so many hours after
the first, the host is gone: its pictures are lost by that name, until `isotope recrawl`.
"""

import fcntl
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from isotope.core import store
from isotope.core.progress import duration, log
from isotope.crawl.hosts import opened

OUTAGES = "outages.json"
# Jobs that find a host down which had answered before, until it is gone, and the least time between
# the first of them and the last: who is repaired within a day loses no picture.
TRIES, HOURS = 3, 24
_HOUR_S = 3600.0


@dataclass
class Outage:
    """A host: jobs that found it down, and when the first and the last did (seconds since 1970)."""

    tries: int = 0
    since: float = 0.0
    last: float = 0.0
    is_declared: bool = False


class Outages:
    """The outages of a source, in a file that its jobs share."""

    def __init__(self, folder: Path) -> None:
        """Keep them in a folder of `.isotope/crawl`; a host is gone after TRIES over HOURS."""
        self._path, self._hours, self._tries = folder / OUTAGES, HOURS, TRIES

    def gone(self, host: str) -> str | None:
        """Return why a host gets no more requests; None if it may answer again."""
        outage = self._read().get(host)
        if outage is None or not self._is_gone(outage):
            return None
        if outage.is_declared:
            return "said to be gone by `isotope recrawl --gone`"
        first = datetime.fromtimestamp(outage.since, UTC).strftime("%Y-%m-%d %H:%M")
        return f"no answer in {outage.tries} tries since {first} UTC"

    def note(self, host: str) -> str:
        """Count one more job that found a host down; return what that means for it."""
        with self._changed() as outages:
            now = time.time()
            outage = outages.setdefault(host, Outage(0, now, now))
            # The clock was set back: what has passed stays.
            outage.since -= max(0.0, outage.last - now)
            outage.tries, outage.last = outage.tries + 1, now
        passed, most = duration(outage.last - outage.since), duration(self._hours * _HOUR_S)
        return (
            f"try {outage.tries} over {passed}; after {self._tries} over {most} its pictures are "
            "lost"
        )

    def declare(self, host: str) -> None:
        """Take a host for gone because the operator says so."""
        with self._changed() as outages:
            outages.setdefault(host, Outage()).is_declared = True

    def forget(self, hosts: set[str] | None = None) -> list[str]:
        """Let hosts be requested again, all of them by default; return those that had outages."""
        if not self._path.exists():
            return []
        with self._changed() as outages:
            noted = sorted(outages.keys() if hosts is None else outages.keys() & hosts)
            for host in noted:
                del outages[host]
        return noted

    def _is_gone(self, outage: Outage) -> bool:
        long_enough = outage.last - outage.since >= self._hours * _HOUR_S
        return outage.is_declared or (outage.tries >= self._tries and long_enough)

    def _read(self) -> dict[str, Outage]:
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return {host: Outage(**fields) for host, fields in stored.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError):
            log.warning("%s: no record of outages; it begins anew", self._path)
            return {}

    @contextmanager
    def _changed(self) -> Generator[dict[str, Outage], None, None]:
        """Yield all outages, to be changed in place while no other job sees them."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = opened(self._path.with_suffix(".lock"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            outages = self._read()
            yield outages
            with store.aside(self._path) as part:
                records = {host: asdict(outage) for host, outage in sorted(outages.items())}
                part.write_text(json.dumps(records, indent=1), encoding="utf-8")
        finally:
            os.close(lock)
