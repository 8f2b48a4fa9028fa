"""Wrong answers go out on a sheet, and come back sorted into kinds of mistakes."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.core import store
from isotope.core.errors import CorruptFile, EmptyTable
from isotope.core.runs import write_run
from isotope.schemas.collect import QRELS
from isotope_explain.schemas import STUDY
from isotope_explain.sheets import write_mistakes
from isotope_judge import study

KINDS = ["same_granularity", "too_generic", "misunderstood_query", "other"]
# Table 3 of the paper: of 100 answers of CLIP2CLIP as many are correct, (a), (b), (c) and (d).
CLIP2CLIP = {
    "correct": 15,
    "wrong_but_relevant": 27,
    "too_generic": 1,
    "misunderstood_query": 37,
    "miscellaneous": 20,
}
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
    store.write_rows(pairs, paths["qrels"], QRELS)
    return paths


@pytest.fixture
def sheet(collected, tmp_path) -> Path:
    """Of two systems, one is right twice, the other never; three questions are drawn."""
    runs = []
    for system, right in (("good", 2), ("bad", 0)):
        answers = [(f"i{i}", f"Q{i if i < right else (i + 1) % PAIRS}") for i in range(PAIRS)]
        rows = [{"query_id": q, "doc_id": d, "score": 1.0} for q, d in answers]
        rows += [{"query_id": q, "doc_id": "Q0", "score": 0.5} for q, d in answers if d != "Q0"]
        runs.append(tmp_path / f"large/test/m2t/{system}.parquet")
        write_run(pl.DataFrame(rows), runs[-1])
    spec: dict[str, Any] = {"seed": 1, "examples": 3}
    sample, out = tmp_path / "mistakes.parquet", tmp_path / "mistakes.csv"
    write_mistakes(runs, collected, **spec, sample=sample, sheet=out)
    return out


def test_every_system_is_shown_with_the_same_questions_right_answers_included(sheet):
    """Section 6: "we sampled a random 100 examples"; Table 3 has 29 % and 15 % of them correct."""
    rows = pl.read_parquet(sheet.with_suffix(".parquet"))
    assert rows.columns == STUDY.names
    assert dict(rows["system"].value_counts().rows()) == {"good": 3, "bad": 3}
    good, bad = (set(rows.filter(system=s)["query_id"]) for s in ("good", "bad"))
    assert good == bad
    right = rows.filter(pl.col("truth_id") == pl.col("found_id"))
    assert right["system"].unique().to_list() == ["good"]
    assert set(right["query_id"]) == good & {"i0", "i1"}


def test_the_draw_is_of_all_questions_and_not_of_those_that_a_system_fails(collected, tmp_path):
    run = tmp_path / "large/test/m2t/perfect.parquet"
    hits = [{"query_id": f"i{n}", "doc_id": f"Q{n}", "score": 1.0} for n in range(PAIRS - 1)]
    write_run(pl.DataFrame(hits), run)
    sample = tmp_path / "sample.parquet"
    spec: dict[str, Any] = {"seed": 0, "examples": 100}
    write_mistakes([run], collected, **spec, sample=sample, sheet=tmp_path / "sheet.csv")
    rows = {r["query_id"]: r for r in pl.read_parquet(sample).to_dicts()}
    assert sorted(rows) == [f"i{n}" for n in range(PAIRS)]
    assert rows["i0"]["query"] == "What? | right: Entity 0 | found: Entity 0"
    assert rows["i5"]["query"] == "What? | right: Entity 5 | found: nothing"
    assert rows["i5"]["found_id"] is None


def test_each_seed_draws_others_and_no_question_is_left_out_by_all(collected, tmp_path):
    """Section 6: "a random 100 examples"."""
    run = tmp_path / "large/test/m2t/clip.parquet"
    write_run(pl.DataFrame([{"query_id": "i0", "doc_id": "Q1", "score": 1.0}]), run)
    sample, sheet = tmp_path / "sample.parquet", tmp_path / "sheet.csv"
    draws = []
    for seed in range(12):
        spec: dict[str, Any] = {"seed": seed, "examples": 2}
        write_mistakes([run], collected, **spec, sample=sample, sheet=sheet)
        draws.append(frozenset(pl.read_parquet(sample)["query_id"]))
    assert {len(draw) for draw in draws} == {2}
    assert len(set(draws)) > 4
    assert frozenset.union(*draws) == {f"i{n}" for n in range(PAIRS)}


def test_only_questions_of_the_human_set_are_drawn_where_the_params_name_it(collected, tmp_path):
    images = pl.read_parquet(collected["images"])
    subsets = ["human", "entity", "human", "query", None, "human"]
    images.with_columns(subset=pl.Series(subsets)).write_parquet(tmp_path / "images.parquet")
    tables = {**collected, "images": tmp_path / "images.parquet"}
    runs = [tmp_path / f"large/{split}/m2t/clip.parquet" for split in ("validation", "test")]
    for run in runs:
        write_run(pl.DataFrame([{"query_id": "i0", "doc_id": "Q1", "score": 1.0}]), run)
    sample, sheet = tmp_path / "sample.parquet", tmp_path / "sheet.csv"
    spec: dict[str, Any] = {"seed": 0, "examples": 100, "subset": "human"}
    write_mistakes(runs[1:], tables, **spec, sample=sample, sheet=sheet)
    assert sorted(pl.read_parquet(sample)["query_id"]) == ["i0", "i2", "i5"]
    with pytest.raises(EmptyTable, match="no judged question of the subset human in validation"):
        write_mistakes(runs[:1], tables, **spec, sample=sample, sheet=sheet)
    with pytest.raises(EmptyTable):
        write_mistakes(runs[:1], tables, **spec, sample=sample, sheet=sheet, withheld=["test"])
    write_mistakes(runs[:1], tables, **spec, sample=sample, sheet=sheet, withheld=["validation"])
    assert pl.read_parquet(sample).is_empty()
    assert sheet.read_text().splitlines()[0].startswith("lot,")


def test_a_row_shows_the_question_the_right_entity_and_the_one_found(sheet):
    rows = pl.read_parquet(sheet.with_suffix(".parquet")).filter(system="bad")
    row = rows.row(0, named=True)
    n = int(row["query_id"][1:])
    assert row["query"] == f"What? | right: Entity {n} | found: Entity {(n + 1) % PAIRS}"
    assert row["truth_url"] == f"https://x.org/{n}.jpg"


def test_people_are_not_told_which_system_was_wrong(sheet):
    sheet_rows = pl.read_csv(sheet)
    assert "system" not in sheet_rows.columns
    assert (
        sheet_rows["query"].to_list()
        == pl.read_parquet(sheet.with_suffix(".parquet"))["query"].to_list()
    )


def test_sorted_mistakes_become_shares_of_each_kind(sheet, tmp_path):
    sample = sheet.with_suffix(".parquet")
    ordered = pl.read_parquet(sample).sort("system", "lot")["lot"]
    kinds = pl.DataFrame({"lot": ordered, "classes": [KINDS[n % 2] for n in range(6)]})
    back = pl.read_csv(sheet).drop("classes").join(kinds, on="lot")
    back = back.with_columns(assessor=pl.lit("ann"))
    back.write_csv(tmp_path / "back.csv")
    study.tabulate_mistakes([tmp_path / "back.csv"], sample, KINDS, tmp_path / "sorted")
    table = pl.read_csv(tmp_path / "sorted.csv").sort("system", "class")
    shares = table.select("system", "class", pl.col("judgements_share").round(3)).rows()
    assert shares == [
        ("bad", "incorrect", 1),
        ("bad", "same_granularity", 0.667),
        ("bad", "too_generic", 0.333),
        ("good", "incorrect", 1),
        ("good", "same_granularity", 0.333),
        ("good", "too_generic", 0.667),
    ]


def test_a_kind_that_nobody_offered_is_refused(sheet, tmp_path):
    back = pl.read_csv(sheet).with_columns(classes=pl.lit("bad luck"), assessor=pl.lit("ann"))
    back.write_csv(tmp_path / "back.csv")
    sample = sheet.with_suffix(".parquet")
    with pytest.raises(CorruptFile, match="same_granularity"):
        study.tabulate_mistakes([tmp_path / "back.csv"], sample, KINDS, tmp_path / "sorted")


def test_the_papers_counts_of_clip2clip_give_its_85_percent_of_incorrect_answers(tmp_path):
    """Table 3. PaLI-17B's column does not add up: 71 % are incorrect, (a) to (d) are 69 %."""
    classes = [name for name, count in CLIP2CLIP.items() for _ in range(count)]
    drawn = [
        {"lot": f"l{n}", "task": "m2t", "system": "clip2clip", "query_id": f"i{n}"}
        for n in range(len(classes))
    ]
    store.write_rows(drawn, tmp_path / "sample.parquet", STUDY)
    back = pl.DataFrame(drawn).with_columns(
        classes=pl.Series(classes), rating=pl.lit(""), assessor=pl.lit("ann")
    )
    back.write_csv(tmp_path / "back.csv")
    study.tabulate_mistakes(
        [tmp_path / "back.csv"], tmp_path / "sample.parquet", list(CLIP2CLIP), tmp_path / "sorted"
    )
    table = pl.read_csv(tmp_path / "sorted.csv")
    shares = [
        (name, round(100 * share))
        for name, share in table.select("class", "judgements_share").rows()
    ]
    assert shares[:2] == [("correct", 15), ("incorrect", 85)]
    assert dict(shares) == {**CLIP2CLIP, "incorrect": 85}
