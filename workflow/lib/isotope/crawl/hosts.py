"""One host as a crawl treats it: requests a second and at a time, pauses, a circuit breaker."""

import asyncio
import fcntl
import os
import struct
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from isotope.core.errors import BudgetSpent, as_disk_full
from isotope.core.progress import log

_GIB, _HOUR_S = 2**30, 3600


class Numbers:
    """`count` numbers, zeros at first; in memory only where no path is given.

    The lock is the system's (flock), so a killed job leaves none behind. The file is open only
    while it is locked, since a crawl may have more hosts than a process may have files.
    """

    def __init__(self, path: Path | None, count: int) -> None:
        """Make the folder of the file."""
        self._form = struct.Struct(f"<{count}d")
        self._values = [0.0] * count
        self._path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self) -> Generator[list[float], None, None]:
        """Yield the numbers, to be changed in place while no other job sees them."""
        if self._path is None:
            yield self._values
            return
        file = opened(self._path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            stored = os.pread(file, self._form.size, 0)
            if len(stored) == self._form.size:
                self._values[:] = self._form.unpack(stored)
            yield self._values
            self._write(file, self._path)
        finally:
            os.close(file)

    def _write(self, file: int, path: Path) -> None:
        try:
            os.pwrite(file, self._form.pack(*self._values), 0)
        except OSError as error:
            raise as_disk_full(error, path) from error


def opened(path: Path) -> int:
    """Open a small file that jobs share, or make it.

    Raises:
        DiskFull: no room for it.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise as_disk_full(error, path) from error


class Budget:
    """Bytes received and hours worked, summed over all jobs and runs of a source's crawl."""

    def __init__(self, path: Path, gib: float | None, hours: float | None) -> None:
        """Count in the file `path`; None is no limit."""
        self._numbers, self._gib, self._hours = Numbers(path, 2), gib, hours

    def add(self, received: int, seconds: float) -> None:
        """Add what was used."""
        with self._numbers.locked() as spent:
            spent[0] += received
            spent[1] += seconds

    def check(self) -> None:
        """Look whether something is left.

        Raises:
            BudgetSpent: there is not; what was fetched so far stays.
        """
        with self._numbers.locked() as spent:
            used = {"gib": spent[0] / _GIB, "hours": spent[1] / _HOUR_S}
        limits = {"gib": self._gib, "hours": self._hours}
        for unit, limit in limits.items():
            if limit is not None and used[unit] >= limit:
                remedy = "raise it and run again; nothing that was fetched is asked for twice"
                raise BudgetSpent(f"crawl.<source>.budget_{unit}", f"{limit} are spent", remedy)


_POLL_S = 0.02
# Wikimedia's Robot policy measures the speed of downloads over 10 seconds.
_WINDOW_S = 10.0
_BITS = 8e-6
_LONGEST_PAUSE_S = 900.0


@dataclass(frozen=True)
class HostLimits:
    """Limits for each host: of all jobs together, and (the breaker) of this one."""

    connections: int
    rate_per_s: float | None = None
    burst: int = 1
    megabits_per_s: float | None = None
    failures: int = 20
    pause_s: float = 30.0
    openings: int = 5
    patience_s: float = 3600.0

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "HostLimits":
        """Read crawl.<source>; a folder that is served on loopback has no limits."""
        breaker = {
            "failures": spec["breaker_failures"],
            "pause_s": spec["breaker_pause_s"],
            "openings": spec["breaker_openings"],
            "patience_s": spec["patience_s"],
        }
        if spec.get("serve"):
            return cls(spec["threads"], **breaker)
        limits = {key: spec[key] for key in ("rate_per_s", "burst", "megabits_per_s")}
        return cls(spec["connections"], **limits, **breaker)


class Host:
    """Gives turns for requests to a host, and counts how they end.

    `shared` is a folder where all jobs find each other; a token bucket (requests and bytes), a
    pause that the host asked for, and the connections are shared through it.
    """

    def __init__(self, name: str, limits: HostLimits, shared: Path | None) -> None:
        """Share with other jobs, if the host has a rate."""
        self.name, self.limits = name, limits
        own = shared / quote(name, safe="") if shared and limits.rate_per_s else None
        # When the next request, the next byte and anything at all is due (seconds since 1970).
        self._due = Numbers(own, 3)
        self._slots = _Slots(own, limits.connections)
        self._probe = asyncio.Lock()
        self._in_a_row, self._openings, self._closed_until = 0, 0, 0.0
        self.down = False
        # What went wrong the last time, and why the host was given up.
        self.last_error: str | None = None
        self.why: str | None = None

    @property
    def paused(self) -> bool:
        """Whether the breaker has opened, and nothing has come through since."""
        return self._openings > 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[float, None]:
        """Wait for the turn to send one request; yield the time (monotonic) at which it came."""
        async with self._probe if self._openings else nullcontext():
            if (closed := self._closed_until - time.monotonic()) > 0:
                await asyncio.sleep(closed)
            slot = await self._slots.take()
            try:
                while not self.down and (wait := self._wait()) > 0:
                    await asyncio.sleep(wait)
                yield time.monotonic()
            finally:
                self._slots.give_back(slot)

    def _wait(self) -> float:
        """Return the seconds to wait before the next try, or take one request from the bucket."""
        limits, now = self.limits, time.time()
        with self._due.locked() as due:
            if due[2] > now:
                if due[2] - now > limits.patience_s:
                    self._give_up(f"asks for a pause of {due[2] - now:,.0f} s")
                return due[2] - now
            early = due[1] - now - _WINDOW_S
            if limits.rate_per_s is not None and early <= 0:
                each = 1 / limits.rate_per_s
                due[0] = max(due[0], now)
                early = due[0] - now - (limits.burst - 1) * each
                due[0] += each if early <= 0 else 0
            return early if limits.rate_per_s is not None else 0.0

    def received(self, count: int) -> None:
        """Charge the bytes of an answer."""
        if self.limits.megabits_per_s is not None:
            with self._due.locked() as due:
                start = max(due[1], time.time())
                due[1] = start + count * _BITS / self.limits.megabits_per_s

    def pause(self, seconds: float) -> None:
        """Leave the host alone, as it asked; longer than `patience_s` means for good."""
        with self._due.locked() as due:
            due[2] = max(due[2], time.time() + seconds)
        if seconds > self.limits.patience_s:
            self._give_up(f"asks for a pause of {seconds:,.0f} s")

    def report(
        self, failed: bool, *, fresh: bool, started: float, error: str = "no answer"
    ) -> None:
        """Count failures in a row of URLs requested for the first time, and open the breaker.

        A URL that fails again may itself be at fault; a new one, or the probe after a pause,
        shows that the host is. What was on its way when the breaker opened does not count.
        """
        self.last_error = error if failed else None
        if not failed:
            self._in_a_row = self._openings = 0
        elif started >= self._closed_until and (fresh or self._openings):
            self._in_a_row += 1
            if self._openings or self._in_a_row >= self.limits.failures:
                self._open()

    def _open(self) -> None:
        pause = min(self.limits.pause_s * 2**self._openings, _LONGEST_PAUSE_S)
        self._openings += 1
        self._closed_until = time.monotonic() + pause
        failures = f"{self._in_a_row} failures in a row, the last: {self.last_error}"
        if self._openings > self.limits.openings:
            self._give_up(failures)
        else:
            log.warning("%s: %s; %g s pause", self.name, failures, pause)

    def _give_up(self, why: str) -> None:
        if not self.down:
            log.warning("%s: %s; it gets no more requests in this run", self.name, why)
            self.why = why
        self.down, self._closed_until = True, 0.0


class _Slots:
    """Connections to a host; with a path, of all jobs together: locks that end with their job."""

    def __init__(self, path: Path | None, count: int) -> None:
        self._local = asyncio.Semaphore(count)
        self._files: list[Path] = []
        if path is not None:
            self._files = [path.with_name(f"{path.name}.{n}") for n in range(count)]

    async def take(self) -> int | None:
        await self._local.acquire()
        try:
            while self._files:
                for path in self._files:
                    if (slot := _locked(path)) is not None:
                        return slot
                await asyncio.sleep(_POLL_S)
        except BaseException:
            self._local.release()
            raise
        return None

    def give_back(self, slot: int | None) -> None:
        if slot is not None:
            os.close(slot)
        self._local.release()


def _locked(path: Path) -> int | None:
    file = opened(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file
