"""Runs and judgements come from files and frames of any library, and bad ones are named."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.api import Run, qrels, runs

import isotope
from isotope.core.errors import (
    BadArgument,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    MissingColumn,
    MissingFile,
    UnknownForm,
)

HITS = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [1.0, 2.0, 0.5]}
NESTED: Run = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 0.5}}
EXPECTED = [("q1", "b", 1, 2.0), ("q1", "a", 2, 1.0), ("q2", "a", 1, 0.5)]


@pytest.mark.parametrize(
    "source",
    [
        NESTED,
        HITS,
        pl.DataFrame(HITS),
        pl.LazyFrame(HITS),
        pa.table(HITS),
        pd.DataFrame(HITS),
        pd.DataFrame(HITS).rename(columns={"query_id": "qid", "doc_id": "docno"}),
        pl.DataFrame(HITS).rename({"query_id": "q_id"}).with_columns(rank=pl.lit(7)),
        pl.DataFrame(HITS).with_columns(pl.col("score").cast(pl.String)),
        pd.DataFrame(HITS).astype({"score": object, "query_id": "category"}),
        {q: {d: np.float32(score) for d, score in hits.items()} for q, hits in NESTED.items()},
    ],
    ids=[
        *("nested", "columns", "polars", "lazy", "arrow", "pandas", "pyterrier", "ranx", "texts"),
        *("objects", "float32"),
    ],
)
def test_a_run_is_read_from_whatever_has_its_columns(source):
    assert isotope.read_run(source).rows() == EXPECTED


def test_a_run_is_read_from_files_of_other_tools(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(NESTED))
    pl.DataFrame(HITS).write_parquet(tmp_path / "foreign.parquet")
    lines = "".join(f"{q} Q0 {d} 9 {s} x\n" for q, d, s in pl.DataFrame(HITS).iter_rows())
    (tmp_path / "run.txt").write_text(lines)
    (tmp_path / "run.trec.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "mine [2].parquet").write_bytes((tmp_path / "foreign.parquet").read_bytes())
    (tmp_path / "mine [2].txt").write_text(lines)
    (tmp_path / "mark.txt").write_text(lines, encoding="utf-8-sig")
    (tmp_path / "mark.trec.gz").write_bytes(gzip.compress(lines.encode("utf-8-sig")))
    names = ["run.json", "foreign.parquet", "mine [2].parquet", "run.txt", "run.trec.gz"]
    for name in (*names, "mine [2].txt", "mark.txt", "mark.trec.gz"):
        assert isotope.read_run(tmp_path / name).rows() == EXPECTED
        assert isotope.read_run(str(tmp_path / name)).rows() == EXPECTED


@settings(max_examples=25, deadline=None)
@given(run=runs(), judged=qrels())
def test_what_is_written_is_read_again(run, judged, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    hits = isotope.read_run(run)
    for name in ("a.parquet", "a.PARQUET", "a.trec", "a.trec.gz", "a.trec.bz2"):
        assert isotope.read_run(isotope.write_run(run, folder / name)).equals(hits)
    frame = isotope.read_qrels(judged)
    assert isotope.read_qrels(frame).equals(frame)
    assert {(q, d, g) for q, grades in judged.items() for d, g in grades.items()} == {*frame.rows()}


def test_a_whole_frame_of_pyterrier_is_a_run():
    """Its docid is a number of the index beside docno, its query the text beside qid."""
    frame = pd.DataFrame({"qid": HITS["query_id"], "docid": [4, 5, 4], "docno": HITS["doc_id"]})
    frame = frame.assign(rank=[0, 1, 0], score=HITS["score"], query=["one", "one", "two"])
    assert isotope.read_run(frame).rows() == EXPECTED
    assert isotope.score(frame, {"q1": {"b": 1}}, "MRR@10")["value"].to_list() == [1.0]


def test_ids_that_pandas_made_floats_have_no_point():
    frame = pd.DataFrame({"query_id": [1.0, 2.0], "doc_id": [10, "b"], "score": [1, 2.5]})
    assert isotope.read_run(frame).rows() == [("1", "10", 1, 1.0), ("2", "b", 1, 2.5)]
    assert isotope.read_run({1.0: {"a": 1.0}}).rows() == [("1", "a", 1, 1.0)]  # pyright: ignore
    with pytest.raises(BadArgument, match=r"an id 1\.5 in 'query_id'"):
        isotope.read_run(frame.assign(query_id=[1.0, 1.5]))
    with pytest.raises(IntegrityError, match="an id that is null"):
        isotope.read_run(frame.assign(query_id=pd.Series([1.0, None])))


def test_ids_and_grades_that_are_numbers_are_read_as_such():
    frame = pd.DataFrame({"qid": [1, 2], "docno": [10, 20], "label": [1.0, 0.0]})
    assert isotope.read_qrels(frame).rows() == [("1", "10", 1), ("2", "20", 0)]
    assert isotope.read_run({1: {10: 3}}).rows() == [("1", "10", 1, 3.0)]  # pyright: ignore


BAD_RUNS = [
    (
        {"query_id": ["q"], "doc_id": ["d"]},
        MissingColumn,
        "^run: no column 'score' among",
    ),
    ({"q": {"a": float("nan")}}, IntegrityError, "'q' has a score that is no number .document 'a'"),
    ({**HITS, "score": [1, 2, None]}, IntegrityError, "'q2' has a score that is no number"),
    ({**HITS, "doc_id": ["a", "a", "a"]}, IntegrityError, "'q1' has a document twice"),
    ({**HITS, "doc_id": ["a", None, "a"]}, IntegrityError, "an id that is null"),
    ({**HITS, "doc_id": ["a"]}, BadArgument, "no columns of one length"),
    (7, BadArgument, "it is a int; give a file, a data frame"),
    ("none.trec", MissingFile, r"^none\.trec: no such file"),
    ("none.parquet", MissingFile, r"^none\.parquet: no such file"),
    ("bad.trec", CorruptFile, r"^bad\.trec:1: .*expected: query Q0 document rank score tag"),
    ("bad.parquet", CorruptFile, r"^bad\.parquet: not a table"),
    ("bad.json", CorruptFile, r"^bad\.json: no JSON"),
    ("twice.json", CorruptFile, r"^twice\.json: 'd' twice in one record"),
    ("infinite.trec", IntegrityError, r"^infinite\.trec: query 'q' has a score that is no number"),
    ({**HITS, "query_id": [["q"]] * 3}, BadArgument, "column 'query_id' of List"),
]


@pytest.mark.parametrize(("source", "error", "message"), BAD_RUNS)
def test_a_bad_run_is_named(source, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("bad.trec", "bad.parquet", "bad.json"):
        (tmp_path / name).write_text("q1 d1\n")
    (tmp_path / "twice.json").write_text('{"q": {"d": 1, "d": 2}}')
    (tmp_path / "infinite.trec").write_text("q Q0 d 1 1e999 t\n")
    with pytest.raises(error, match=message):
        isotope.read_run(source)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({"q": {"a": 0.5}}, IntegrityError, "'q' has a relevance that is no whole number"),
        ({"q": {"a": "good"}}, IntegrityError, "a relevance that is no whole number"),
        ({"query_id": ["q"] * 2, "doc_id": ["d"] * 2, "rel": [1, 1]}, IntegrityError, "twice"),
        (pl.DataFrame({"qid": [], "docno": [], "label": []}), EmptyTable, "^qrels: no judgement"),
        ("none.qrels", MissingFile, "no such file"),
    ],
)
def test_bad_judgements_are_named(source, error, message):
    with pytest.raises(error, match=message):
        isotope.read_qrels(source)


def test_a_run_that_trec_can_not_have_is_refused(tmp_path):
    with pytest.raises(IntegrityError, match="white space"):
        isotope.write_run({"q 1": {"a": 1.0}}, tmp_path / "run.trec")
    with pytest.raises(BadArgument, match=r"^system: 'my run'"):
        isotope.write_run(NESTED, tmp_path / "run.trec", system="my run")
    for path, problem in ((tmp_path, "a folder"), (tmp_path / "run.json", "no run is written")):
        with pytest.raises(BadArgument, match=problem):
            isotope.write_run(NESTED, path)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_without_a_project_has_no_catalog(tmp_path):
    with pytest.raises(MissingFile, match="neither data/ nor results/"):
        isotope.catalog(tmp_path)


def test_a_table_that_no_form_knows_is_named(tmp_path):
    (tmp_path / "table.xyz").write_text("a\n")
    with pytest.raises(UnknownForm):
        isotope.read_collection(tmp_path / "table.xyz")
