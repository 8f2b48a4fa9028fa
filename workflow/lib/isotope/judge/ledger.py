"""One assessor's grades as they are given: a file that only grows, each line on disk at once."""

import errno
import fcntl
import json
import logging
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from isotope.core.errors import BadParams, CorruptFile, as_disk_full

SUFFIX = ".jsonl"
GRADES = range(10)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
log = logging.getLogger("isotope")

Item = TypeVar("Item", bound=Hashable)
Grade = TypeVar("Grade")


class Pair(NamedTuple):
    """What is graded: a document for a query."""

    task: str
    query_id: str
    doc_id: str


@dataclass(frozen=True)
class Line(Generic[Item, Grade]):
    """One grade of an item by one assessor; the grade None takes back what the item had."""

    item: Item
    grade: Grade | None
    assessor: str


@dataclass(frozen=True)
class Form(Generic[Item, Grade]):
    """How lines of one kind are told as JSON objects.

    `told` gives what an object has of a line beside assessor and time. `read` gives item and grade
    of an object, or None if it has none.
    """

    told: Callable[[Line[Item, Grade]], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], tuple[Item, Grade | None] | None]


def words(record: Mapping[str, Any], *names: str) -> list[str]:
    """Return what is a word, not empty, among the values of `names`."""
    given = [record.get(name) for name in names]
    return [word for word in given if isinstance(word, str) and word]


def _pair(record: Mapping[str, Any]) -> tuple[Pair, int | None] | None:
    named, grade = words(record, *Pair._fields), record.get("grade", "none")
    fits = grade is None or (type(grade) is int and grade in GRADES)
    return (Pair(*named), grade) if fits and len(named) == len(Pair._fields) else None


PAIRS: Form[Pair, int] = Form(lambda line: {**line.item._asdict(), "grade": line.grade}, _pair)


def place(folder: Path, assessor: str) -> Path:
    """Return the assessor's file in the folder of a collection.

    Raises:
        BadParams: a name that could leave the folder, or that some file system can't hold.
    """
    if not _NAME.fullmatch(assessor):
        remedy = "take 1 to 64 letters, digits, - and _, the first a letter or digit"
        raise BadParams("--assessor", f"{assessor!r} can't be the name of a file", remedy)
    return folder / f"{assessor}{SUFFIX}"


def written(line: Line[Item, Grade], form: Form[Item, Grade]) -> bytes:
    """Return the line as bytes, with the time at which it was written."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    record = {**form.told(line), "assessor": line.assessor, "at": at}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def parse(line: bytes, where: str, form: Form[Item, Grade]) -> Line[Item, Grade]:
    """Return what one line says.

    Raises:
        CorruptFile: no JSON object, or none that `form` reads, such as a grade off the scale.
    """
    remedy = "remove the line, and grade its item anew"
    try:
        record = json.loads(line)
    except ValueError as error:
        raise CorruptFile(where, f"not JSON ({error})", remedy) from error
    given: dict[str, Any] = record if isinstance(record, dict) else {}
    found, assessor = form.read(given), words(given, "assessor")
    if found is None or not assessor:
        raise CorruptFile(where, f"not a grade: {line[:80]!r}", remedy)
    return Line(*found, *assessor)


def split(content: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole lines, and the rest: empty, or what a kill has left of a last line."""
    *lines, rest = content.split(b"\n")
    return lines, rest


def is_whole(rest: bytes, form: Form[Any, Any]) -> bool:
    """Tell whether only its newline is missing: no beginning of an object is an object."""
    try:
        parse(rest, "", form)
    except CorruptFile:
        return False
    return True


def holding(path: Path, form: Form[Item, Grade]) -> Iterator[tuple[str, Line[Item, Grade]]]:
    """Yield the line that holds for each item with its place, `file:line`; the file is only read.

    Raises:
        CorruptFile: a line that is no grade. A torn last line is named in the log and left out.
    """
    lines, rest = split(path.read_bytes())
    if is_whole(rest, form):
        lines.append(rest)
    elif rest:
        log.warning("%s: the last line is torn and left out: %r", path, rest[:80])
    last: dict[tuple[Item, str], tuple[str, Line[Item, Grade]]] = {}
    for n, content in enumerate(lines, 1):
        line = parse(content, f"{path}:{n}", form)
        last[line.item, line.assessor] = f"{path}:{n}", line
    yield from (found for found in last.values() if found[1].grade is not None)


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
