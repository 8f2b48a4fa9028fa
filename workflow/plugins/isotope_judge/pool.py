"""Pools: first hits of several systems for people to grade, and the systems scored on the grades.

A pool and its sheets are written for assessors. What comes back becomes graded qrels, on which the
systems are scored; it also tells how the grades agree with each other and with the sparse qrels,
and how a system would have fared had its own hits not been pooled.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from isotope.core import store, sums
from isotope.core.errors import (
    BadParams,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    MissingColumn,
    MissingFile,
)
from isotope.core.grid import TASKS, RunKey, id_column, id_columns
from isotope.core.measures import score_run
from isotope.core.progress import Progress
from isotope.core.runs import KEY, batches, empty
from isotope.core.schemas import CAPTION_FIELDS, FIVE_FIELDS
from isotope.schemas.score import SCORES
from isotope_judge import suggestions
from isotope_judge.ledger import FOLDER, GRADES, PAIRS, SUFFIX, current_lines, read_csv
from isotope_judge.schemas import AGREEMENT, GRADED, POOL, REUSABILITY, SHEET, TAU

_TEXT = (*FIVE_FIELDS[:4],)
_IMAGE = ("image_url", *CAPTION_FIELDS)
_PAIR = ["task", *KEY]
_COLUMNS = [*_PAIR, "grade", "assessor"]
_LINES = {c: pl.Int32 if c == "grade" else pl.String for c in (*_COLUMNS, "where")}
_GRADE = r"^[0-9]$"
_LEAST_SYSTEMS = 2
_SCORED = ["query_id", "measure", "value"]


def pool_runs(runs: Sequence[Path], *, depth: int) -> pl.DataFrame:
    """Return schemas.POOL over runs at `.../<setting>/<split>/<task>/<system>.parquet`.

    One row a document of a query, sorted; `rank` is its best place in any run, `systems` are those
    that have it among their first `depth`, sorted.

    Raises:
        BadParams: no runs. As `runs.batches`.
    """
    if not runs:
        raise BadParams("judge", "no run in its setting and split", "search them, too")
    progress = Progress("runs", total=len(runs))
    hits: list[pl.DataFrame] = []
    for path in runs:
        top = [piece.filter(pl.col("rank") <= depth) for piece in batches(path)]
        cell, system = RunKey.from_path(path), path.stem
        labels = {"split": cell.split, "task": cell.task, "system": system}
        columns = {name: pl.lit(value) for name, value in labels.items()}
        hits += [piece.with_columns(**columns) for piece in top]
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
    """Return schemas.SHEET: the pool with words to read and empty columns grade and assessor.

    Rows are in the order of ids: a sheet shows neither the system that found a document, nor its
    rank, nor its sparse relevance. All words of an item are on one line.
    """
    words = {
        "texts": described(texts, "texts", _TEXT),
        "images": described(images, "images", _IMAGE),
    }
    parts = [
        _with_words(task_pool, words[cell.query_side], words[cell.document_side])
        for (task,), task_pool in pool.partition_by(
            "task", as_dict=True, maintain_order=True
        ).items()
        for cell in [RunKey("", "", str(task))]
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
    lazy = pl.scan_parquet(table, glob=False)
    lists = [name for name, kind in lazy.collect_schema().items() if isinstance(kind, pl.List)]
    parts = [pl.col(f).list.join(" | ") if f in lists else pl.col(f) for f in fields]
    words = pl.concat_str(parts, separator=" | ", ignore_nulls=True)
    line = (
        words.str.replace_all(r"\s+", " ").str.replace_all(r"\|( \|)+", "|").str.strip_chars(" |")
    )
    return lazy.select(pl.col(id_column(side)).alias("id"), line.alias("words"))


def read_sheets(
    paths: Sequence[Path], pool: pl.DataFrame, scale: Collection[int] = GRADES
) -> pl.DataFrame:
    """Return task, query_id, doc_id, grade (0 to 9) and assessor of every row with a grade.

    Among `paths` may be verdicts on suggestions (`judge.suggestions`). They count in either task
    for the queries of the pool, whether or not the pair was pooled, where `scale` has their grade,
    unless their assessor has graded the pair on a sheet, too.

    Raises:
        MissingFile, MissingColumn, CorruptFile: not a sheet, or a row (named by its line) with a
            grade that is no digit, or without assessor.
        IntegrityError: a pair outside of the pool, or graded twice by one assessor.
        EmptyTable: no grade in any sheet.
    """
    suggested = [path for path in paths if path.parent.name == suggestions.SHEET]
    read = [_read_sheet(path) for path in paths if path not in suggested]
    graded = pl.concat([pl.DataFrame(schema=_LINES), *read])
    verdicts = _read_suggestions(suggested, pool, scale)
    if graded.is_empty() and verdicts.is_empty():
        raise EmptyTable(", ".join(map(str, paths)) or FOLDER, "no grade", "grade some rows first")
    _refuse(graded.join(pool, on=_PAIR, how="anti"), "a pair that was not pooled", "remove it")
    repeated = graded.filter(~pl.struct([*_PAIR, "assessor"]).is_first_distinct())
    _refuse(repeated, "a pair that its assessor has graded before", "keep one of the two")
    ungraded = verdicts.join(graded, on=[*_PAIR, "assessor"], how="anti")
    all_grades = [part.select(_COLUMNS) for part in (graded, ungraded)]
    return pl.concat(all_grades).sort(*_PAIR, "assessor")


def _read_suggestions(
    paths: Sequence[Path], pool: pl.DataFrame, scale: Collection[int]
) -> pl.DataFrame:
    """Return what verdicts on suggestions say of the pool's queries, in both tasks."""
    graded = suggestions.grades(paths).filter(pl.col("grade").is_in([*scale]))
    tasks = [
        graded.with_columns(task=pl.lit(task)).rename(dict(zip(id_columns(task), KEY, strict=True)))
        for task in TASKS
    ]
    queries = pool.select("task", "query_id").unique()
    return pl.concat(t.select(_COLUMNS) for t in tasks).join(
        queries, on=["task", "query_id"], how="semi"
    )


def _read_sheet(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such sheet", "put it there, or remove it from the list")
    if path.suffix.lower() == SUFFIX:
        return _read_lines(path)
    try:
        is_parquet = path.suffix.lower() == ".parquet"
        table = pl.read_parquet(path, glob=False) if is_parquet else read_csv(path)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        raise CorruptFile(
            path, f"not a sheet ({error})", "fill in the sheet as it was written"
        ) from error
    lacking = [c for c in _COLUMNS if c not in table.columns]
    if lacking:
        raise MissingColumn(path, f"a sheet without {', '.join(lacking)}", "keep all its columns")
    rows = table.select(pl.col(c).cast(pl.String).str.strip_chars() for c in _COLUMNS)
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
    return pl.DataFrame(rows, schema=_LINES, orient="row")


def _refuse(
    bad: pl.DataFrame,
    problem: str,
    remedy: str,
    error: type[CorruptFile | IntegrityError] = IntegrityError,
) -> None:
    if bad.height:
        row = bad.row(0, named=True)
        located = (
            f"{problem} (query {row['query_id']!r}, document {row['doc_id']!r}, {row['grade']!r})"
        )
        raise error(row["where"], f"{located}, the first of {bad.height:,}", remedy)


def graded_qrels(grades: pl.DataFrame, pool: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """Return schemas.GRADED for every query with a grade, sorted.

    `relevance` is the median of the assessors' grades, or the sparse one where nobody graded;
    `grades` counts assessors; `sparse` is the relevance in `qrels` (schemas.QRELS), null if none.
    """
    # ASSUME of two middle grades the lower one, as doubt is not relevance; no paper says.
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
    split_qrels = qrels.filter(pl.col("split").is_in(splits))
    columns = {t: dict(zip(("query_id", "doc_id"), id_columns(t), strict=True)) for t in TASKS}
    return pl.concat(
        split_qrels.select(task=pl.lit(task), **names, sparse=pl.col("relevance").cast(pl.Int32))
        for task, names in columns.items()
    )


class JudgedTask(NamedTuple):
    """One task: the judged hits of each system, graded qrels (schemas.GRADED), and the pool."""

    runs: Mapping[str, pl.DataFrame]
    graded: pl.DataFrame
    pool: pl.DataFrame


def score_judged(  # noqa: PLR0913
    *,
    pool: Path,
    qrels: Path,
    sheets: Sequence[Path],
    runs: Sequence[Path],
    outputs: Mapping[str, Path],
    collection: str,
    measures: Sequence[str],
    scale: Mapping[Any, str] | None = None,
) -> None:
    """Write graded qrels, scores (schemas.SCORES), reusability, tau and agreement to `outputs`.

    `outputs` are graded, scores, reuse, tau and agreement; the keys of `scale` are the grades that
    there are, all of GRADES unless it is passed.

    Raises:
        As `read_sheets`.
    """
    pooled = pl.read_parquet(pool, glob=False)
    grades = read_sheets(sheets, pooled, GRADES if scale is None else [*map(int, scale)])
    graded = graded_qrels(grades, pooled, pl.read_parquet(qrels, glob=False))
    tasks = {t: _judged(t, runs, graded, pooled) for t in graded["task"].unique().sort()}
    cell = {
        "collection": collection,
        "setting": RunKey.from_path(runs[0]).setting,
        "split": pooled["split"][0],
    }
    progress = Progress("tasks", total=len(tasks))
    parts: list[dict[str, pl.DataFrame]] = []
    for task, judged in tasks.items():
        parts.append(_results(task, judged, cell, measures))
        progress.add()
    progress.finish()
    joined = {name: pl.concat(part[name] for part in parts) for name in parts[0]}
    store.write(graded.to_arrow(), outputs["graded"], GRADED)
    store.write(joined["scores"].to_arrow(), outputs["scores"], SCORES)
    store.write(joined["reuse"].to_arrow(), outputs["reuse"], REUSABILITY)
    store.write(joined["tau"].to_arrow(), outputs["tau"], TAU)
    store.write(agreement(grades).to_arrow(), outputs["agreement"], AGREEMENT)


def _judged(
    task: str, runs: Sequence[Path], graded: pl.DataFrame, pool: pl.DataFrame
) -> JudgedTask:
    task_grades, pooled = graded.filter(task=task), pool.filter(task=task)
    paths = sorted(p for p in runs if RunKey.from_path(p).task == task)
    return JudgedTask({p.stem: judged_part(p, task_grades) for p in paths}, task_grades, pooled)


def judged_part(run: Path, graded: pl.DataFrame) -> pl.DataFrame:
    """Keep the hits of a run that are judged, with the ranks that they have in it."""
    pairs = graded.select(KEY)
    hits = [p.join(pairs, on=KEY, how="semi", maintain_order="left") for p in batches(run)]
    return pl.concat([empty(), *hits])


def _results(
    task: str, judged: JudgedTask, cell: Mapping[str, str], measures: Sequence[str]
) -> dict[str, pl.DataFrame]:
    scores = system_scores(judged.runs, judged.graded, measures)
    sparse = judged.graded.filter(pl.col("sparse").is_not_null()).with_columns(relevance="sparse")
    queries = judged.graded["query_id"].n_unique()
    means = mean_scores(scores, queries)
    below = mean_scores(system_scores(judged.runs, sparse, measures), queries)
    labels = {k: pl.lit(v) for k, v in {**cell, "task": task}.items()}
    return {
        "scores": scores.with_columns(**labels).select(SCORES.names),
        "tau": taus(task, means, below),
        "reuse": leave_one_out(task, judged, means, measures),
    }


def system_scores(
    runs: Mapping[str, pl.DataFrame], qrels: pl.DataFrame, measures: Sequence[str]
) -> pl.DataFrame:
    """Return system, query_id, measure and value on qrels (query_id, doc_id, relevance)."""
    parts = [
        score_run(run, qrels, measures).select(pl.lit(name).alias("system"), *_SCORED)
        for name, run in sorted(runs.items())
    ]
    return pl.concat(parts)


def mean_scores(scores: pl.DataFrame, queries: int) -> pl.DataFrame:
    """Return measure, system, value: the mean over `queries`, of which one without a row has 0."""
    grouped = scores.group_by("measure", "system")
    return grouped.agg(sums.total(pl.col("value")) / queries).sort("measure", "system")


def leave_one_out(
    task: str, judged: JudgedTask, means: pl.DataFrame, measures: Sequence[str]
) -> pl.DataFrame:
    """Return schemas.REUSABILITY: value and place of each system, and both had it not been pooled.

    `alone` counts its judged documents that no other system pooled. The place, from 1, is among
    all systems on the same judgements; equal values share the better place.
    """
    queries = judged.graded["query_id"].n_unique()
    parts: list[pl.DataFrame] = []
    for name in sorted(judged.runs):
        reduced, alone = without(judged, name)
        scores = system_scores(judged.runs, reduced, measures)
        left = placed(mean_scores(scores, queries)).filter(system=name)
        both = placed(means).filter(system=name).join(left, on="measure", suffix="_without")
        labels = {"task": pl.lit(task), "alone": pl.lit(alone), "without": "value_without"}
        parts.append(both.with_columns(**labels).select(REUSABILITY.names))
    return pl.concat(parts).sort("measure", "place", "system")


def without(judged: JudgedTask, system: str) -> tuple[pl.DataFrame, int]:
    """Return the graded qrels had `system` not been pooled, and how many judged pairs change.

    A pair of the sparse qrels falls back to what they say, any other becomes unjudged.
    """
    unique_pairs = judged.pool.filter(pl.col("systems").list.len() == 1)
    alone = unique_pairs.filter(pl.col("systems").list.first() == system).select(KEY)
    lost = judged.graded.filter(pl.col("grades") > 0).join(alone, on=KEY, how="semi")
    remaining = judged.graded.join(lost, on=KEY, how="anti")
    back = lost.filter(pl.col("sparse").is_not_null()).with_columns(relevance="sparse")
    return pl.concat([remaining, back]), lost.height


def placed(means: pl.DataFrame) -> pl.DataFrame:
    """Add the place of each system by its value, for each measure."""
    rank = pl.col("value").rank("min", descending=True).over("measure").cast(pl.Int32)
    return means.with_columns(place=rank)


def taus(task: str, graded: pl.DataFrame, sparse: pl.DataFrame) -> pl.DataFrame:
    """Return schemas.TAU: how far two means (measure, system, value) rank systems alike."""
    pairs = graded.join(sparse, on=["measure", "system"], suffix="_sparse")
    rows = [
        {
            "task": task,
            "measure": measure,
            "systems": measure_pairs.height,
            "tau": kendall_tau(measure_pairs["value"], measure_pairs["value_sparse"]),
        }
        for (measure,), measure_pairs in pairs.partition_by(
            "measure", as_dict=True, maintain_order=True
        ).items()
    ]
    empty_table = pl.DataFrame(TAU.empty_table())
    return pl.DataFrame(rows, schema=empty_table.schema).with_columns(pl.col("tau").fill_nan(None))


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float:
    """Return tau-b of two lists of values, NaN if either has no two different ones.

    Source: Kendall, Biometrika 33, 1945, which corrects for ties.
    """
    if np.size(first) < _LEAST_SYSTEMS:
        return float("nan")
    from scipy.stats import kendalltau  # noqa: PLC0415 (slow to import)

    test: Any = kendalltau(first, second)
    return float(test.statistic)


def agreement(grades: pl.DataFrame) -> pl.DataFrame:
    """Return schemas.AGREEMENT: every two assessors on the pairs that both have graded."""
    rows: list[dict[str, object]] = []
    for name, other in combinations(grades["assessor"].unique().sort().to_list(), 2):
        first, second = (grades.filter(assessor=a).drop("assessor") for a in (name, other))
        pairs = first.join(second, on=["task", "query_id", "doc_id"], suffix="_other")
        if pairs.height:
            same = float((pairs["grade"] == pairs["grade_other"]).sum()) / pairs.height
            rows.append(
                {
                    "assessor": name,
                    "other": other,
                    "pairs": pairs.height,
                    "same_share": same,
                    "kappa": cohen_kappa(pairs),
                }
            )
    empty = pl.DataFrame(AGREEMENT.empty_table())
    return pl.DataFrame(rows, schema=empty.schema)


def cohen_kappa(pairs: pl.DataFrame) -> float | None:
    """Return kappa of the columns `grade` and `grade_other`, null where chance explains it all.

    Source: Cohen, Educational and Psychological Measurement 20(1), 1960.
    """
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415 (slow to import)

    first, second = (pairs[c].to_numpy() for c in ("grade", "grade_other"))
    if len({*first, *second}) == 1:
        return None
    return float(cohen_kappa_score(first, second))
