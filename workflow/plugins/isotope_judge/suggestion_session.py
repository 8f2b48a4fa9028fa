"""One assessor's session at the sheet of suggestions: pictures for sections without one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from isotope.core.errors import EmptyTable, IsotopeError, MissingFile
from isotope.params.files import demand_collection
from isotope.params.root import Params
from isotope_judge import pool
from isotope_judge.display import PooledPictures
from isotope_judge.ledger import FOLDER, SUFFIX
from isotope_judge.session import Worklist, agreement_with, shards
from isotope_judge.suggestions import (
    SHEET,
    Suggestion,
    Verdict,
    open_ledger,
    read_verdicts,
    verdict_json,
)

_SECTION = {"page_title": "Page", "section_title": "Section", "section": "Text"}
_PICTURE = {"caption": "Caption", "image": "File", "credit": "Credit"}
_KEY = [*Suggestion._fields]


def open_suggestions(collection: str, assessor: str, params: Params) -> "SuggestionSession":
    """Return an assessor's session at the suggestions of a collection in the working directory.

    Raises:
        BadParams: a collection that the params lack, or a bad name.
        MissingFile: no sheet. EmptyTable: a feed without suggestions.
        CorruptFile: as `SuggestionSession`.
    """
    demand_collection(collection, params)
    path = Path(f"results/suggest/{collection}/sheet.parquet")
    if not path.is_file():
        remedy = "run `snakemake --cores all suggest` first"
        raise MissingFile(path, "no sheet of suggestions to judge", remedy)
    rows = pl.read_parquet(path, glob=False)
    if rows.is_empty():
        remedy = "see why in calibration.json beside it, or want less with suggest.precision"
        raise EmptyTable(path, "no suggestion to judge", remedy)
    pictures = PooledPictures(shards(collection, params), set(rows["image_id"]))
    return SuggestionSession(collection, assessor, rows.to_dicts(), pictures)


class SuggestionSession:
    """One assessor at the sheet of suggestions of one collection."""

    def __init__(
        self,
        collection: str,
        assessor: str,
        rows: Sequence[Mapping[str, Any]],
        pictures: PooledPictures,
        folder: Path = FOLDER,
    ) -> None:
        """Open the assessor's file below `folder`, which is made with the first verdict.

        `rows` have text_id, image_id, page_title, section_title, section, image, caption, credit.

        Raises:
            BadParams, CorruptFile: as `open_ledger`.
        """
        self.collection, self.assessor = f"{collection}/{SHEET}", assessor
        self.rows, self.pictures = rows, pictures
        self.ledger = open_ledger(collection, assessor, folder)
        self._work = Worklist([[_item(row)] for row in rows], self.ledger)
        self.progress, self.page_after = self._work.progress, self._work.page_after

    def query(self, number: int) -> dict[str, Any]:
        """Return a suggestion and its verdict: words of section and picture, the picture's address.

        Neither probability nor reasons are among them, which would tell the assessor what to say.

        Raises:
            IndexError: no suggestion of that number.
            CorruptFile: as `Ledger.refresh`.
        """
        self._work.turn_to(number)
        row = self.rows[number]
        item = _item(row)
        address = f"/picture/{quote(item.image_id, safe='')}"
        return {
            "number": number,
            **item._asdict(),
            "section": _fields(row, _SECTION),
            "about": _fields(row, _PICTURE),
            "picture": address if item.image_id in self.pictures else None,
            "grade": verdict_json(self.ledger.grades.get(item)),
            "progress": self.progress(number),
        }

    def give(
        self, item: Suggestion, grade: Verdict | None, *, expected: Verdict | None
    ) -> dict[str, Any]:
        """Save a verdict; return the current one, which another page may have given.

        Raises:
            KeyError, DiskFull, CorruptFile: as `Worklist.give`.
        """
        answer = self._work.give(item, grade, expected=expected)
        return {**answer, "grade": verdict_json(answer["grade"])}

    def agreement(self) -> dict[str, Any]:
        """Return kappa with each other assessor, and on how many; `error` for a broken file."""
        files = sorted(self.ledger.path.parent.glob(f"*{SUFFIX}"))
        try:
            agreements = verdict_agreement(
                read_verdicts(files), pl.DataFrame(map(_item, self.rows))
            )
        except IsotopeError as error:
            return {"others": [], "error": str(error)}
        other_assessors = [
            agreement_with(self.assessor, row)
            for row in agreements.iter_rows(named=True)
            if self.assessor in (row["assessor"], row["other"])
        ]
        return {"others": other_assessors, "error": None}

    def summary(self) -> str:
        """Return a sentence: how many suggestions are judged, by whom, in which file."""
        progress = self.progress()
        return (
            f"{progress['done']:,} of {progress['total']:,} suggestions judged by {self.assessor} "
            f"in {self.ledger.path}"
        )


def verdict_agreement(verdicts: pl.DataFrame, sheet: pl.DataFrame) -> pl.DataFrame:
    """Return schemas.judge.AGREEMENT: every two assessors, with Cohen's kappa of their verdicts.

    `verdicts` is of `read_verdicts`; of them those on pairs of `sheet` (text_id, image_id) count.
    """
    sheet_verdicts = verdicts.join(sheet.select(_KEY), on=_KEY, how="semi")
    pairs = {"task": pl.lit("t2m"), "query_id": "text_id", "doc_id": "image_id"}
    return pool.agreement(sheet_verdicts.select("assessor", **pairs, grade="verdict"))


def _item(row: Mapping[str, Any]) -> Suggestion:
    return Suggestion(row["text_id"], row["image_id"])


def _fields(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    return {label: row[name] for name, label in labels.items() if row[name]}
