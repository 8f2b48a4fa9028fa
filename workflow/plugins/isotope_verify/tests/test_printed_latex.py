"""What verification reads of a table in LaTeX is what the other forms print."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from tests.lib.tabulate.test_tabulate import ROWS, TYPES, expected, written

from isotope_verify import printed


@given(st.lists(ROWS, min_size=1, max_size=2))
def test_a_name_and_a_number_look_in_latex_as_in_the_other_forms(rows):
    _, forms = written(pl.DataFrame(rows, schema=TYPES))
    read = [dict(zip(TYPES, row, strict=True)) for row in printed._latex(forms["tex"])]
    assert read == expected(rows)
