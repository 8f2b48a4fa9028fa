"""Collections: a release, a built one, and a table of captions are the same to a search."""

import shutil

import pandas as pd
import polars as pl
import pytest
from tests import releases

import isotope
from isotope.core.errors import (
    BadArgument,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    MissingColumn,
    MissingFile,
)
from isotope.core.grid import RunKey, document_ids, query_ids
from isotope.core.lucene import contents

ROWS = {
    "file": ["a.jpg", "a.jpg", "b.jpg"],
    "sentence": ["a red boat", "a boat at sea", "two dogs"],
    "alt": ["boat", "boat", "dogs"],
    "set": ["val", "val", "test"],
}
COLUMNS = {"image": "file", "text": "sentence", "caption": "alt", "split": "set"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release, and what it was made of as a project has it, where a name looks like a pattern."""
    root = tmp_path_factory.mktemp("harbour") / "my [old] data*"
    root.mkdir()
    releases.build(root, "harbour", runs=False)
    return root


def test_a_release_and_what_it_was_made_of_are_one_collection(folder):
    released = isotope.read_collection(folder / "harbour")
    built = isotope.read_collection(folder / "made-harbour", name="harbour")
    assert str(released) == str(built) == "harbour: 9 texts, 9 images, 8 judged pairs"
    assert "image" not in released.images.columns
    for task in ("t2m", "m2t"):
        for setting in ("small", "base", "large"):
            pools = [c.documents(task, "test", setting).sort("id") for c in (released, built)]
            assert pools[0].equals(pools[1])
            cell = RunKey(setting, "test", task)
            table = folder / f"made-harbour/{cell.document_side}.parquet"
            assert pools[0]["id"].to_list() == document_ids(table, cell)
        asked = query_ids(folder / "made-harbour/qrels.parquet", RunKey("small", "test", task))
        assert released.queries(task)["id"].to_list() == asked
        assert released.judgements(task).sort("query_id").equals(built.judgements(task))


def test_its_words_are_those_that_bm25_reads(folder):
    built = isotope.read_collection(folder / "made-harbour")
    for side, table in (("texts", built.texts), ("images", built.images)):
        words = contents(side, folder / f"made-harbour/{side}.parquet", language="en")
        key = "text_id" if side == "texts" else "image_id"
        assert dict(table.select(key, "text").iter_rows()) == dict(
            words.select("id", "contents").iter_rows()
        )
    captions = isotope.read_collection(folder / "harbour", language="mul")
    assert captions.images.filter(image_id="i1")["text"].item() == "red Bild red Bild red Bild"


@pytest.mark.parametrize(
    "source", [ROWS, pl.DataFrame(ROWS), pl.LazyFrame(ROWS), pd.DataFrame(ROWS)]
)
def test_a_table_of_captions_is_a_collection(source):
    collection = isotope.read_collection(source, columns=COLUMNS, name="mine")
    assert collection.judgements("t2m", "validation").rows() == [
        ("1", "a.jpg", 1),
        ("2", "a.jpg", 1),
    ]
    assert collection.judgements("m2t", "test").rows() == [("b.jpg", "3", 1)]
    assert collection.documents("t2m", "validation").rows() == [("a.jpg", "boat")]
    assert collection.documents("m2t", setting="base")["text"].to_list() == ROWS["sentence"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_a_file_of_captions_is_the_same_collection(suffix, tmp_path):
    frame, path = pl.DataFrame(ROWS), tmp_path / f"[1]/mine.{suffix}"
    path.parent.mkdir()
    {
        "csv": frame.write_csv,
        "tsv": lambda path: frame.write_csv(path, separator="\t"),
        "jsonl": frame.write_ndjson,
        "parquet": frame.write_parquet,
    }[suffix](path)
    collection = isotope.read_collection(path, columns=COLUMNS)
    expected = isotope.read_collection(ROWS, columns=COLUMNS, name="mine")
    assert collection.name == "mine"
    for table, other in ((collection.texts, expected.texts), (collection.images, expected.images)):
        assert table.equals(other)
    assert collection.qrels.equals(expected.qrels)


def test_a_text_of_several_images_is_one_text():
    collection = isotope.read_collection({"image": ["a", "b"], "text": ["same", "same"]})
    assert collection.judgements("t2m").rows() == [("1", "a", 1), ("1", "b", 1)]
    rows = {"image": ["a", "b"], "text": ["same", "same"], "text_id": ["x", "y"]}
    assert isotope.read_collection(rows).texts["text_id"].to_list() == ["x", "y"]


def test_texts_that_ask_do_not_stand_for_their_pictures():
    """A column of captions that has been called the text is not the caption, too."""
    rows = {"file": ["a", "b"], "caption": ["a red dog", "a cat"]}
    collection = isotope.read_collection(rows, columns={"image": "file", "text": "caption"})
    assert collection.images["text"].to_list() == ["", ""]
    assert isotope.search(collection.queries(), collection.documents()).is_empty()


def test_a_row_with_several_texts_is_a_row_a_text():
    rows = {"image": ["a", "b"], "text": [["one", "two"], ["three"]], "split": ["Test", "Dev"]}
    collection = isotope.read_collection(rows)
    assert collection.qrels.rows() == [
        *(("1", "a", 1, "test"), ("2", "a", 1, "test"), ("3", "b", 1, "validation"))
    ]


def test_rows_without_words_or_a_picture_are_no_pairs():
    rows = {"image": ["a", " ", "c"], "text": ["one", "two", " "]}
    assert isotope.read_collection(rows).qrels.rows() == [("1", "a", 1, "test")]


def test_collections_are_told_apart_by_being_the_same_object():
    """Frames have no truth of being equal; a cache asks for a hash."""
    first, second = (isotope.read_collection({"image": ["a"], "text": ["b"]}) for _ in range(2))
    assert first == first and first != second and len({first, second}) == 2  # noqa: PLR0124, PT018


@pytest.mark.parametrize(
    ("rows", "columns", "error", "message"),
    [
        ({"image": ["a"]}, {}, MissingColumn, r"no column 'text' among image; name it by columns="),
        (ROWS, {"text": "sentense"}, MissingColumn, "did you mean 'sentence'"),
        (ROWS, {"picture": "file"}, BadArgument, "no role 'picture'"),
        ({"image": [None], "text": ["a"]}, {}, EmptyTable, "no row with an image and a text"),
        ({"image": ["a"], "text": ["b"], "split": ["fold1"]}, {}, IntegrityError, "split 'fold1'"),
        (
            {"image": ["a", "a"], "text": ["b", "c"], "split": ["train", "test"]},
            *({}, IntegrityError, "image_id 'a' is in 2 splits"),
        ),
        (
            {"image": ["a", "a"], "text": ["b", "b"], "relevance": [1, 2]},
            *({}, IntegrityError, "there twice"),
        ),
        ({"image": ["a"], "text": ["b"], "relevance": ["x"]}, {}, IntegrityError, "relevance 'x'"),
        ({"image": ["a"], "text": ["b"], "relevance": [0.5]}, {}, IntegrityError, "relevance 0.5"),
        (
            {"image": ["a", "b"], "text": ["c", "d"], "text_id": ["2", None]},
            *({}, IntegrityError, "text_id '2' is that of 2 texts"),
        ),
        ({"image": [b"\xff\xd8"], "text": ["b"]}, {}, BadArgument, "column 'image' of Binary"),
        ({"image": ["a"], "text": []}, {}, BadArgument, "a mapping of columns"),
        (7, {}, BadArgument, "it is a int"),
        ("none.csv", {}, MissingFile, "no such folder or file"),
    ],
)
def test_a_bad_table_is_named(rows, columns, error, message):
    with pytest.raises(error, match=message):
        isotope.read_collection(rows, columns=columns)


def test_a_folder_that_is_no_collection_is_named(folder, tmp_path):
    with pytest.raises(MissingFile, match="neither a release nor a collection"):
        isotope.read_collection(tmp_path)
    with pytest.raises(BadArgument, match="is a folder; leave it out"):
        isotope.read_collection(folder / "harbour", columns={"text": "a"})
    copy = shutil.copytree(folder / "harbour", tmp_path / "harbour")
    for path in (copy / "qrels").glob("*.parquet"):
        path.unlink()
    with pytest.raises(MissingFile, match="qrels: no split"):
        isotope.read_collection(copy)


@pytest.mark.parametrize("table", ["texts/test", "images/train", "qrels/test"])
def test_a_damaged_release_is_named(folder, tmp_path, table):
    copy = shutil.copytree(folder / "harbour", tmp_path / "harbour")
    path = copy / f"{table}.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorruptFile, match=r"harbour: a table that can't be read .*; fetch"):
        isotope.read_collection(copy)


def test_what_a_collection_does_not_have_is_named():
    collection = isotope.read_collection(ROWS, columns=COLUMNS, name="mine")
    with pytest.raises(EmptyTable, match=r"^mine: no judgement in split 'train'; name one of test"):
        collection.queries("t2m", "train")
    with pytest.raises(BadArgument, match=r"^task: 't2t'"):
        collection.documents("t2t")  # pyright: ignore
    with pytest.raises(BadArgument, match=r"^setting: 'huge'"):
        collection.documents(setting="huge")  # pyright: ignore
