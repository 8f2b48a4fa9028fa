"""Laying tables out, printing them, and the metrics file."""

import json

import polars as pl
import pytest

from isotope.core import store
from isotope.core.errors import EmptyTable
from isotope.schemas.score import SCORES
from isotope.tabulate import table as tabulate
from isotope.tabulate.table import Column, PrintedCell, Table, latex, lay_out, markdown, widen

CELLS = pl.DataFrame(
    [
        ("small", "test", "a", "bm25", "t2m MAP", 0.25, ""),
        ("small", "test", "a", "bm25", "m2t MAP", 0.5, "b"),
        ("small", "test", "b", "rrf", "t2m MAP", 0.75, "a"),
    ],
    schema=["setting", "split", "letter", "system", "heading", "value", "beats"],
    orient="row",
)


def test_cells_become_columns_in_the_order_they_came_and_gaps_stay_empty():
    wide = widen(CELLS)
    assert wide.columns[4:] == ["t2m MAP", "m2t MAP", "t2m MAP beats", "m2t MAP beats"]
    assert wide["m2t MAP"].to_list() == [0.5, None]
    assert [c.text for c in lay_out(wide).rows[1]][-2:] == ["0.7500", "—"]


def test_columns_keep_their_order_where_the_first_system_lacks_a_task():
    first, *others = CELLS.rows(named=True)
    lacking = [{**first, "system": "a", "letter": "a", "heading": "m2t MAP"}]
    later = [{**row, "system": f"b{row['system']}"} for row in (first, *others)]
    more = [{**later[0], "heading": h} for h in ("t2m R@10", "m2t R@10")]
    frame = pl.DataFrame([*lacking, later[0], more[0], later[1], more[1]], schema=CELLS.schema)
    columns = [c for c in widen(frame).columns if c[:3] in ("t2m", "m2t") and "beats" not in c]
    assert columns == ["t2m MAP", "t2m R@10", "m2t MAP", "m2t R@10"]


def test_what_csv_kept_is_laid_out_as_before_it_was_written(tmp_path):
    wide = widen(CELLS)
    wide.write_csv(tmp_path / "t.csv")
    assert lay_out(pl.read_csv(tmp_path / "t.csv")) == lay_out(wide)


def test_equal_best_systems_are_both_bold():
    table = lay_out(widen(CELLS.with_columns(value=pl.lit(0.5))))
    assert [row[4].best for row in table.rows] == [True, True]


def test_a_mean_and_its_deviation_share_a_column():
    wide = pl.DataFrame({"m_per_t_mean": [1.0366, None], "m_per_t_sd": [0.43, None]})
    table = lay_out(wide)
    assert [c.label for c in table.columns] == ["M/T"]
    assert [row[0].text for row in table.rows] == ["1.037 ± 0.430", "—"]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("texts", 17173, "17,173"), ("share", 0.1234, "12.3"), ("score_max", 12.345, "12.35"),
        ("value", 0.5, "0.5000"), ("split", "test", "test"), ("score_min", None, "—"),
        ("first_year", 1866, "1866"), ("median_year", 1905.0, "1905.0"),
    ],
)  # fmt: skip
def test_numbers_are_printed_by_what_they_are(column, value, text):
    assert lay_out(pl.DataFrame({column: [value]})).rows[0][0].text == text


def test_groups_of_columns_stand_under_one_heading_in_latex():
    lines = latex(lay_out(widen(CELLS))).splitlines()
    assert lines[0] == r"\begin{tabular}{llllrr}"
    assert lines[2] == (
        r"\multicolumn{4}{c}{} & \multicolumn{1}{c}{Image suggestion} & "
        r"\multicolumn{1}{c}{Image promotion} \\"
    )
    assert lines[3] == r"\cmidrule(lr){5-5}\cmidrule(lr){6-6}"
    assert lines[6] == r"small & test & a & bm25 & 0.2500 & \textbf{0.5000}$^{b}$ \\"


def test_signs_of_the_markup_are_printed_not_obeyed():
    table = Table([Column("a_b|c", "", numeric=False)], [[PrintedCell("50% & $5 {x}^2|*<b>")]])
    assert markdown(table).splitlines()[0] == r"| a_b\|c |"
    assert markdown(table).splitlines()[2] == r"| 50% & $5 {x}^2\|\*\<b> |"
    assert latex(table).splitlines()[2] == r"a\_b|c \\"
    assert r"50\% \& \$5 \{x\}\textasciicircum{}2|*<b> \\" in latex(table)


def test_metrics_nest_by_collection_setting_split_task_and_system(tmp_path):
    cell = {"collection": "c", "setting": "small", "split": "test", "task": "t2m"}
    for name, value in (("bm25", 0.5), ("rrf", 1 / 3)):
        rows = [cell | {"system": name, "query_id": "q", "measure": "MAP", "value": value}]
        store.write_rows(rows, tmp_path / f"{name}.parquet", SCORES)
    scores = [tmp_path / "bm25.parquet", tmp_path / "rrf.parquet"]
    tabulate.metrics(scores, tmp_path / "metrics.json")
    assert json.loads((tmp_path / "metrics.json").read_text()) == {
        "c": {"small": {"test": {"t2m": {"bm25": {"MAP": 0.5}, "rrf": {"MAP": 0.333333}}}}}
    }


def test_metrics_of_nothing_are_refused(tmp_path):
    store.write_rows([], tmp_path / "s.parquet", SCORES)
    with pytest.raises(EmptyTable, match="no scores"):
        tabulate.metrics([tmp_path / "s.parquet"], tmp_path / "metrics.json")
