"""Runs: what a system answered, in trec_eval's order, written once and checked whenever read.

Ours are Parquet files (core.schemas.RUN). TREC's run and qrels files, plain or packed, have fields
parted by white space (https://github.com/usnistgov/trec_eval, README): a run line is
`query Q0 document rank score tag`, a qrels line `query iteration document relevance`.
"""

import bz2
from collections.abc import Iterable, Iterator, Sequence
from gzip import GzipFile
from pathlib import Path
from typing import IO, NamedTuple, cast

import polars as pl

from isotope.core import store
from isotope.core.errors import (
    CorruptFile,
    IntegrityError,
    MissingColumn,
    MissingFile,
    TruncatedFile,
)
from isotope.core.schemas import RUN
from isotope.core.store import grouped

KEY = ["query_id", "doc_id"]
# Half the time of zlib's best level, for files that are 1 % larger.
GZIP_LEVEL = 4
# What ends the name of the YAML beside a run that says what made it (https://www.ir-metadata.org).
METADATA = ".ir-metadata.yaml"
_BLOCK = r"^#\s*ir_metadata\.(start|end)\s*$"
_ROWS_PER_BATCH = 1 << 20
_DTYPES = {
    "query_id": pl.String(),
    "doc_id": pl.String(),
    "rank": pl.Int32(),
    "score": pl.Float64(),
}
_MEND = "mend the system that wrote this run and search again"
_INTEGER = r"[+-]?[0-9]{1,9}"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


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
        IntegrityError: a score that is null, NaN or infinite; a document twice for one query.
    """
    finite = pl.col("score").is_finite().fill_null(value=False)
    refuse(df, ~finite, "a score that is no number", path)
    refuse(df, pl.struct(KEY).is_duplicated(), "a document twice", path)
    store.write(ranked(df).to_arrow(), path, RUN)


def write_pieces(pieces: Iterable[pl.DataFrame], path: Path | str) -> int:
    """Write a run that comes ranked, piece by piece, as `write_run` would; return how many hits.

    Raises:
        IntegrityError: a hit out of order, wrongly ranked, or with a score that is not finite.
    """
    with grouped(Path(path), RUN) as out:
        written = 0
        for hits in _in_order(pieces, path):
            out.add(hits.to_arrow().cast(RUN))
            written += hits.height
    return written


def read_run(path: Path | str) -> pl.DataFrame:
    """Read a whole run: query_id, doc_id, rank, score.

    Raises:
        As `batches`.
    """
    return pl.concat([empty(), *batches(path)])


def empty() -> pl.DataFrame:
    """Return a run without hits."""
    return pl.DataFrame(schema=_DTYPES)


def batches(path: Path | str, rows: int = _ROWS_PER_BATCH) -> Iterator[pl.DataFrame]:
    """Read a run in pieces of at most `rows` hits, so that a long one need not fit in memory.

    Raises:
        MissingFile, CorruptFile, MissingColumn: the file is not a run.
        IntegrityError: a hit out of order, ranked wrongly, or twice in a row.
    """
    yield from _in_order(_pieces(Path(path), rows), path)


def by_query(runs: Sequence[pl.DataFrame], queries: int) -> Iterator[list[pl.DataFrame]]:
    """Cut runs, sorted by query_id, into aligned pieces of `queries` queries each."""
    ids = pl.concat([run["query_id"].unique() for run in runs]).unique().sort()
    firsts = ids.gather_every(queries).to_list()
    for first, end in zip(firsts, [*firsts[1:], None], strict=True):
        yield [_between(run, first, end) for run in runs]


def aligned(paths: Sequence[Path], rows: int) -> Iterator[list[pl.DataFrame]]:
    """Read runs in pieces that hold all hits of some queries, the same ones of each run.

    At most `rows` hits of each run are in memory, and as many again as it gives one query.

    Raises:
        As `runs.batches`.
    """
    sources: list[Iterator[pl.DataFrame] | None] = [batches(path, rows) for path in paths]
    pieces = [empty() for _ in paths]
    while any(sources):
        end = _end(pieces, sources)
        for n, source in enumerate(sources):
            if source and _last(pieces[n]) == end:
                more = next(source, None)
                sources[n] = source if more is not None else None
                pieces[n] = pieces[n] if more is None else pl.concat([pieces[n], more])
        end = _end(pieces, sources) if any(sources) else None
        stops = [h.height if end is None else h["query_id"].search_sorted(end) for h in pieces]
        if any(stops):
            yield [run.head(stop) for run, stop in zip(pieces, stops, strict=True)]
            pieces = [run.slice(stop) for run, stop in zip(pieces, stops, strict=True)]


class Format(NamedTuple):
    """A line's fields as (name, pattern), and how to say what a line should be."""

    fields: tuple[tuple[str, str], ...]
    example: str


TREC_RUN = Format(
    (
        ("query_id", r"\S+"),
        ("q0", r"\S+"),
        ("doc_id", r"\S+"),
        ("rank", _INTEGER),
        ("score", _NUMBER),
        ("tag", r"\S+"),
    ),
    "query Q0 document rank score tag",
)
TREC_QRELS = Format(
    (("query_id", r"\S+"), ("q0", r"\S+"), ("doc_id", r"\S+"), ("relevance", _INTEGER)),
    "query 0 document relevance",
)


def read_trec_run(path: Path | str) -> pl.DataFrame:
    """Read a TREC run as schemas.RUN, ranked anew by score, then doc_id, as trec_eval does.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: with the line that breaks the format.
    """
    return ranked(read_trec_lines(path, TREC_RUN).with_columns(pl.col("score").cast(pl.Float64)))


def read_trec_ranks(path: Path | str) -> pl.DataFrame:
    """Read a TREC run as schemas.RUN with the ranks that it states, ordered by them.

    trec_eval ignores this column: what it states need not be the order of the scores.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: with the line that breaks the format.
    """
    columns = (pl.col(name).cast(_DTYPES[name]) for name in RUN.names)
    return read_trec_lines(path, TREC_RUN).select(columns).sort("query_id", "rank", "doc_id")


def read_trec_qrels(path: Path | str) -> pl.DataFrame:
    """Read a TREC qrels file, in its order: query_id, doc_id, relevance (integer).

    Raises:
        MissingFile, TruncatedFile, CorruptFile: with the line that breaks the format.
    """
    return read_trec_lines(path, TREC_QRELS).select(*KEY, pl.col("relevance").cast(pl.Int32))


def write_trec_run(run: pl.DataFrame, path: Path | str, *, tag: str) -> None:
    """Write a run (schemas.RUN), scores with all their digits; packed as its name says.

    trec_eval sorts by scores at single precision: hits closer than that may change places there.

    Raises:
        IntegrityError: an id that is empty or has white space in it.
    """
    columns = ["query_id", pl.lit("Q0").alias("q0"), "doc_id", "rank", "score"]
    _write(run.select(*columns, pl.lit(tag).alias("tag")), Path(path))


def write_trec_qrels(qrels: pl.DataFrame, path: Path | str) -> None:
    """Write qrels (query_id, doc_id, relevance); packed as its name says.

    Raises:
        IntegrityError: an id that is empty or has white space in it.
    """
    columns = ["query_id", pl.lit("0").alias("q0"), "doc_id", "relevance"]
    _write(qrels.select(columns), Path(path))


def read_trec_lines(path: Path | str, form: Format) -> pl.DataFrame:
    """Read the fields of a file as strings beside the number and the text of their line.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: with the line that breaks the format.
    """
    path = Path(path)
    pattern = r"^\s*" + r"\s+".join(f"(?P<{name}>{field})" for name, field in form.fields) + r"\s*$"
    lines = _lines(path).with_row_index("number", offset=1)
    filled = lines.filter(pl.col("line").str.contains(r"\S"))
    rows = filled.with_columns(pl.col("line").str.extract_groups(pattern).alias("fields"))
    unread = pl.col("fields").struct.field("query_id").is_null()
    rows = rows.filter(~_is_header(unread))
    refuse_lines(path, rows.filter(unread), form.example)
    rows = rows.unnest("fields")
    again = rows.filter(~pl.struct(KEY).is_first_distinct())
    refuse_lines(path, again, "each document once for a query")
    return rows


def _is_header(unread: pl.Expr) -> pl.Expr:
    """Tell comment lines: those of a block of ir-metadata, and others before the first line read.

    An id may begin with # too, so elsewhere a line that breaks the format is a bad one.
    """
    line = pl.col("line")
    marks = line.str.extract(_BLOCK)
    inside = (marks == "start").fill_null(value=False).cum_sum() > (
        (marks == "end").fill_null(value=False).cum_sum()
    )
    in_block = inside | marks.is_not_null()
    is_comment = line.str.strip_chars_start().str.starts_with("#")
    before = (~unread & ~in_block).cum_sum() == 0
    return is_comment & (in_block | (unread & before))


def refuse_lines(path: Path, bad: pl.DataFrame, expected: str) -> None:
    """Stop at the first of some bad lines (number, line), if there are any.

    Raises:
        CorruptFile: with file, line, its text, how many are bad, and what was expected.
    """
    if bad.height:
        number, line = bad.select("number", "line").row(0)
        problem = f"line {number} of {bad.height:,} bad ones is {line[:120]!r}"
        raise CorruptFile(f"{path}:{number}", problem, f"expected: {expected}")


def _pieces(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    if not path.is_file():
        raise MissingFile(path, "no such run", "run `snakemake search` to make it")
    scan = pl.scan_parquet(path, glob=False)
    try:
        lacking = sorted(set(RUN.names) - set(scan.collect_schema().names()))
        if lacking:
            problem = f"a run without {', '.join(lacking)}"
            raise MissingColumn(path, problem, "write it with write_run")
        chosen = scan.select(pl.col(c).cast(_DTYPES[c]) for c in RUN.names)
        total = int(scan.select(pl.len()).collect().item())
        for start in range(0, total, rows):
            yield chosen.slice(start, rows).collect()
    except pl.exceptions.PolarsError as error:
        problem = f"not Parquet ({str(error).partition(chr(10))[0]})"
        raise CorruptFile(path, problem, "remove it, search again") from error


def _in_order(pieces: Iterable[pl.DataFrame], path: Path | str) -> Iterator[pl.DataFrame]:
    """Pass the pieces of a run on while each hit follows the one before it."""
    last = empty()
    for hits in pieces:
        context = pl.concat([last, hits]).lazy()
        follows = _follows(first=last.is_empty())
        if not context.select(follows.slice(last.height).all()).collect().item():
            checked = context.with_columns(follows=follows).collect().slice(last.height)
            refuse(checked, ~pl.col("follows"), "a hit that does not follow the one before", path)
        last = hits.tail(1) if hits.height else last
        yield hits


def _follows(*, first: bool) -> pl.Expr:
    """Return whether each row follows the row above it; the first row only needs rank 1."""
    query, doc, rank, score = (pl.col(c) for c in RUN.names)
    lower = (score < score.shift()) | ((score == score.shift()) & (doc < doc.shift()))
    same = (query == query.shift()) & (rank == rank.shift() + 1) & lower
    new = (query > query.shift()).fill_null(value=first) & (rank == 1)
    return ((same | new) & score.is_finite()).fill_null(value=False)


def refuse(
    df: pl.DataFrame, bad: pl.Expr, fault: str, where: Path | str, remedy: str = _MEND
) -> None:
    """Refuse rows of query_id and doc_id for which `bad` holds; `fault` is what a query then has.

    Raises:
        IntegrityError: the first of them, and how many there are.
    """
    rows = df.filter(bad)
    if rows.height:
        query, doc = rows.select(pl.col(KEY).first()).row(0)
        problem = f"query {query!r} has {fault} (document {doc!r}; {rows.height:,} such rows)"
        raise IntegrityError(where, problem, remedy)


def _between(run: pl.DataFrame, first: str, end: str | None) -> pl.DataFrame:
    start = run["query_id"].search_sorted(first)
    stop = run.height if end is None else run["query_id"].search_sorted(end)
    return run.slice(start, stop - start)


def _end(pieces: Sequence[pl.DataFrame], sources: Sequence[object]) -> str:
    """Return the query in which the first of the open runs breaks off: all before are complete."""
    return min(_last(run) for run, source in zip(pieces, sources, strict=True) if source)


def _last(run: pl.DataFrame) -> str:
    return run["query_id"][-1] if run.height else ""


def _lines(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or acquire it again")
    try:
        source = _unpacked(path) if path.suffix.lower() == ".bz2" else path
        lines = pl.read_lines(source, glob=False)
        # The mark with which some editors begin a file is not a part of the first line.
        return lines.with_columns(pl.col("line").str.strip_prefix("\ufeff"))
    except pl.exceptions.ComputeError as error:
        raise CorruptFile(path, f"not UTF-8 text ({error})", "convert it to UTF-8") from error
    except OSError as error:
        raise TruncatedFile(path, f"damaged gzip ({error})", "fetch it again") from error


def _unpacked(path: Path) -> bytes:
    try:
        return bz2.decompress(path.read_bytes())
    except (OSError, ValueError) as error:
        raise TruncatedFile(path, f"damaged bzip2 ({error})", "fetch it again") from error


def _write(rows: pl.DataFrame, path: Path) -> None:
    for name in (*KEY, *({"tag"} & set(rows.columns))):
        bad = rows.filter(~pl.col(name).str.contains(r"^\S+$"))
        if bad.height:
            problem = f"{name} {bad[name][0]!r} is empty or has white space in it"
            raise IntegrityError(path, problem, "rename it: white space parts the fields of a line")
    with store.aside(path) as part, part.open("wb") as raw, _compressor(raw, path) as file:
        rows.write_csv(file, separator=" ", include_header=False, quote_style="never")


def _compressor(raw: IO[bytes], path: Path) -> IO[bytes]:
    """Pack what is written to `raw` if `path` says so, without the time, which would differ."""
    if path.suffix.lower() == ".bz2":
        return cast("IO[bytes]", bz2.BZ2File(raw, "wb"))
    if path.suffix.lower() != ".gz":
        return raw
    return cast("IO[bytes]", GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0))
