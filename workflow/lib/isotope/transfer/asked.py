"""What a push or pull is asked for, and how files move several at a time."""

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

from isotope.core import terminal
from isotope.core.errors import IsotopeError, MissingFile, UnknownId
from isotope.core.progress import STOPPED
from isotope.core.terminal import shortened
from isotope.transfer.outputs import Output
from isotope.transfer.remote import Stopped
from isotope.transfer.sizes import Bytes

FIRST, JOBS = "latest", 8
_SHOWN = 8
_T = TypeVar("_T")


@dataclass(frozen=True)
class TransferRequest:
    """A remote, a version of it, and what of that: all, or what `paths` and `collection` name."""

    address: str
    paths: Sequence[str] = ()
    collection: str | None = None
    version: str = FIRST
    jobs: int = JOBS

    def nothing(self, path: str | None, outputs: Iterable[Output], where: str) -> IsotopeError:
        """Return what to say where nothing is asked for by a path, or by all that is asked."""
        folders = sorted({output.folder for output in outputs})
        available = f"there are {shortened(folders, _SHOWN)}"
        if path is None and self.collection is not None:
            problem = f"nothing of collection {self.collection!r}"
            return UnknownId(where, problem, f"name another; {available}")
        return MissingFile(where, f"nothing complete of {path or 'any kind'}", f"see: {available}")


class Movers:
    """Threads that move files; all stop when one fails."""

    def __init__(self, jobs: int, progress: Bytes) -> None:
        """Run so many at a time, and count in `progress`."""
        self._jobs, self._progress, self._is_stopped = jobs, progress, False

    def count(self, size: int) -> None:
        """Count bytes that a thread has moved.

        Raises:
            Stopped: another thread has failed, or the user has interrupted.
        """
        if self._is_stopped:
            raise Stopped
        self._progress.add(size)

    def run(self, move: Callable[[_T], None], items: Iterable[_T]) -> None:
        """Move all items.

        Raises:
            IsotopeError: the first error of a thread.
            KeyboardInterrupt: the user's, when it is said that the same command goes on.
        """
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                moving = [pool.submit(move, item) for item in items]
                done, _ = wait(moving, return_when=FIRST_EXCEPTION)
            except BaseException as error:
                self._stop(pool)
                if isinstance(error, KeyboardInterrupt):
                    terminal.write(f"{STOPPED}\n", sys.stderr)
                raise
            failed = [error for future in done if (error := future.exception())]
            if failed:
                self._stop(pool)
                raise failed[0]

    def _stop(self, pool: ThreadPoolExecutor) -> None:
        self._is_stopped = True
        pool.shutdown(wait=False, cancel_futures=True)
