"""Pools of first hits and their sheets: written for assessors, read back as graded qrels."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.core.errors import (
    BadParams,
    BrokenPromise,
    CorruptFile,
    EmptyTable,
    MissingColumn,
    MissingFile,
)
from isotope.core.grid import TASKS, Cell, id_column, id_columns
from isotope.core.progress import Progress
from isotope.core.runs import KEY, batches
from isotope.core.schemas import CAPTION_FIELDS, FIVE_FIELDS
from isotope.judge.ledger import PAIRS, SUFFIX, current_lines
from isotope.judge.tables import GRADED, POOL, SHEET

_TEXT = (*FIVE_FIELDS[:4],)
_IMAGE = ("image_url", *CAPTION_FIELDS)


def pool_runs(runs: Sequence[Path], *, depth: int) -> pl.DataFrame:
    """Return tables.POOL over runs at `.../<setting>/<split>/<task>/<system>.parquet`.

    One row a document of a query, sorted; `rank` is its best place in any run, `systems` are those
    that have it among their first `depth`, sorted.

    Raises:
        BadParams: no runs. As `runs.batches`.
    """
    if not runs:
        raise BadParams("score.judge", "no run in its setting and split", "search them, too")
    progress = Progress("runs", total=len(runs))
    hits: list[pl.DataFrame] = []
    for path in runs:
        top = [piece.filter(pl.col("rank") <= depth) for piece in batches(path)]
        cell, system = Cell.of(path), path.stem
        labels = {"split": cell.split, "task": cell.task, "system": system}
        hits += [some.with_columns(**{k: pl.lit(v) for k, v in labels.items()}) for some in top]
        progress.add()
    progress.finish()
    grouped = pl.concat(hits).group_by("split", "task", *KEY)
    pooled = grouped.agg(pl.col("rank").min(), systems=pl.col("system").unique().sort())
    return pooled.sort("split", "task", *KEY).select(POOL.names)


def write_pool(  # noqa: PLR0913
    runs: Sequence[Path],
    texts: Path,
    images: Path,
    *,
    depth: int,
    pool: Path,
    sheets: Sequence[Path],
) -> None:
    """Write the pool, and the same sheet to each of `sheets` (Parquet, or csv by its name).

    Raises:
        As `pool_runs`.
    """
    pooled = pool_runs(runs, depth=depth)
    store.write(pooled.to_arrow(), pool, POOL)
    filled = sheet(pooled, texts, images)
    for path in sheets:
        if path.suffix != ".csv":
            store.write(filled.to_arrow(), path, SHEET)
            continue
        with store.aside(path) as part:
            filled.write_csv(part)


def sheet(pool: pl.DataFrame, texts: Path, images: Path) -> pl.DataFrame:
    """Return tables.SHEET: the pool with words to read and empty columns grade and assessor.

    Rows are in the order of ids: a sheet shows neither the system that found a document, nor its
    rank, nor its sparse relevance. All words of an item are on one line.
    """
    words = {
        "texts": described(texts, "texts", _TEXT),
        "images": described(images, "images", _IMAGE),
    }
    parts = [
        _with_words(own, words[cell.query_side], words[cell.document_side])
        for (task,), own in pool.partition_by("task", as_dict=True, maintain_order=True).items()
        for cell in [Cell("", "", str(task))]
    ]
    empty = {"grade": pl.lit(None, pl.Int32), "assessor": pl.lit(None, pl.String)}
    rows = pl.concat(parts).with_columns(**empty).sort("split", "task", *KEY)
    return rows.select(SHEET.names)


def _with_words(pool: pl.DataFrame, queries: pl.LazyFrame, documents: pl.LazyFrame) -> pl.DataFrame:
    query = queries.rename({"id": "query_id", "words": "query"})
    document = documents.rename({"id": "doc_id", "words": "document"})
    joined = pool.lazy().join(query, on="query_id", how="left")
    return joined.join(document, on="doc_id", how="left").collect()


def described(table: Path, side: str, fields: Iterable[str]) -> pl.LazyFrame:
    """Return id and words of every text or image: its fields, once each, on one line."""
    lazy = pl.scan_parquet(table)
    lists = [name for name, kind in lazy.collect_schema().items() if isinstance(kind, pl.List)]
    parts = [pl.col(f).list.join(" | ") if f in lists else pl.col(f) for f in fields]
    words = pl.concat_str(parts, separator=" | ", ignore_nulls=True)
    line = (
        words.str.replace_all(r"\s+", " ").str.replace_all(r"\|( \|)+", "|").str.strip_chars(" |")
    )
    return lazy.select(pl.col(id_column(side)).alias("id"), line.alias("words"))


FOLDER = Path("judgements")
_PAIR = ["task", *KEY]
_NEEDED = [*_PAIR, "grade", "assessor"]
_GRADE = r"^[0-9]$"


def sheet_paths(collection: str, folder: Path = FOLDER) -> list[str]:
    """Return the sheets in `folder`/<collection>, sorted: csv, Parquet, and JSON lines."""
    kinds = {".csv", ".parquet", SUFFIX}
    files = [p for p in (folder / collection).glob("*") if p.suffix in kinds]
    return sorted(str(p) for p in files)


def read_sheets(paths: Sequence[Path], pool: pl.DataFrame) -> pl.DataFrame:
    """Return all grades: task, query_id, doc_id, grade (0 to 9), assessor; rows without are left.

    Raises:
        MissingFile, MissingColumn, CorruptFile: not a sheet, or a row (named by its line) with a
            grade that is no digit, or without assessor.
        BrokenPromise: a pair outside of the pool, or graded twice by one assessor.
        EmptyTable: no grade in any sheet.
    """
    read = [_read_sheet(path) for path in paths]
    if not any(sheet.height for sheet in read):
        raise EmptyTable(", ".join(map(str, paths)) or FOLDER, "no grade", "grade some rows first")
    graded = pl.concat(read)
    _refuse(graded.join(pool, on=_PAIR, how="anti"), "a pair that was not pooled", "remove it")
    again = graded.filter(~pl.struct([*_PAIR, "assessor"]).is_first_distinct())
    _refuse(again, "a pair that its assessor has graded before", "keep one of the two")
    return graded.select(_NEEDED).sort(*_PAIR, "assessor")


def _read_sheet(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such sheet", "put it there, or remove it from the list")
    if path.suffix == SUFFIX:
        return _read_lines(path)
    try:
        table = pl.read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        raise CorruptFile(
            path, f"not a sheet ({error})", "fill in the one that was given"
        ) from error
    lacking = [c for c in _NEEDED if c not in table.columns]
    if lacking:
        raise MissingColumn(path, f"a sheet without {', '.join(lacking)}", "keep all its columns")
    rows = table.select(pl.col(c).cast(pl.String).str.strip_chars() for c in _NEEDED)
    rows = rows.with_columns(
        where=pl.lit(f"{path}:") + (pl.int_range(pl.len()) + 2).cast(pl.String)
    )
    graded = rows.filter(pl.col("grade").fill_null("") != "")
    wrong = graded.filter(~pl.col("grade").str.contains(_GRADE))
    _refuse(wrong, "a grade that is not 0 to 9", "grade it anew", CorruptFile)
    nobody = graded.filter(pl.col("assessor").fill_null("") == "")
    _refuse(nobody, "a grade by nobody", "fill in the assessor", CorruptFile)
    return graded.with_columns(pl.col("grade").cast(pl.Int32))


def _read_lines(path: Path) -> pl.DataFrame:
    lines = current_lines(path, PAIRS)
    rows = [(*line.item, line.grade, line.assessor, where) for where, line in lines]
    columns = {c: pl.Int32 if c == "grade" else pl.String for c in (*_NEEDED, "where")}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _read_csv(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def _refuse(
    bad: pl.DataFrame,
    what: str,
    remedy: str,
    error: type[CorruptFile | BrokenPromise] = BrokenPromise,
) -> None:
    if bad.height:
        row = bad.row(0, named=True)
        found = f"{what} (query {row['query_id']!r}, document {row['doc_id']!r}, {row['grade']!r})"
        raise error(row["where"], f"{found}, the first of {bad.height:,}", remedy)


def graded_qrels(grades: pl.DataFrame, pool: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """Return tables.GRADED for every query with a grade, sorted.

    `relevance` is the median of the assessors' grades, or the sparse one where nobody graded;
    `grades` counts assessors; `sparse` is the relevance in `qrels` (tables.QRELS), null if none.
    """
    # ASSUME between two middle grades the lower one holds, as doubt is not relevance; no paper
    # says.
    middle = pl.col("grade").sort().get((pl.len() - 1) // 2)
    agreed = grades.group_by(_PAIR).agg(relevance=middle, grades=pl.len().cast(pl.Int32))
    queries = agreed.select("task", "query_id").unique()
    splits = pool["split"].unique().to_list()
    before = sparse(qrels, splits).join(queries, on=queries.columns, how="semi")
    both = agreed.join(before, on=_PAIR, how="full", coalesce=True)
    # ASSUME a sparse judgement that the pool missed holds for graded qrels, too; AToMiC wants
    # richer judgements (section 6) and does not say.
    filled = both.with_columns(
        pl.col("relevance").fill_null(pl.col("sparse")),
        pl.col("grades").fill_null(0),
        split=pl.lit(pool["split"][0]),
    )
    return filled.select(GRADED.names).sort(_PAIR)


def sparse(qrels: pl.DataFrame, splits: Sequence[str]) -> pl.DataFrame:
    """Return qrels in both directions: task, query_id, doc_id, sparse (the relevance)."""
    own = qrels.filter(pl.col("split").is_in(splits))
    columns = {t: dict(zip(("query_id", "doc_id"), id_columns(t), strict=True)) for t in TASKS}
    return pl.concat(
        own.select(task=pl.lit(task), **names, sparse=pl.col("relevance").cast(pl.Int32))
        for task, names in columns.items()
    )
