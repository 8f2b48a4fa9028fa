"""How long until a suggestion is taken up, by the textbook's figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope_suggest.measure.survival import kaplan_meier, median

# Weeks of remission under 6-mercaptopurine (Freireich et al., Blood 21, 1963); + is still in it.
WEEKS = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+"
# Their estimate, as in Kleinbaum and Klein, Survival Analysis, chapter 2.
SHARES = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448}
AT_RISK = {6: 21, 7: 17, 10: 15, 13: 12, 16: 11, 22: 7, 23: 6}


def test_the_estimate_of_kaplan_and_meier_is_that_of_the_textbook() -> None:
    curve = kaplan_meier(
        [int(w.rstrip("+")) for w in WEEKS.split()], [w[-1] != "+" for w in WEEKS.split()]
    )
    assert dict(curve.select("time", "at_risk").rows()) == AT_RISK
    assert dict(curve.select("time", "share").rows()) == pytest.approx(SHARES, abs=5e-4)
    # SAS, whose LIFETEST has these intervals, prints the same median and its lower end.
    assert median(curve) == (23, 13, None)


def test_the_median_of_three_is_the_second_by_hand() -> None:
    curve = kaplan_meier([1, 2, 3], [True, True, True])
    assert curve["share"].to_list() == pytest.approx([2 / 3, 1 / 3, 0])
    assert curve["low"].to_list()[-1] is None
    assert median(curve).value == 2


def test_where_nothing_happens_no_time_is_the_median() -> None:
    assert median(kaplan_meier([5, 5], [False, False])) == (None, None, None)
    assert median(kaplan_meier([], [])) == (None, None, None)


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=30))
def test_shares_fall_and_lie_within_their_intervals(times: list[tuple[int, bool]]) -> None:
    curve = kaplan_meier([t for t, _ in times], [e for _, e in times])
    shares = curve["share"].to_list()
    assert shares == sorted(shares, reverse=True)
    defined = curve.drop_nulls("low")
    assert (defined["low"] <= defined["share"] + 1e-12).all()
    assert (defined["share"] <= defined["high"] + 1e-12).all()
    if all(event for _, event in times):
        # Without censoring it is the share of those that are left.
        left = [sum(t > time for t, _ in times) / len(times) for time in curve["time"]]
        assert shares == pytest.approx(left)
