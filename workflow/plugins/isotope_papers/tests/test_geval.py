"""GEval's folders: what is read, written and scored, against GEval's own examples."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.cli.commands import main
from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, MissingColumn, MissingFile
from isotope.core.grid import RunKey
from isotope.core.measures import score_run
from isotope.core.runs import read_run, write_run
from isotope.schemas.collect import IMAGES, TEXTS
from isotope_papers import geval

WITHHELD = RunKey("small", "test", "m2t", judged=False)


@pytest.fixture
def challenge(tmp_path) -> Path:
    """Three pictures and their captions; the header names the columns the other way round."""
    folder = tmp_path / "challenge/test-A"
    folder.mkdir(parents=True)
    (folder.parent / "in-header.tsv").write_text("date\tpicture_id\n")
    (folder / "in.tsv").write_text("1907-05-31\tb.png\n1900-01-01\tgone.png\n1899-12-31\ta.png\n")
    (folder / "captions.tsv").write_text('1\t"A TAXI"\n2\tA cat\\nasleep\n3\tthe third\n')
    return folder


@pytest.fixture
def built(tmp_path, monkeypatch) -> Path:
    """A project with a collection of two of the pictures and a run on its unjudged split."""
    collected = tmp_path / "data/collect/tiny"
    images = [
        {"image_id": f"i-{n}", "image_url": f"https://x.org/{n}.png", "split": "test"} for n in "ab"
    ]
    texts = [
        {"text_id": f"test-0000{n}", "source_text_id": str(n), "split": "test"} for n in (1, 2, 3)
    ]
    store.write_rows(images, collected / "images.parquet", IMAGES)
    store.write_rows(texts, collected / "texts.parquet", TEXTS)
    answers = {"i-a": "312", "i-b": "231"}
    hits = [
        {"query_id": q, "doc_id": f"test-0000{n}", "score": -float(position)}
        for q, order in answers.items()
        for position, n in enumerate(order)
    ]
    run = tmp_path / "results/search/tiny/unjudged/small/test/m2t/mine.parquet"
    write_run(pl.DataFrame(hits), run)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_examples_of_gevals_own_tests_have_its_values():
    capitals = ["Berlin", "London", "Warsaw"]
    precision = geval.average_precision(capitals, ["Warsaw", "Moscow", "Berlin", "Prague"])
    assert precision == pytest.approx(0.55555555, abs=1e-8)
    assert geval.average_precision(["one", "two"], ["one", "one"]) == 0.5


@given(st.permutations(range(6)), st.integers(0, 5))
def test_with_one_answer_average_precision_is_the_reciprocal_rank(order, right):
    got = [str(n) for n in order]
    assert geval.average_precision([str(right)], got) == 1 / (order.index(right) + 1)


def test_a_submission_is_scored_line_by_line(tmp_path):
    (tmp_path / "expected.tsv").write_text("2\n1\n")
    (tmp_path / "out.tsv").write_text("1\t2\t3\n1\t3\t2\n")
    assert geval.score(tmp_path / "expected.tsv", tmp_path / "out.tsv") == 0.75


def test_a_submission_with_a_line_too_few_is_refused(tmp_path):
    (tmp_path / "expected.tsv").write_text("2\n1\n")
    (tmp_path / "out.tsv").write_text("1\t2\t3\n")
    with pytest.raises(CorruptFile, match="1 lines for 2 questions"):
        geval.score(tmp_path / "expected.tsv", tmp_path / "out.tsv")


def test_the_header_says_where_the_pictures_are_and_quotes_mean_nothing(challenge):
    question = geval.read(challenge)
    assert question.pictures == ["b.png", "gone.png", "a.png"]
    assert question.captions == ["1", "2", "3"]


def test_a_header_or_a_line_without_pictures_is_named(challenge):
    (challenge / "in.tsv").write_text("1907-05-31\tb.png\n1900-01-01\n")
    with pytest.raises(MissingColumn, match="row 2 has no picture_id"):
        geval.read(challenge)
    (challenge.parent / "in-header.tsv").write_text("date\tpicture\n")
    with pytest.raises(MissingColumn, match="columns date, picture"):
        geval.read(challenge)


def test_a_run_becomes_a_line_for_every_line_of_the_challenge(built, challenge):
    [done] = geval.submit("tiny", challenge, built / "out", WITHHELD)
    assert done.path.read_text() == "2\t3\t1\n1\t2\t3\n3\t1\t2\n"
    assert (done.system, done.value, done.unanswered) == ("mine", None, 1)


def test_the_command_scores_where_the_folder_has_answers(built, challenge, capsys):
    (challenge / "expected.tsv").write_text("2\n2\n2\n")
    assert main(["geval", "tiny", str(challenge), "out"]) == 0
    stdout = capsys.readouterr().out
    assert stdout.startswith(
        "mine: MAP 0.611111, 1 questions without a hit, out/mine/test-A/out.tsv"
    )


def test_a_folder_of_other_pictures_is_refused(built, challenge):
    (challenge / "in.tsv").write_text("1907-05-31\tother.png\n")
    with pytest.raises(BadParams, match="no picture of split 'test'"):
        geval.submissions("tiny", challenge, built / "out", setting="small", split="test")
    with pytest.raises(MissingFile, match="no runs"):
        geval.submissions("tiny", challenge, built / "out", setting="base", split="test")


def test_our_reciprocal_rank_is_that_of_geval(built, challenge):
    (challenge / "in.tsv").write_text("1907-05-31\tb.png\n1899-12-31\ta.png\n")
    (challenge / "expected.tsv").write_text("1\n2\n")
    [done] = geval.submit("tiny", challenge, built / "out", WITHHELD)
    run = read_run(built / "results/search/tiny/unjudged/small/test/m2t/mine.parquet")
    pairs = {"query_id": ["i-b", "i-a"], "doc_id": ["test-00001", "test-00002"]}
    ours = score_run(run, pl.DataFrame(pairs).with_columns(relevance=1), ["MRR", "MAP"])
    by_measure = ours.group_by("measure").agg(pl.col("value").mean())
    assert dict(by_measure.iter_rows()) == pytest.approx({"MRR": done.value, "MAP": done.value})


def test_of_a_split_with_two_sets_a_submission_has_the_captions_and_pictures_of_its_own(
    challenge, built, tmp_path
):
    """Both sets have a picture `a.png`, and captions with the numbers 1 to 3 (TICRC, IV-A)."""
    collected = tmp_path / "data/collect/tiny"
    images, texts = (pl.read_parquet(collected / f"{t}.parquet") for t in ("images", "texts"))
    other = images.filter(image_id="i-a").with_columns(
        image_id=pl.lit("z-a"), image_url=pl.lit("https://x.org/test-B/pictures/a.png")
    )
    theirs = texts.with_columns(text_id="B-" + pl.col("text_id"))
    for table, table_rows, more in (("images", images, other), ("texts", texts, theirs)):
        both = pl.concat(
            [
                table_rows.with_columns(source_split=pl.lit(n))
                for n, table_rows in (("test-A", table_rows), ("test-B", more))
            ]
        )
        both.write_parquet(collected / f"{table}.parquet")
    path = built / "results/search/tiny/unjudged/small/test/m2t/mine.parquet"
    hits = read_run(path)
    mixed = pl.concat([hits, hits.with_columns(doc_id="B-" + pl.col("doc_id"))])
    asked = pl.concat([mixed, mixed.filter(query_id="i-a").with_columns(query_id=pl.lit("z-a"))])
    write_run(asked.drop("rank"), path)
    [done] = geval.submit("tiny", challenge, tmp_path / "out", WITHHELD, built)
    assert geval.lines(done.path) == [["2", "3", "1"], ["1", "2", "3"], ["3", "1", "2"]]
