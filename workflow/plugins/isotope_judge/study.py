"""Failures and first answers that people have sorted: sheets (`params.sections.Handout`) read back.

On a sheet of failures an assessor names classes of failure, separated by semicolons, or the
alternative alone, where the returned picture is as good an answer, and rates 1 (hopeless) to 10;
on one of mistakes what kind of answer the first one is.
"""

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import store
from isotope.core.errors import (
    BadParams,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    MissingColumn,
    MissingFile,
)
from isotope.params.root import Params
from isotope.tabulate.table import tabulate
from isotope_judge.ledger import SUFFIX, LineForm, current_lines, read_csv, strings
from isotope_judge.resources import SQL
from isotope_judge.schemas import STUDIED

RATINGS = range(1, 11)
_KEY = "lot"
_ANSWERS = ["classes", "rating", "assessor"]
_RATING = r"^([1-9]|10)$"
_JUDGED = {
    _KEY: pl.String,
    "classes": pl.List(pl.String),
    "rating": pl.String,
    "assessor": pl.String,
    "where": pl.String,
}


class FailureVerdict(NamedTuple):
    """Classes of failure, each once, and a rating from 1 (hopeless) to 10, or None."""

    classes: tuple[str, ...]
    rating: int | None


def _parse_verdict(value: object) -> FailureVerdict | None:
    if not isinstance(value, dict):
        return None
    classes, rating = value.get("classes"), value.get("rating")
    is_rating = rating is None or (type(rating) is int and rating in RATINGS)
    if not is_rating or not isinstance(classes, list) or not (classes or rating):
        return None
    names: list[Any] = classes
    fits = all(isinstance(name, str) and name for name in names)
    return FailureVerdict(tuple(dict.fromkeys(names)), rating) if fits else None


def _read_line(record: Mapping[str, Any]) -> tuple[str, FailureVerdict | None] | None:
    item_id, grade = strings(record, "lot"), record.get("grade", "none")
    verdict = _parse_verdict(grade)
    return (item_id[0], verdict) if item_id and (verdict or grade is None) else None


def verdict_json(verdict: FailureVerdict | None) -> dict[str, Any] | None:
    """Return a verdict ready for JSON."""
    return verdict and verdict._asdict()


# The id of a failure on a sheet is its column and its JSON key `lot`.
VERDICTS: LineForm[str, FailureVerdict] = LineForm(
    lambda line: {"lot": line.item, "grade": verdict_json(line.grade)}, _read_line
)


@dataclass(frozen=True)
class Sheet:
    """A sheet of failures and the classes to choose from.

    `name` is its folder below judgements/<collection>, `alternative` is the class, if any, that is
    named alone.
    """

    name: str
    classes: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    is_rated: bool
    alternative: str = ""

    def fits(self, verdict: FailureVerdict) -> bool:
        """Tell whether a verdict names classes of this sheet, and rates only where it is rated."""
        listed = set(verdict.classes) <= set(self.classes)
        alone = self.alternative not in verdict.classes or len(verdict.classes) == 1
        return listed and alone and verdict.rating in {None, *(RATINGS if self.is_rated else ())}


def load(collection: str, name: str, params: Params, root: Path = Path()) -> Sheet:
    """Return a sheet of a collection, such as `failures`, as the params tell of it.

    Raises:
        BadParams: params without that sheet.
        MissingFile: it was not drawn yet.
    """
    handout = params.handout(collection, name)
    if not handout:
        problem = f"they hand out no sheet `{name}` of {collection}"
        raise BadParams("params", problem, "name its overlay with --configfile")
    path = root / handout.sample
    if not path.is_file():
        raise MissingFile(path, "no sheet to judge", "run `snakemake --cores all` first")
    classes = [*handout.classes, *filter(None, [handout.alternative])]
    rows = pl.read_parquet(path, glob=False).to_dicts()
    return Sheet(name, classes, rows, handout.is_rated, handout.alternative)


def read_sheets(
    paths: Sequence[Path], sample: Path, classes: Collection[str], alternative: str = ""
) -> pl.DataFrame:
    """Return schemas.STUDIED: every judged row of the sheets that have come back, sorted.

    A row counts as judged when it has classes, or the `alternative` alone, or a rating. `sample` is
    schemas.STUDY.

    Raises:
        MissingFile, MissingColumn, CorruptFile: not a sheet, or a row (named by its line) with an
            unknown class, the alternative beside others, a rating that is not 1 to 10, or no
            assessor.
        IntegrityError: a row that was not given out, or is judged twice by one assessor.
        EmptyTable: nothing judged.
    """
    allowed = [*classes, *filter(None, [alternative])]
    judged = pl.concat([_read(path, allowed) for path in paths])
    if judged.is_empty():
        raise EmptyTable(", ".join(map(str, paths)), "nothing judged", "judge some rows first")
    beside = pl.col("classes").list.contains(alternative) & (pl.col("classes").list.len() > 1)
    _refuse(judged.filter(beside), f"{alternative!r} beside a class of failure", CorruptFile)
    drawn = pl.read_parquet(sample, columns=[_KEY, "task", "system", "query_id"], glob=False)
    _refuse(judged.join(drawn, on=_KEY, how="anti"), "a row that was not given out", IntegrityError)
    repeated = judged.filter(~pl.struct(_KEY, "assessor").is_first_distinct())
    _refuse(repeated, "a failure that its assessor has judged before", IntegrityError)
    studied = judged.join(drawn, on=_KEY).select(STUDIED.names)
    return studied.sort("task", "system", "query_id", "assessor")


def _read(path: Path, classes: Collection[str]) -> pl.DataFrame:
    sheet = _lines(path) if path.suffix.lower() == SUFFIX else _table(path)
    judged = sheet.filter((pl.col("classes").list.len() > 0) | pl.col("rating").is_not_null())
    allowed = pl.Series(sorted(classes), dtype=pl.String).implode()
    unknown = pl.col("classes").list.set_difference(allowed).list.len() > 0
    _refuse(judged.filter(unknown), f"a class other than {', '.join(sorted(classes))}", CorruptFile)
    wrong = ~pl.col("rating").str.contains(_RATING)
    _refuse(judged.filter(wrong), "a rating that is not 1 to 10", CorruptFile)
    _refuse(judged.filter(pl.col("assessor").is_null()), "a judgement by nobody", CorruptFile)
    return judged.with_columns(pl.col("rating").cast(pl.Int32))


def _lines(path: Path) -> pl.DataFrame:
    """Return what a page has written: lot, classes, rating (as a string), assessor, where."""
    judged = [
        (
            line.item,
            sorted(verdict.classes),
            verdict.rating and str(verdict.rating),
            line.assessor,
            where,
        )
        for where, line in current_lines(path, VERDICTS)
        if (verdict := line.grade)
    ]
    return pl.DataFrame(judged, schema=_JUDGED, orient="row")


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such sheet", "put it there, or remove it from the list")
    try:
        table = read_csv(path)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        problem = f"not a sheet ({error})"
        raise CorruptFile(path, problem, "fill in the one that was given out") from error
    lacking = [c for c in (_KEY, *_ANSWERS) if c not in table.columns]
    if lacking:
        raise MissingColumn(path, f"a sheet without {', '.join(lacking)}", "keep all its columns")
    blank = [pl.col(c).str.strip_chars().replace("", None) for c in ("rating", "assessor")]
    return table.select(_KEY, _classes(), *blank).with_columns(
        where=pl.lit(f"{path}:") + (pl.int_range(pl.len()) + 2).cast(pl.String)
    )


def _classes() -> pl.Expr:
    names = pl.col("classes").fill_null("").str.split(";")
    return names.list.eval(_trimmed()).list.unique().list.sort()


def _trimmed() -> pl.Expr:
    element = pl.element().str.strip_chars()
    return element.filter(element != "")


def _refuse(bad: pl.DataFrame, problem: str, error: type[CorruptFile | IntegrityError]) -> None:
    if bad.height:
        row = bad.row(0, named=True)
        located = f"{problem} (lot {row[_KEY]!r})"
        raise error(row["where"], f"{located}, the first of {bad.height:,}", "correct the row")


def write_study(
    sheets: Sequence[Path], sample: Path, classes: Collection[str], out: Path, alternative: str = ""
) -> None:
    """Write what `read_sheets` returns.

    Raises:
        As `read_sheets`.
    """
    store.write(read_sheets(sheets, sample, classes, alternative).to_arrow(), out, STUDIED)


def tabulate_mistakes(
    sheets: Sequence[Path],
    sample: Path,
    classes: Sequence[str],
    stem: Path,
    systems: Sequence[str] = (),
) -> None:
    """Write `stem`.{csv,md,tex}: the share of each system's answers of each class, as judged.

    `incorrect` are the answers whose judgement does not name the class `correct`.

    `systems` is their order; others follow by name.

    Raises:
        As `read_sheets`.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        studied = Path(folder) / "studied.parquet"
        write_study(sheets, sample, classes, studied)
        query, order = SQL / "tables/mistakes_sorted.sql", {"systems": systems}
        tabulate(query, {"studied": studied}, order, stem)
