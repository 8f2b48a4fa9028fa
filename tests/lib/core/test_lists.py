"""Lists of tables hold no NULL items, whichever way a table is written."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotope.core import sql, store
from isotope.core.errors import IntegrityError
from isotope.core.schemas import STRINGS, schema

WORDS = schema(id=pa.string(), words=STRINGS)
GOOD: list[dict[str, object]] = [
    {"id": "a", "words": ["x"]},
    {"id": "b", "words": None},
    {"id": "c", "words": []},
]
BAD: list[dict[str, object]] = [*GOOD, {"id": "d", "words": ["y", None]}]
Write = Callable[[list[dict[str, object]], Path], None]


def table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(
        rows, pa.schema({"id": pa.string(), "words": pa.list_(pa.string())})
    )


def whole(rows: list[dict[str, object]], out: Path) -> None:
    store.write_rows(rows, out, WORDS)


def by_batches(rows: list[dict[str, object]], out: Path) -> None:
    with store.writer(out, WORDS) as file:
        for batch in table(rows).to_batches(max_chunksize=2):
            file.write_batch(batch)


def by_pieces(rows: list[dict[str, object]], out: Path) -> None:
    with store.grouped(out, WORDS) as file:
        for n in range(len(rows)):
            file.add(table(rows).slice(n, 1))


def by_query(rows: list[dict[str, object]], out: Path) -> None:
    pq.write_table(table(rows), out.with_name("rows.parquet"))
    (out.parent / "q.sql").write_text("SELECT id, words FROM rows ORDER BY id")
    relations: dict[str, sql.Files] = {"rows": out.with_name("rows.parquet")}
    sql.query(out.parent / "q.sql", relations, {}, out=out, schema=WORDS)


def gathered(rows: list[dict[str, object]], out: Path) -> None:
    pq.write_table(table(rows), out.with_name("part.parquet"))
    store.gather([out.with_name("part.parquet")], out, WORDS)


WAYS = (whole, by_batches, by_pieces, by_query, gathered)


@pytest.mark.parametrize("write", WAYS)
def test_a_null_among_the_items_of_a_list_is_refused_with_its_row_and_nothing_is_written(
    tmp_path: Path, write: Write
):
    with pytest.raises(IntegrityError, match=r"made\.parquet, column words, row 4: NULL"):
        write(BAD, tmp_path / "made.parquet")
    assert not (tmp_path / "made.parquet").exists()


@pytest.mark.parametrize("write", WAYS)
def test_a_list_that_is_null_or_empty_is_written_as_it_is(tmp_path: Path, write: Write):
    write(GOOD, tmp_path / "made.parquet")
    assert pl.read_parquet(tmp_path / "made.parquet")["words"].to_list() == [["x"], None, []]


def test_a_table_does_not_say_that_its_items_are_never_null(tmp_path: Path):
    """So its bytes are those of a table whose items may be."""
    whole(GOOD, tmp_path / "made.parquet")
    assert pq.read_schema(tmp_path / "made.parquet").field("words").type.value_field.nullable
