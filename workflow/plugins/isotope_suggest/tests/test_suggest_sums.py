"""How sure suggestions are does not follow the order of rows."""

import polars as pl
from tests.lib.core.test_sums import random_scores, same, shuffled

from isotope_suggest.measure import evaluate


def test_bins_of_probabilities_do_not_follow_the_order_of_rows():
    judged = random_scores().with_columns(right=pl.col("value") > 0.5)
    columns = [(table["value"].to_numpy(), table["right"].to_numpy()) for table in shuffled(judged)]
    bins = [evaluate.equal_mass(*column) for column in columns]
    assert same(bins)
    assert len({evaluate.calibration_error(binned) for binned in bins}) == 1
