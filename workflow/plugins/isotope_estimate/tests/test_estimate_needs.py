"""The estimate needs no extra."""

from isotope.core import provenance


def test_gpus_are_looked_for_by_torch_where_it_is():
    assert "torch" not in provenance.packages("isotope_estimate.estimate:machine")
