"""What may come from outside, and why a picture, member or record is not taken.

Limits are params (`intake`), and hold for all that a job reads: `using` sets them, `limits` has
those that are set. A reason that is no fault of a whole file is a `Refused`, which the reader of
the file turns into a row.
"""

import errno
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from isotope.core.errors import TooManyRefused

_MIB, _GIB = 2**20, 2**30
# Below so many bytes nothing is called a bomb: an empty drawing of some size packs 1,000 to one.
_UNSUSPECTED = 64 * _MIB


@dataclass(frozen=True)
class Limits:
    """Bounds of one job: see `isotope.params.phases.Intake` for each."""

    member_mib: int = 100
    unpacked_gib: float = 1_000.0
    ratio: float = 500.0
    members: int = 10_000_000
    depth: int = 100
    digits: int = 1_000
    refused: float = 0.5

    @property
    def member_bytes(self) -> int:
        """The largest member of an archive, in bytes."""
        return self.member_mib * _MIB

    def bomb(self, unpacked: int, packed: int) -> str | None:
        """Return why so many unpacked bytes are too many for the packed ones, or None."""
        if unpacked > self.unpacked_gib * _GIB:
            return f"more than {self.unpacked_gib:g} GiB unpacked (params intake.unpacked_gib)"
        if unpacked > max(_UNSUSPECTED, self.ratio * packed):
            return f"more than {self.ratio:g} bytes for each that is packed (params intake.ratio)"
        return None


class Refused(Exception):
    """Why one picture, member or record is not taken; `status` is one of the crawl's ledger."""

    def __init__(self, reason: str, status: str = "unreadable") -> None:
        """Keep the reason, one line of text, and the status."""
        self.reason, self.status = reason, status
        super().__init__(reason)


_DEFAULT = Limits()
_LIMITS: ContextVar[Limits] = ContextVar("limits", default=_DEFAULT)


def limits() -> Limits:
    """Return the limits that hold."""
    return _LIMITS.get()


@contextmanager
def using(changed: Mapping[str, Any] | None) -> Generator[Limits]:
    """Have limits of the params `intake` hold; those that are not there stay as they are."""
    changed_limits = replace(limits(), **(changed or {}))
    token = _LIMITS.set(changed_limits)
    try:
        yield changed_limits
    finally:
        _LIMITS.reset(token)


def demand_share(refused: int, total: int, plural: str, first: tuple[str, str]) -> None:
    """Check how many things of a kind, its plural, can't be read; `first` is where one is, and why.

    Raises:
        TooManyRefused: more than `Limits.refused` of all.
    """
    most, (where, why) = limits().refused, first
    if refused > most * total:
        counts = f"{refused:,} of {total:,} {plural} can't be read, more than {most:.0%}"
        remedy = "mend them, or raise params intake.refused"
        raise TooManyRefused(where, f"{counts}; the first: {why}", remedy)


# What the system answers where bytes of a file asked for a place that no file has.
_ASKED = (errno.EINVAL, errno.EOVERFLOW, errno.EFBIG)


def is_of_the_system(error: BaseException) -> bool:
    """Tell whether an error is of the disk or the system, and not of the bytes that were read."""
    return isinstance(error, OSError) and error.errno is not None and error.errno not in _ASKED


_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def reason_of(error: BaseException) -> str:
    """Return what a library said, on one line, or the name of what it raised.

    Places in memory are left out: the same bytes have the same reason in every run.
    """
    words = " ".join(_ADDRESS.sub("", str(error)).split())
    return words[:300] if words else type(error).__name__
