"""Folders of GEval, the tool behind the Gonito platform: how they are read, answered and scored.

A folder has in.tsv, a line a question, whose columns `in-header.tsv` beside it names; expected.tsv,
a line an answer; and out.tsv, a line a ranking, best first. None of them has a header line, and no
quote means anything. Source: https://gitlab.com/filipg/geval, README and GEval.PrecisionRecall.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from isotope.core.errors import CorruptFile, MissingColumn, MissingFile
from isotope.core.store import aside

_PICTURE = "picture_id"


class Challenge(NamedTuple):
    """The pictures that ask, in the order of in.tsv, and the numbers of the captions."""

    pictures: list[str]
    captions: list[str]


def lines(path: Path) -> list[list[str]]:
    """Return the fields of each line; only a newline ends one.

    Raises:
        MissingFile, CorruptFile: no such file, or one that is not UTF-8.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "name a folder of the challenge, such as test-A")
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptFile(path, f"not UTF-8 ({error.reason})", "fetch it again") from error
    return [line.split("\t") for line in text.removesuffix("\n").split("\n")] if text else []


def read(folder: Path) -> Challenge:
    """Read what a folder asks; its header lies in the folder above, or in `header` beside it.

    Raises:
        MissingColumn: a header without `picture_id`, or a line that is too short for it.
        As `lines`.
    """
    headers = [folder.parent / place / "in-header.tsv" for place in ("", "header")]
    header = next((path for path in headers if path.is_file()), headers[0])
    names = lines(header)[0]
    if _PICTURE not in names:
        raise MissingColumn(header, f"columns {', '.join(names)}", f"name one {_PICTURE}")
    place, rows = names.index(_PICTURE), lines(folder / "in.tsv")
    short = next((n for n, row in enumerate(rows, 1) if len(row) <= place), None)
    if short is not None:
        found = f"row {short} has no {_PICTURE}"
        raise MissingColumn(folder / "in.tsv", found, "fetch it again")
    captions = [row[0] for row in lines(folder / "captions.tsv")]
    return Challenge([row[place] for row in rows], captions)


def write(rankings: Sequence[Sequence[str]], path: Path) -> None:
    """Write out.tsv: the rankings, best first, in the order of in.tsv."""
    with aside(path) as part:
        part.write_text("".join("\t".join(r) + "\n" for r in rankings), "utf-8", newline="\n")


def score(expected: Path, out: Path) -> float:
    """Return GEval's MAP of a submission; with one answer a question it is the MRR.

    Raises:
        CorruptFile: not as many lines in one as in the other.
        As `lines`.
    """
    right, given = lines(expected), lines(out)
    if len(right) != len(given) or not right:
        found = f"{len(given)} lines for {len(right)} questions"
        raise CorruptFile(out, found, "write one line for each line of in.tsv")
    return fmean(map(average_precision, right, given))


def average_precision(expected: Sequence[str], got: Sequence[str]) -> float:
    """Return the average precision of a ranking; of what it repeats the first place counts."""
    hits, total = 0, 0.0
    for rank, item in enumerate(dict.fromkeys(got), 1):
        if item in expected:
            hits += 1
            total += hits / rank
    return total / len(expected)
