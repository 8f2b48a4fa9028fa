"""The folder form of BEIR, for readers of texts: captions stand for images.

A folder a direction: corpus.jsonl (_id, title, text, metadata), queries.jsonl (_id, text,
metadata), and qrels/{train,dev,test}.tsv (query-id, corpus-id, score) with a header line.
Source: https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import store
from isotope.core.grid import JUDGED, TASKS, Task, id_column
from isotope.release.words import ReleaseWords

FOLDER = "beir"
# What BEIR calls our splits.
NAMES = {"train": "train", "validation": "dev", "test": "test"}


def write_beir(words: ReleaseWords) -> None:
    """Write `beir/<task>/` of a release; a split without judgements has no qrels file.

    Raises:
        DiskFull: no room for it.
    """
    for name, task in TASKS.items():
        out = words.folder / FOLDER / name
        judged = words.judged(task.queries)
        asked = (row for row in words.rows(task.queries) if row["id"] in judged)
        _write_lines(map(_document, words.rows(task.documents)), out / "corpus.jsonl")
        _write_lines(map(_query, asked), out / "queries.jsonl")
        for split in JUDGED:
            _write_qrels(words.qrels(split, name), task, out / f"qrels/{NAMES[split]}.tsv")


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"_id": row["id"], "title": row["title"], "text": row["text"]}
    return {**fields, "metadata": _metadata(row)}


def _query(row: Mapping[str, Any]) -> dict[str, Any]:
    text = f"{row['title']} {row['text']}".strip()
    return {"_id": row["id"], "text": text, "metadata": _metadata(row)}


def _metadata(row: Mapping[str, Any]) -> dict[str, str]:
    return {"url": row["url"], "split": row["split"]}


def _write_lines(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    with store.aside(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_qrels(qrels: pl.DataFrame, task: Task, path: Path) -> None:
    query, document = id_column(task.queries), id_column(task.documents)
    if qrels.height:
        names = {"query-id": query, "corpus-id": document, "score": "rel"}
        rows = qrels.select(**{to: pl.col(name) for to, name in names.items()})
        with store.aside(path) as part:
            lines = rows.sort("query-id", "corpus-id")
            lines.write_csv(part, separator="\t", quote_style="never")
