"""Tables that others wrote: Parquet files and Arrow streams in batches, small ones whole."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core.errors import CorruptFile
from isotope.intake.limits import is_of_the_system, limits, reason_of
from isotope.intake.packed import damaged

_BUFFER_BYTES = 1 << 20


@contextmanager
def parquet_file(path: Path, *, buffered: bool = False) -> Generator[pq.ParquetFile]:
    """Open a Parquet file; `buffered` reads a row group piece by piece, for those of pictures.

    Raises:
        CorruptFile: it is none, names a column twice, or says of itself that it is a bomb.
    """
    with path.open("rb") as source:
        try:
            file = pq.ParquetFile(source, buffer_size=_BUFFER_BYTES if buffered else 0)
            names = file.schema_arrow.names
            about = file.metadata
            groups = [about.row_group(n) for n in range(about.num_row_groups)]
            unpacked = sum(group.total_byte_size for group in groups)
        except Exception as error:
            raise _damaged(path, error) from error
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise CorruptFile(path, f"two columns are called {twice!r}", "rename one of them")
        bomb = limits().bomb(unpacked, path.stat().st_size)
        if bomb:
            raise CorruptFile(path, bomb, "take it out, or raise params intake.scale")
        yield file


def frame(path: Path, remedy: str, **options: Any) -> pl.DataFrame:  # noqa: ANN401 (as Polars')
    """Read a small table whole: Parquet by its name, or CSV with Polars' `options` for one.

    Raises:
        CorruptFile: what the library raises; `remedy` is what to do.
    """
    try:
        return (
            pl.read_parquet(path, glob=False)
            if path.suffix.lower() == ".parquet"
            else pl.read_csv(path, glob=False, **options)
        )
    except Exception as error:
        if is_of_the_system(error):
            raise
        raise CorruptFile(path, f"not a table ({reason_of(error)})", remedy) from error


def parquet_batches(
    path: Path, columns: Sequence[str], rows: int, groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a Parquet file, of some row groups, in batches of so many rows.

    Raises:
        CorruptFile: as `parquet_file`; a page that can't be unpacked, texts that are not UTF-8.
    """
    with parquet_file(path) as file:
        yield from undamaged(path, file.iter_batches(rows, groups, columns=list(columns)))


def json_rows(path: Path, rows: int) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as lines of JSON, so many in memory; a date is its text.

    Raises:
        CorruptFile: as `parquet_batches`; a column that JSON has no form for.
    """
    with parquet_file(path) as file:
        for batch in undamaged(path, file.iter_batches(rows)):
            try:
                text = cast(pl.DataFrame, pl.from_arrow(batch)).write_ndjson()
            except Exception as error:
                raise _damaged(path, error) from error
            yield from text.encode().splitlines(keepends=True)


def undamaged(path: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches that a library reads from a file, each checked for what its types promise.

    Raises:
        CorruptFile: what the library raises, or a batch that breaks a promise.
    """
    while True:
        try:
            batch = next(batches, None)
            if batch is not None:
                batch.validate(full=True)
        except Exception as error:
            raise _damaged(path, error) from error
        if batch is None:
            return
        yield batch


def _damaged(path: Path, error: Exception) -> Exception:
    if is_of_the_system(error):
        return error
    return damaged(path, error)
