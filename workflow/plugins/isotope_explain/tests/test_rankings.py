"""The ranking table of a collection without objects: the columns of Tables 6 to 10.

Lymperaiou et al., COLING 2022, section 3.3; what the paper calls R@k is Success@k here: a query
has one right picture.
"""

import copy
from pathlib import Path

import polars as pl
import pytest
import yaml

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.runs import write_run
from isotope.params import resolve
from isotope.schemas.collect import QRELS
from isotope.tabulate.exhibits import recipe, write_exhibit
from isotope.tabulate.table import FORMS
from isotope_explain.failures import rank_answers
from isotope_explain.params import Explain

RANKS = [1, 3, 7, None, None]


@pytest.fixture
def table(tmp_path) -> pl.DataFrame:
    """Five queries over ten pictures, whose right answers stand at RANKS."""
    qrels = [
        {"text_id": f"t{n}", "image_id": f"i{n}", "relevance": 1, "split": "test"} for n in range(5)
    ]
    store.write_rows(qrels, tmp_path / "qrels.parquet", QRELS)
    hits = [
        (f"t{n}", f"i{n}" if position == rank else f"other{position}", float(-position))
        for n, rank in enumerate(RANKS)
        for position in range(1, 11)
    ]
    run = tmp_path / "flickr8k/base/test/t2m/words.parquet"
    run.parent.mkdir(parents=True)
    frame = pl.DataFrame(hits, ["query_id", "doc_id", "score"], orient="row")
    write_run(frame, run)
    rank_answers([run], tmp_path / "qrels.parquet", tmp_path / "ranks.parquet")
    exhibit = recipe("ranking", {"ranks": str(tmp_path / "ranks.parquet")}, {"systems": []})
    write_exhibit(exhibit, tmp_path / "ranking", tmp_path / "ranking.svg")
    assert {p.name for p in tmp_path.glob("*ranking*")} == {f"ranking.{form}" for form in FORMS}
    return pl.read_csv(tmp_path / "ranking.csv")


def test_the_columns_of_tables_6_to_10_are_counted_from_the_ranks(table):
    row = table.row(0, named=True)
    assert (row["task"], row["system"], row["queries"]) == ("t2m", "words", 5)
    successes = [row[f"success_at_{k}"] for k in (1, 5, 10)]
    assert successes == [0.2, 0.4, 0.6]
    assert row["mrr_at_5"] == pytest.approx((1 + 1 / 3) / 5, abs=1e-6)
    mean = pytest.approx((1 + 1 / 3 + 1 / 7) / 5, abs=1e-6)
    assert row["mrr_at_10"] == row["mrr"] == mean
    assert (row["fails"], row["fails_share"]) == (4, 0.8)
    assert row["median_rank"] == 7, "that of all five, not of those that were found"


def test_a_ranking_of_a_collection_that_nothing_defines_is_refused(root: Path):
    config = yaml.safe_load((root / "params.yaml").read_text())
    changed = copy.deepcopy(config)
    changed["explain"] = {"rankings": ["toy"]}
    asked = resolve.resolve(changed).section("explain", Explain)
    assert asked is not None
    assert asked.rankings == ["toy"]
    config["explain"] = {"rankings": ["flickr9k"]}
    with pytest.raises(BadParams, match=r"explain\.rankings.*'flickr9k'"):
        resolve.resolve(config)
