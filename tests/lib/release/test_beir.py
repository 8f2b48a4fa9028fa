"""The folders in BEIR's form are read by ir_datasets' own classes for BEIR, and by `datasets`."""

import gzip
import json
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pytest
from ir_datasets.datasets.beir import BeirDocs, BeirQrels, BeirQueries, BeirTitleUrlDoc
from ir_datasets.formats import GenericQuery
from ir_datasets.util import LocalDownload
from tests import releases

from isotope.core.grid import TASKS, id_column

pytestmark = pytest.mark.filterwarnings("ignore")
SPLITS = {"train": "train", "dev": "validation", "test": "test"}


@pytest.fixture
def beir(released, tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    return released / "beir"


@pytest.mark.parametrize("task", TASKS)
def test_the_classes_of_ir_datasets_for_beir_read_documents_queries_and_judgements(beir, task):
    folder, sides = beir / task, TASKS[task]
    corpus = LocalDownload(folder / "corpus.jsonl")
    docs = list(BeirDocs(f"toy-{task}", corpus, BeirTitleUrlDoc).docs_iter())
    assert sorted(doc.doc_id for doc in docs) == [f"{sides.documents[0]}{n}" for n in range(1, 10)]
    queries = BeirQueries("toy", LocalDownload(folder / "queries.jsonl"), GenericQuery)
    asked = {query.query_id: query.text for query in queries.queries_iter()}
    assert sorted(asked) == [f"{sides.queries[0]}{n}" for n in range(1, 9)]
    query, doc = id_column(sides.queries), id_column(sides.documents)
    for name, split in SPLITS.items():
        own = pl.read_parquet(beir.parent / f"qrels/{split}.parquet").select(query, doc, "rel")
        qrels = BeirQrels(LocalDownload(folder / f"qrels/{name}.tsv"), {}).qrels_iter()
        assert [(q.query_id, q.doc_id, q.relevance) for q in qrels] == sorted(own.iter_rows())


def test_title_and_text_are_the_words_that_bm25_reads(beir):
    for task, sides in TASKS.items():
        lines = (beir / task / "corpus.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        words = {row["_id"]: f"{row['title']} {row['text']}".strip() for row in rows}
        own = gzip.decompress((beir.parent / f"{sides.documents}.jsonl.gz").read_bytes())
        read = [json.loads(line) for line in own.decode().splitlines()]
        assert words == {row["doc_id"]: row["text"] for row in read}


def test_datasets_loads_the_lines_with_metadata(beir, hub_cache):
    files = {name: str(beir / f"t2m/{name}.jsonl") for name in ("corpus", "queries")}
    loaded: dict[str, Any] = {
        name: datasets.load_dataset("json", data_files=path, split="train")
        for name, path in files.items()
    }
    assert loaded["corpus"].column_names == ["_id", "title", "text", "metadata"]
    row = next(row for row in loaded["corpus"] if row["_id"] == "i4")
    assert row["metadata"] == {"url": "https://h/4.png", "split": "test"}
    assert loaded["queries"].column_names == ["_id", "text", "metadata"]


def test_a_split_without_judgements_has_no_file_and_no_queries(tmp_path):
    beir = releases.build(tmp_path, "part", splits=["train", "validation"], runs=False) / "beir"
    assert sorted(p.name for p in (beir / "t2m/qrels").iterdir()) == ["dev.tsv", "train.tsv"]
    assert len((beir / "t2m/queries.jsonl").read_text().splitlines()) == 3


def test_a_picture_without_captions_has_no_words(tmp_path):
    beir = releases.build(tmp_path, "mute", captions=False, runs=False) / "beir"
    rows = [json.loads(line) for line in (beir / "t2m/corpus.jsonl").read_text().splitlines()]
    assert {row["text"] for row in rows} == {""}
