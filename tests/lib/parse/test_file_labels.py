"""Files of one name in two folders have rows of their own in every table."""

import json

import polars as pl
import pytest
from tests.lib.parse.test_dump import multistream
from tests.lib.parse.test_dump import parse as parse_dump
from tests.lib.parse.test_wit import as_tsv, parse_files, record

from isotope.core.files import labels


def test_files_are_called_by_name_and_by_folder_where_names_repeat(tmp_path):
    one, two, three = tmp_path / "a/x", tmp_path / "b/x", tmp_path / "y"
    assert list(labels([one, three]).values()) == ["x", "y"]
    assert list(labels([one, two, three]).values()) == ["a/x", "b/x", "y"]
    assert list(labels([one, one]).values()) == ["x"]


@pytest.fixture
def folders(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    return [tmp_path / name for name in "ab"]


def test_dumps_of_one_name_count_their_pages_apart(tmp_path, folders):
    files = [folder / "x.xml.bz2" for folder in folders]
    for path in files:
        path.write_bytes(multistream())
    _, rejected, *_ = parse_dump(tmp_path, files)
    assert set(rejected["file"]) == {"a/x.xml.bz2", "b/x.xml.bz2"}
    assert not rejected.select("file", "row").is_duplicated().any()
    assert json.loads((tmp_path / "counts").read_text())["pages"] == 16


def test_shards_of_one_name_have_rows_of_their_own(tmp_path, folders):
    files = [folder / "wit_v1.train.tsv" for folder in folders]
    for path in files:
        path.write_text(as_tsv([record()]))
    rows, _ = parse_files(tmp_path, files)
    assert pl.DataFrame(rows)["file"].to_list() == ["a/wit_v1.train.tsv", "b/wit_v1.train.tsv"]
