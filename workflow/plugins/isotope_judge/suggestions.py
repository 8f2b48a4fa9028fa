"""Verdicts of people on suggested pictures: how their lines are written, and what they count for.

A suggestion is a picture for a section. On the sheet of suggestions an assessor says how good it
is, in five words; on the page of
`isotope suggest` somebody accepts it (good), or rejects it with a reason (bad, or offensive).
Both write to `judgements/<collection>/suggestions/<assessor>.jsonl`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope_judge.ledger import FOLDER, Ledger, LineForm, current_lines, grades_file, strings

SHEET = "suggestions"
MEANINGS: Mapping[str, str] = {
    "good": "an editor would be glad of it here",
    "okay": "it could stand here",
    "bad": "it does not belong here",
    "no picture wanted": "the section should have no picture at all",
    "offensive": "it would hurt or insult readers",
}
VERDICTS = (*MEANINGS,)
REASONS = ("already there", "icon", "wrong subject", "low quality", "offensive", "other")
# What a verdict says of a pair's relevance. A section that wants no picture says nothing of one.
GRADES: Mapping[str, int] = {"good": 2, "okay": 1, "bad": 0, "offensive": 0}
REFUSALS = ("bad", "no picture wanted", "offensive")
PASTED = "text:"
_JUDGED = {
    "text_id": pl.String,
    "image_id": pl.String,
    "verdict": pl.String,
    "reason": pl.String,
    "assessor": pl.String,
    "where": pl.String,
}


class Suggestion(NamedTuple):
    """A picture that was suggested for a text: a section's id, or that of `pasted` text."""

    text_id: str
    image_id: str


class Verdict(NamedTuple):
    """One of VERDICTS; one that refuses a picture may have one of REASONS."""

    verdict: str
    reason: str | None = None


ACCEPTED = Verdict("good")


def rejected(reason: str) -> Verdict:
    """Return the verdict of a picture that was rejected for one of REASONS."""
    return Verdict("offensive" if reason == "offensive" else "bad", reason)


def pasted(text: str) -> str:
    """Return the id of a text that is no section; verdicts on it never become judgements."""
    return PASTED + hashlib.sha256(text.encode()).hexdigest()


def parse_verdict(value: object) -> Verdict | None:
    """Return the verdict of a JSON object, None if it is none."""
    if not isinstance(value, dict):
        return None
    record: dict[str, Any] = value
    verdict, reason = record.get("verdict"), record.get("reason")
    has_reason = reason in REASONS and verdict in REFUSALS
    fits = verdict in VERDICTS and (reason is None or has_reason)
    return Verdict(str(verdict), reason) if fits else None


def verdict_json(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return a verdict ready for JSON."""
    return verdict and verdict._asdict()


def _read_line(record: Mapping[str, Any]) -> tuple[Suggestion, Verdict | None] | None:
    ids, grade = strings(record, *Suggestion._fields), record.get("grade", "none")
    verdict = parse_verdict(grade)
    fits = len(ids) == len(Suggestion._fields) and (verdict is not None or grade is None)
    return (Suggestion(*ids), verdict) if fits else None


# {"text_id": ..., "image_id": ..., "grade": {"verdict": "bad", "reason": "icon"}, ...}
FORM: LineForm[Suggestion, Verdict] = LineForm(
    lambda line: {**line.item._asdict(), "grade": verdict_json(line.grade)}, _read_line
)


def open_ledger(
    collection: str, assessor: str, folder: Path = FOLDER
) -> Ledger[Suggestion, Verdict]:
    """Return an assessor's verdicts on the suggestions of a collection.

    Raises:
        BadParams: a name that can't be a file's. CorruptFile: as `Ledger`.
    """
    return Ledger(grades_file(folder / collection / SHEET, assessor), assessor, FORM)


def read_verdicts(paths: Sequence[Path]) -> pl.DataFrame:
    """Return text_id, image_id, verdict, reason, assessor and where (file:line), sorted.

    Raises:
        CorruptFile: a line that is no verdict.
    """
    judged = [
        (*line.item, *verdict, line.assessor, where)
        for path in paths
        for where, line in current_lines(path, FORM)
        if (verdict := line.grade)
    ]
    rows = pl.DataFrame(judged, schema=_JUDGED, orient="row")
    return rows.sort("text_id", "image_id", "assessor")


def grades(paths: Sequence[Path]) -> pl.DataFrame:
    """Return what verdicts say of the relevance of pairs: text_id, image_id, grade, assessor.

    A verdict that the section wants no picture says nothing of one, and a text that was pasted is
    no section: neither is a judgement.

    Raises:
        CorruptFile: as `read_verdicts`.
    """
    read = read_verdicts(paths).filter(~pl.col("text_id").str.starts_with(PASTED))
    grade = pl.col("verdict").replace_strict(GRADES, default=None, return_dtype=pl.Int32)
    graded = read.with_columns(grade=grade).drop_nulls("grade")
    return graded.select("text_id", "image_id", "grade", "assessor")
