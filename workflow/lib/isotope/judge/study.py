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
from isotope.judge.ledger import SUFFIX, Form, current_lines, strings

RATINGS = range(1, 11)


class Verdict(NamedTuple):
    """Classes of failure, each once, and a rating from 1 (hopeless) to 10, or None."""

    classes: tuple[str, ...]
    rating: int | None


def _parse_verdict(value: object) -> Verdict | None:
    if not isinstance(value, dict):
        return None
    classes, rating = value.get("classes"), value.get("rating")
    is_rating = rating is None or (type(rating) is int and rating in RATINGS)
    if not is_rating or not isinstance(classes, list) or not (classes or rating):
        return None
    names: list[Any] = classes
    fits = all(isinstance(name, str) and name for name in names)
    return Verdict(tuple(dict.fromkeys(names)), rating) if fits else None


def _read_line(record: Mapping[str, Any]) -> tuple[str, Verdict | None] | None:
    item_id, grade = strings(record, "lot"), record.get("grade", "none")
    verdict = _parse_verdict(grade)
    return (item_id[0], verdict) if item_id and (verdict or grade is None) else None


def verdict_json(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return a verdict ready for JSON."""
    return verdict and verdict._asdict()


# The id of a failure on a sheet is its column and its JSON key `lot`.
VERDICTS: Form[str, Verdict] = Form(
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

    def fits(self, verdict: Verdict) -> bool:
        """Tell whether a verdict names classes of this sheet, and rates only where it is rated."""
        listed = set(verdict.classes) <= set(self.classes)
        alone = self.alternative not in verdict.classes or len(verdict.classes) == 1
        return listed and alone and verdict.rating in {None, *(RATINGS if self.is_rated else ())}


def load(collection: str, name: str, tabulate: Mapping[str, Any], root: Path = Path()) -> Sheet:
    """Return the sheet `mistakes` or `failures` of a collection, by the params `tabulate`.

    Raises:
        BadParams: params without that sheet.
        MissingFile: it was not drawn yet.
    """
    rated = name == "failures"
    explain = tabulate.get("explain", {}).get(collection, {})
    spec = explain.get("study") if rated else tabulate.get("mistakes")
    if not spec:
        key = f"tabulate.explain.{collection}" if rated else "tabulate.mistakes"
        raise BadParams(f"params {key}", "not there", "name its overlay with --configfile")
    path = root / f"results/tables/{collection}/{'study' if rated else 'mistakes'}.parquet"
    if not path.is_file():
        raise MissingFile(path, "no sheet to judge", "run `snakemake --cores all` first")
    alternative = spec.get("alternative", "")
    classes = [*spec["classes"], *filter(None, [alternative])]
    return Sheet(name, classes, pl.read_parquet(path).to_dicts(), rated, alternative)


FOLDER = Path("judgements")
_KEY = "lot"
_HANDED_OUT = [_KEY, "task", "query", "truth_url", "found_url", "classes", "rating", "assessor"]
_FILLED_IN = ["classes", "rating", "assessor"]
_RATING = r"^([1-9]|10)$"
_JUDGED = {
    _KEY: pl.String,
    "classes": pl.List(pl.String),
    "rating": pl.String,
    "assessor": pl.String,
    "where": pl.String,
}


def sheet_paths(collection: str, name: str = "failures", folder: Path = FOLDER) -> list[str]:
    """Return the sheets in `folder`/<collection>/`name`, sorted: csv, and a page's JSON lines."""
    kinds = {".csv", SUFFIX}
    files = (folder / collection / name).glob("*")
    return sorted(str(p) for p in files if p.suffix in kinds)


def write_sheet(  # noqa: PLR0913
    relations: Mapping[str, Path],
    *,
    seed: int,
    failures: int,
    sample: Path,
    sheet: Path,
    common_words: int = 0,
) -> None:
    """Draw at most `failures` of each system and task: `sample` is tables.STUDY, `sheet` csv.

    A query that shares fewer than `common_words` words with the captions of its right picture is
    left out: the data are at fault. The sheet is for people and does not name the system that
    failed; `sample` has it for each `lot`, the id of a row.
    `relations` are failures (tables.FAILURES), texts and images.
    """
    params = {"seed": seed, "failures": failures, "common_words": common_words}
    rows = sql.query(sql.SQL / "tabulate/study/sheet.sql", dict(relations), params)
    hand_out(pl.DataFrame(STUDY.empty_table()) if rows is None else rows, sample, sheet)


def hand_out(rows: pl.DataFrame, sample: Path, sheet: Path) -> None:
    """Write tables.STUDY to `sample`, and as csv to `sheet` the columns that people may see."""
    store.write(rows.to_arrow(), sample, STUDY)
    with store.aside(sheet) as part:
        rows.select(_HANDED_OUT).write_csv(part)


def read_sheets(
    paths: Sequence[Path], sample: Path, classes: Collection[str], alternative: str = ""
) -> pl.DataFrame:
    """Return tables.STUDIED: every judged row of the sheets that have come back, sorted.

    A row counts as judged when it has classes, or the `alternative` alone, or a rating. `sample` is
    tables.STUDY.

    Raises:
        MissingFile, MissingColumn, CorruptFile: not a sheet, or a row (named by its line) with an
            unknown class, the alternative beside others, a rating that is not 1 to 10, or no
            assessor.
        BrokenPromise: a row that was not given out, or is judged twice by one assessor.
        EmptyTable: nothing judged.
    """
    allowed = [*classes, *filter(None, [alternative])]
    judged = pl.concat([_read(path, allowed) for path in paths])
    if judged.is_empty():
        raise EmptyTable(", ".join(map(str, paths)), "nothing judged", "judge some rows first")
    beside = pl.col("classes").list.contains(alternative) & (pl.col("classes").list.len() > 1)
    _refuse(judged.filter(beside), f"{alternative!r} beside a class of failure", CorruptFile)
    drawn = pl.read_parquet(sample, columns=[_KEY, "task", "system", "query_id"])
    _refuse(judged.join(drawn, on=_KEY, how="anti"), "a row that was not given out", BrokenPromise)
    again = judged.filter(~pl.struct(_KEY, "assessor").is_first_distinct())
    _refuse(again, "a failure that its assessor has judged before", BrokenPromise)
    whole = judged.join(drawn, on=_KEY).select(STUDIED.names)
    return whole.sort("task", "system", "query_id", "assessor")


def write_study(
    sheets: Sequence[Path], sample: Path, classes: Collection[str], out: Path, alternative: str = ""
) -> None:
    """Write what `read_sheets` returns.

    Raises:
        As `read_sheets`.
    """
    store.write(read_sheets(sheets, sample, classes, alternative).to_arrow(), out, STUDIED)


def _read(path: Path, classes: Collection[str]) -> pl.DataFrame:
    rows = _lines(path) if path.suffix == SUFFIX else _table(path)
    rows = rows.filter((pl.col("classes").list.len() > 0) | pl.col("rating").is_not_null())
    allowed = pl.Series(sorted(classes), dtype=pl.String).implode()
    strange = pl.col("classes").list.set_difference(allowed).list.len() > 0
    _refuse(rows.filter(strange), f"a class other than {', '.join(sorted(classes))}", CorruptFile)
    wrong = ~pl.col("rating").str.contains(_RATING)
    _refuse(rows.filter(wrong), "a rating that is not 1 to 10", CorruptFile)
    _refuse(rows.filter(pl.col("assessor").is_null()), "a judgement by nobody", CorruptFile)
    return rows.with_columns(pl.col("rating").cast(pl.Int32))


def _lines(path: Path) -> pl.DataFrame:
    """Return what a page has written: lot, classes, rating (as a string), assessor, where."""
    rows = [
        (line.item, sorted(own.classes), own.rating and str(own.rating), line.assessor, where)
        for where, line in current_lines(path, VERDICTS)
        if (own := line.grade)
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
    lacking = [c for c in (_KEY, *_FILLED_IN) if c not in table.columns]
    if lacking:
        raise MissingColumn(path, f"a sheet without {', '.join(lacking)}", "keep all its columns")
    blank = [pl.col(c).str.strip_chars().replace("", None) for c in ("rating", "assessor")]
    return table.select(_KEY, _classes(), *blank).with_columns(
        where=pl.lit(f"{path}:") + (pl.int_range(pl.len()) + 2).cast(pl.String)
    )


def _classes() -> pl.Expr:
    names = pl.col("classes").fill_null("").str.split(";")
    return names.list.eval(_trimmed()).list.unique().list.sort()


def _refuse(bad: pl.DataFrame, what: str, error: type[CorruptFile | BrokenPromise]) -> None:
    if bad.height:
        row = bad.row(0, named=True)
        found = f"{what} (lot {row[_KEY]!r})"
        raise error(row["where"], f"{found}, the first of {bad.height:,}", "correct the row")
