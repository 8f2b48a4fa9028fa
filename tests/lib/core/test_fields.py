"""What is read of a text is the same in Python and in queries."""

from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isotope.core.fields import parts_of, text_of
from isotope.core.lucene import contents
from isotope.core.prepare import ATOMIC, NONE, in_order, joined
from isotope.core.schemas import FIVE_FIELDS

_CELLS = st.none() | st.sampled_from(
    ["", " ", "\u2003", "AC/DC", "A / B", " / ", "Missions / Looking Glass", " a\n b\t", "\xa0x"]
)


def test_headings_and_fields_are_joined_by_a_space_and_nothing_empty_is_read():
    row = {"page_title": "A", "hierarchy": "Missions / Looking Glass", "section_title": " "}
    fields = ["hierarchy", "section_title", "page_title"]
    assert joined(parts_of(row, fields), NONE) == "Missions Looking Glass A"
    assert joined(parts_of(dict.fromkeys(fields), fields), NONE) == ""


def test_a_slash_within_a_name_stays():
    assert parts_of({"hierarchy": "AC/DC / Albums"}, ["hierarchy"]) == ["AC/DC", "Albums"]


@settings(max_examples=20, deadline=None)
@given(rows=st.lists(st.tuples(*[_CELLS] * len(FIVE_FIELDS)), min_size=1, max_size=20))
@example(rows=[(None, "", " ", "\u2003", "x")])
def test_bm25_reads_what_an_encoder_reads(rows, tmp_path_factory):
    path: Path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    schema: dict[str, Any] = dict.fromkeys(FIVE_FIELDS, pl.String)
    frame = pl.DataFrame(rows, schema, orient="row")
    ids = [f"t{n:02}" for n in range(len(rows))]
    frame.with_columns(text_id=pl.Series(ids), split=pl.lit("test")).write_parquet(path)
    read = contents("texts", path, language="en")
    assert read["contents"].to_list() == frame.select(text_of(FIVE_FIELDS))["text"].to_list()
    # A live page reads rows, not the table.
    for prepare in (NONE, ATOMIC):
        of_table = contents("texts", path, language="en", prepare=prepare)["contents"].to_list()
        fields = in_order(FIVE_FIELDS, prepare)
        of_rows = [joined(parts_of(r, fields), prepare) for r in frame.iter_rows(named=True)]
        assert of_rows == of_table
