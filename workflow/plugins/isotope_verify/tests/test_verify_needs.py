"""Verification needs no extra."""

from isotope.core import provenance


def test_a_type_of_torch_is_no_use_of_it():
    assert "torch" not in provenance.packages("isotope_verify.vectors:check_vectors")
