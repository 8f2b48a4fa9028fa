"""Grades of people: where they lie, and how a session saves those of one assessor.

A session keeps them in a SQLite database and writes them as JSON lines for everybody else.

The file of JSON lines is what people commit and what is scored; the database orders the writers.
A grade is saved in two steps, so that neither a kill nor a full disk leaves half of it:

1. In one transaction the line is inserted, all lines are written to a file aside, and the identity
   (inode, size, time of change) of that file is recorded.
2. In the next one the file aside takes the place of the JSON lines. A session that finds the first
   step committed and the second one not done does it.

A file of JSON lines that no transaction has recorded was changed by a person, by git or by another
version of isotope: it is imported, and replaces the lines of the database.
"""

import json
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import polars as pl

from isotope.core.errors import BadParams, CorruptFile, DiskFull, as_disk_full

# Below it a folder a collection, with the judgements of its pool, and in that a folder a sheet.
FOLDER = Path("judgements")
SUFFIX = ".jsonl"
TORN = ".torn"
# The databases of relative paths; they can be made anew from the JSON lines at any time.
STATE = Path(".isotope")
GRADES = range(10)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_WAIT_S = 60
_TABLES = (
    "CREATE TABLE IF NOT EXISTS lines (n INTEGER PRIMARY KEY, line BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS export (imports INTEGER, before TEXT, after TEXT)",
    "INSERT INTO export SELECT 0, '', '' WHERE NOT EXISTS (SELECT * FROM export)",
)
log = logging.getLogger("isotope")
Item = TypeVar("Item", bound=Hashable)
Grade = TypeVar("Grade")


class GradedPair(NamedTuple):
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
class LineForm(Generic[Item, Grade]):
    """How lines of one kind are written as JSON objects.

    `fields` returns what an object has of a line beside assessor and time. `read` returns item and
    grade of an object, or None if it has none.
    """

    fields: Callable[[Line[Item, Grade]], dict[str, Any]]
    read: Callable[[Mapping[str, Any]], tuple[Item, Grade | None] | None]


def strings(record: Mapping[str, Any], *names: str) -> list[str]:
    """Return the values of `names` that are strings and not empty."""
    values = [record.get(name) for name in names]
    return [value for value in values if isinstance(value, str) and value]


def _read_pair(record: Mapping[str, Any]) -> tuple[GradedPair, int | None] | None:
    ids, grade = strings(record, *GradedPair._fields), record.get("grade", "none")
    fits = grade is None or (type(grade) is int and grade in GRADES)
    return (GradedPair(*ids), grade) if fits and len(ids) == len(GradedPair._fields) else None


PAIRS: LineForm[GradedPair, int] = LineForm(
    lambda line: {**line.item._asdict(), "grade": line.grade}, _read_pair
)


def sheet_paths(collection: str, sheet: str = "", folder: Path = FOLDER) -> list[str]:
    """Return the files with judgements of a collection, sorted: csv, tsv, a page's JSON lines.

    `sheet` is `failures` or `mistakes`, or empty for the pool, whose sheets may be Parquet, too.
    Every file is a sheet, but for hidden ones, READMEs, and torn lines that were set aside.

    Raises:
        BadParams: a file of another form.
    """
    suffixes = {".csv", ".tsv", SUFFIX} if sheet else {".csv", ".tsv", ".parquet", SUFFIX}
    files = [p for p in (folder / collection / sheet).glob("*") if p.is_file()]
    sheets = sorted(p for p in files if not _is_beside(p))
    for path in sheets:
        if path.suffix.lower() not in suffixes:
            problem = f"no sheet by its name, which would end in {', '.join(sorted(suffixes))}"
            raise BadParams(path, problem, "save it as csv, or move it elsewhere")
    return [str(path) for path in sheets]


def _is_beside(path: Path) -> bool:
    """Tell a file that may lie among sheets and is none."""
    hidden = path.name.startswith(".") or path.stem.upper() == "README"
    return hidden or path.suffix == TORN


def read_csv(path: Path) -> pl.DataFrame:
    """Read a sheet in csv, or in tsv by its name, as texts.

    Raises:
        polars.exceptions.ComputeError, polars.exceptions.NoDataError: it is no such table.
    """
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    return pl.read_csv(path, infer_schema=False, separator=separator, glob=False)


def grades_file(folder: Path, assessor: str) -> Path:
    """Return the assessor's file in the folder of a collection.

    Raises:
        BadParams: a name that could leave the folder, or that some file system refuses.
    """
    if not _NAME.fullmatch(assessor):
        remedy = "take 1 to 64 letters, digits, - and _, the first a letter or digit"
        raise BadParams("--assessor", f"{assessor!r} can't be the name of a file", remedy)
    return folder / f"{assessor}{SUFFIX}"


class Ledger(Generic[Item, Grade]):
    """The grades of one assessor, shared by every page and process that has them open."""

    def __init__(self, path: Path, assessor: str, form: LineForm[Item, Grade]) -> None:
        """Read the grades in the JSON lines at `path`; nothing is written before the first grade.

        The database is below `STATE`, or beside the file where `path` is absolute.

        Raises:
            CorruptFile: a line that is no grade of `assessor`, named by its number.
        """
        self.path, self.assessor, self.form = path, assessor, form
        self.database = (STATE / path).with_suffix(".sqlite")
        self.grades: dict[Item, Grade] = {}
        self._aside = path.with_name(f".{path.name}.part")
        self._imports, self._last = -1, 0
        self.refresh()

    def refresh(self) -> None:
        """Read what others have graded since, and finish an export that a kill has interrupted.

        Raises:
            CorruptFile: as above, or a file that is no database.
        """
        if self.path.exists() or self.database.exists():
            with self._transaction():
                pass
        if self._aside.exists():
            with self._transaction():
                pass

    def give(self, item: Item, grade: Grade | None, *, expected: Grade | None) -> Grade | None:
        """Save a grade if the item's current one is `expected`; return the current one.

        What is returned is not `grade` when another page has graded the item since.

        Raises:
            DiskFull: no room; the file is as it was.
            CorruptFile: as above.
        """
        with self._transaction() as con:
            current = self.grades.get(item)
            if current != grade and current == expected:
                line = serialize(Line(item, grade, self.assessor), self.form)
                con.execute("INSERT INTO lines (line) VALUES (?)", (line,))
                self._export(con)
        self.refresh()
        return self.grades.get(item)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the database, locked for others and agreeing with the file; then commit."""
        self.database.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(
                sqlite3.connect(self.database, timeout=_WAIT_S, isolation_level=None)
            ) as con:
                con.execute("BEGIN IMMEDIATE")
                for statement in _TABLES:
                    con.execute(statement)
                self._synchronise(con)
                yield con
                con.execute("COMMIT")
        except BaseException as error:
            # What the transaction has read may be rolled back: the next one reads everything.
            self._imports = -1
            named = self._named(error)
            if named is error:
                raise
            raise named from error

    def _named(self, error: BaseException) -> BaseException:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_FULL:
            return DiskFull(self.database, str(error))
        if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
            remedy = f"remove it: it is made anew from {self.path}"
            return CorruptFile(self.database, f"not a database ({error})", remedy)
        return as_disk_full(error, self.path)

    def _synchronise(self, con: sqlite3.Connection) -> None:
        """Make file, database and memory agree."""
        (imports, before, after) = con.execute("SELECT * FROM export").fetchone()
        current = _identity(self.path)
        if current == before != after == _identity(self._aside):
            self._aside.replace(self.path)
            _sync(self.path.parent)
        else:
            self._aside.unlink(missing_ok=True)
            if current != after:
                self._import(con, imports + 1)
        self._read(con)

    def _import(self, con: sqlite3.Connection, imports: int) -> None:
        """Replace the lines of the database by those of the file."""
        content = self.path.read_bytes() if self.path.exists() else b""
        lines, torn = _split(content, self.form)
        for n, line in enumerate(lines, 1):
            self._checked(line, n)
        con.execute("DELETE FROM lines")
        con.executemany("INSERT INTO lines (line) VALUES (?)", [(line,) for line in lines])
        identity = _identity(self.path)
        values = (imports, identity, identity)
        con.execute("UPDATE export SET imports = ?, before = ?, after = ?", values)
        if torn:
            _put_aside(torn, self.path)
        if content and not content.endswith(b"\n"):
            self._export(con)

    def _checked(self, content: bytes, n: int) -> Line[Item, Grade]:
        line = parse(content, f"{self.path}:{n}", self.form)
        if line.assessor != self.assessor:
            problem = f"a grade by {line.assessor!r} among those of {self.assessor!r}"
            raise CorruptFile(f"{self.path}:{n}", problem, "move the line to a file of its own")
        return line

    def _read(self, con: sqlite3.Connection) -> None:
        """Bring `grades` up to date with the lines of the database."""
        (imports,) = con.execute("SELECT imports FROM export").fetchone()
        if imports != self._imports:
            self._imports, self._last = imports, 0
            self.grades.clear()
        rows = con.execute("SELECT n, line FROM lines WHERE n > ? ORDER BY n", (self._last,))
        for n, content in rows:
            line, self._last = self._checked(content, n), n
            if line.grade is None:
                self.grades.pop(line.item, None)
            else:
                self.grades[line.item] = line.grade

    def _export(self, con: sqlite3.Connection) -> None:
        """Write all lines aside and record the file that they replace and the one that follows."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [line for (line,) in con.execute("SELECT line FROM lines ORDER BY n")]
        try:
            _write(self._aside, lines)
        except OSError:
            self._aside.unlink(missing_ok=True)
            raise
        both = _identity(self.path), _identity(self._aside)
        con.execute("UPDATE export SET before = ?, after = ?", both)


def current_lines(
    path: Path, form: LineForm[Item, Grade]
) -> Iterator[tuple[str, Line[Item, Grade]]]:
    """Yield the last line of each item with its place, `file:line`, unless it takes back a grade.

    The file is only read.

    Raises:
        CorruptFile: a line that is no grade. A torn last line is named in the log and left out.
    """
    lines, torn = _split(path.read_bytes(), form)
    if torn:
        log.warning("%s: the last line is torn and left out: %r", path, torn[:80])
    last: dict[tuple[Item, str], tuple[str, Line[Item, Grade]]] = {}
    for n, content in enumerate(lines, 1):
        line = parse(content, f"{path}:{n}", form)
        last[line.item, line.assessor] = f"{path}:{n}", line
    yield from (entry for entry in last.values() if entry[1].grade is not None)


def serialize(line: Line[Item, Grade], form: LineForm[Item, Grade]) -> bytes:
    """Return the line as JSON with the current time, without a newline."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    record = {**form.fields(line), "assessor": line.assessor, "at": at}
    return json.dumps(record, ensure_ascii=False).encode()


def parse(line: bytes, where: str, form: LineForm[Item, Grade]) -> Line[Item, Grade]:
    """Return the grade in one line of JSON.

    Raises:
        CorruptFile: no JSON object, or none that `form` reads, such as a grade off the scale.
    """
    remedy = "remove the line, and grade its item anew"
    try:
        value = json.loads(line)
    except ValueError as error:
        raise CorruptFile(where, f"not JSON ({error})", remedy) from error
    record: dict[str, Any] = value if isinstance(value, dict) else {}
    graded, assessor = form.read(record), strings(record, "assessor")
    if graded is None or not assessor:
        raise CorruptFile(where, f"not a grade: {line[:80]!r}", remedy)
    return Line(*graded, *assessor)


def _split(content: bytes, form: LineForm[Any, Any]) -> tuple[list[bytes], bytes]:
    """Return the whole lines, and what a kill has left of a last line.

    A last line that lacks only its newline is whole: no beginning of an object is an object.
    """
    *lines, tail = content.split(b"\n")
    with suppress(CorruptFile):
        parse(tail, "", form)
        return [*lines, tail], b""
    return lines, tail


def _identity(path: Path) -> str:
    """Return what tells two versions of a file apart; empty if there is no file."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return ""
    return f"{about.st_ino} {about.st_size} {about.st_mtime_ns}"


def _write(path: Path, lines: Sequence[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())


def _put_aside(torn: bytes, path: Path) -> None:
    """Append a torn line to the file `.torn`; a crash before the export appends it twice."""
    aside = path.with_suffix(TORN)
    with aside.open("ab") as file:
        file.write(torn + b"\n")
        file.flush()
        os.fsync(file.fileno())
    log.warning("%s: a kill has torn its last line, now in %s: %r", path, aside, torn[:80])


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
