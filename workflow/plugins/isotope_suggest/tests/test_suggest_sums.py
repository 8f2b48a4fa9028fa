"""How sure suggestions are does not follow the order of rows."""

import polars as pl
from tests.lib.core.test_sums import random_scores, same, shuffled

from isotope_suggest.measure import evaluate


def test_bins_of_probabilities_do_not_follow_the_order_of_rows():
    judged = random_scores().with_columns(right=pl.col("value") > 0.5)
    columns = [(each["value"].to_numpy(), each["right"].to_numpy()) for each in shuffled(judged)]
    bins = [evaluate.equal_mass(*own) for own in columns]
    assert same(bins)
    assert len({evaluate.calibration_error(each) for each in bins}) == 1
