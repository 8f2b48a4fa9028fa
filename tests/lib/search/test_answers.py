"""Any jsonl of predictions is a system: its answers find the texts of that name."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from tests import entries

from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.core.runs import read_run, write_run
from isotope.index.bm25 import index_answers
from isotope.schemas.collect import QRELS, TEXTS
from isotope.search import answers as answer_files
from isotope.search import answers as search_answers
from isotope.tabulate.runs import write_answered

NAMES = ["Cessna 172", "Ceviche", "Flip-flops", "Cessna", "Wrestling ring"]
SPEC = entries.system_of("answers", files=["x"])
SAID = ["a cessna 172", "ceviche!", "flip flops", "zebra", "x"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> dict[str, Path]:
    """Five entities, each the answer to one picture; the last pair in another split."""
    folder = tmp_path_factory.mktemp("collection")
    splits = ["test"] * 4 + ["train"]
    # A description speaks of another entity, and is nobody's name.
    spoken = [f"{name}, {name} and {name}" for name in (*NAMES[1:], NAMES[0])]
    texts = [
        {"text_id": f"Q{i}", "page_title": name, "split": split, "context_page_description": said}
        for i, (name, split, said) in enumerate(zip(NAMES, splits, spoken, strict=True))
    ]
    qrels = [
        {"text_id": f"Q{i}", "image_id": f"i{i}", "relevance": 1, "split": split}
        for i, split in enumerate(splits)
    ]
    paths = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    blank = pl.DataFrame(schema=pl.Schema(TEXTS))
    pl.concat([blank, pl.DataFrame(texts)], how="diagonal").write_parquet(paths["texts"])
    store.write_rows(qrels, paths["qrels"], QRELS)
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
    read = answer_files.read_answers([file], pl.read_parquet(collection["images"]))
    assert read.answers.rows() == [(f"i{i}", said) for i, said in enumerate(SAID)]
    assert read.rejected == []


def test_rows_that_cannot_be_used_are_put_aside_with_line_and_reason(collection, tmp_path):
    good = {"data_id": "d1", "prediction": "ceviche"}
    bad = ["{", "[]", {"data_id": "d2"}, {**good, "prediction": " "}, {**good, "data_id": "d9"}]
    file = lines(tmp_path / "said.jsonl", [good, *bad, good])
    read = answer_files.read_answers([file], pl.read_parquet(collection["images"]))
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
        answer_files.read_answers([tmp_path / "no.jsonl"], pl.read_parquet(collection["images"]))


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
    index_answers(texts=collection["texts"], folders=folders, splits=["test", "train"])
    rejected = tmp_path / "rejected.parquet"
    search_answers.search_answers(
        **collection, answers=[file], indexes=folders, runs=runs, spec=SPEC,
        rejected=rejected, answered=tmp_path / "answered.parquet", depth=10, threads=1,
    )  # fmt: skip
    tops = {
        path.parts[-4:-1]: dict(read_run(path).filter(rank=1).select("query_id", "doc_id").rows())
        for path in runs
    }
    assert tops["small", "test", "m2t"] == {"i0": "Q0", "i1": "Q1", "i2": "Q2"}
    assert tops["large", "test", "m2t"] == tops["small", "test", "m2t"]
    assert tops["large", "test", "t2m"] == tops["small", "train", "m2t"] == {}
    assert pl.read_parquet(rejected)["reason"].to_list() == ["bad_json"]


def test_a_line_of_oven_s_submission_form_names_its_entity(collection, tmp_path):
    """edchengg/oven_eval, run_oven_eval.py: {"data_id": "", "pred_entity_id": ""}, of Wikidata."""
    rows: list[object] = [
        {"data_id": "d0", "pred_entity_id": "Q1"},
        {"data_id": "d1", "pred_entity_id": "Q2", "prediction": "cessna 172"},
        {"data_id": "d2", "pred_entity_id": "Q99"},
        {"data_id": "d3", "pred_entity_id": " "},
        {"data_id": "d3", "pred_entity_id": 3},
        {"data_id": "d4", "pred_entity_id": None, "prediction": "wrestling"},
    ]
    file = lines(tmp_path / "said.jsonl", rows)
    settings, splits = ("small", "base"), ("test", "train")
    places = [f"{setting}/{split}/m2t" for setting in settings for split in splits]
    runs = [tmp_path / place / "said.parquet" for place in places]
    folders = [tmp_path / f"index/{setting}/said" for setting in settings]
    index_answers(texts=collection["texts"], folders=folders, splits=list(splits))
    rejected, answered = tmp_path / "rejected.parquet", tmp_path / "answered.parquet"
    search_answers.search_answers(
        **collection, answers=[file], indexes=folders, runs=runs, spec=SPEC,
        rejected=rejected, answered=answered, depth=10, threads=1,
    )  # fmt: skip
    found = {
        "/".join(r.parts[-4:-1]): read_run(r).select("query_id", "doc_id").rows() for r in runs
    }
    own = [("i0", "Q1"), ("i1", "Q2")]
    assert found == {
        "small/test/m2t": own, "small/train/m2t": [("i4", "Q4")],
        "base/test/m2t": own, "base/train/m2t": [("i4", "Q4")],
    }  # fmt: skip
    assert pl.read_parquet(rejected).select("row", "reason", "detail").rows() == [
        (3, "unknown_entity", "Q99"),
        (4, "empty_answer", "d3"),
        (5, "bad_json", ""),
    ]
    assert pl.read_parquet(answered)["query_id"].to_list() == ["i0", "i1", "i2", "i3", "i4"]


def test_an_entity_is_found_by_the_id_that_its_source_gave(collection, tmp_path):
    texts = pl.read_parquet(collection["texts"]).with_columns(
        source_text_id=pl.col("text_id").str.replace("Q", "W:Q ")
    )
    texts.write_parquet(tmp_path / "texts.parquet")
    file = lines(tmp_path / "said.jsonl", [{"data_id": "d0", "pred_entity_id": "W:Q 2"}])
    run = tmp_path / "large/test/m2t/said.parquet"
    search_answers.search_answers(
        **{**collection, "texts": tmp_path / "texts.parquet"}, answers=[file],
        indexes=[tmp_path / "large/said"], runs=[run], spec=SPEC,
        rejected=tmp_path / "r.parquet", answered=tmp_path / "a.parquet", depth=10, threads=1,
    )  # fmt: skip
    assert read_run(run).select("query_id", "doc_id").rows() == [("i0", "Q2")]


def test_a_question_is_answered_by_a_hit_or_by_a_line_whose_entity_is_not_found(tmp_path):
    runs = [tmp_path / f"large/test/m2t/{system}.parquet" for system in ("clip", "said")]
    for run, ids in zip(runs, (["i0", "i1"], ["i0"]), strict=True):
        hits = [
            {"query_id": i, "doc_id": d, "score": s}
            for i in ids
            for d, s in (("Q0", 1.0), ("Q1", 0.5))
        ]
        write_run(pl.DataFrame(hits), run)
    told = pl.DataFrame({"query_id": ["i0", "i2"]})
    told.write_parquet(tmp_path / "said.answered.parquet")
    out = tmp_path / "answered.parquet"
    write_answered(runs, [tmp_path / "said.answered.parquet"], out)
    assert pl.read_parquet(out).rows() == [
        ("large", "test", system, i)
        for system, ids in (("clip", ("i0", "i1")), ("said", ("i0", "i2")))
        for i in ids
    ]
