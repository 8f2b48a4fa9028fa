"""The human study of failures: a sheet goes out, sheets come back (COLING 2022, section 4.2).

An assessor names classes of failure, separated by semicolons, or the alternative alone, where the
returned picture is as good an answer, and rates 1 (hopeless) to 10.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import (
    BadParams,
    BrokenPromise,
    CorruptFile,
    EmptyTable,
    MissingColumn,
    MissingFile,
)
from isotope.explain.tables import STUDIED, STUDY
from isotope.judge import ledger
from isotope.judge.ledger import Form, words

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


FOLDER = Path("judgements")
_KEY = "lot"
_TOLD = [_KEY, "task", "query", "truth_url", "found_url", "classes", "rating", "assessor"]
_FILLED = ["classes", "rating", "assessor"]
_RATING = r"^([1-9]|10)$"
_JUDGED = {
    _KEY: pl.String,
    "classes": pl.List(pl.String),
    "rating": pl.String,
    "assessor": pl.String,
    "where": pl.String,
}


def found_sheets(collection: str, name: str = "failures", folder: Path = FOLDER) -> list[str]:
    """Return the sheets in `folder`/<collection>/`name`, sorted: csv, and a page's JSON lines."""
    kinds = {".csv", ledger.SUFFIX}
    found = (folder / collection / name).glob("*")
    return sorted(str(p) for p in found if p.suffix in kinds)


def write_sheet(  # noqa: PLR0913
    relations: Mapping[str, Path],
    *,
    seed: int,
    failures: int,
    given: Path,
    sheet: Path,
    common_words: int = 0,
) -> None:
    """Draw at most `failures` of each system and task: `given` is tables.STUDY, `sheet` csv.

    A query that shares fewer than `common_words` words with the captions of its right picture is
    left out: the data are at fault. The sheet is for people, who are not told which system failed;
    its `lot` says so in `given`.
    `relations` are failures (tables.FAILURES), texts and images.
    """
    params = {"seed": seed, "failures": failures, "common_words": common_words}
    found = sql.query(sql.SQL / "tabulate/study/sheet.sql", dict(relations), params)
    hand_out(pl.DataFrame(STUDY.empty_table()) if found is None else found, given, sheet)


def hand_out(rows: pl.DataFrame, given: Path, sheet: Path) -> None:
    """Write tables.STUDY to `given`, and to `sheet` as csv what people are told of it."""
    store.write(rows.to_arrow(), given, STUDY)
    with store.aside(sheet) as part:
        rows.select(_TOLD).write_csv(part)


def read_sheets(
    paths: Sequence[Path], given: Path, classes: Collection[str], alternative: str = ""
) -> pl.DataFrame:
    """Return tables.STUDIED: every judged row of the sheets that have come back, sorted.

    A row counts as judged when it has classes, or the `alternative` alone, or a rating. `given` is
    tables.STUDY.

    Raises:
        MissingFile, MissingColumn, CorruptFile: not a sheet, or a row (named by its line) with an
            unknown class, the alternative beside others, a rating that is not 1 to 10, or no
            assessor.
        BrokenPromise: a row that was not given out, or is judged twice by one assessor.
        EmptyTable: nothing judged.
    """
    known = [*classes, *filter(None, [alternative])]
    judged = pl.concat([_read(path, known) for path in paths])
    if judged.is_empty():
        raise EmptyTable(", ".join(map(str, paths)), "nothing judged", "judge some rows first")
    beside = pl.col("classes").list.contains(alternative) & (pl.col("classes").list.len() > 1)
    _refuse(judged.filter(beside), f"{alternative!r} beside a class of failure", CorruptFile)
    drawn = pl.read_parquet(given, columns=[_KEY, "task", "system", "query_id"])
    _refuse(judged.join(drawn, on=_KEY, how="anti"), "a row that was not given out", BrokenPromise)
    again = judged.filter(~pl.struct(_KEY, "assessor").is_first_distinct())
    _refuse(again, "a failure that its assessor has judged before", BrokenPromise)
    whole = judged.join(drawn, on=_KEY).select(STUDIED.names)
    return whole.sort("task", "system", "query_id", "assessor")


def write_study(
    paths: Sequence[Path], given: Path, classes: Collection[str], out: Path, alternative: str = ""
) -> None:
    """Write what `read_sheets` returns.

    Raises:
        As `read_sheets`.
    """
    found = read_sheets(paths, given, classes, alternative)
    store.write(found.to_arrow(), out, STUDIED)


def _read(path: Path, classes: Collection[str]) -> pl.DataFrame:
    rows = _lines(path) if path.suffix == ledger.SUFFIX else _table(path)
    rows = rows.filter((pl.col("classes").list.len() > 0) | pl.col("rating").is_not_null())
    known = pl.Series(sorted(classes), dtype=pl.String).implode()
    strange = pl.col("classes").list.set_difference(known).list.len() > 0
    _refuse(rows.filter(strange), f"a class other than {', '.join(sorted(classes))}", CorruptFile)
    wrong = ~pl.col("rating").str.contains(_RATING)
    _refuse(rows.filter(wrong), "a rating that is not 1 to 10", CorruptFile)
    _refuse(rows.filter(pl.col("assessor").is_null()), "a judgement by nobody", CorruptFile)
    return rows.with_columns(pl.col("rating").cast(pl.Int32))


def _lines(path: Path) -> pl.DataFrame:
    """Return what a page has written: lot, classes, rating (as words), assessor, where."""
    rows = [
        (line.item, sorted(said.classes), said.rating and str(said.rating), line.assessor, where)
        for where, line in ledger.holding(path, VERDICTS)
        if (said := line.grade)
    ]
    return pl.DataFrame(rows, schema=_JUDGED, orient="row")


def _trimmed() -> pl.Expr:
    element = pl.element().str.strip_chars()
    return element.filter(element != "")


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such sheet", "put it there, or remove it from the list")
    try:
        table = pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        found = f"not a sheet ({error})"
        raise CorruptFile(path, found, "fill in the one that was given out") from error
    lacking = [c for c in (_KEY, *_FILLED) if c not in table.columns]
    if lacking:
        raise MissingColumn(path, f"a sheet without {', '.join(lacking)}", "keep all its columns")
    blank = [pl.col(c).str.strip_chars().replace("", None) for c in ("rating", "assessor")]
    return table.select(_KEY, _named(), *blank).with_columns(
        where=pl.lit(f"{path}:") + (pl.int_range(pl.len()) + 2).cast(pl.String)
    )


def _named() -> pl.Expr:
    named = pl.col("classes").fill_null("").str.split(";")
    return named.list.eval(_trimmed()).list.unique().list.sort()


def _refuse(bad: pl.DataFrame, what: str, error: type[CorruptFile | BrokenPromise]) -> None:
    if bad.height:
        row = bad.row(0, named=True)
        found = f"{what} (lot {row[_KEY]!r})"
        raise error(row["where"], f"{found}, the first of {bad.height:,}", "correct the row")
