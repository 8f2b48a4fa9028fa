"""Tables of judging show systems in the order of the params, others behind them by name."""

from typing import Any

import polars as pl
import pytest
from tests.sql.test_order import EXPECTED, NAMES, ORDER, rows

from isotope.tabulate import table
from isotope.tabulate.exhibits import query

MORE: dict[str, list[dict[str, Any]]] = {
    "graded": [{"query_id": f"q{n}", "value": n / 4} for n in range(4)],
    "studied": [{"classes": ["wrong"], "assessor": "ann", "query_id": "q", "rating": 5}],
}


READ = {"graded": "graded", "mistakes_sorted": "studied", "study_classes": "studied"}


@pytest.mark.parametrize(("name", "reads"), READ.items())
def test_a_table_of_judging_has_the_systems_in_the_order_of_the_params(tmp_path, name, reads):
    pl.DataFrame(rows(MORE[reads])).write_parquet(tmp_path / "rows.parquet")
    select, relations = query(f"isotope_judge/{name}"), {reads: tmp_path / "rows.parquet"}
    ordered = table.rows(select, relations, {"systems": ORDER})["system"]
    assert list(dict.fromkeys(ordered)) == EXPECTED
    assert list(dict.fromkeys(table.rows(select, relations, {})["system"])) == NAMES
