"""Tables of judging do not follow the order of rows."""

import numpy as np
import polars as pl
from tests.lib.core.test_sums import same, shuffled

from isotope_judge.pool import mean_scores


def test_means_by_system_do_not_follow_the_order_of_rows():
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
    assert same([mean_scores(each, n) for each in shuffled(scores)])
