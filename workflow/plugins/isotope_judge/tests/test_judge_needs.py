"""A job that has a model grade needs what models do."""

from isotope.core import extras, provenance


def test_grading_by_a_model_needs_the_extra_of_models():
    assert "neural" in map(extras.extra_of, provenance.packages("isotope_judge.grading"))
