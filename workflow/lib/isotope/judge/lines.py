"""The lines of an assessor's file: one JSON object a grade, and the last one of an item holds."""

import json
import logging
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from isotope.core.errors import BadParams, CorruptFile

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
