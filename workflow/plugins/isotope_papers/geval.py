"""Folders of GEval, the tool behind the Gonito platform: read, answered and scored.

A folder has in.tsv, a line a question, whose columns `in-header.tsv` beside it names; expected.tsv,
a line an answer; and out.tsv, a line a ranking, best first. None of them has a header line, and
quotes have no meaning. Source: https://gitlab.com/filipg/geval, README and GEval.PrecisionRecall.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import polars as pl

from isotope.core.errors import BadParams, CorruptFile, MissingColumn, MissingFile
from isotope.core.grid import WITHHELD, RunKey
from isotope.core.runs import read_run
from isotope.core.store import aside

_PICTURE = "picture_id"


class Challenge(NamedTuple):
    """The pictures of the questions, in the order of in.tsv, and the numbers of the captions."""

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
    """Read the questions of a folder; its header is in the folder above, or in `header` beside it.

    Raises:
        MissingColumn: a header without `picture_id`, or a line that is too short for it.
        As `lines`.
    """
    headers = [folder.parent / folder_name / "in-header.tsv" for folder_name in ("", "header")]
    header = next((path for path in headers if path.is_file()), headers[0])
    names = lines(header)[0]
    if _PICTURE not in names:
        raise MissingColumn(header, f"columns {', '.join(names)}", f"name one {_PICTURE}")
    column, rows = names.index(_PICTURE), lines(folder / "in.tsv")
    short = next((n for n, row in enumerate(rows, 1) if len(row) <= column), None)
    if short is not None:
        problem = f"row {short} has no {_PICTURE}"
        raise MissingColumn(folder / "in.tsv", problem, "fetch it again")
    captions = [row[0] for row in lines(folder / "captions.tsv")]
    return Challenge([row[column] for row in rows], captions)


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
    right, answered = lines(expected), lines(out)
    if len(right) != len(answered) or not right:
        problem = f"{len(answered)} lines for {len(right)} questions"
        raise CorruptFile(out, problem, "write one line for each line of in.tsv")
    return fmean(map(average_precision, right, answered))


def average_precision(expected: Sequence[str], got: Sequence[str]) -> float:
    """Return the average precision of a ranking; of a repeated item the first place counts."""
    hits, total = 0, 0.0
    for rank, item in enumerate(dict.fromkeys(got), 1):
        if item in expected:
            hits += 1
            total += hits / rank
    return total / len(expected)


TASK = "m2t"


class Submission(NamedTuple):
    """A written file, its score if the folder has the answers, and questions without a hit."""

    system: str
    path: Path
    value: float | None
    unanswered: int


def submit(
    collection: str, folder: Path, out: Path, cell: RunKey, root: Path = Path()
) -> list[Submission]:
    """Write `out`/<system>/<folder's name>/out.tsv for every system's run in the cell.

    `folder` is the challenge's own. A picture that the collection could not use, or that has no
    hit, gets the captions in the order of their file, because every line needs an answer.

    Raises:
        MissingFile: no run in the cell, or no such collection.
        BadParams: a folder none of whose pictures the split has.
        As `geval.read`.
    """
    challenge = read(folder)
    base = root / "results/search" / collection
    cell_folder = base / ("" if cell.judged else WITHHELD) / cell.setting / cell.split / TASK
    runs = sorted(cell_folder.glob("*.parquet"))
    if not runs:
        raise MissingFile(
            cell_folder, "no runs", "see search.splits and search.unjudged in the params"
        )
    names = _names(root / "data/collect" / collection, cell.split, folder.name)
    if not set(challenge.pictures) & set(names["image_id"]):
        problem = f"no picture of split {cell.split!r}"
        raise BadParams(str(folder), problem, "name the folder that this split was collected from")
    return [_submission(run, challenge, names, folder, out) for run in runs]


def _names(collected: Path, split: str, set_name: str) -> dict[str, dict[str, str]]:
    """Return the image_id of each picture's name, and the published number of each text_id.

    Of a split with several of the challenge's sets they are those of `set_name`, if it is one.
    """
    images = pl.scan_parquet(collected / "images.parquet", glob=False).filter(split=split)
    texts = pl.scan_parquet(collected / "texts.parquet", glob=False).filter(split=split)
    if "source_split" in images.collect_schema():
        sets = images.select("source_split").unique().collect()["source_split"]
        chosen = pl.lit(set_name not in sets) | (pl.col("source_split") == set_name)
        images, texts = images.filter(chosen), texts.filter(chosen)
    picture = pl.col("image_url").str.split("/").list.last()
    pairs = images.select(picture, "image_id").collect().iter_rows()
    numbers = texts.select("text_id", "source_text_id").collect().iter_rows()
    return {"image_id": dict(pairs), "number": dict(numbers)}


def _submission(
    run: Path, challenge: Challenge, names: dict[str, dict[str, str]], folder: Path, out: Path
) -> Submission:
    number = pl.col("doc_id").replace_strict(names["number"])
    in_split = pl.col("doc_id").is_in(list(names["number"]))
    hits_of_split = read_run(run).filter(in_split)
    hits = hits_of_split.group_by("query_id", maintain_order=True).agg(number)
    ranked: dict[str, Sequence[str]] = dict(hits.iter_rows())
    rankings = [ranked.get(names["image_id"].get(p, "")) for p in challenge.pictures]
    path = out / run.stem / folder.name / "out.tsv"
    write([r or challenge.captions for r in rankings], path)
    expected = folder / "expected.tsv"
    value = score(expected, path) if expected.is_file() else None
    return Submission(run.stem, path, value, sum(r is None for r in rankings))


def submissions(collection: str, challenge: Path, out: Path, *, setting: str, split: str) -> str:
    """Submit the runs of a split, judged or not; return a line a system with what was written.

    Raises:
        As `submit`.
    """
    apart = Path("results/search") / collection / WITHHELD / setting / split
    cell = RunKey(setting, split, TASK, judged=not apart.is_dir())
    return "".join(map(_line, submit(collection, challenge, out, cell)))


def _line(done: Submission) -> str:
    value = "answers withheld" if done.value is None else f"MAP {done.value:.6f}"
    lacking = f", {done.unanswered} questions without a hit" if done.unanswered else ""
    return f"{done.system}: {value}{lacking}, {done.path}\n"
