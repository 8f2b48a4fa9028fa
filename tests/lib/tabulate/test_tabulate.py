"""Laying tables out, printing them, and the metrics file."""

import csv
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt
from polars.testing import assert_frame_equal

from isotope.core import store
from isotope.core.errors import EmptyTable
from isotope.report.content import on_page
from isotope.report.site import environment
from isotope.schemas.score import SCORES
from isotope.tabulate import table as tabulate
from isotope.tabulate.table import (
    FORMS,
    Column,
    PrintedCell,
    Table,
    latex,
    lay_out,
    markdown,
    read_table,
    widen,
    write_table,
)

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
        ("first_year", "1866", "1866"), ("texts", 10**30, f"{10**30:,}"),
        ("texts", Decimal(17173), "17,173"), ("value", Decimal("0.5"), "0.5000"),
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


# What readers of csv take for numbers, dates, truths or nothing, and readers of markup for signs.
NAMES = st.one_of(
    st.sampled_from(
        (
            "2023", "1e5", "007", "0x1F", "nan", "true", "null", "2023-01-05", "12:30", "1_000",
            "1,5", "a - b", "a--b", "a---b", "a._b_", "a_b", "x|y", "50 %", "a\\b", "{}", "x & y",
        )
    ),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]*", fullmatch=True),
)  # fmt: skip
STRATA = st.sampled_from(["01", "10", "macro", "2023"])
ROWS = st.fixed_dictionaries(
    {
        "system": NAMES,
        "captioner": NAMES,
        "stratum": STRATA,
        "texts": st.one_of(st.none(), st.integers(-(10**37), 10**37)),
        "documents": st.one_of(st.none(), st.decimals(0, 10**30, places=0)),
        "value": st.one_of(st.none(), st.floats(0, 1)),
    }
)
TYPES = {
    **dict.fromkeys(("system", "captioner", "stratum"), pl.String()),
    **{"texts": pl.Int128(), "documents": pl.Decimal(38, 0), "value": pl.Float64()},
}

READ: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("system", "captioner", "stratum"), str),
    **dict.fromkeys(("texts", "documents"), lambda text: int(text) if text else None),
    "value": lambda text: float(text) if text else None,
}


PAGE = environment().from_string('{% from "macros.html.j2" import table %}{{ table(laid, "t") }}')


def shown(page: html.HtmlElement) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the cells of a page's only table."""
    heads, *rows = (
        [cell.text_content().strip() for cell in row.xpath("./th|./td")] for row in page.iter("tr")
    )
    return heads, rows


def written(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Write a table; return its rows as they are handed on, and the text of each other form."""
    with TemporaryDirectory() as folder:
        write_table(frame, Path(folder) / "t")
        handed = read_table(Path(folder) / "t.arrow")
        return handed, {form: (Path(folder) / f"t.{form}").read_text() for form in FORMS[1:]}


def expected(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is printed of rows in every form."""
    return [
        {
            **{name: row[name] for name in ("system", "captioner")},
            "stratum": {"01": "decile 1", "10": "decile 10"}.get(row["stratum"], row["stratum"]),
            **{n: "—" if row[n] is None else f"{int(row[n]):,}" for n in ("texts", "documents")},
            "value": "—" if row["value"] is None else f"{row['value']:.4f}",
        }
        for row in rows
    ]


@given(st.lists(ROWS, min_size=1, max_size=2))
def test_a_name_and_a_number_look_the_same_in_csv_markdown_and_on_a_page(rows):
    frame = pl.DataFrame(rows, schema=TYPES)
    handed, forms = written(frame)
    assert handed.schema == frame.schema
    assert_frame_equal(handed, frame)
    own = expected(rows)
    head, *body = csv.reader(forms["csv"].splitlines())
    read = [[READ[name](cell) for name, cell in zip(head, row, strict=True)] for row in body]
    assert read == [[row[name] for name in TYPES] for row in rows]
    heads, cells = shown(html.fromstring(MarkdownIt().enable("table").render(forms["md"])))
    assert [dict(zip(heads, row, strict=True)) for row in cells] == own
    laid = on_page(handed)
    heads, cells = shown(html.fromstring(PAGE.render(laid=laid)))
    said = [dict(zip(heads, row, strict=True)) for row in cells]
    assert said == [{name: row[name] for name in heads} for row in own]
    assert {*own[0]} - {*heads} == {n for n in own[0] if all(row[n] == "—" for row in own)}
