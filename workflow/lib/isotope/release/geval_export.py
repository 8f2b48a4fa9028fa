"""The runs on one split as submissions to a challenge of the Gonito platform."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.core.errors import BadParams, MissingFile
from isotope.core.grid import APART, Cell
from isotope.core.runs import read_run
from isotope.release import geval

TASK = "m2t"


class Submission(NamedTuple):
    """A written file, its score if the folder has the answers, and questions without a hit."""

    system: str
    path: Path
    value: float | None
    unanswered: int


def submit(
    collection: str, folder: Path, out: Path, cell: Cell, root: Path = Path()
) -> list[Submission]:
    """Write `out`/<system>/<folder's name>/out.tsv for every system's run in the cell.

    `folder` is the challenge's own. A picture that the collection could not use, or that has no
    hit, gets the captions in the order of their file, because every line needs an answer.

    Raises:
        MissingFile: no run in the cell, or no such collection.
        BadParams: a folder none of whose pictures the split has.
        As `geval.read`.
    """
    asked = geval.read(folder)
    base = root / "results/search" / collection
    place = base / ("" if cell.judged else APART) / cell.setting / cell.split / TASK
    runs = sorted(place.glob("*.parquet"))
    if not runs:
        raise MissingFile(place, "no runs", "see search.splits and search.unjudged in the params")
    names = _names(root / "data/collect" / collection, cell.split, folder.name)
    if not set(asked.pictures) & set(names["image_id"]):
        found = f"no picture of split {cell.split!r}"
        raise BadParams(str(folder), found, "give the folder that this split was collected from")
    return [_submission(run, asked, names, folder, out) for run in runs]


def _names(collected: Path, split: str, own: str) -> dict[str, dict[str, str]]:
    """Return the image_id of each picture's name, and the published number of each text_id.

    Of a split with several of the challenge's sets they are those of the set `own`, if it is one.
    """
    images = pl.scan_parquet(collected / "images.parquet").filter(split=split)
    texts = pl.scan_parquet(collected / "texts.parquet").filter(split=split)
    if "source_split" in images.collect_schema():
        sets = images.select("source_split").unique().collect()["source_split"]
        chosen = pl.lit(own not in sets) | (pl.col("source_split") == own)
        images, texts = images.filter(chosen), texts.filter(chosen)
    picture = pl.col("image_url").str.split("/").list.last()
    pairs = images.select(picture, "image_id").collect().iter_rows()
    numbers = texts.select("text_id", "source_text_id").collect().iter_rows()
    return {"image_id": dict(pairs), "number": dict(numbers)}


def _submission(
    run: Path, asked: geval.Challenge, names: dict[str, dict[str, str]], folder: Path, out: Path
) -> Submission:
    number = pl.col("doc_id").replace_strict(names["number"])
    known = pl.col("doc_id").is_in(list(names["number"]))
    own = read_run(run).filter(known)
    hits = own.group_by("query_id", maintain_order=True).agg(number)
    ranked: dict[str, Sequence[str]] = dict(hits.iter_rows())
    found = [ranked.get(names["image_id"].get(p, "")) for p in asked.pictures]
    path = out / run.stem / folder.name / "out.tsv"
    geval.write([r or asked.captions for r in found], path)
    expected = folder / "expected.tsv"
    value = geval.score(expected, path) if expected.is_file() else None
    return Submission(run.stem, path, value, sum(r is None for r in found))


def told(collection: str, challenge: Path, out: Path, *, setting: str, split: str) -> str:
    """Submit what there is for a split, judged or not, and say what was written, a line a system.

    Raises:
        As `submit`.
    """
    apart = Path("results/search") / collection / APART / setting / split
    cell = Cell(setting, split, TASK, judged=not apart.is_dir())
    return "".join(map(_line, submit(collection, challenge, out, cell)))


def _line(done: Submission) -> str:
    value = "answers withheld" if done.value is None else f"MAP {done.value:.6f}"
    lacking = f", {done.unanswered} questions without a hit" if done.unanswered else ""
    return f"{done.system}: {value}{lacking}, {done.path}\n"
