"""Named errors: each says where, what was found there, and what to do about it."""

import errno
import os
import shutil
from pathlib import Path

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class IsotopeError(Exception):
    """Base of all errors that a user can mend; shown without a traceback."""

    def __init__(self, where: str | Path, problem: str, remedy: str) -> None:
        """Join the three parts into one sentence that reads well on a terminal."""
        self.where, self.problem, self.remedy = str(where), problem, remedy
        super().__init__(f"{where}: {problem}; {remedy}")

    def __reduce__(self) -> tuple[type["IsotopeError"], tuple[str, str, str]]:
        """Keep the three parts across process boundaries."""
        return type(self), (self.where, self.problem, self.remedy)


class BadParams(IsotopeError):
    """A key or value of params.yaml that the schema or a cross-check refuses."""


class MissingFile(IsotopeError):
    """A file that the params name and that is not there."""


class MissingExtra(IsotopeError):
    """A package that an extra of isotope has, and that is not installed."""


class MissingColumn(IsotopeError):
    """A table without a column that its format promises."""


class BadPlugin(IsotopeError):
    """A plug-in that can't be used as it is installed."""


class UnknownForm(IsotopeError):
    """Data of a form that no reader knows."""


class TruncatedFile(IsotopeError):
    """A file that ends before its format says it should."""


class CorruptFile(IsotopeError):
    """Bytes that are not what their format says they should be."""


class ChecksumMismatch(IsotopeError):
    """A file whose size or digest is not the published one, or that with which it was written."""


class FetchFailed(IsotopeError):
    """A download that did not complete; what arrived is kept for the next try."""


class AccessDenied(IsotopeError):
    """Storage that wants credentials and got none, or others than it knows."""


class TooManyRefused(IsotopeError):
    """Records of which more than the permitted share can't be read."""


class EmptyTable(IsotopeError):
    """A table that must have rows and has none."""


class UnknownModel(IsotopeError):
    """A model or pretrained tag that no loader knows."""


class IntegrityError(IsotopeError):
    """Rows that a check of workflow/sql/check, or one of our code, holds against their table."""


class ToolFailed(IsotopeError):
    """An outside program that returned an error."""


class DiskFull(IsotopeError):
    """A disk, quota or size limit that leaves no room for what is being written."""

    def __init__(self, where: str | Path, problem: str, remedy: str = "") -> None:
        """Say what to do, which is always the same."""
        super().__init__(where, problem, remedy or "free space or raise the limit, then run again")


def no_room(error: BaseException) -> bool:
    """Tell whether the system refused bytes; tools and libraries may pass on its words only."""
    message = str(error)
    words = any(os.strerror(number) in message for number in _NO_ROOM)
    return words or getattr(error, "errno", None) in _NO_ROOM


def as_disk_full(error: BaseException, where: str | Path) -> BaseException:
    """Return a DiskFull when that is what `error` is about, and `error` itself otherwise."""
    if isinstance(error, DiskFull) or not no_room(error):
        return error
    problem = error.problem if isinstance(error, IsotopeError) else str(error)
    return DiskFull(where, f"{problem}, {free_space(where)}")


class GpuFull(IsotopeError):
    """A GPU without room for what is computed at a time."""


def as_gpu_full(error: BaseException, where: str | Path) -> BaseException:
    """Return a GpuFull when torch found no memory on a GPU, and `error` itself otherwise."""
    # By name: torch takes seconds to import.
    kind = type(error)
    if (kind.__module__, kind.__name__) != ("torch", "OutOfMemoryError"):
        return error
    remedy = "lower `encode.batch`, a recipe's `micro_batch` or `search.memory_mb`, whichever"
    remedy += " belongs to the job, or end what else computes there"
    return GpuFull(where, str(error).partition(" If reserved")[0].rstrip("."), remedy)


def free_space(where: str | Path) -> str:
    """Say how much room the disk of a path has, or that of the nearest folder that is there."""
    path = Path(where).absolute()
    present = next(p for p in (path, *path.parents) if p.exists())
    return f"{shutil.disk_usage(present).free / 2**20:,.1f} MiB are free"


_REFUSED = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST),
    *(errno.ENAMETOOLONG, errno.ELOOP),
)


class Unwritable(IsotopeError):
    """A place where the system does not let a file be written."""


class Unreadable(IsotopeError):
    """A file or folder that the system does not let be read."""


def as_unwritable(error: BaseException, path: Path) -> BaseException:
    """Return an Unwritable where the system refused `path` or a folder on the way to it."""
    if not isinstance(error, OSError) or error.errno not in _REFUSED:
        return error
    at = Path(os.fsdecode(error.filename)) if error.filename else path
    if at.parent != path.parent and at not in path.parents:
        return error
    problem = f"{os.strerror(error.errno).lower()} ({at})"
    return Unwritable(path, problem, "name a place where you may write")


class BadArgument(IsotopeError):
    """An argument of the `isotope` command that it can't take."""


class StaleCrawl(IsotopeError):
    """Crawled shards that do not belong to the present list of URLs."""


class DeadCrawl(IsotopeError):
    """A crawl that has brought no picture at all."""


class Locked(IsotopeError):
    """A file or folder that another program, or another run, holds."""


class LossyCrawl(IsotopeError):
    """A crawl that has lost more pictures than the params allow."""


class UnknownId(IsotopeError):
    """A text, image, query or run that no table of the catalog has."""


class BadCaptions(IsotopeError):
    """Captions by a model, or choices between them, that do not fit the collection."""


class BadQuery(IsotopeError):
    """A question to the catalog that DuckDB refuses, or that would change something."""


class NoContact(IsotopeError):
    """A crawl of Wikimedia that does not say where its operator is reached."""


class BudgetSpent(IsotopeError):
    """A crawl that has used the bytes or the hours it was given; what it fetched is kept."""


class HostDown(IsotopeError):
    """A host that stopped to answer in the middle of a crawl; what was fetched is kept."""


class Unconfirmed(IsotopeError):
    """A published number, ranking, vector or file that another tool does not confirm."""
