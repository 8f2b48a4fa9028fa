"""Sums and means of floats by group that have the same last digit on every machine.

Polars gives the rows of a group to several threads and adds what these have added, so the order of
a sum follows the number of threads and which of them is first. Here values are put in order before
they are added, so the order of rows does not count either.
"""

import polars as pl


def total(values: pl.Expr) -> pl.Expr:
    """Return the sum of `values`, without nulls: 0 if there are none."""
    return values.sort().sum()


def mean(values: pl.Expr) -> pl.Expr:
    """Return the mean of `values`, without nulls: null if there are none."""
    return values.sort().mean()


def deviation(values: pl.Expr) -> pl.Expr:
    """Return the standard deviation of `values`, as of the whole population, without nulls."""
    return values.sort().std(ddof=0)
