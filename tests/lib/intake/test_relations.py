"""Published data sets reach the queries as tables, raw lines or documents."""

import gzip
import io
import json
import zipfile

import polars as pl
import pytest

from isotope.acquire.fetch import acquire
from isotope.core.errors import BadParams, CorruptFile
from isotope.intake import texts as collect_text
from isotope.intake.relations import ABSENT, expand
from isotope.params.acquire import DigestedSource


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
        acquire(DigestedSource.of_plain({"files": files}), manifest, tmp_path / "scratch")
        return manifest

    return put


def test_lines_keep_quotes_tabs_and_backslashes_and_know_their_row(acquired, tmp_path):
    raw = b'a\t"b\nc \\n d\r\n\nlast'
    manifest = acquired({"answers": {"x.tsv": raw, "y.tsv": b"z\n"}})
    relations = expand(manifest, tmp_path)
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
    relations = expand(acquired(parts), tmp_path)
    assert pl.read_parquet(str(relations["val"])).rows() == [("v.json", told)]
    assert pl.read_parquet(str(relations["data"]))["line"].to_list() == ["{}", "{}"]


def test_pictures_are_no_relation_and_a_hyphen_becomes_an_underscore(acquired, tmp_path):
    parts = {"images": {"a.jpg": b"x"}, "test-a": {"in.tsv": b"1\n"}}
    assert set(expand(acquired(parts), tmp_path)) - set(ABSENT) == {"acquired", "test_a"}


def test_what_a_data_set_may_come_without_is_an_empty_table(acquired, tmp_path):
    manifest = acquired({"attributions": {"a.csv": b"ImageID\nx\n"}})
    relations = expand(manifest, tmp_path)
    assert "a.csv" in str(relations["attributions"])
    empty = pl.read_parquet(str(relations["text_topics"]))
    assert (empty.height, empty.columns) == (0, ABSENT["text_topics"].names)


def test_bytes_that_are_no_text_are_named_with_their_row(acquired, tmp_path):
    manifest = acquired({"data": {"in.tsv": b"fine\n\xff\xfe\n"}})
    with pytest.raises(CorruptFile, match=r"in.tsv, row 2"):
        expand(manifest, tmp_path)


def test_a_gzip_that_ends_early_is_named(acquired, tmp_path):
    manifest = acquired({"data": {"in.tsv.gz": gzip.compress(b"line\n" * 1000)[:-9]}})
    with pytest.raises(CorruptFile, match=r"in.tsv.gz"):
        expand(manifest, tmp_path)


def test_a_part_of_two_forms_is_refused(acquired, tmp_path):
    manifest = acquired({"data": {"a.tsv": b"1\n", "b.json": b"{}"}})
    with pytest.raises(BadParams, match=r"part 'data' mixes"):
        expand(manifest, tmp_path)


def test_lines_of_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder in ("train", "train2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "in.tsv").write_text(folder)
    manifest = tmp_path / "data/manifest.json"
    files = {"train": [f"{tmp_path}/train/in.tsv", f"{tmp_path}/train2/in.tsv"]}
    acquire(DigestedSource.of_plain({"files": files}), manifest, tmp_path / "scratch")
    relations = expand(manifest, tmp_path)
    assert pl.read_parquet(str(relations["train"])).rows() == [
        ("train/in.tsv", 1, "train"),
        ("train2/in.tsv", 1, "train2"),
    ]


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return buffer.getvalue()


ITEMS = [{"id": 1, "a": "é, ]"}, 12, "x", None, [1, [2]], {"deep": {"er": []}}]


def test_the_items_of_a_list_are_rows_and_a_zip_of_one_file_is_unpacked(acquired, tmp_path):
    """Visual Genome's form: a list on one line, in `objects.json.zip`."""
    written = json.dumps(ITEMS, ensure_ascii=False).encode()
    parts = {"plain": {"o.json": written}, "packed": {"o.json.zip": zipped(o__json=written)}}
    relations = expand(acquired(parts), tmp_path)
    for part, name in (("plain", "o.json"), ("packed", "o.json.zip")):
        rows = pl.read_parquet(str(relations[part])).rows()
        assert [row[:2] for row in rows] == [(name, n) for n in range(1, 7)]
        assert [json.loads(row[2]) for row in rows] == ITEMS


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_a_list_is_the_same_however_its_bytes_arrive(tmp_path, monkeypatch, size):
    monkeypatch.setattr(collect_text, "_CHARACTERS", size)
    path = tmp_path / "list.json"
    path.write_text("\n" + json.dumps(ITEMS, indent=1, ensure_ascii=False) + "\n")
    assert collect_text.is_list(path)
    assert [json.loads(item) for item in collect_text.items(path)] == ITEMS
    path.write_text("[ ]")
    assert list(collect_text.items(path)) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[{}, {]", "item 2"),
        ("[{}, {}", "item 2"),
        ("[{} {}]", "item 1"),
        ("[{}] []", "item 1"),
        ("[", "item 1"),
    ],
)
def test_a_list_that_is_no_json_is_named_with_its_item(acquired, tmp_path, text, where):
    manifest = acquired({"objects": {"objects.json": text.encode()}})
    with pytest.raises(CorruptFile, match=rf"objects.json, {where} of the list"):
        expand(manifest, tmp_path)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (zipped(a__json=b"[]", b__json=b"[]"), "a zip of 2 files"),
        (zipped(a__json=b"[" + b"1, " * 5000 + b"1]")[:-30], "not a whole .zip file"),
        (b"[]", "not a whole .zip file"),
    ],
)
def test_a_zip_that_is_not_one_whole_file_is_named(acquired, tmp_path, data, found):
    manifest = acquired({"objects": {"objects.json.zip": data}})
    with pytest.raises(CorruptFile, match=rf"objects.json.zip.*{found}"):
        expand(manifest, tmp_path)


def test_lists_and_other_documents_in_one_part_are_refused(acquired, tmp_path):
    manifest = acquired({"data": {"a.json": b"{}", "b.json": b"[]"}})
    with pytest.raises(BadParams, match="mixes lists and other documents"):
        expand(manifest, tmp_path)
