"""Tables that come in pieces are written as if they had come whole."""

from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import store
from isotope.core import store as store_columns
from isotope.core.store import GroupedWriter, grouped
from isotope.schemas.collect import QRELS

SCHEMA = pa.schema(
    [
        pa.field("word", pa.string()),
        pa.field("n", pa.int32()),
        pa.field("sure", pa.bool_()),
        pa.field("words", pa.list_(pa.string())),
    ]
)
VALUES = {
    "word": st.none() | st.text(max_size=9),
    "n": st.none() | st.integers(-9, 9),
    "sure": st.none() | st.booleans(),
    "words": st.none() | st.lists(st.text(max_size=3), max_size=3),
}


@st.composite
def pieces(draw: st.DrawFn) -> list[pa.Table]:
    """Rows cut at random places, no rows and views into longer tables among the pieces."""
    rows = draw(st.lists(st.fixed_dictionaries(VALUES), max_size=25))
    whole = pa.Table.from_pylist(rows, schema=SCHEMA)
    cuts = [0, *sorted(draw(st.lists(st.integers(0, len(rows)), max_size=5))), len(rows)]
    return [whole.slice(a, b - a) for a, b in pairwise(cuts)]


def written(path: Path, tables: list[pa.Table]) -> bytes:
    with grouped(path, SCHEMA) as out:
        for table in tables:
            out.add(table)
    return path.read_bytes()


@settings(max_examples=25, deadline=None)
@given(cut=pieces(), size=st.integers(1, 9))
def test_pieces_do_not_show_and_nothing_is_lost(cut, size, tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "ROWS_PER_GROUP", size)
        patch.setattr(store_columns, "_FIRST_BYTES", 1)
        whole = written(folder / "whole", [pa.concat_tables(cut).combine_chunks()])
        assert written(folder / "cut", cut) == whole
        # A column that outgrows its offsets goes on in a second piece, which may show in the bytes.
        patch.setattr(store_columns, "_MOST_BYTES", 9 * 4)
        rows = pa.concat_tables(cut)
        written(folder / "small", [rows.slice(n, 1) for n in range(len(rows))])
    for name in ("cut", "small"):
        found = pq.ParquetFile(folder / name)
        assert found.read().equals(rows)
        groups = [found.metadata.row_group(g).num_rows for g in range(found.num_row_groups)]
        assert all(n == size for n in groups[:-1])


class Late:
    """A thread that writes a row group only when it is waited for."""

    def submit(self, fn, *given) -> Future[None]:
        late: Future[None] = Future()

        def result(timeout: float | None = None) -> None:
            if not late.done():
                late.set_result(fn(*given))

        late.result = result
        return late


class AtOnce(Late):
    """A thread that has written a row group as soon as it is asked to."""

    def submit(self, fn, *given) -> Future[None]:
        done = super().submit(fn, *given)
        done.result()
        return done


@pytest.mark.parametrize("thread", [Late(), AtOnce()])
def test_it_does_not_show_how_long_a_row_group_takes_to_write(thread, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 7)
    rows = [{"word": f"{n}" * n, "n": n, "sure": None, "words": ["a"] * n} for n in range(40)]
    whole = pa.Table.from_pylist(rows, schema=SCHEMA)
    with store.writer(tmp_path / "cut", SCHEMA) as out:
        pieces = GroupedWriter(out, thread)
        for at in range(0, 40, 3):
            pieces.add(whole.slice(at, 3))
        pieces.finish()
    assert pq.read_table(tmp_path / "cut").equals(whole)
    assert (tmp_path / "cut").read_bytes() == written(tmp_path / "whole", [whole])


def test_pages_are_those_of_a_table_written_at_once(tmp_path):
    texts = [f"{n * 7919 % 60_000} {'x' * (n % 300)}" for n in range(70_000)]
    columns = {"word": texts, "n": range(70_000), "sure": [None] * 70_000, "words": [None] * 70_000}
    whole = pa.table({k: pa.array(v, SCHEMA.field(k).type) for k, v in columns.items()})
    cut = [whole.slice(at, 999) for at in range(0, len(whole), 999)]
    store.write(whole, tmp_path / "once", SCHEMA)
    assert written(tmp_path / "cut", cut) == (tmp_path / "once").read_bytes()


def test_tables_that_ids_are_looked_up_in_have_the_row_groups_of_one_written_at_once(tmp_path):
    columns = {"text_id": map(str, range(40_000)), "image_id": ["i"] * 40_000}
    rest = {"relevance": [1] * 40_000, "split": ["test"] * 40_000}
    whole = pa.table({k: list(v) for k, v in {**columns, **rest}.items()}).cast(QRELS)
    store.write(whole, tmp_path / "once", QRELS)
    with grouped(tmp_path / "cut", QRELS) as out:
        for at in range(0, len(whole), 9_999):
            out.add(whole.slice(at, 9_999))
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "once").read_bytes()


def test_a_table_that_lacks_a_column_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(KeyError, match="words"):
        written(tmp_path / "out", [pa.table({"word": ["a"], "n": [1], "sure": [True]})])
    assert not list(tmp_path.iterdir())
