"""How sure suggestions are does not follow the order of rows."""

import numpy as np
import polars as pl
from tests.lib.core.test_sums import same, shuffled

from isotope_suggest.measure import evaluate


def test_bins_of_probabilities_do_not_follow_the_order_of_rows():
    rng = np.random.default_rng(2)
    n = 60_000
    scores = pl.DataFrame(
        {
            "query_id": np.arange(n).astype(str),
            "measure": rng.choice(["MAP", "MRR@10"], n),
            "system": "bm25",
            "value": rng.random(n),
        }
    )
    judged = scores.with_columns(right=pl.col("value") > 0.5)
    columns = [(each["value"].to_numpy(), each["right"].to_numpy()) for each in shuffled(judged)]
    bins = [evaluate.equal_mass(*own) for own in columns]
    assert same(bins)
    assert len({evaluate.calibration_error(each) for each in bins}) == 1
