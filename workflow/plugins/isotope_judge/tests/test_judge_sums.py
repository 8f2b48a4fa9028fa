"""Tables of judging do not follow the order of rows."""

from tests.lib.core.test_sums import random_scores, same, shuffled

from isotope_judge.pool import mean_scores


def test_means_by_system_do_not_follow_the_order_of_rows():
    scores = random_scores()
    assert same([mean_scores(order, scores.height) for order in shuffled(scores)])
