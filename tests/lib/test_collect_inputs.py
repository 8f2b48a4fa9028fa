"""Published data sets reach the queries as tables, raw lines or documents."""

import gzip
import json

import polars as pl
import pytest

from isotope.acquire import acquire
from isotope.collect_inputs import ABSENT, expand
from isotope.errors import BadParams, CorruptFile


@pytest.fixture
def acquired(tmp_path):
    """Return a function that acquires {part: {file name: bytes}} and gives its manifest."""

    def put(parts):
        for part, files in parts.items():
            (tmp_path / "up" / part).mkdir(parents=True)
            for name, data in files.items():
                (tmp_path / "up" / part / name).write_bytes(data)
        files = {p: [str(tmp_path / "up" / p / n) for n in names] for p, names in parts.items()}
        manifest = tmp_path / "data/manifest.json"
        acquire({"files": files}, manifest, tmp_path / "scratch")
        return manifest

    return put


def test_lines_keep_quotes_tabs_and_backslashes_and_know_their_row(acquired, tmp_path):
    raw = b'a\t"b\nc \\n d\r\n\nlast'
    manifest = acquired({"answers": {"x.tsv": raw, "y.tsv": b"z\n"}})
    relations = expand({"manifest": manifest}, tmp_path)
    assert pl.read_parquet(str(relations["answers"])).rows() == [
        ("x.tsv", 1, 'a\t"b'),
        ("x.tsv", 2, "c \\n d"),
        ("x.tsv", 3, ""),
        ("x.tsv", 4, "last"),
        ("y.tsv", 1, "z"),
    ]


def test_a_document_is_one_row_and_a_gzip_is_unpacked(acquired, tmp_path):
    told = json.dumps({"images": [1, 2]}, indent=1)
    lines = gzip.compress(b"{}\n{}\n")
    parts = {"val": {"v.json": told.encode()}, "data": {"d.jsonl.gz": lines}}
    relations = expand({"manifest": acquired(parts)}, tmp_path)
    assert pl.read_parquet(str(relations["val"])).rows() == [("v.json", told)]
    assert pl.read_parquet(str(relations["data"]))["line"].to_list() == ["{}", "{}"]


def test_pictures_are_no_relation_and_a_hyphen_becomes_an_underscore(acquired, tmp_path):
    parts = {"images": {"a.jpg": b"x"}, "test-a": {"in.tsv": b"1\n"}}
    assert set(expand({"manifest": acquired(parts)}, tmp_path)) - set(ABSENT) == {"test_a"}


def test_what_a_data_set_may_come_without_is_an_empty_table(acquired, tmp_path):
    manifest = acquired({"attributions": {"a.csv": b"ImageID\nx\n"}})
    relations = expand({"manifest": manifest, "urls": "given.parquet"}, tmp_path)
    assert relations["urls"] == "given.parquet"
    assert "a.csv" in str(relations["attributions"])
    empty = pl.read_parquet(str(relations["ledger"]))
    assert (empty.height, empty.columns) == (0, ABSENT["ledger"].names)


def test_bytes_that_are_no_text_are_named_with_their_row(acquired, tmp_path):
    manifest = acquired({"data": {"in.tsv": b"fine\n\xff\xfe\n"}})
    with pytest.raises(CorruptFile, match=r"in.tsv, row 2"):
        expand({"manifest": manifest}, tmp_path)


def test_a_gzip_that_ends_early_is_named(acquired, tmp_path):
    manifest = acquired({"data": {"in.tsv.gz": gzip.compress(b"line\n" * 1000)[:-9]}})
    with pytest.raises(CorruptFile, match=r"in.tsv.gz"):
        expand({"manifest": manifest}, tmp_path)


def test_a_part_of_two_forms_is_refused(acquired, tmp_path):
    manifest = acquired({"data": {"a.tsv": b"1\n", "b.json": b"{}"}})
    with pytest.raises(BadParams, match=r"part 'data' mixes"):
        expand({"manifest": manifest}, tmp_path)


def test_lines_of_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder in ("train", "train2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "in.tsv").write_text(folder)
    manifest = tmp_path / "data/manifest.json"
    files = {"train": [f"{tmp_path}/train/in.tsv", f"{tmp_path}/train2/in.tsv"]}
    acquire({"files": files}, manifest, tmp_path / "scratch")
    relations = expand({"manifest": manifest}, tmp_path)
    assert pl.read_parquet(str(relations["train"])).rows() == [
        ("train/in.tsv", 1, "train"),
        ("train2/in.tsv", 1, "train2"),
    ]
