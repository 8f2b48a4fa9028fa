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
# Of a picture: pixels, seconds of the processor and MB of memory to decode it, so that a hostile
# one harms no other: a PNG of 63 million pixels takes 372 to 989 MB.
MAX_PIXELS, DECODE_S, DECODE_MB = 64_000_000, 60, 1500
# The largest picture, member of an archive, or line or item of a text, in MiB: they are read whole.
MEMBER_MIB = 100
# What a packed file may unpack to, in GiB, and bytes that a packed byte may become: what goes
# beyond is taken for a bomb. ASSUME the largest dump is that of Wikidata, 150 GB that unpack to
# some 1,500 GiB; no measurement says, as none fits here.
UNPACKED_GIB, RATIO = 10_000, 500
# Files within an archive: their list is held in memory.
MEMBERS = 10_000_000
# Levels of lists and records in JSON, which its parser reads by recursion, and digits of a number
# in JSON, which Python reads in quadratic time.
DEPTH, DIGITS = 100, 1_000
# Below so many bytes nothing is called a bomb: an empty drawing of some size packs 1,000 to one.
_UNSUSPECTED = 64 * _MIB


@dataclass(frozen=True)
class Limits:
    """Bounds of one job: sizes and counts of files `scale` times, and a share of records."""

    scale: float = 1
    refused: float = 0.5
    member_mib: float = MEMBER_MIB
    unpacked_gib: float = UNPACKED_GIB
    ratio: float = RATIO
    most_members: int = MEMBERS
    depth: int = DEPTH
    digits: int = DIGITS

    @property
    def member_bytes(self) -> int:
        """The largest member of an archive, in bytes."""
        return int(self.scale * self.member_mib * _MIB)

    @property
    def members(self) -> int:
        """The largest number of files within an archive."""
        return int(self.scale * self.most_members)

    def bomb(self, unpacked: int, packed: int) -> str | None:
        """Return why so many unpacked bytes are too many for the packed ones, or None."""
        gib, ratio = self.scale * self.unpacked_gib, self.scale * self.ratio
        if unpacked > gib * _GIB:
            return f"more than {gib:g} GiB unpacked"
        if unpacked > max(_UNSUSPECTED, ratio * packed):
            return f"more than {ratio:g} bytes for each that is packed"
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
