"""Collections side by side: each one, and the mean of each part."""

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.schemas.score import SCORES
from isotope.tabulate.table import FORMS, lay_out, tabulate, widen

VALUES = {
    ("xm-de", "t2m", "bm25", "Success@1"): [1, 0, 0, 0],
    ("xm-de", "t2m", "bm25", "Success@5"): [1, 1, 0, 0],
    ("xm-de", "m2t", "bm25", "Success@1"): [1],
    ("xm-quz", "t2m", "bm25", "Success@1"): [0, 0],
    ("xm-quz", "t2m", "bm25", "Success@5"): [1, 1],
    ("xm-quz", "t2m", "random", "Success@1"): [1, 0],
}
ASKED = {
    "setting": "small",
    "split": "test",
    "measures": ["Success@1", "Success@5"],
    "parts": ["all", "low-resource"],
    "members": [["xm-de", "xm-quz"], ["xm-quz"]],
}


@pytest.fixture
def scores(tmp_path):
    paths = []
    for collection in ("xm-de", "xm-quz"):
        rows = [
            dict(
                zip(
                    SCORES.names,
                    (of, "small", split, task, system, f"q{n}", measure, value),
                    strict=True,
                )
            )
            for (of, task, system, measure), values in VALUES.items()
            for n, value in enumerate(values)
            for split in ("test", "validation")
            if of == collection
        ]
        store.write_rows(rows, tmp_path / f"{collection}.parquet", SCORES)
        paths.append(tmp_path / f"{collection}.parquet")
    return paths


def test_every_collection_weighs_alike_in_the_mean_of_its_part(scores):
    found = sql.query(sql.SQL / "tabulate/tables/group.sql", {"scores": scores}, ASKED)
    assert found is not None
    bm25 = found.filter(pl.col("system") == "bm25", pl.col("heading").str.starts_with("t2m"))
    told = bm25.group_by("collection", "collections", maintain_order=True).agg("heading", "value")
    headings = ["t2m Success@1", "t2m Success@5", "t2m mean"]
    assert told.rows() == [
        ("xm-de", 1, headings, [0.25, 0.5, 0.375]),
        ("xm-quz", 1, headings, [0, 1, 0.5]),
        ("all", 2, headings, [0.125, 0.75, 0.4375]),
        ("low-resource", 1, headings, [0, 1, 0.5]),
    ]


def test_a_system_that_lacks_a_collection_has_no_mean_with_it(scores):
    found = sql.query(sql.SQL / "tabulate/tables/group.sql", {"scores": scores}, ASKED)
    assert found is not None
    of = found.filter(pl.col("system") == "random")["collection"].unique(maintain_order=True)
    assert of.to_list() == ["xm-quz", "low-resource"]


def test_the_best_system_is_marked_within_its_collection(scores):
    found = sql.query(sql.SQL / "tabulate/tables/group.sql", {"scores": scores}, ASKED)
    assert found is not None
    wide = widen(found)
    column = list(wide.columns).index("t2m Success@1")
    rows = lay_out(wide).rows
    best = [(row[0].text, row[2].text) for row in rows if row[column].best]
    assert best == [
        ("xm-de", "bm25"),
        ("xm-quz", "random"),
        ("all", "bm25"),
        ("low-resource", "random"),
    ]


def test_the_table_is_written_in_three_forms(scores, tmp_path):
    tabulate(sql.SQL / "tabulate/tables/group.sql", {"scores": scores}, ASKED, tmp_path / "group")
    assert {p.suffix for p in tmp_path.glob("group.*")} == {f".{form}" for form in FORMS}
    assert "low-resource" in (tmp_path / "group.md").read_text("utf-8")
