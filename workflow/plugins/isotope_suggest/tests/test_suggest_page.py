"""The page of suggestions: its tables and figures, by a collection small enough to count."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.accessibility import faults
from tests.report_project import EVIL
from workflow.plugins.isotope_suggest.tests.suggested_collection import calibration, lay, write

from isotope.report.content import Scope
from isotope.tabulate.table import FORMS
from isotope_suggest.measure import suggestions_page
from isotope_suggest.schemas import FEED, SCORED, TAKEN_UP
from isotope_suggest.verdicts import Suggestion, Verdict, open_ledger


def build_page(inputs: dict[str, Any], root: Path) -> Path:
    results = root / "results"
    suggestions_page.write_page(
        **inputs,
        tables_folder=results / "tables/toy/suggest",
        figures_folder=results / "figures/toy/suggest",
        page=results / "report/toy/suggest.html",
    )
    return results


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("project")
    inputs = lay(root)
    for name, verdict in (("ann", "good"), ("bob", "bad")):
        ledger = open_ledger("toy", name, root / "judgements")
        for n in range(4):
            grade = Verdict(verdict if n else "okay")
            ledger.give(Suggestion(f"o{n:02}", f"i{n:02}"), grade, expected=None)
    judgements = sorted((root / "judgements/toy/suggestions").glob("*.jsonl"))
    return build_page({**inputs, "judgements": judgements}, root)


def table(results: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(results / f"tables/toy/suggest/{name}.csv")


def test_every_table_comes_as_rows_csv_markdown_and_latex(results) -> None:
    folder = results / "tables/toy/suggest"
    assert {p.stem for p in folder.iterdir()} == set(suggestions_page.EXHIBITS)
    assert {p.suffix for p in folder.iterdir()} == {f".{form}" for form in FORMS}
    assert all(table(results, name).height for name in suggestions_page.EXHIBITS)
    drawn = {p.name for p in (results / "figures/toy/suggest").iterdir()}
    assert drawn == {"reliability.svg", "precision.svg", "waiting.svg"}


def test_the_promise_is_told_with_its_interval_and_the_calibration_error(results) -> None:
    row = table(results, "kept").row(0, named=True)
    # Scores are 6 * (1 - n / 60): thirty-one first suggestions reach the threshold of 3.
    assert (row["wanted"], row["suggestions"], row["sections"]) == (0.9, 31, 60)
    assert row["coverage"] == pytest.approx(31 / 60)
    assert row["low"] < row["precision"] < row["high"]
    assert 0 <= row["calibration_error"] <= 1
    assert row["verdict"] in ("kept", "within chance", "not kept")


def test_all_systems_stand_in_the_table_of_hits_beside_the_baseline(results) -> None:
    rows = table(results, "hits").filter(measure="hit@1")
    assert rows["system"].to_list() == ["suggest", "wikimedia", "bm25", "dense"]
    assert rows.filter(system="wikimedia")["ahead"].to_list() == [None]
    assert rows.filter(system="suggest")["ahead"].is_not_null().all()


def test_what_editors_did_is_counted_for_each_snapshot(results) -> None:
    rows = table(results, "editors").filter(system="feed")
    columns = ("later", "sections", "taken_up", "other_picture", "illustrated", "hit@1")
    assert rows.select(columns).rows() == [
        ("2021-01-22", 14, 2, 1, 3, pytest.approx(2 / 3)),
        ("2021-12-13", 14, 6, 1, 7, pytest.approx(6 / 7)),
    ]
    waiting = table(results, "waiting").filter(system="feed")
    assert waiting.select("time", "at_risk", "events", "share").rows() == [
        (225, 14, 2, pytest.approx(12 / 14)),
        (550, 12, 4, pytest.approx(8 / 14)),
    ]
    # Six of fourteen have taken up a suggestion, fewer than half.
    assert table(results, "medians").filter(system="feed").row(0)[:4] == ("feed", "days", 6, None)


def test_filters_and_shares_are_counted(results) -> None:
    counts = dict(table(results, "filters").select("reason", "candidates").iter_rows())
    assert (counts["icon"], counts["too small"], counts["not free"]) == (2, 1, 0)
    classes = table(results, "shares").filter(stratum="page class")
    assert dict(classes.select("label", "suggestions").iter_rows()) == {"STEM": 7, "Culture": 7}
    spoken = table(results, "shares").filter(stratum="language")
    assert dict(spoken.select("label", "open_sections").iter_rows()) == {"en": 18, "de": 6}


def test_people_are_counted_and_their_agreement_is_cohens(results) -> None:
    people = {r["assessor"]: r for r in table(results, "people").iter_rows(named=True)}
    assert (people["ann"]["good"], people["ann"]["okay"], people["bob"]["bad"]) == (3, 1, 3)
    assert people["ann"]["precision"] == 1
    assert people["bob"]["precision"] == 0.25
    # Half of two is not more than half: of four, the one that both call okay is right.
    assert people["everybody"]["precision"] == 0.25
    row = table(results, "agreement").row(0, named=True)
    # Both say okay of one in four; else they differ. By chance they would agree on 1/16.
    assert row["kappa"] == pytest.approx((1 / 4 - 1 / 16) / (1 - 1 / 16))


def test_the_page_stands_alone_and_shows_words_as_words(results) -> None:
    html = (results / "report/toy/suggest.html").read_text()
    assert EVIL not in html
    assert "&lt;script&gt;alert" in html
    assert "Content-Security-Policy" in html
    assert html.count('<li>\n<img src="data:image/webp;base64,') == 10
    assert "no pixels here" in html
    assert "../../tables/toy/suggest/kept.csv" in html
    assert "Later: taken up" in html


def test_the_same_input_gives_the_same_bytes(results, tmp_path) -> None:
    again = build_page(
        {**lay(tmp_path), "judgements": sorted(results.parent.rglob("*.jsonl"))}, tmp_path
    )
    for path in sorted(p for p in results.rglob("*") if p.is_file()):
        assert path.read_bytes() == (again / path.relative_to(results)).read_bytes(), path


def test_a_collection_without_a_later_snapshot_vectors_or_verdicts_says_so(tmp_path) -> None:
    folder = build_page(lay(tmp_path, later=False), tmp_path)
    html = (folder / "report/toy/suggest.html").read_text()
    assert "There is no later snapshot of this collection" in html
    assert "The encyclopedia as judge" not in html
    assert not (folder / "figures/toy/suggest/waiting.svg").exists()


def test_a_feed_that_is_empty_has_a_page_that_says_why(tmp_path) -> None:
    inputs = lay(tmp_path, later=False)
    write([], FEED, inputs["feed"])
    inputs["calibration"].write_text(json.dumps(calibration(None)))
    html = (build_page(inputs, tmp_path) / "report/toy/suggest.html").read_text()
    assert "No suggestion is certified, so nothing is suggested: of the 40 best" in html
    # Neither figures of few points nor tables of what there is not.
    assert html.count("<section") <= 5
    assert "Do probabilities hold?" not in html
    assert "Some of the suggestions" not in html


def test_a_collection_where_nothing_was_found_still_has_its_page(tmp_path) -> None:
    inputs = lay(tmp_path, later=False)
    for name, schema in (("feed", FEED), ("scored", SCORED)):
        write([], schema, inputs[name])
    taken_up = write([], TAKEN_UP, tmp_path / "none.parquet")
    html = (
        build_page({**inputs, "taken_up": [taken_up]}, tmp_path) / "report/toy/suggest.html"
    ).read_text()
    assert "nothing suggested" in html


def test_nothing_is_left_where_judgements_cannot_be_read(tmp_path) -> None:
    broken = tmp_path / "ann.jsonl"
    broken.write_text('{"text_id": "o00"}\n')
    with pytest.raises(Exception, match=r"ann.jsonl:1: not a grade"):
        build_page({**lay(tmp_path), "judgements": [broken]}, tmp_path)
    assert not (tmp_path / "results").exists()


def test_a_collection_with_other_pages_links_to_them(tmp_path) -> None:
    further = {"suggest": ["Suggestions", "Pictures.", ""]}
    scope = Scope(Path(), "toy", ["toy"], "base", "test", "bm25", further=further)
    html = (
        build_page({**lay(tmp_path), "scope": scope}, tmp_path) / "report/toy/suggest.html"
    ).read_text()
    assert 'href="systems.html"' in html
    assert 'href="suggest.html" aria-current="page"' in html
    assert 'href="../index.html"' in html


def test_in_a_browser_the_page_fits_a_telephone_and_asks_nothing_of_the_net(results, chromium):
    address = (results / "report/toy/suggest.html").as_uri()
    page = chromium.open(address)
    page.locator("#examples").wait_for()
    assert faults(page) == []
    assert chromium.faults == []
    assert chromium.requests == [address]
