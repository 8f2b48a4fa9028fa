"""Runs have one order, and a run that breaks it can neither be written nor read."""

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import store
from isotope.core.errors import CorruptFile, IntegrityError, MissingColumn, MissingFile
from isotope.core.runs import (
    aligned,
    batches,
    by_query,
    empty,
    ranked,
    read_run,
    write_pieces,
    write_run,
)
from isotope.core.schemas import RUN
from isotope.search.systems import random_run

HITS = st.dictionaries(
    st.tuples(st.sampled_from("pqr"), st.text("abé9", min_size=1, max_size=3)),
    st.sampled_from([-1.0, 0.0, 0.5, 2.0]),
)


def frame(rows: list[tuple[str, str, float]]) -> pl.DataFrame:
    columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_a_tie_is_broken_by_document_id_the_greater_first():
    run = ranked(frame([("q", "a", 1.0), ("q", "c", 1.0), ("q", "b", 1.0), ("q", "d", 2.0)]))
    assert run["doc_id"].to_list() == ["d", "c", "b", "a"]
    assert run["rank"].to_list() == [1, 2, 3, 4]


@settings(deadline=None)
@given(HITS, st.randoms())
def test_the_order_is_that_of_sorted_tuples_whatever_order_comes_in(hits, random):
    rows = [(query, doc, score) for (query, doc), score in hits.items()]
    random.shuffle(rows)
    want = sorted(rows, key=lambda row: row[1].encode(), reverse=True)
    want = sorted(sorted(want, key=lambda row: -row[2]), key=lambda row: row[0])
    run = ranked(frame(rows))
    assert run.select("query_id", "doc_id", "score").rows() == want
    for (_,), own in run.group_by("query_id"):
        assert own["rank"].to_list() == list(range(1, own.height + 1))


def test_depth_cuts_each_query():
    run = ranked(frame([(q, d, 1.0) for q in "pq" for d in "abc"]), depth=2)
    assert run.select("query_id", "doc_id").rows() == [(q, d) for q in "pq" for d in "cb"]


@settings(deadline=None)
@given(HITS)
def test_a_run_comes_back_as_it_was_written(tmp_path_factory, hits):
    path = tmp_path_factory.mktemp("runs") / "run.parquet"
    rows = [(query, doc, score) for (query, doc), score in hits.items()]
    write_run(frame(rows), path)
    assert read_run(path).equals(ranked(frame(rows)))
    assert pq.read_schema(path).equals(RUN)
    small = list(batches(path, rows=2))
    assert pl.concat([empty(), *small]).equals(read_run(path))
    assert all(batch.height <= 2 for batch in small)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([("q1", "a", float("nan"))], "query 'q1' has a score that is no number"),
        ([("q1", "a", float("inf"))], "a score that is no number"),
        ([("q1", "a", None)], "a score that is no number"),
        ([("q0", "a", 1.0), ("q1", "a", 1.0), ("q1", "a", 2.0)], "query 'q1' has a document twice"),
    ],
)
def test_a_run_that_breaks_its_promise_is_not_written(tmp_path, rows, found):
    path = tmp_path / "run.parquet"
    with pytest.raises(IntegrityError, match=found) as error:
        write_run(frame(rows), path)
    assert error.value.where == str(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "rows",
    [
        [("q", "a", 1, 1.0), ("q", "b", 2, 1.0)],
        [("q", "a", 1, 1.0), ("q", "b", 2, 2.0)],
        [("q", "a", 1, 1.0), ("q", "a", 2, 1.0)],
        [("q", "b", 1, 1.0), ("q", "a", 3, 1.0)],
        [("q", "b", 2, 1.0), ("q", "a", 3, 1.0)],
        [("q", "b", 1, 1.0), ("p", "a", 1, 1.0)],
        [("q", "b", 1, 1.0), ("r", "a", 2, 1.0)],
        [("q", "b", 1, float("nan")), ("q", "a", 2, 1.0)],
    ],
)
@pytest.mark.parametrize("rows_per_batch", [1, 10])
def test_a_run_out_of_order_is_refused_when_read(tmp_path, rows, rows_per_batch):
    path = tmp_path / "run.parquet"
    names = RUN.names
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    store.write(table, path, RUN)
    with pytest.raises(IntegrityError, match="does not follow"):
        list(batches(path, rows=rows_per_batch))


def test_a_file_that_is_no_run_is_refused_by_name(tmp_path):
    with pytest.raises(MissingFile):
        read_run(tmp_path / "absent.parquet")
    (tmp_path / "bytes.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(CorruptFile):
        read_run(tmp_path / "bytes.parquet")
    frame([]).write_parquet(tmp_path / "short.parquet")
    with pytest.raises(MissingColumn, match="rank"):
        read_run(tmp_path / "short.parquet")


def test_runs_are_cut_into_aligned_pieces_by_query():
    first = ranked(frame([(q, "d", 1.0) for q in "acd"]))
    second = ranked(frame([(q, d, 1.0) for q in "bcde" for d in "xy"]))
    pieces = list(by_query([first, second], 2))
    assert [[p["query_id"].unique().sort().to_list() for p in piece] for piece in pieces] == [
        [["a"], ["b"]],
        [["c", "d"], ["c", "d"]],
        [[], ["e"]],
    ]
    assert pl.concat(piece[1] for piece in pieces).equals(second)


def test_a_random_run_does_not_depend_on_the_order_or_the_batches_of_its_input():
    queries, docs = [f"q{i}" for i in range(20)], [f"d{i}" for i in range(50)]
    run = random_run(queries, docs, depth=10, seed=7)
    assert run.equals(random_run(queries[::-1] * 2, docs[::-1], depth=10, seed=7))
    halves = [random_run(half, docs, depth=10, seed=7) for half in (queries[::2], queries[1::2])]
    assert run.equals(ranked(pl.concat(halves)))
    assert not run.equals(random_run(queries, docs, depth=10, seed=8))
    assert run.equals(ranked(run))
    assert run.height == 200
    assert run.select("query_id", "doc_id").is_unique().all()


def test_a_random_run_draws_every_document_equally_often():
    run = random_run([f"q{i}" for i in range(4000)], list("abcdefgh"), depth=2, seed=1)
    for rank in (1, 2):
        counts = run.filter(pl.col("rank") == rank)["doc_id"].value_counts()["count"]
        expected = 4000 / 8
        assert ((counts - expected) ** 2 / expected).sum() < 24.3  # chi-squared, 7 df, p = 0.001


def test_a_random_run_of_few_documents_returns_them_all():
    run = random_run(["q"], ["a", "b"], depth=10, seed=1)
    assert sorted(run["doc_id"]) == ["a", "b"]
    assert run["score"].to_list() == [1.0, 0.5]
    assert random_run(["q"], [], depth=10, seed=1).is_empty()


@settings(deadline=None)
@given(HITS)
def test_a_run_written_in_pieces_has_the_bytes_of_one_written_at_once(tmp_path_factory, hits):
    folder = tmp_path_factory.mktemp("runs")
    run = ranked(frame([(query, doc, score) for (query, doc), score in hits.items()]))
    write_run(run, folder / "whole.parquet")
    pieces = [run.filter(query_id=query) for query in "opqr"]
    assert write_pieces(pieces, folder / "pieces.parquet") == run.height
    whole, parts = (folder / f"{n}.parquet" for n in ("whole", "pieces"))
    assert read_run(parts).equals(run)
    assert not hits or parts.read_bytes() == whole.read_bytes()


def test_pieces_out_of_order_are_refused_and_leave_no_file(tmp_path):
    pieces = [ranked(frame([(query, "d", 1.0)])) for query in "qp"]
    with pytest.raises(IntegrityError, match="does not follow"):
        write_pieces(pieces, tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_run_damaged_in_the_middle_is_refused_by_name(tmp_path):
    path = tmp_path / "run.parquet"
    write_run(frame([("q", f"d{n}", float(n)) for n in range(5000)]), path)
    content = bytearray(path.read_bytes())
    content[100:2000] = bytes(1900)
    path.write_bytes(content)
    with pytest.raises(CorruptFile):
        read_run(path)


@settings(deadline=None, max_examples=60)
@given(HITS, HITS, st.integers(1, 5))
def test_runs_read_side_by_side_are_cut_between_queries(tmp_path_factory, one, two, rows):
    folder = tmp_path_factory.mktemp("runs")
    runs = [ranked(frame([(q, d, s) for (q, d), s in hits.items()])) for hits in (one, two)]
    for n, run in enumerate(runs):
        write_run(run, folder / f"{n}.parquet")
    seen: set[str] = set()
    back = [[empty()], [empty()]]
    for piece in aligned([folder / f"{n}.parquet" for n in (0, 1)], rows):
        queries = {q for run in piece for q in run["query_id"]}
        assert not queries & seen
        seen |= queries
        for n, run in enumerate(piece):
            back[n].append(run)
    assert all(pl.concat(parts).equals(run) for parts, run in zip(back, runs, strict=True))
