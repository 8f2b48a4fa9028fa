"""Sheets of failures as they are judged on a page: what is wrong, and how bad it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core.errors import BadParams, MissingFile
from isotope.judge.lines import Form, words

RATINGS = range(1, 11)


class Verdict(NamedTuple):
    """Classes of failure, each once, and a rating from 1 (hopeless) to 10, or None."""

    classes: tuple[str, ...]
    rating: int | None


def _verdict(given: object) -> Verdict | None:
    if not isinstance(given, dict):
        return None
    classes, rating = given.get("classes"), given.get("rating")
    rated = rating is None or (type(rating) is int and rating in RATINGS)
    if not rated or not isinstance(classes, list) or not (classes or rating):
        return None
    named: list[Any] = classes
    fits = all(isinstance(name, str) and name for name in named)
    return Verdict(tuple(dict.fromkeys(named)), rating) if fits else None


def _read_sheet(record: Mapping[str, Any]) -> tuple[str, Verdict | None] | None:
    lot, grade = words(record, "lot"), record.get("grade", "none")
    verdict = _verdict(grade)
    return (lot[0], verdict) if lot and (verdict or grade is None) else None


def told(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return a verdict ready for JSON."""
    return verdict and verdict._asdict()


VERDICTS: Form[str, Verdict] = Form(
    lambda line: {"lot": line.item, "grade": told(line.grade)}, _read_sheet
)


@dataclass(frozen=True)
class Sheet:
    """What people are asked on a sheet; `name` is its folder below judgements/<collection>.

    `alternative` is the class, if any, that is named alone.
    """

    name: str
    classes: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    is_rated: bool
    alternative: str = ""

    def fits(self, verdict: Verdict) -> bool:
        """Tell whether a verdict says what may be said on this sheet."""
        known = set(verdict.classes) <= set(self.classes)
        alone = self.alternative not in verdict.classes or len(verdict.classes) == 1
        return known and alone and verdict.rating in {None, *(RATINGS if self.is_rated else ())}


def load(collection: str, name: str, tabulate: Mapping[str, Any], root: Path = Path()) -> Sheet:
    """Return the sheet `mistakes` or `failures` of a collection, as the params `tabulate` ask.

    Raises:
        BadParams: params that do not ask for it.
        MissingFile: it was not drawn yet.
    """
    rated = name == "failures"
    asked = tabulate.get("explain", {}).get(collection, {}).get("study") if rated else None
    asked = tabulate.get("mistakes") if not rated else asked
    if not asked:
        key = f"tabulate.explain.{collection}" if rated else "tabulate.mistakes"
        raise BadParams(f"params {key}", "not there", "name its overlay with --configfile")
    path = root / f"results/tables/{collection}/{'study' if rated else 'mistakes'}.parquet"
    if not path.is_file():
        raise MissingFile(path, "no sheet to judge", "run `snakemake --cores all` first")
    alternative = asked.get("alternative", "")
    classes = [*asked["classes"], *filter(None, [alternative])]
    return Sheet(name, classes, pl.read_parquet(path).to_dicts(), rated, alternative)
