"""TREC files: what is written can be read, by us and by trec_eval, and a bad line has a number."""

import gzip

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import runs
from isotope.core.errors import CorruptFile, IntegrityError, MissingFile, TruncatedFile
from isotope.core.runs import ranked

# It has no wheel for ARM.
pytrec_eval = pytest.importorskip("pytrec_eval")

ID = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6)
SCORE = st.floats(allow_nan=False, allow_infinity=False)


def run_of(hits: dict[tuple[str, str], float]) -> pl.DataFrame:
    rows = [(query, doc, score) for (query, doc), score in hits.items()]
    columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return ranked(pl.DataFrame(rows, schema=columns, orient="row"))


@pytest.mark.parametrize("name", ["run.trec", "run.trec.gz"])
@settings(deadline=None)
@given(hits=st.dictionaries(st.tuples(ID, ID), SCORE))
def test_a_run_comes_back_to_the_last_digit(tmp_path_factory, name, hits):
    path = tmp_path_factory.mktemp("trec") / name
    runs.write_trec_run(run_of(hits), path, tag="isotope")
    assert runs.read_trec_run(path).equals(run_of(hits))


@settings(deadline=None)
@given(judged=st.dictionaries(st.tuples(ID, ID), st.integers(-2, 4)))
def test_qrels_come_back_in_their_order(tmp_path_factory, judged):
    path = tmp_path_factory.mktemp("trec") / "qrels.gz"
    rows = [(query, doc, grade) for (query, doc), grade in judged.items()]
    columns = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int32}
    qrels = pl.DataFrame(rows, schema=columns, orient="row")
    runs.write_trec_qrels(qrels, path)
    assert runs.read_trec_qrels(path).equals(qrels)


def test_pytrec_eval_reads_what_is_written(tmp_path):
    run = run_of({("q1", "a"): 1.5, ("q1", "b"): -2.0, ("q2", "a"): 1e-7})
    runs.write_trec_run(run, tmp_path / "run", tag="bm25")
    runs.write_trec_qrels(run.select("query_id", "doc_id", relevance="rank"), tmp_path / "qrels")
    with (tmp_path / "run").open() as lines:
        assert pytrec_eval.parse_run(lines) == {"q1": {"a": 1.5, "b": -2.0}, "q2": {"a": 1e-7}}
    with (tmp_path / "qrels").open() as lines:
        assert pytrec_eval.parse_qrel(lines) == {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}}


def test_white_space_of_any_kind_parts_fields_and_blank_lines_are_skipped(tmp_path):
    (tmp_path / "run").write_bytes(b"\nq1\tQ0  a 7 .5e1 x\r\n   \n q1 Q0 b 1 +6 x \r\n")
    assert runs.read_trec_run(tmp_path / "run").rows() == [("q1", "b", 1, 6.0), ("q1", "a", 2, 5.0)]


def test_an_empty_file_is_a_run_without_hits(tmp_path):
    (tmp_path / "run").touch()
    assert runs.read_trec_run(tmp_path / "run").is_empty()


def test_the_rank_in_the_file_is_not_believed(tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 1.0 x\nq Q0 b 2 1.0 x\n")
    assert runs.read_trec_run(tmp_path / "run")["doc_id"].to_list() == ["b", "a"]


@pytest.mark.parametrize(
    "line",
    [
        "q1 Q0 b 2 1.0",
        "q1 Q0 b 2 1.0 x y",
        "q1 Q0 b two 1.0 x",
        "q1 Q0 b 2 nan x",
        "q1 Q0 b 2 1,0 x",
        "q1 Q0 a 2 0.5 x",
    ],
)
def test_a_bad_line_of_a_run_is_named_by_its_number(tmp_path, line):
    path = tmp_path / "run"
    path.write_text(f"q1 Q0 a 1 2.0 x\n\n{line}\nq2 Q0 a 1 1.0 x\n")
    with pytest.raises(CorruptFile) as error:
        runs.read_trec_run(path)
    assert error.value.where == f"{path}:3"
    assert repr(line) in error.value.problem


@pytest.mark.parametrize("line", ["q1 0 b", "q1 0 b 1.5", "q1 0 b 1 1", "q1 0 a 0"])
def test_a_bad_line_of_qrels_is_named_by_its_number(tmp_path, line):
    path = tmp_path / "qrels.gz"
    path.write_bytes(gzip.compress(f"q1 0 a 1\n{line}\n".encode()))
    with pytest.raises(CorruptFile) as error:
        runs.read_trec_qrels(path)
    assert error.value.where == f"{path}:2"


def test_a_broken_file_is_refused_by_name(tmp_path):
    with pytest.raises(MissingFile):
        runs.read_trec_run(tmp_path / "absent")
    (tmp_path / "latin").write_bytes(b"q Q0 \xe9 1 1.0 x\n")
    with pytest.raises(CorruptFile, match="UTF-8"):
        runs.read_trec_run(tmp_path / "latin")
    whole = gzip.compress(b"".join(b"q%d 0 a 1\n" % i for i in range(1000)))
    (tmp_path / "cut.gz").write_bytes(whole[:-30])
    with pytest.raises(TruncatedFile, match="damaged gzip"):
        runs.read_trec_qrels(tmp_path / "cut.gz")


@pytest.mark.parametrize("query", ["two words", "", "tab\t"])
def test_an_id_with_white_space_cannot_be_written(tmp_path, query):
    with pytest.raises(IntegrityError, match="query_id"):
        runs.write_trec_run(run_of({(query, "d"): 1.0}), tmp_path / "run", tag="x")
    with pytest.raises(IntegrityError, match="tag"):
        runs.write_trec_run(run_of({("q", "d"): 1.0}), tmp_path / "run", tag="a tag")
    assert list(tmp_path.iterdir()) == []


def test_the_same_run_gives_the_same_bytes_gzipped(tmp_path):
    for name in ("one.gz", "two.gz"):
        runs.write_trec_run(run_of({("q", "d"): 1.0}), tmp_path / name, tag="x")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


@pytest.mark.parametrize(("direction", "queries"), [("t2i", 17_173), ("i2t", 16_131)])
def test_the_published_qrels_load_in_both_directions(shared, direction, queries):
    """AToMiC, Table 1, validation."""
    path = shared / f"collections/atomic/qrels.atomic.validation.{direction}.trec.gz"
    qrels = runs.read_trec_qrels(path)
    assert qrels.height == 17_801
    assert qrels["query_id"].n_unique() == queries


def test_the_two_published_directions_are_the_same_pairs(shared):
    t2i, i2t = (
        runs.read_trec_qrels(shared / f"collections/atomic/qrels.atomic.validation.{name}.trec.gz")
        for name in ("t2i", "i2t")
    )
    turned = i2t.select(query_id="doc_id", doc_id="query_id", relevance="relevance")
    assert t2i.join(turned, on=t2i.columns, how="anti").is_empty()
