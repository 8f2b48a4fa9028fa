"""Runs: what a system answered, in trec_eval's order, written once and checked whenever read."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope import store, tables
from isotope.errors import BrokenPromise, CorruptFile, MissingColumn, MissingFile
from isotope.parts import WHOLE, Part, part_of

KEY = ["query_id", "doc_id"]
_ROWS_PER_BATCH = 1 << 20
_DTYPES = {
    "query_id": pl.String(),
    "doc_id": pl.String(),
    "rank": pl.Int32(),
    "score": pl.Float64(),
}


def ranked(df: pl.DataFrame, depth: int | None = None) -> pl.DataFrame:
    """Order hits (query_id, doc_id, score) as a run: by query_id, then rank, counted from 1.

    Among equal scores the greater doc_id comes first, bytewise, as in trec_eval's
    form_res_rels.c, so a run has one order whatever wrote it. `depth` keeps that many hits a query.
    """
    columns = df.select(pl.col(c).cast(_DTYPES[c]) for c in [*KEY, "score"])
    ordered = columns.sort([KEY[0], "score", KEY[1]], descending=[False, True, True])
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("query_id")
    run = ordered.select(*KEY, rank.alias("rank"), "score")
    return run if depth is None else run.filter(pl.col("rank") <= depth)


def write_run(df: pl.DataFrame, path: Path | str) -> None:
    """Rank hits (query_id, doc_id, score) and write them as a run.

    Raises:
        BrokenPromise: a score that is null, NaN or infinite; a document twice for one query.
    """
    finite = pl.col("score").is_finite().fill_null(value=False)
    _refuse(df, ~finite, "a score that is no number", path)
    _refuse(df, pl.struct(KEY).is_duplicated(), "a document twice", path)
    store.write(ranked(df).to_arrow(), path, tables.RUN)


def read_run(path: Path | str) -> pl.DataFrame:
    """Read a whole run: query_id, doc_id, rank, score.

    Raises:
        As `batches`.
    """
    return pl.concat([empty(), *batches(path)])


def read_part(paths: Sequence[Path], part: Part) -> list[pl.DataFrame]:
    """Read the runs, but of the queries that any of them answers only those of part (i, n).

    Raises:
        As `batches`.
    """
    if part == WHOLE:
        return [read_run(path) for path in paths]
    answered = {query for path in paths for b in batches(path) for query in b["query_id"].unique()}
    own = part_of(sorted(answered), part)
    wanted = pl.col("query_id").is_in(own)
    return [pl.concat([empty(), *(b.filter(wanted) for b in batches(p))]) for p in paths]


def empty() -> pl.DataFrame:
    """Return a run without hits."""
    return pl.DataFrame(schema=_DTYPES)


def batches(path: Path | str, rows: int = _ROWS_PER_BATCH) -> Iterator[pl.DataFrame]:
    """Read a run in pieces of at most `rows` hits, so that a long one need not fit in memory.

    Raises:
        MissingFile, CorruptFile, MissingColumn: the file is not a run.
        BrokenPromise: a hit out of order, ranked wrongly, or twice in a row.
    """
    last = empty()
    for batch in _arrow_batches(Path(path), rows):
        hits = pl.DataFrame(pa.Table.from_batches([batch])).cast(_DTYPES)  # pyright: ignore[reportArgumentType]
        context = pl.concat([last, hits]).with_columns(follows=_follows(first=last.is_empty()))
        message = "a hit that does not follow the one before it"
        _refuse(context.slice(last.height), ~pl.col("follows"), message, path)
        last = hits.tail(1)
        yield hits


def by_query(runs: Sequence[pl.DataFrame], queries: int) -> Iterator[list[pl.DataFrame]]:
    """Cut runs, sorted by query_id, into aligned pieces of `queries` queries each."""
    ids = pl.concat([run["query_id"].unique() for run in runs]).unique().sort()
    firsts = ids.gather_every(queries).to_list()
    for first, end in zip(firsts, [*firsts[1:], None], strict=True):
        yield [_between(run, first, end) for run in runs]


def _between(run: pl.DataFrame, first: str, end: str | None) -> pl.DataFrame:
    start = run["query_id"].search_sorted(first)
    stop = run.height if end is None else run["query_id"].search_sorted(end)
    return run.slice(start, stop - start)


def _arrow_batches(path: Path, rows: int) -> Iterator[pa.RecordBatch]:
    if not path.is_file():
        raise MissingFile(path, "no such run", "run `snakemake search` to make it")
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise CorruptFile(path, f"not Parquet ({error})", "remove it, search again") from error
    with file:
        lacking = sorted(set(tables.RUN.names) - set(file.schema_arrow.names))
        if lacking:
            found = f"a run without {', '.join(lacking)}"
            raise MissingColumn(path, found, "write it with write_run")
        yield from file.iter_batches(batch_size=rows, columns=tables.RUN.names)


def _follows(*, first: bool) -> pl.Expr:
    """Hold where a row comes after the row above it; the table's top row needs rank 1 only."""
    query, doc, rank, score = (pl.col(c) for c in tables.RUN.names)
    lower = (score < score.shift()) | ((score == score.shift()) & (doc < doc.shift()))
    same = (query == query.shift()) & (rank == rank.shift() + 1) & lower
    new = (query > query.shift()).fill_null(value=first) & (rank == 1)
    return ((same | new) & score.is_finite()).fill_null(value=False)


def _refuse(df: pl.DataFrame, bad: pl.Expr, what: str, path: Path | str) -> None:
    rows = df.filter(bad)
    if rows.height:
        query, doc = rows.select(pl.col(KEY).first()).row(0)
        found = f"query {query!r} has {what} (document {doc!r}; {rows.height:,} such rows)"
        raise BrokenPromise(path, found, "mend the system that wrote this run and search again")
