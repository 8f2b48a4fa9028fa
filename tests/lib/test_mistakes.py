"""Wrong answers go out on a sheet, and come back sorted into kinds of mistakes."""

from pathlib import Path

import polars as pl
import pytest

from isotope import mistakes, store, tables
from isotope.errors import CorruptFile
from isotope.runs import write_run

KINDS = ["same_granularity", "too_generic", "misunderstood_query", "other"]
PAIRS = 6


@pytest.fixture(scope="module")
def collected(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("collected")
    paths = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    ids = range(PAIRS)
    texts = {"text_id": [f"Q{i}" for i in ids], "page_title": [f"Entity {i}" for i in ids]}
    texts["page_url"] = [f"https://x.org/Q{i}" for i in ids]
    pl.DataFrame(texts).write_parquet(paths["texts"])
    images = {"image_id": [f"i{i}" for i in ids], "question": ["What?"] * PAIRS}
    images["image_url"] = [f"https://x.org/{i}.jpg" for i in ids]
    pl.DataFrame(images).write_parquet(paths["images"])
    pairs = [
        {"text_id": f"Q{i}", "image_id": f"i{i}", "relevance": 1, "split": "test"} for i in ids
    ]
    store.write_rows(pairs, paths["qrels"], tables.QRELS)
    return paths


@pytest.fixture
def sheet(collected, tmp_path) -> Path:
    """Of two systems, one is right twice, the other never; three mistakes of each are drawn."""
    runs = []
    for system, right in (("good", 2), ("bad", 0)):
        found = [(f"i{i}", f"Q{i if i < right else (i + 1) % PAIRS}") for i in range(PAIRS)]
        rows = [{"query_id": q, "doc_id": d, "score": 1.0} for q, d in found]
        rows += [{"query_id": q, "doc_id": "Q0", "score": 0.5} for q, d in found if d != "Q0"]
        runs.append(tmp_path / f"large/test/m2t/{system}.parquet")
        write_run(pl.DataFrame(rows), runs[-1])
    spec = {"seed": 0, "failures": 3}
    given, out = tmp_path / "mistakes.parquet", tmp_path / "mistakes.csv"
    mistakes.write_mistakes(runs, collected, spec, given=given, sheet=out)
    return out


def test_only_wrong_first_answers_are_drawn_as_many_of_each_system(sheet):
    rows = pl.read_parquet(sheet.with_suffix(".parquet"))
    assert rows.columns == tables.STUDY.names
    assert dict(rows["system"].value_counts().rows()) == {"good": 3, "bad": 3}
    assert (rows["truth_id"] != rows["found_id"]).all()
    assert not set(rows.filter(system="good")["query_id"]) & {"i0", "i1"}


def test_a_row_shows_the_question_the_right_entity_and_the_one_found(sheet):
    row = pl.read_parquet(sheet.with_suffix(".parquet")).row(0, named=True)
    n = int(row["query_id"][1:])
    assert row["query"] == f"What? | right: Entity {n} | found: Entity {(n + 1) % PAIRS}"
    assert row["truth_url"] == f"https://x.org/{n}.jpg"


def test_people_are_not_told_which_system_was_wrong(sheet):
    told = pl.read_csv(sheet)
    assert "system" not in told.columns
    assert (
        told["query"].to_list() == pl.read_parquet(sheet.with_suffix(".parquet"))["query"].to_list()
    )


def test_sorted_mistakes_become_shares_of_each_kind(sheet, tmp_path):
    given = sheet.with_suffix(".parquet")
    ordered = pl.read_parquet(given).sort("system", "lot")["lot"]
    kinds = pl.DataFrame({"lot": ordered, "classes": [KINDS[n % 2] for n in range(6)]})
    back = pl.read_csv(sheet).drop("classes").join(kinds, on="lot")
    back = back.with_columns(assessor=pl.lit("ann"))
    back.write_csv(tmp_path / "back.csv")
    mistakes.tabulate_mistakes([tmp_path / "back.csv"], given, KINDS, tmp_path / "sorted")
    found = pl.read_csv(tmp_path / "sorted.csv").sort("system", "class")
    shares = found.select("system", "class", pl.col("judgements_share").round(3)).rows()
    assert shares == [
        ("bad", "same_granularity", 0.667),
        ("bad", "too_generic", 0.333),
        ("good", "same_granularity", 0.333),
        ("good", "too_generic", 0.667),
    ]


def test_a_kind_that_nobody_offered_is_refused(sheet, tmp_path):
    back = pl.read_csv(sheet).with_columns(classes=pl.lit("bad luck"), assessor=pl.lit("ann"))
    back.write_csv(tmp_path / "back.csv")
    given = sheet.with_suffix(".parquet")
    with pytest.raises(CorruptFile, match="same_granularity"):
        mistakes.tabulate_mistakes([tmp_path / "back.csv"], given, KINDS, tmp_path / "sorted")
