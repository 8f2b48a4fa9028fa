"""What rules ask of the params: one object that knows the whole run."""

from isotope.plan.explain import Explain


class Plan(Explain):
    """The plan of a run, of all phases."""
