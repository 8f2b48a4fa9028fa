"""TREC run and qrels files, plain or gzipped.

Format: https://github.com/usnistgov/trec_eval (README): fields parted by white space, a run line is
`query Q0 document rank score tag`, a qrels line `query iteration document relevance`.
"""

from gzip import GzipFile
from pathlib import Path
from typing import IO, NamedTuple, cast

import polars as pl

from isotope.core import store
from isotope.core.errors import BrokenPromise, CorruptFile, MissingFile, TruncatedFile
from isotope.core.runs import KEY, ranked

_INTEGER = r"[+-]?[0-9]{1,9}"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


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


def read_trec_qrels(path: Path | str) -> pl.DataFrame:
    """Read a TREC qrels file, in its order: query_id, doc_id, relevance (integer).

    Raises:
        MissingFile, TruncatedFile, CorruptFile: with the line that breaks the format.
    """
    return read_trec_lines(path, TREC_QRELS).select(*KEY, pl.col("relevance").cast(pl.Int32))


def write_trec_run(run: pl.DataFrame, path: Path | str, *, tag: str) -> None:
    """Write a run (schemas.RUN), scores with all their digits; gzipped if the name ends in `.gz`.

    trec_eval sorts by scores at single precision: hits closer than that may change places there.

    Raises:
        BrokenPromise: an id that is empty or has white space in it.
    """
    columns = ["query_id", pl.lit("Q0").alias("q0"), "doc_id", "rank", "score"]
    _write(run.select(*columns, pl.lit(tag).alias("tag")), Path(path))


def write_trec_qrels(qrels: pl.DataFrame, path: Path | str) -> None:
    """Write qrels (query_id, doc_id, relevance); gzipped if the name ends in `.gz`.

    Raises:
        BrokenPromise: an id that is empty or has white space in it.
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
    # A header line of ir-metadata; an id may begin with # too, so the format decides.
    rows = rows.filter(~(unread & pl.col("line").str.starts_with("#")))
    refuse_lines(path, rows.filter(unread), form.example)
    rows = rows.unnest("fields")
    again = rows.filter(~pl.struct(KEY).is_first_distinct())
    refuse_lines(path, again, "each document once for a query")
    return rows


def _lines(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or acquire it again")
    try:
        return pl.read_lines(path)
    except pl.exceptions.ComputeError as error:
        raise CorruptFile(path, f"not UTF-8 text ({error})", "convert it to UTF-8") from error
    except OSError as error:
        raise TruncatedFile(path, f"damaged gzip ({error})", "fetch it again") from error


def refuse_lines(path: Path, bad: pl.DataFrame, expected: str) -> None:
    """Stop at the first of some bad lines (number, line), if there are any.

    Raises:
        CorruptFile: with file, line, its text, how many are bad, and what was expected.
    """
    if bad.height:
        number, line = bad.select("number", "line").row(0)
        found = f"line {number} of {bad.height:,} bad ones is {line[:120]!r}"
        raise CorruptFile(f"{path}:{number}", found, f"expected: {expected}")


def _write(rows: pl.DataFrame, path: Path) -> None:
    for name in (*KEY, *({"tag"} & set(rows.columns))):
        bad = rows.filter(~pl.col(name).str.contains(r"^\S+$"))
        if bad.height:
            found = f"{name} {bad[name][0]!r} is empty or has white space in it"
            raise BrokenPromise(path, found, "rename it: white space parts the fields of a line")
    with store.aside(path) as part, part.open("wb") as raw, _compressor(raw, path) as file:
        rows.write_csv(file, separator=" ", include_header=False, quote_style="never")


def _compressor(raw: IO[bytes], path: Path) -> IO[bytes]:
    """Gzip what is written to `raw` if `path` says so, without the time, which would differ."""
    if path.suffix != ".gz":
        return raw
    return cast("IO[bytes]", GzipFile("", "wb", fileobj=raw, mtime=0))
