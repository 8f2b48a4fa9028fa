"""Running one SELECT over files: binding, streaming, complaining."""

import re

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isotope.core import sql, store
from isotope.core.errors import (
    CorruptFile,
    EmptyTable,
    IntegrityError,
    IsotopeError,
    MissingColumn,
    MissingFile,
)
from isotope.schemas.collect import QRELS

NUMBERS = pa.schema([pa.field("n", pa.int32()), pa.field("word", pa.string())])


@pytest.fixture
def numbers(tmp_path):
    """A table of the numbers 0 to 9 with a word each."""
    path = tmp_path / "numbers.parquet"
    store.write_rows([{"n": n, "word": f"w{n}"} for n in range(10)], path, NUMBERS)
    return path


@pytest.fixture
def select(tmp_path):
    """Write a query and return its file."""

    def write(text: str, name: str = "query.sql"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_relation_is_a_view_over_its_file_and_a_parameter_a_value(numbers, select):
    query = select("SELECT word FROM numbers WHERE n >= $least ORDER BY n")
    rows = sql.query(query, {"numbers": numbers}, {"least": 8})
    assert rows is not None
    assert rows["word"].to_list() == ["w8", "w9"]


def test_several_files_are_one_relation_whatever_optional_columns_they_have(
    numbers, select, tmp_path
):
    more = tmp_path / "more.parquet"
    pl.DataFrame({"extra": ["x"], "n": [10]}).write_parquet(more)
    query = select("SELECT n, extra FROM numbers WHERE n > 8 ORDER BY n")
    rows = sql.query(query, {"numbers": [numbers, more]}, {})
    assert rows is not None
    assert rows.rows() == [(9, None), (10, "x")]


def test_a_csv_file_is_a_relation_too(select, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    rows = sql.query(select("SELECT sum(a)::INT AS s FROM t"), {"t": tmp_path / "t.csv"}, {})
    assert rows is not None
    assert rows.item() == 3


@pytest.mark.parametrize("name", ["2023", "1e5", "007", "2023-01-05"])
def test_a_system_of_a_csv_file_keeps_its_name(select, tmp_path, name):
    for system in (name, "bm25"):
        (tmp_path / f"{system}.csv").write_text(f"system,k\n{system},10\n")
    for given in ([name], [name, "bm25"]):
        files = [tmp_path / f"{system}.csv" for system in given]
        told = sql.query(select("SELECT system, k FROM recall"), {"recall": files}, {})
        assert told is not None
        assert told.rows() == [(system, 10) for system in given]


@pytest.mark.parametrize("params", [{}, {"least": 1, "most": 2}], ids=["missing", "excess"])
def test_parameters_must_be_those_of_the_query(numbers, select, params):
    query = select("SELECT n FROM numbers WHERE n >= $least ORDER BY n", "some_rows.sql")
    with pytest.raises(IsotopeError, match=r"some_rows\.sql: .*parameter"):
        sql.query(query, {"numbers": numbers}, params)


def test_a_query_cannot_see_variables_of_python(select):
    rows = pl.DataFrame({"n": [1]})
    assert rows.height == 1
    with pytest.raises(IsotopeError, match="rows"):
        sql.query(select("SELECT n FROM rows ORDER BY n"), {}, {})


def test_rows_are_cast_to_the_schema_and_grouped_alike_at_any_parallelism(select, tmp_path):
    count = store.ROWS_PER_GROUP * 2 + 10
    query = select(f"SELECT i AS n, i::VARCHAR AS word FROM range({count}) AS r (i) ORDER BY i")
    for name in ("a", "b"):
        assert sql.query(query, {}, {}, out=tmp_path / name, schema=NUMBERS) is None
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    file = pq.ParquetFile(tmp_path / "a")
    groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
    assert groups == [store.ROWS_PER_GROUP, store.ROWS_PER_GROUP, 10]
    assert file.schema_arrow.equals(NUMBERS)


def test_a_file_is_the_same_as_if_its_rows_had_been_written_at_once(select, tmp_path):
    """DuckDB's batches are short now and then, here after 122,880 rows, and pages end with them."""
    schema = pa.schema([*QRELS, pa.field("words", pa.list_(pa.string()))])
    query = select(
        "SELECT i::VARCHAR AS text_id, '' AS image_id, 1 AS relevance, 'test' AS split, "
        "[md5(i::VARCHAR), i::VARCHAR, ''][:i % 4] AS words FROM range(150000) r (i) ORDER BY i"
    )
    sql.query(query, {}, {}, out=tmp_path / "streamed", schema=schema)
    whole = pq.read_table(tmp_path / "streamed").combine_chunks()
    store.write(whole, tmp_path / "once", schema)
    assert (tmp_path / "streamed").read_bytes() == (tmp_path / "once").read_bytes()


def test_a_query_without_rows_still_writes_its_columns(select, tmp_path):
    query = select("SELECT 1 AS n, 'x' AS word WHERE false")
    sql.query(query, {}, {}, out=tmp_path / "none", schema=NUMBERS)
    assert pq.read_table(tmp_path / "none").schema.names == ["n", "word"]


def test_columns_in_another_order_than_the_schema_are_refused(numbers, select, tmp_path):
    query = select("SELECT word, n FROM numbers ORDER BY n")
    with pytest.raises(MissingColumn, match="in this order"):
        sql.query(query, {"numbers": numbers}, {}, out=tmp_path / "out", schema=NUMBERS)
    assert not (tmp_path / "out").exists()


def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_beside_it(select, tmp_path):
    out = tmp_path / "made" / "out.parquet"
    good = select("SELECT 1 AS n, 'x' AS word")
    sql.query(good, {}, {}, out=out, schema=NUMBERS)
    before = out.read_bytes()
    bad = select(
        "SELECT CASE WHEN i > 200000 THEN error('enough') ELSE i END AS n, 'x' AS word "
        "FROM range(300000) AS r (i)",
        "bad.sql",
    )
    with pytest.raises(IsotopeError, match=r"bad\.sql.*enough"):
        sql.query(bad, {}, {}, out=out, schema=NUMBERS)
    assert out.read_bytes() == before
    assert [p.name for p in out.parent.iterdir()] == ["out.parquet"]


def test_a_value_too_large_for_its_column_names_the_query(select, tmp_path):
    query = select("SELECT 3000000000 AS n, 'x' AS word", "large.sql")
    with pytest.raises(IsotopeError, match=r"large\.sql"):
        sql.query(query, {}, {}, out=tmp_path / "out", schema=NUMBERS)


def test_a_sort_larger_than_the_memory_limit_spills_beside_its_output(select, tmp_path):
    query = select(
        "SELECT i::INT AS n, md5(i::VARCHAR) AS word FROM range(3000000) r (i) ORDER BY 2"
    )
    out = tmp_path / "made" / "sorted.parquet"
    sql.query(query, {}, {}, out=out, schema=NUMBERS, memory_limit="100MB")
    words = pl.scan_parquet(out).select(pl.col("word").is_sorted(), pl.len().alias("n")).collect()
    assert words.row(0) == (True, 3_000_000)
    assert [p.name for p in out.parent.iterdir()] == ["sorted.parquet"]


def test_a_missing_query_a_missing_file_and_no_file_are_named(select, tmp_path):
    query = select("SELECT 1 AS n")
    with pytest.raises(MissingFile, match=r"nowhere\.sql"):
        sql.query(tmp_path / "nowhere.sql", {}, {})
    with pytest.raises(MissingFile, match=r"gone\.parquet.*wanted as texts"):
        sql.query(query, {"texts": tmp_path / "gone.parquet"}, {})
    with pytest.raises(EmptyTable, match="texts"):
        sql.query(query, {"texts": []}, {})


def test_a_file_that_is_no_table_is_named(select, tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"half a file")
    with pytest.raises(CorruptFile, match=r"t\.parquet"):
        sql.query(select("SELECT 1 AS n"), {"t": tmp_path / "t.parquet"}, {})


def test_a_check_that_returns_rows_breaks_the_promise_that_is_its_name(numbers, select):
    claim = select("SELECT n FROM numbers WHERE n > $most ORDER BY n", "every_number_is_small.sql")
    sql.check(claim, {"numbers": numbers}, {"most": 9})
    with pytest.raises(IntegrityError, match=re.escape("every number is small: not so")) as error:
        sql.check(claim, {"numbers": numbers}, {"most": 1})
    assert "{'n': 2}; {'n': 3}" in str(error.value)
    assert "{'n': 7}" not in str(error.value)


def test_names_are_those_of_the_query_and_not_of_its_comments_or_its_own_with(select):
    query = select(
        """-- from elsewhere: $unread, images
        WITH numbers AS (SELECT n FROM numbers WHERE word != 'texts $n'),
            odd AS (SELECT n FROM numbers WHERE n % 2 = $rest)
        SELECT n FROM odd WHERE n NOT IN (SELECT n FROM known AS k)
        UNION ALL
        SELECT n FROM odd JOIN more USING (n) /* FROM qrels */
        """
    )
    assert sql.names(query) == ({"numbers", "known", "more"}, {"rest"})


def test_a_query_that_can_not_be_parsed_is_named(select):
    with pytest.raises(IsotopeError, match="syntax error") as error:
        sql.names(select("SELECT FROM FROM numbers"))
    assert error.value.where.endswith("query.sql")


def test_every_query_of_ours_can_be_parsed_and_names_what_it_reads():
    files = sorted(sql.SQL.rglob("*.sql"))
    assert len(files) > 200
    without = [file.name for file in files if not sql.names(file).relations]
    # They read files by their paths, a parameter.
    assert without == ["pictures.sql", "chosen.sql", "named.sql"]
    wikitext = sql.names(sql.SQL / "parse/wikitext/20_addresses.sql")
    assert wikitext == ({"files", "sections", "uses"}, {"is_complete"})


def test_a_chain_gives_each_query_what_it_names_and_what_came_before(numbers, select, tmp_path):
    steps = [
        select("SELECT n, word FROM numbers WHERE n >= $least ORDER BY n", "10_large.sql"),
        select("SELECT l.n FROM large AS l JOIN more ON more.n = l.n", "20_both_of.sql"),
    ]
    more = tmp_path / "more.parquet"
    pl.DataFrame({"n": [3, 9]}).write_parquet(more)
    relations = {"numbers": numbers, "more": more, "unread": tmp_path / "nowhere.parquet"}
    params = {"least": 8, "unread": 0}
    schemas = {"large": NUMBERS}
    made = sql.run_chain(steps, relations, tmp_path / "out", params=params, schemas=schemas)
    assert list(made) == ["large", "both_of"]
    assert pl.read_parquet(made["both_of"]).rows() == [(9,)]
    assert pq.read_schema(made["large"]).equals(NUMBERS)
    with pytest.raises(KeyError, match="least"):
        sql.run_chain(steps, relations, tmp_path / "out")


@pytest.mark.parametrize("folder", ["its [v2]", "it's {new}", "a*b"])
def test_a_file_in_a_folder_whose_name_looks_like_a_pattern_is_that_file(select, tmp_path, folder):
    place = tmp_path / folder
    store.write_rows([{"n": 1}], place / "a.parquet", pa.schema([("n", pa.int64())]))
    query = select("SELECT n FROM numbers")
    for files, rows in ((place / "a.parquet", [(1,)]), ([place / "a.parquet"] * 2, [(1,), (1,)])):
        found = sql.query(query, {"numbers": files}, {})
        assert found is not None
        assert found.rows() == rows
