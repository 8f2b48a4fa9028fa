"""One host as a crawl treats it: requests a second and at a time, pauses, a circuit breaker.

Hosts of one owner share what the owner allows and asks for, and have a breaker each.
"""

import asyncio
import fcntl
import hashlib
import os
import struct
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from urllib.parse import quote

from isotope.core.errors import BudgetSpent, as_disk_full
from isotope.core.progress import duration, log
from isotope.params.crawl import Crawl

_GIB, _HOUR_S = 2**30, 3600
# Requests to a host without a pause between them, after a time without any: those of a second at
# the default of `rate_per_s`.
BURST = 10
# The longest pause that a host may ask for (Retry-After) before it is given up for this run: the
# next run asks again, and a job does not wait for longer.
PATIENCE_S = 3600
# Failures in a row, of URLs not requested before, after which a host gets a pause; the length of
# the first one, which doubles with each failed probe; and pauses after which it is given up for
# this run: 15 minutes in all, in which a server that was restarted is back.
BREAKER_FAILURES, BREAKER_PAUSE_S, BREAKER_OPENINGS = 20, 30, 5


class SharedNumbers:
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
                numbers = self._form.unpack(stored)
                self._values[:] = numbers if all(map(isfinite, numbers)) else [0.0] * len(numbers)
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
        self._numbers, self._gib, self._hours = SharedNumbers(path, 2), gib, hours

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
# How often one that waits looks whether the host was given up, or the clock was set.
_LOOK_EVERY_S = 1.0
# ASSUME clocks of machines that share a folder differ by less; no measurement says by how much.
_CLOCKS_DIFFER_S = 5.0
# A pause from which on it is said on the terminal, too.
_LONG_PAUSE_S = 60.0
# Wikimedia's Robot policy measures the speed of downloads over 10 seconds.
_WINDOW_S = 10.0
_BITS = 8e-6
_LONGEST_PAUSE_S = 900.0
# Of a file's name, with the number of a connection behind it.
_LONGEST_NAME = 240


@dataclass(frozen=True)
class HostLimits:
    """Limits for each host: of all jobs together, and (the breaker) of this one."""

    connections: int
    rate_per_s: float | None = None
    burst: int = 1
    megabits_per_s: float | None = None
    failures: int = BREAKER_FAILURES
    pause_s: float = BREAKER_PAUSE_S
    openings: int = BREAKER_OPENINGS
    patience_s: float = PATIENCE_S

    @classmethod
    def from_params(cls, spec: Crawl) -> "HostLimits":
        """Read crawl.<source>; a folder that is served on loopback has no limits."""
        limits = cls(
            spec.threads if spec.serve else spec.connections,
            failures=BREAKER_FAILURES,
            pause_s=BREAKER_PAUSE_S,
            openings=BREAKER_OPENINGS,
            patience_s=PATIENCE_S,
        )
        if spec.serve:
            return limits
        rate, megabits = spec.rate_per_s, spec.megabits_per_s
        return replace(limits, rate_per_s=rate, burst=BURST, megabits_per_s=megabits)


class Owner:
    """What all hosts of an owner share: requests and bytes a second, connections, a pause.

    `shared` is a folder where all jobs find each other.
    """

    def __init__(self, name: str, limits: HostLimits, shared: Path | None) -> None:
        """Share with other jobs, if there is a rate."""
        shared_file = shared / _file_name(name) if shared and limits.rate_per_s else None
        # When the next request, the next byte and anything at all is due, and when a job last
        # looked (seconds since 1970).
        self.due = SharedNumbers(shared_file, 4)
        self.slots = _Slots(shared_file, limits.connections)
        self.announced = 0.0
        # Why no host of this owner gets a request in this run.
        self.why: str | None = None


class Host:
    """Gives turns for requests to a host, and counts how they end.

    A token bucket (requests and bytes), a pause that was asked for, and the connections are the
    owner's; a host without one is its own, and shares with other jobs through the folder `shared`.
    """

    def __init__(
        self, name: str, limits: HostLimits, shared: Path | None, owner: Owner | None = None
    ) -> None:
        """Start with an answering host."""
        self.name, self.limits = name, limits
        self._owner = owner or Owner(name, limits, shared)
        self._due, self._slots = self._owner.due, self._owner.slots
        self._probe = asyncio.Lock()
        self._in_a_row, self._openings, self._closed_until = 0, 0, 0.0
        # Given up for this run, or (gone) until a command says otherwise.
        self._down = self.gone = self.answered = False
        # What went wrong the last time, and why the host was given up.
        self.last_error: str | None = None
        self._why: str | None = None

    @property
    def down(self) -> bool:
        """Whether it gets no more requests in this run, nor does any other of its owner's."""
        return self._down or self._owner.why is not None

    @property
    def why(self) -> str | None:
        """Why it was given up, if it was."""
        return self._why or self._owner.why

    @property
    def paused(self) -> bool:
        """Whether the breaker has opened, and nothing has come through since."""
        return self._openings > 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[float, None]:
        """Wait for the turn to send one request; yield the time (monotonic) at which it came."""
        async with self._probe if self._openings else nullcontext():
            await self.wait_out(lambda: self._closed_until - time.monotonic())
            await self.wait_out(self._pause_left)
            slot = await self._slots.take()
            try:
                await self.wait_out(self._wait)
                yield time.monotonic()
            finally:
                self._slots.give_back(slot)

    async def wait_out(self, left: Callable[[], float]) -> None:
        """Wait until no seconds are left, or until the host is given up."""
        while not self.down and (seconds := left()) > 0:
            await asyncio.sleep(min(seconds, _LOOK_EVERY_S))

    def _now(self, due: list[float]) -> float:
        """Return the time; where the clock was set back, all that is due comes earlier by that."""
        now = time.time()
        back = due[3] - now
        if back > _CLOCKS_DIFFER_S:
            due[:3] = [moment - back for moment in due[:3]]
        due[3] = now
        return now

    def _pause_left(self) -> float:
        """Return the seconds that are left of the pause that the host asked for."""
        with self._due.locked() as due:
            return self._paused(due, self._now(due))

    def _paused(self, due: list[float], now: float) -> float:
        left = due[2] - now
        if left > self.limits.patience_s:
            self._give_up_owner(f"has asked for a pause of which {duration(left)} are left")
            return 0.0
        self._announce(left)
        return left

    def _announce(self, seconds: float) -> None:
        """Say once how long the host wants to be left alone."""
        until = time.monotonic() + seconds
        if seconds > 0 and until > self._owner.announced + _LOOK_EVERY_S:
            self._owner.announced = until
            tell = log.warning if seconds >= _LONG_PAUSE_S else log.info
            tell("%s: asks for a pause; %s are left", self.name, duration(seconds))

    def _wait(self) -> float:
        """Return the seconds to wait before the next try, or take one request from the bucket."""
        limits = self.limits
        with self._due.locked() as due:
            now = self._now(due)
            if (paused := self._paused(due, now)) > 0:
                return paused
            early = due[1] - now - _WINDOW_S
            if limits.rate_per_s is not None and early <= 0:
                interval = 1 / limits.rate_per_s
                due[0] = max(due[0], now)
                early = due[0] - now - (limits.burst - 1) * interval
                due[0] += interval if early <= 0 else 0
            return early if limits.rate_per_s is not None else 0.0

    def received(self, count: int) -> None:
        """Charge the bytes of an answer."""
        if self.limits.megabits_per_s is not None:
            with self._due.locked() as due:
                now = self._now(due)
                start = max(due[1], now)
                due[1] = start + count * _BITS / self.limits.megabits_per_s

    def pause(self, seconds: float) -> None:
        """Leave the host, and the others of its owner, alone, as it asked.

        A pause above PATIENCE_S gives them up for this run, and the next run asks once: it is
        kept for nobody, so that no later crawl waits for a host that has recovered.
        """
        if seconds > self.limits.patience_s:
            most = duration(self.limits.patience_s)
            self._give_up_owner(f"asks for a pause of {duration(seconds)}, the most is {most}")
            return
        with self._due.locked() as due:
            now = self._now(due)
            due[2] = max(due[2], now + seconds)
        self._announce(seconds)

    def retire(self, why: str) -> None:
        """Send the host no more requests, since it is gone for good."""
        self._down = self.gone = True
        self._why = why

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
            self.answered = True
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
            self._why = why
        self._down, self._closed_until = True, 0.0

    def _give_up_owner(self, why: str) -> None:
        self._give_up(why)
        self._owner.why = self._owner.why or why


def _file_name(host: str) -> str:
    """Return a name for the files of a host; a digest where its own is too long for the system."""
    name = quote(host, safe="")
    return name if len(name) <= _LONGEST_NAME else hashlib.sha256(name.encode()).hexdigest()


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
