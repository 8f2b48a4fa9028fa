"""One assessor's grades as they are given: a file that only grows, each line on disk at once."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic

from isotope.core.errors import CorruptFile, as_disk_full
from isotope.judge.lines import Form, Grade, Item, Line, is_whole, log, parse, split, written

TORN = ".torn"


class Ledger(Generic[Item, Grade]):
    """The grades in one file, shared with every other page and process that has it open."""

    def __init__(self, path: Path, assessor: str, form: Form[Item, Grade]) -> None:
        """Read what is there; nothing is written before the first grade.

        Raises:
            CorruptFile: a line that is no grade of `assessor`, named by its number.
        """
        self.path, self.assessor, self.form = path, assessor, form
        self.grades: dict[Item, Grade] = {}
        self._inode = self._offset = self._lines = 0
        self.refresh()

    def refresh(self) -> None:
        """Take in what others have appended since.

        Raises:
            CorruptFile: as above.
        """
        if self.path.exists():
            with self._locked():
                pass

    def give(self, item: Item, grade: Grade | None, *, seen: Grade | None) -> Grade | None:
        """Put a grade on the disk if the one that holds is `seen`; return the one that holds.

        What is returned is not `grade` when another page has graded the item since.

        Raises:
            DiskFull: no room; the file is as it was.
            CorruptFile: as above.
        """
        with self._locked() as file:
            holds = self.grades.get(item)
            if holds != grade and holds == seen:
                line = Line(item, grade, self.assessor)
                _append(file, written(line, self.form), self.path)
                self._take_in(file)
            return self.grades.get(item)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = not self.path.exists()
        file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if fresh:
                _sync_folder(self.path.parent)
            self._take_in(file)
            yield file
        finally:
            os.close(file)

    def _take_in(self, file: int) -> None:
        """Read from where the last reading ended, and mend a last line that a kill has torn."""
        about = os.fstat(file)
        if about.st_ino != self._inode or about.st_size < self._offset:
            self._inode, self._offset, self._lines = about.st_ino, 0, 0
            self.grades.clear()
        lines, rest = split(os.pread(file, about.st_size - self._offset, self._offset))
        if is_whole(rest, self.form):
            _append(file, b"\n", self.path)
            lines.append(rest)
        elif rest:
            _put_aside(file, rest, self.path)
        for content in lines:
            self._hold(content)

    def _hold(self, content: bytes) -> None:
        where = f"{self.path}:{self._lines + 1}"
        line = parse(content, where, self.form)
        if line.assessor != self.assessor:
            found = f"a grade by {line.assessor!r} among those of {self.assessor!r}"
            raise CorruptFile(where, found, "move the line to a file of its own")
        if line.grade is None:
            self.grades.pop(line.item, None)
        else:
            self.grades[line.item] = line.grade
        self._lines += 1
        self._offset += len(content) + 1


def _append(file: int, content: bytes, path: Path) -> None:
    before = os.fstat(file).st_size
    try:
        if os.write(file, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
    except OSError as error:
        os.ftruncate(file, before)
        raise as_disk_full(error, path) from error


def _put_aside(file: int, rest: bytes, path: Path) -> None:
    """Move a torn line to the file `.torn` beside; a crash in between leaves it in both."""
    aside = path.with_suffix(TORN)
    with aside.open("ab") as out:
        out.write(rest + b"\n")
        out.flush()
        os.fsync(out.fileno())
    os.ftruncate(file, os.fstat(file).st_size - len(rest))
    os.fsync(file)
    log.warning("%s: a kill has torn its last line, now in %s: %r", path, aside, rest[:80])


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
