"""What people say of suggestions: the sheet is a fair sample, verdicts are grades."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workflow.plugins.isotope_suggest.tests.suggested_collection import SHEET, lay, write

from isotope_judge.schemas import SUGGESTION_SHEET
from isotope_suggest import verdicts
from isotope_suggest.schemas import FEED, JUDGEMENTS
from isotope_suggest.verdicts import Suggestion, Verdict, open_ledger, pasted, rejected


def feed(size: int) -> pl.DataFrame:
    rows = [
        {"text_id": f"t{n:03}", "image_id": "a", "probability": 1 - n / 1000} for n in range(size)
    ]
    return pl.DataFrame(
        rows, schema={"text_id": pl.String, "image_id": pl.String, "probability": pl.Float64}
    )


def say(folder: Path, assessor: str, grades: dict[tuple[str, str], Verdict]) -> Path:
    ledger = open_ledger("toy", assessor, folder)
    for pair, verdict in grades.items():
        ledger.give(Suggestion(*pair), verdict, expected=None)
    return ledger.path


def test_the_sheet_has_one_suggestion_of_each_stratum_of_the_feed() -> None:
    chosen = verdicts.drawn(feed(200), 20, 0)
    places = [int(text_id[1:]) for text_id in chosen["text_id"]]
    assert [number // 10 for number in places] == list(range(20))
    assert chosen["stratum"].to_list() == list(range(1, 21))


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 5))
def test_none_is_drawn_twice_and_the_order_of_the_feed_does_not_matter(size, most, seed) -> None:
    sheet = verdicts.drawn(feed(size), most, seed)
    assert len(sheet) == min(size, most) == sheet["text_id"].n_unique()
    assert sheet.equals(verdicts.drawn(feed(size).reverse(), most, seed))


def test_other_seeds_draw_others() -> None:
    drawn = {tuple(verdicts.drawn(feed(200), 20, seed)["text_id"]) for seed in range(5)}
    assert len(drawn) == 5


def test_every_suggestion_has_about_the_same_chance_to_be_on_the_sheet() -> None:
    counts = pl.concat(verdicts.drawn(feed(10), 5, seed) for seed in range(400))["text_id"]
    shares = counts.value_counts()["count"] / 400
    # A half each, whose standard deviation over 400 draws is 0.025.
    assert len(shares) == 10
    assert ((shares - 0.5).abs() < 0.1).all()


def test_the_sheet_says_neither_how_sure_nor_why(tmp_path) -> None:
    inputs = lay(tmp_path)
    out = tmp_path / "sheet.parquet"
    places = {name: inputs[name] for name in ("feed", "texts", "images")}
    verdicts.write_sheet(**places, out=out, most=SHEET, seed=0)
    sheet = pl.read_parquet(out)
    assert sheet.columns == SUGGESTION_SHEET.names
    assert not {"probability", "reasons", "kind", "rank"} & set(sheet.columns)
    assert sheet.height == SHEET
    row = sheet.row(0, named=True)
    assert (row["caption"], row["credit"]) == ("a tower", "Jo Bloggs, CC BY 4.0, unknown")
    assert row["section"].startswith("A red lighthouse")


def test_an_empty_feed_has_an_empty_sheet(tmp_path) -> None:
    inputs = lay(tmp_path)
    write([], FEED, inputs["feed"])
    places = {name: inputs[name] for name in ("feed", "texts", "images")}
    verdicts.write_sheet(**places, out=tmp_path / "sheet.parquet", most=SHEET, seed=0)
    assert pl.read_parquet(tmp_path / "sheet.parquet").is_empty()


def test_one_refusal_counts_whatever_others_say(tmp_path) -> None:
    paths = [
        say(tmp_path, "ann", {("t1", "a"): Verdict("good"), ("t2", "a"): rejected("icon")}),
        say(tmp_path, "bob", {("t1", "a"): Verdict("bad"), ("t2", "a"): rejected("offensive")}),
        say(
            tmp_path,
            "cal",
            {("t3", "a"): Verdict("no picture wanted"), ("t4", "a"): Verdict("okay")},
        ),
    ]
    assert verdicts.rejections(paths).rows() == [
        *(("t1", "a", "bad"), ("t2", "a", "icon"), ("t3", "a", "no picture wanted")),
    ]


def test_a_rejection_that_was_taken_back_is_none(tmp_path) -> None:
    path = say(tmp_path, "ann", {("t1", "a"): rejected("icon")})
    open_ledger("toy", "ann", tmp_path).give(Suggestion("t1", "a"), None, expected=rejected("icon"))
    assert verdicts.rejections([path]).is_empty()
    assert verdicts.judgements([path]).is_empty()
    assert verdicts.rejections([]).columns == ["text_id", "image_id", "reason"]


def test_verdicts_of_several_people_are_judgements_by_their_median(tmp_path) -> None:
    good, okay, bad = (Verdict(v) for v in ("good", "okay", "bad"))
    paths = [
        say(tmp_path, "ann", {("t1", "a"): good, ("t2", "a"): good, (pasted("x"), "a"): good}),
        say(tmp_path, "bob", {("t1", "a"): okay, ("t2", "a"): bad}),
        say(tmp_path, "cal", {("t1", "a"): okay, ("t3", "a"): Verdict("no picture wanted")}),
    ]
    verdicts.write_judgements(paths, tmp_path / "judgements.parquet")
    judgements = pl.read_parquet(tmp_path / "judgements.parquet")
    assert judgements.columns == JUDGEMENTS.names
    # Of two middle grades the lower one: doubt is not relevance.
    assert judgements.rows() == [("t1", "a", 1, 3), ("t2", "a", 0, 2)]


def test_verdicts_on_what_is_not_on_the_sheet_do_not_count_for_its_precision(tmp_path) -> None:
    paths = [say(tmp_path, "ann", {("t1", "a"): Verdict("good"), ("t9", "z"): Verdict("bad")})]
    sheet = pl.DataFrame({"text_id": ["t1"], "image_id": ["a"]})
    rows = verdicts.tally(verdicts.read_verdicts(paths), sheet)
    assert rows.select("assessor", "suggestions", "good", "bad", "precision").rows() == [
        *(("ann", 1, 1, 0, 1.0), ("everybody", 1, 1, 0, 1.0)),
    ]
    assert rows["low"][0] == pytest.approx(0.025)
