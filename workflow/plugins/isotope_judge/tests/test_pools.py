"""Pools go out, sheets come back, and systems are scored on what people said."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from isotope.core import store
from isotope.core.errors import (
    BadParams,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    MissingColumn,
    MissingFile,
)
from isotope.core.runs import ranked, write_run
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.score import SCORES
from isotope_judge.ledger import sheet_paths
from isotope_judge.pool import (
    JudgedTask,
    agreement,
    cohen_kappa,
    graded_qrels,
    kendall_tau,
    leave_one_out,
    mean_scores,
    pool_runs,
    read_sheets,
    score_judged,
    system_scores,
    without,
    write_pool,
)
from isotope_judge.schemas import SHEET

RANKED = {"one": {"t1": "ab", "t2": "ab"}, "two": {"t1": "ca", "t2": "b"}, "three": {"t1": "abd"}}
PAIR = ["task", "query_id", "doc_id"]


def run_of(answers: dict[str, str]) -> pl.DataFrame:
    rows = [(q, d, -float(i)) for q, docs in answers.items() for i, d in enumerate(docs)]
    columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return ranked(pl.DataFrame(rows, schema=columns, orient="row"))


@pytest.fixture
def runs(tmp_path) -> list[Path]:
    """Three systems on two texts and the images a to d; a is the sparse answer to both."""
    paths = [tmp_path / f"toy/small/test/t2m/{name}.parquet" for name in RANKED]
    for path in paths:
        write_run(run_of(RANKED[path.stem]), path)
    texts = [
        {"text_id": t, "page_title": "Page", "section_title": f"The\nsection {t}"}
        for t in ("t1", "t2")
    ]
    images = [
        {"image_id": i, "image_url": f"http://x/{i}.png", "caption_alt_text_description": ["A", ""]}
        for i in "abcd"
    ]
    qrels = [{"text_id": t, "image_id": "a", "relevance": 1, "split": "test"} for t in ("t1", "t2")]
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    store.write_rows(qrels, tmp_path / "qrels.parquet", QRELS)
    return paths


@pytest.fixture
def sheet(runs, tmp_path) -> pl.DataFrame:
    outputs = [tmp_path / "sheet.parquet", tmp_path / "sheet.csv"]
    pool = tmp_path / "pool.parquet"
    relations = tmp_path / "texts.parquet", tmp_path / "images.parquet"
    write_pool(runs, *relations, depth=2, pool=pool, sheets=outputs)
    return pl.read_csv(outputs[1], infer_schema=False)


def graded_sheet(sheet: pl.DataFrame, path: Path, grades: dict[tuple[str, str], str]) -> Path:
    """Fill in a sheet as an assessor named like the file would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    filled = [grades.get((q, d), "") for q, d in sheet.select("query_id", "doc_id").iter_rows()]
    sheet.with_columns(grade=pl.Series(filled), assessor=pl.lit(path.stem)).write_csv(path)
    return path


def test_a_pool_has_the_first_hits_of_every_run_once(runs):
    pool = pool_runs(runs, depth=2)
    assert pool.select("query_id", "doc_id", "rank", "systems").rows() == [
        ("t1", "a", 1, ["one", "three", "two"]),
        ("t1", "b", 2, ["one", "three"]),
        ("t1", "c", 1, ["two"]),
        ("t2", "a", 1, ["one"]),
        ("t2", "b", 1, ["one", "two"]),
    ]
    assert pool_runs(runs, depth=3).filter(doc_id="d").height == 1
    with pytest.raises(BadParams, match="no run"):
        pool_runs([], depth=2)


@settings(deadline=None, max_examples=30)
@given(
    st.dictionaries(
        st.sampled_from("xyz"),
        st.dictionaries(st.sampled_from("qr"), st.permutations("abcde"), min_size=1),
        min_size=1,
    ),
    st.integers(1, 6),
)
def test_a_pool_is_the_union_of_the_tops(tmp_path_factory, answers, depth):
    folder = tmp_path_factory.mktemp("pool")
    paths = [folder / f"small/test/t2m/{name}.parquet" for name in answers]
    for path in paths:
        write_run(run_of({q: "".join(d) for q, d in answers[path.stem].items()}), path)
    union = {(q, d) for hits in answers.values() for q, docs in hits.items() for d in docs[:depth]}
    pooled = pool_runs(paths, depth=depth).select("query_id", "doc_id").rows()
    assert sorted(union) == pooled


def test_a_sheet_has_words_on_one_line_and_says_nothing_of_systems(sheet, tmp_path):
    assert sheet.columns == SHEET.names
    assert sheet["query"][0] == "Page | The section t1"
    assert sheet["document"][0] == "http://x/a.png | A"
    assert sheet["grade"].null_count() == sheet.height == 5
    assert pl.read_parquet(tmp_path / "sheet.parquet").drop("grade").equals(sheet.drop("grade"))
    assert len((tmp_path / "sheet.csv").read_text().splitlines()) == 6


def test_a_sheet_comes_back_as_csv_or_parquet(sheet, tmp_path):
    path = graded_sheet(
        sheet, tmp_path / "back/toy/ann.csv", {("t1", "a"): " 2 ", ("t2", "b"): "0"}
    )
    pl.read_csv(path, infer_schema=False).write_parquet(path.with_name("again.parquet"))
    sheets = sheet_paths("toy", folder=tmp_path / "back")
    assert [Path(f).name for f in sheets] == ["again.parquet", "ann.csv"]
    assert sheet_paths("other", folder=tmp_path / "back") == []
    pool = pl.read_parquet(tmp_path / "pool.parquet")
    expected = [("t2m", "t1", "a", 2, "ann"), ("t2m", "t2", "b", 0, "ann")]
    for path in sheets:
        assert read_sheets([Path(path)], pool).rows() == expected
    with pytest.raises(IntegrityError, match="graded before"):
        read_sheets([Path(f) for f in sheets], pool)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (pl.lit("good").alias("grade"), (CorruptFile, "not 0 to 9.*'good'.*first of 5", ":2")),
        (pl.lit("-1").alias("grade"), (CorruptFile, "not 0 to 9", ":2")),
        (pl.lit(" ").alias("assessor"), (CorruptFile, "nobody", ":2")),
        (pl.lit("z").alias("doc_id"), (IntegrityError, "not pooled", ":2")),
        (pl.lit("t1").alias("query_id"), (IntegrityError, "graded before", ":5")),
        (pl.lit(None).alias("grade"), (EmptyTable, "no grade", "")),
    ],
)
def test_a_sheet_that_breaks_a_rule_is_named_by_its_line(sheet, tmp_path, change, expected):
    error, match, line = expected
    all_grades = {(q, d): "1" for q in ("t1", "t2") for d in "abc"}
    path = graded_sheet(sheet, tmp_path / "bob.csv", all_grades)
    pl.read_csv(path, infer_schema=False).with_columns(change).write_csv(path)
    with pytest.raises(error, match=match) as caught:
        read_sheets([path], pl.read_parquet(tmp_path / "pool.parquet"))
    assert caught.value.where == f"{path}{line}"


def test_what_is_no_sheet_is_refused(sheet, tmp_path):
    pool = pl.read_parquet(tmp_path / "pool.parquet")
    with pytest.raises(MissingFile):
        read_sheets([tmp_path / "absent.csv"], pool)
    with pytest.raises(EmptyTable):
        read_sheets([], pool)
    (tmp_path / "bad.parquet").write_text("no Parquet")
    with pytest.raises(CorruptFile, match="not a sheet"):
        read_sheets([tmp_path / "bad.parquet"], pool)
    (tmp_path / "less.csv").write_text("query_id,doc_id\nt1,a\n")
    with pytest.raises(MissingColumn, match="task, grade, assessor"):
        read_sheets([tmp_path / "less.csv"], pool)


def grades_of(rows: list[tuple[str, str, int, str]]) -> pl.DataFrame:
    columns = ["query_id", "doc_id", "grade", "assessor"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(task=pl.lit("t2m"))
    return frame.select(*PAIR, pl.col("grade").cast(pl.Int32), "assessor")


def test_graded_qrels_are_medians_beside_the_sparse_judgements(runs, tmp_path):
    pool = pool_runs(runs, depth=1)
    rows = [("t1", "c", 1, "x"), ("t1", "c", 3, "y"), ("t1", "a", 0, "x")]
    graded = graded_qrels(grades_of(rows), pool, pl.read_parquet(tmp_path / "qrels.parquet"))
    graded_rows = graded.select("query_id", "doc_id", "relevance", "grades", "sparse").rows()
    # Nobody graded t2, so it is no query here; of two grades the lower one holds.
    assert graded_rows == [("t1", "a", 0, 1, 1), ("t1", "c", 1, 2, None)]
    alone = graded_qrels(grades_of(rows[:1]), pool, pl.read_parquet(tmp_path / "qrels.parquet"))
    assert alone.select("doc_id", "relevance", "grades").rows() == [("a", 1, 0), ("c", 1, 1)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_tau_is_that_of_scipy(pairs):
    first, second = zip(*pairs, strict=True)
    expected = kendalltau(first, second)[0]
    assert kendall_tau(first, second) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
@pytest.mark.filterwarnings("ignore")
def test_kappa_is_that_of_scikit_learn(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    kappa = cohen_kappa(pl.DataFrame({"grade": first, "grade_other": second}))
    expected = cohen_kappa_score(first, second)
    assert (kappa is None and np.isnan(expected)) or kappa == pytest.approx(expected, abs=1e-12)


def test_assessors_are_compared_on_what_both_have_graded():
    rows = [("q", "a", 1, "x"), ("q", "a", 1, "y"), ("q", "b", 0, "x"), ("q", "b", 2, "y")]
    table = agreement(grades_of([*rows, ("q", "c", 1, "z")]))
    assert table.select("assessor", "other", "pairs", "same_share").rows() == [("x", "y", 2, 0.5)]
    assert agreement(grades_of(rows[:1])).schema == table.schema


def test_a_system_left_out_loses_what_it_alone_found(runs, tmp_path):
    pool = pool_runs(runs, depth=2)
    rows = [("t1", "a", 0, "x"), ("t1", "b", 0, "x"), ("t1", "c", 2, "x")]
    graded = graded_qrels(grades_of(rows), pool, pl.read_parquet(tmp_path / "qrels.parquet"))
    judged = JudgedTask({name: run_of(r) for name, r in RANKED.items()}, graded, pool)
    reduced, alone = without(judged, "two")
    assert (reduced["doc_id"].sort().to_list(), alone) == (["a", "b"], 1)
    means = mean_scores(system_scores(judged.runs, graded, ["MAP"]), 1)
    table = leave_one_out("t2m", judged, means, ["MAP"])
    rows = table.select("system", "alone", "value", "without", "place", "place_without").rows()
    assert rows[0] == ("two", 1, 1.0, 0.0, 1, 1)
    assert [r[1:4] for r in rows[1:]] == [(0, 0.0, 0.0)] * 2


def test_left_out_a_sparse_judgement_stays(runs, tmp_path):
    pool = pool_runs(runs, depth=2)
    qrels = pl.read_parquet(tmp_path / "qrels.parquet")
    graded = graded_qrels(grades_of([("t2", "a", 3, "x"), ("t2", "b", 1, "x")]), pool, qrels)
    judged = JudgedTask({name: run_of(r) for name, r in RANKED.items()}, graded, pool)
    reduced, alone = without(judged, "one")
    pairs = reduced.sort("doc_id").select("doc_id", "relevance").rows()
    assert (pairs, alone) == ([("a", 1), ("b", 1)], 1)


def test_everything_is_written_and_a_second_time_the_same_bytes(runs, sheet, tmp_path):
    grades = {("t1", "a"): "0", ("t1", "c"): "3", ("t2", "a"): "1", ("t2", "b"): "0"}
    back = graded_sheet(sheet, tmp_path / "ann.csv", grades)
    files = {"pool": tmp_path / "pool.parquet", "qrels": tmp_path / "qrels.parquet"}
    names = ["graded", "scores", "reuse", "tau", "agreement"]
    for folder in ("1", "2"):
        outputs = {n: tmp_path / folder / f"{n}.parquet" for n in names}
        arguments: dict[str, Any] = {**files, "sheets": [back], "runs": runs, "outputs": outputs}
        score_judged(**arguments, collection="toy", measures=["MAP", "bpref", "Judged@2"])
    for name in names:
        first, second = ((tmp_path / p / f"{name}.parquet").read_bytes() for p in "12")
        assert first == second
    scores = pl.read_parquet(tmp_path / "1/scores.parquet")
    assert scores.columns == SCORES.names
    two = scores.filter(system="two", query_id="t1").select("measure", "value").rows()
    assert two == [("Judged@2", 1.0), ("MAP", 1.0), ("bpref", 1.0)]
    tau = pl.read_parquet(tmp_path / "1/tau.parquet").filter(measure="MAP")
    sparse, graded = [1.0, 0.5, 0.25], [0.5, 0.0, 0.5]
    assert tau["tau"].item() == pytest.approx(kendalltau(sparse, graded)[0])
