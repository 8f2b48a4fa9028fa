"""What revisions are compared by: the newest collection's numbers under a name that stays."""

import json
from itertools import product

import polars as pl
import pytest

from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.schemas.collect import QRELS
from isotope.schemas.score import SCORES
from isotope.tabulate import snapshot_diff
from isotope.tabulate.table import write_table


def written(folder, value=0.5):
    """A collection of one pair, and its score."""
    pair = {"text_id": "t", "image_id": "i", "relevance": 1, "split": "test"}
    for name in ("texts", "images", "qrels"):
        store.write_rows([pair], folder / f"{name}.parquet", QRELS)
    cell = {"collection": "wiki-20230101", "setting": "small", "split": "test", "task": "t2m"}
    rows = [
        {**cell, "system": "bm25", "query_id": q, "measure": "MRR@10", "value": v}
        for q, v in (("a", value), ("b", 1.0))
    ]
    store.write_rows(rows, folder / "scores.parquet", SCORES)
    (folder / "headline.csv").write_text("system,t2m\nbm25,0.75\n")
    return {t: folder / f"{t}.parquet" for t in ("texts", "images", "qrels")}


def test_sizes_scores_and_what_still_holds_stand_under_names_without_a_date(tmp_path):
    collected = written(tmp_path)
    survival = tmp_path / "snapshot_survival.arrow"
    kept = {"split": ["all", "test"], "held_share": [0.75, 1.0]}
    write_table(pl.DataFrame(kept), survival.with_suffix(""))
    given = tmp_path / "scores.parquet", tmp_path / "headline.csv"
    snapshot_diff.write_newest(collected, *given, survival, tmp_path / "newest")
    assert json.loads((tmp_path / "newest/metrics.json").read_text()) == {
        **{"texts": 1, "images": 1, "qrels": 1},
        **{"pool": "small/test", "measure": "MRR@10", "bm25": {"t2m": 0.75}},
        "held": {"all": 0.75, "test": 1.0},
    }
    assert (tmp_path / "newest/headline.csv").read_bytes() == given[1].read_bytes()


def test_few_numbers_stand_for_many_pools_and_measures(tmp_path):
    collected = written(tmp_path)
    cells = product(
        ("small", "base", "large"), ("test", "validation"), ("t2m", "m2t"), ("bm25", "rrf")
    )
    rows = [
        dict(zip(("setting", "split", "task", "system"), cell, strict=True))
        | {"collection": "c", "query_id": "q", "measure": measure, "value": n / 100}
        for n, (cell, measure) in enumerate(product(cells, ("nDCG@10", "MRR@10", "R@10")))
    ]
    store.write_rows(rows, tmp_path / "scores.parquet", SCORES)
    given = tmp_path / "scores.parquet", tmp_path / "headline.csv"
    snapshot_diff.write_newest(collected, *given, None, tmp_path / "newest")
    told = json.loads((tmp_path / "newest/metrics.json").read_text())
    assert {*told} == {"texts", "images", "qrels", "pool", "measure", "bm25", "rrf"}
    assert (told["pool"], told["measure"]) == ("small/validation", "MRR@10")
    assert told["bm25"] == {"t2m": 0.13, "m2t": 0.19}


def test_the_first_snapshot_has_nothing_that_could_hold(tmp_path):
    collected = written(tmp_path)
    given = tmp_path / "scores.parquet", tmp_path / "headline.csv"
    snapshot_diff.write_newest(collected, *given, None, tmp_path / "newest")
    assert "held" not in json.loads((tmp_path / "newest/metrics.json").read_text())


def test_a_table_that_is_not_there_is_named_and_nothing_is_written(tmp_path):
    collected = written(tmp_path)
    given = tmp_path / "scores.parquet", tmp_path / "none.csv"
    with pytest.raises(MissingFile, match=r"none\.csv"):
        snapshot_diff.write_newest(collected, *given, None, tmp_path / "newest")
    assert not (tmp_path / "newest").exists()
