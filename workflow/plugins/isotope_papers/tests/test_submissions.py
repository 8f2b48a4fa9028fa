"""Submissions to OVEN: the form that its official scorer reads."""

import json

import polars as pl

from isotope.core.runs import write_run
from isotope_papers.oven import write_submission


def test_a_submission_has_published_ids_and_an_empty_answer_where_nothing_was_found(tmp_path):
    """The form of OVEN's official scorer: `data_id` and `pred_entity_id`, a line a question."""
    images = {"image_id": ["a", "b", "c", "z"], "source_image_id": ["d2", "d1", None, "d0"]}
    pl.DataFrame(images | {"split": ["test"] * 3 + ["train"]}).write_parquet(tmp_path / "i.parquet")
    texts = {"text_id": ["W_1", "Q2"], "source_text_id": ["W 1", None]}
    pl.DataFrame(texts).write_parquet(tmp_path / "t.parquet")
    run = tmp_path / "unjudged/large/test/m2t/clip.parquet"
    hits = {"query_id": ["a", "a", "c"], "doc_id": ["W_1", "Q2", "Q2"], "score": [2.0, 1.0, 1.0]}
    write_run(pl.DataFrame(hits), run)
    out = tmp_path / "clip.jsonl"
    write_submission(run, tmp_path / "t.parquet", tmp_path / "i.parquet", out)
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"data_id": "c", "pred_entity_id": "Q2"},
        {"data_id": "d1", "pred_entity_id": ""},
        {"data_id": "d2", "pred_entity_id": "W 1"},
    ]
