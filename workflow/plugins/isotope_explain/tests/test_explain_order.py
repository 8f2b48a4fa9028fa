"""Tables of ranks show systems in the order of the params, others behind them by name."""

import polars as pl
import pytest
from tests.sql.test_order import EXPECTED, NAMES, ORDER, rows

from isotope.tabulate import table
from isotope.tabulate.exhibits import query


@pytest.mark.parametrize(("systems", "expected"), [(ORDER, EXPECTED), ([], NAMES)])
def test_a_table_of_ranks_has_the_systems_in_the_order_of_the_params(tmp_path, systems, expected):
    asked = [{"perturbation": "size", "query_id": "q", "rank": 1, "rank_before": 1}]
    pl.DataFrame(rows(asked)).write_parquet(tmp_path / "ranks.parquet")
    parameters = {"perturbed": True, "systems": systems}
    select = query("isotope_explain/ranking")
    ordered = table.rows(select, {"ranks": tmp_path / "ranks.parquet"}, parameters)["system"]
    assert list(dict.fromkeys(ordered)) == expected
