"""Any jsonl of predictions is a system: its answers find the texts of that name."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from isotope import answers, search_answers, store, tables
from isotope.errors import MissingFile
from isotope.runs import read_run

NAMES = ["Cessna 172", "Ceviche", "Flip-flops", "Cessna", "Wrestling ring"]
SAID = ["a cessna 172", "ceviche!", "flip flops", "zebra", "x"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> dict[str, Path]:
    """Five entities, each the answer to one picture; the last pair in another split."""
    folder = tmp_path_factory.mktemp("collection")
    splits = ["test"] * 4 + ["train"]
    texts = [
        {"text_id": f"Q{i}", "page_title": name, "split": split}
        for i, (name, split) in enumerate(zip(NAMES, splits, strict=True))
    ]
    qrels = [
        {"text_id": f"Q{i}", "image_id": f"i{i}", "relevance": 1, "split": split}
        for i, split in enumerate(splits)
    ]
    paths = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    blank = pl.DataFrame(schema=pl.Schema(tables.TEXTS))
    pl.concat([blank, pl.DataFrame(texts)], how="diagonal").write_parquet(paths["texts"])
    store.write_rows(qrels, paths["qrels"], tables.QRELS)
    ids = {"image_id": [f"i{i}" for i in range(5)], "source_image_id": [f"d{i}" for i in range(5)]}
    pl.DataFrame(ids).write_parquet(paths["images"])
    return paths


def lines(path: Path, rows: list[object]) -> Path:
    told = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = "".join(f"{line}\n" for line in told).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def test_answers_are_read_by_the_id_that_the_source_gave(collection, tmp_path):
    rows = [{"data_id": f"d{i}", "prediction": said} for i, said in enumerate(SAID)]
    file = lines(tmp_path / "said.jsonl.gz", [*rows[:4], {"data_id": "i4", "prediction": "x"}])
    read = answers.read_answers([file], pl.read_parquet(collection["images"]))
    assert read.answers.rows() == [(f"i{i}", said) for i, said in enumerate(SAID)]
    assert read.rejected == []


def test_rows_that_cannot_be_used_are_put_aside_with_line_and_reason(collection, tmp_path):
    good = {"data_id": "d1", "prediction": "ceviche"}
    bad = ["{", "[]", {"data_id": "d2"}, {**good, "prediction": " "}, {**good, "data_id": "d9"}]
    file = lines(tmp_path / "said.jsonl", [good, *bad, good])
    read = answers.read_answers([file], pl.read_parquet(collection["images"]))
    assert read.answers.rows() == [("i1", "ceviche")]
    assert [(r["row"], r["reason"], r["detail"]) for r in read.rejected] == [
        (2, "bad_json", ""),
        (3, "bad_json", ""),
        (4, "bad_json", ""),
        (5, "empty_answer", "d1"),
        (6, "unknown_query", "d9"),
        (7, "answered_before", "d1"),
    ]


def test_a_file_of_answers_that_is_not_there_is_named(collection, tmp_path):
    with pytest.raises(MissingFile, match=r"systems\.<system>\.files"):
        answers.read_answers([tmp_path / "no.jsonl"], pl.read_parquet(collection["images"]))


def test_an_answer_finds_the_entity_of_that_name_in_its_pool(collection, tmp_path):
    rows = [{"data_id": f"d{i}", "prediction": said} for i, said in enumerate(SAID)]
    file = lines(tmp_path / "said.jsonl", [*rows, "oops"])
    folders = [tmp_path / f"index/{setting}/said" for setting in ("small", "large")]
    runs = [
        tmp_path / f"run/{setting}/{split}/{task}/said.parquet"
        for setting in ("small", "large")
        for split in ("test", "train")
        for task in ("m2t", "t2m")
    ]
    search_answers.index_answers(collection["texts"], folders, ["test", "train"])
    rejected = tmp_path / "rejected.parquet"
    spec = {"kind": "answers"}
    search_answers.search_answers(
        collection, [file], folders, runs, spec, rejected=rejected, depth=10, threads=1
    )
    tops = {
        path.parts[-4:-1]: dict(read_run(path).filter(rank=1).select("query_id", "doc_id").rows())
        for path in runs
    }
    assert tops["small", "test", "m2t"] == {"i0": "Q0", "i1": "Q1", "i2": "Q2"}
    assert tops["large", "test", "m2t"] == tops["small", "test", "m2t"]
    assert tops["large", "test", "t2m"] == tops["small", "train", "m2t"] == {}
    assert pl.read_parquet(rejected)["reason"].to_list() == ["bad_json"]
