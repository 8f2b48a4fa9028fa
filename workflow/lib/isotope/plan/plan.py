"""What rules ask of the params: one object that knows the whole run."""

from isotope.plan.report import Report


class Plan(Report):
    """The plan of a run, of all phases."""
