"""Submissions to OVEN, whose test set has no published answers.

Source: https://github.com/edchengg/oven_eval, run_oven_eval.py.
"""

from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.core.grid import RunKey
from isotope.core.progress import log


def write_submission(run: Path, texts: Path, images: Path, out: Path) -> None:
    """Write the first hits of a run as OVEN's official scorer reads them, a line a question.

    The questions are all images of the run's split, in the order of their `data_id`; that and the
    entity's `pred_entity_id` are as published. A question without a hit has an empty one.
    """
    split = RunKey.from_path(run).split
    asked = pl.scan_parquet(images, glob=False).filter(split=split)
    first = pl.scan_parquet(run, glob=False).filter(rank=1).select("query_id", "doc_id")
    entities = pl.scan_parquet(texts, glob=False).select("text_id", "source_text_id")
    answered = (
        asked.select("image_id", data_id=pl.coalesce("source_image_id", "image_id"))
        .join(first, left_on="image_id", right_on="query_id", how="left")
        .join(entities, left_on="doc_id", right_on="text_id", how="left")
        .select("data_id", pred_entity_id=pl.coalesce("source_text_id", "doc_id").fill_null(""))
        .sort("data_id")
        .collect()
    )
    silent = answered.filter(pred_entity_id="").height
    log.info("%d questions of split %s, %d without an answer", answered.height, split, silent)
    with store.aside(out) as part:
        answered.write_ndjson(part)
