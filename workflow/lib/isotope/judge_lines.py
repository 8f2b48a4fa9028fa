"""The lines of an assessor's file: one JSON object a grade, and the last one of a pair holds."""

import json
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from isotope.errors import BadParams, CorruptFile

SUFFIX = ".jsonl"
GRADES = range(10)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
log = logging.getLogger("isotope")


class Pair(NamedTuple):
    """What is graded: a document for a query."""

    task: str
    query_id: str
    doc_id: str


class Line(NamedTuple):
    """One grade by one assessor; the grade None takes back what the pair had."""

    pair: Pair
    grade: int | None
    assessor: str


def place(folder: Path, assessor: str) -> Path:
    """Return the assessor's file in the folder of a collection.

    Raises:
        BadParams: a name that could leave the folder, or that some file system can't hold.
    """
    if not _NAME.fullmatch(assessor):
        remedy = "take 1 to 64 letters, digits, - and _, the first a letter or digit"
        raise BadParams("--assessor", f"{assessor!r} can't be the name of a file", remedy)
    return folder / f"{assessor}{SUFFIX}"


def written(line: Line) -> bytes:
    """Return the line as bytes, with the time at which it was written."""
    rest = {"grade": line.grade, "assessor": line.assessor}
    record = {**line.pair._asdict(), **rest, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def parse(line: bytes, where: str) -> Line:
    """Return what one line says.

    Raises:
        CorruptFile: no JSON object, an id that is no word, a grade that is not 0 to 9 or null.
    """
    remedy = "remove the line, and grade its pair anew"
    try:
        record = json.loads(line)
    except ValueError as error:
        raise CorruptFile(where, f"not JSON ({error})", remedy) from error
    given = record if isinstance(record, dict) else {}
    named = [given.get(w) for w in (*Pair._fields, "assessor")]
    words = [w for w in named if isinstance(w, str) and w]
    grade = given.get("grade", "none")
    fits = grade is None or (type(grade) is int and grade in GRADES)
    if not fits or words != named:
        raise CorruptFile(where, f"not a grade: {line[:80]!r}", remedy)
    return Line(Pair(*words[:3]), grade, words[3])


def split(content: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole lines, and the rest: empty, or what a kill has left of a last line."""
    *lines, rest = content.split(b"\n")
    return lines, rest


def is_whole(rest: bytes) -> bool:
    """Tell whether only its newline is missing: no beginning of an object is an object."""
    try:
        parse(rest, "")
    except CorruptFile:
        return False
    return True


def holding(path: Path) -> Iterator[tuple[str, Line]]:
    """Yield the line that holds for each pair with its place, `file:line`; the file is only read.

    Raises:
        CorruptFile: a line that is no grade. A torn last line is named in the log and left out.
    """
    lines, rest = split(path.read_bytes())
    if is_whole(rest):
        lines.append(rest)
    elif rest:
        log.warning("%s: the last line is torn and left out: %r", path, rest[:80])
    last: dict[tuple[Pair, str], tuple[str, Line]] = {}
    for n, content in enumerate(lines, 1):
        line = parse(content, f"{path}:{n}")
        last[line.pair, line.assessor] = f"{path}:{n}", line
    yield from (found for found in last.values() if found[1].grade is not None)
