"""Suggestions are judged on a page; what people say comes back as judgements."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from starlette.testclient import TestClient
from workflow.plugins.isotope_judge.tests.test_judge_page import ORIGIN, picture

from isotope.cli import commands as main
from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingFile
from isotope.params import files
from isotope.params.root import Params
from isotope.schemas.crawl import PIXELS
from isotope_judge import suggestion_session
from isotope_judge.app import suggestions_app
from isotope_judge.ledger import Line, current_lines, parse, serialize, sheet_paths
from isotope_judge.pool import graded_qrels, read_sheets
from isotope_judge.schemas import POOL, SUGGESTION_SHEET
from isotope_judge.suggestion_session import SuggestionSession
from isotope_judge.suggestions import (
    FORM,
    REASONS,
    REFUSALS,
    VERDICTS,
    Suggestion,
    Verdict,
    open_ledger,
    pasted,
    read_verdicts,
    rejected,
)

ROOT = Path(__file__).parents[4]
ITEMS = [Suggestion(f"t{n}", image) for n, image in enumerate("aba")]
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A project's folder with a sheet of three suggestions, and pixels of one picture."""
    monkeypatch.chdir(tmp_path)
    for name in ("workflow", "params", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    rows = [
        {"stratum": n, **item._asdict(), "page_title": EVIL, "section_title": "Life"}
        | {"section": "A red lighthouse. " * 60, "image": "Tower.jpg", "caption": "a tower"}
        | {"credit": "Jo Bloggs, CC BY 4.0"}
        for n, item in enumerate(ITEMS, 1)
    ]
    store.write_rows(rows, Path("results/suggest/toy/sheet.parquet"), SUGGESTION_SHEET)
    pixels = [{"image_id": "a", "image_url": "", "width": 8, "height": 4, "webp": picture(64, 32)}]
    store.write_rows(pixels, Path("data/crawl/toy/shard-00000.parquet"), PIXELS)
    return tmp_path


@cache
def params() -> Params:
    return files.load([])


def sit(assessor: str) -> SuggestionSession:
    return suggestion_session.open_suggestions("toy", assessor, params())


def say(assessor: str, *verdicts: str) -> SuggestionSession:
    session = sit(assessor)
    for item, verdict in zip(ITEMS, verdicts, strict=False):
        session.give(item, Verdict(verdict), expected=None)
    return session


def post(client: TestClient, **changes: object) -> int:
    defaults = {"grade": {"verdict": "bad", "reason": None}, "expected": None, "assessor": "ann"}
    body = {
        "text_id": "t0",
        "image_id": "a",
        **defaults,
        "collection": "toy/suggestions",
        **changes,
    }
    return client.post("/api/grade", json=body, headers=ORIGIN).status_code


def test_a_suggestion_comes_with_section_picture_and_credit_and_without_its_probability(folder):
    client = TestClient(suggestions_app(sit("ann")), "http://localhost")
    answer = client.get("/api/query/0").json()
    assert (answer["text_id"], answer["image_id"], answer["grade"]) == ("t0", "a", None)
    assert answer["section"]["Page"] == EVIL
    assert answer["about"] == {
        "Caption": "a tower",
        "File": "Tower.jpg",
        "Credit": "Jo Bloggs, CC BY 4.0",
    }
    assert client.get(answer["picture"]).headers["Content-Type"] == "image/webp"
    assert client.get("/api/query/1").json()["picture"] is None
    assert client.get("/api/query/3").status_code == 404
    assert "probability" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 200),
        ({"grade": {"verdict": "no picture wanted"}}, 200),
        ({"grade": {"verdict": "fine"}}, 422),
        ({"grade": {"verdict": "bad", "reason": "icon"}}, 422),
        ({"grade": {"verdict": ["bad"]}}, 422),
        ({"grade": "bad"}, 422),
        ({"expected": "bad"}, 422),
        ({"image_id": "b"}, 422),
        ({"image_id": 1}, 422),
        ({"text_id": "../t0"}, 422),
        ({"collection": "toy"}, 409),
        ({"assessor": "bob"}, 409),
    ],
)
def test_only_verdicts_on_this_sheet_are_taken(folder, changes, status):
    client = TestClient(suggestions_app(sit("ann")), "http://localhost")
    assert post(client, **changes) == status
    assert Path("judgements/toy/suggestions/ann.jsonl").exists() == (status == 200)


def test_a_verdict_from_another_site_is_refused(folder):
    client = TestClient(suggestions_app(sit("ann")), "http://localhost")
    body = {"text_id": "t0", "image_id": "a", "grade": None, "expected": None}
    headers = {"Origin": "http://evil.example"}
    assert client.post("/api/grade", json=body, headers=headers).status_code == 403


def test_two_pages_do_not_overwrite_what_they_have_not_seen(folder):
    first, second = sit("ann"), sit("ann")
    good, bad = Verdict("good"), Verdict("bad")
    assert first.give(ITEMS[0], good, expected=None)["grade"]["verdict"] == "good"
    assert second.give(ITEMS[0], bad, expected=None)["grade"]["verdict"] == "good"
    assert second.give(ITEMS[0], bad, expected=good)["grade"]["verdict"] == "bad"
    assert first.query(0)["grade"] == {"verdict": "bad", "reason": None}


def test_kappa_of_two_assessors_is_cohens(folder):
    ann = say("ann", "good", "okay", "bad")
    assert ann.agreement() == {"others": [], "error": None}
    say("bob", "good", "bad", "bad")
    (row,) = ann.agreement()["others"]
    reference = cohen_kappa_score(["good", "okay", "bad"], ["good", "bad", "bad"])
    assert (row["other"], row["pairs"]) == ("bob", 3)
    assert row["kappa"] == pytest.approx(reference)
    Path("judgements/toy/suggestions/cal.jsonl").write_text("no\n")
    assert "cal.jsonl:1: not JSON" in ann.agreement()["error"]


def test_what_is_missing_for_the_sheet_is_said(folder, capsys):
    command = ["judge", "other", "--sheet", "suggestions", "--assessor", "ann", "--port", "0"]
    assert main.main(command) == 1
    assert "no collection 'other'" in capsys.readouterr().err
    with pytest.raises(BadParams, match="--assessor"):
        sit("../ann")
    sheet = Path("results/suggest/toy/sheet.parquet")
    store.write_rows([], sheet, SUGGESTION_SHEET)
    with pytest.raises(EmptyTable, match=r"sheet\.parquet: no suggestion to judge; see why"):
        sit("ann")
    sheet.unlink()
    with pytest.raises(MissingFile, match=r"sheet\.parquet: no sheet of suggestions to judge"):
        sit("ann")


def saved() -> dict[Suggestion, str | None]:
    path = Path("judgements/toy/suggestions/ann.jsonl")
    lines = [line for _, line in current_lines(path, FORM)]
    return {line.item: line.grade.verdict for line in lines if line.grade}


@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_verdicts_are_given_by_keys_and_by_touch(folder, hosted, chromium, width):
    say("bob", "okay")
    address = hosted(suggestions_app(sit("ann")))
    page = chromium.open(address, width=width)
    page.locator("#counts", has_text="0 of 3 suggestions judged, suggestion 1 of 3").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert EVIL in page.locator("#query").inner_text()
    for key in "442n":
        page.keyboard.press(key)
    page.locator("#counts", has_text="1 of 3 suggestions judged, suggestion 2 of 3").wait_for()
    page.locator("#agreement", has_text="bob: Cohen's kappa").wait_for()
    page.get_by_role("button", name="offensive").click()
    page.locator("#counts", has_text="2 of 3 suggestions judged").wait_for()
    page.keyboard.press("n")
    page.locator("#counts", has_text="suggestion 3 of 3").wait_for()
    page.keyboard.press("1")
    page.locator("#state", has_text="All suggestions are judged").wait_for()
    page.reload()
    page.locator("#state", has_text="All suggestions are judged").wait_for()
    assert saved() == dict(zip(ITEMS, ["okay", "offensive", "good"], strict=True))
    assert chromium.faults == []
    assert all(url.startswith(address) for url in chromium.requests)


REASONED = [rejected(reason) for reason in REASONS] + [Verdict(v) for v in VERDICTS]


@given(st.text(min_size=1), st.text(min_size=1), st.sampled_from([*REASONED, None]))
def test_a_verdict_is_read_as_it_was_written(text_id, image_id, verdict):
    line = Line(Suggestion(text_id, image_id), verdict, "ann")
    assert parse(serialize(line, FORM), "here", FORM) == line


@pytest.mark.parametrize(
    "grade",
    [
        *({"verdict": "good", "reason": "icon"}, {"verdict": "bad", "reason": "ugly"}),
        *({"verdict": "great"}, {"reason": "icon"}, [], 2),
    ],
)
def test_what_is_no_verdict_is_named_by_its_line(tmp_path, grade):
    line = {"text_id": "t", "image_id": "i", "grade": grade, "assessor": "ann"}
    path = tmp_path / "ann.jsonl"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(CorruptFile, match=r"ann\.jsonl:1: not a grade"):
        read_verdicts([path])


def test_a_picture_rejected_as_offensive_is_offensive_and_any_other_bad():
    assert rejected("offensive") == Verdict("offensive", "offensive")
    assert {rejected(r).verdict for r in REASONS if r != "offensive"} == {"bad"}
    assert all(rejected(r).verdict in REFUSALS for r in REASONS)


POOLED = {"t2m": {"t1": "ab", "t2": "a"}, "m2t": {"a": ["t1"]}}


@pytest.fixture
def pool() -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"split": "test", "task": task, "query_id": query, "doc_id": doc, "rank": 1, "systems": []}
        for task, queries in POOLED.items()
        for query, docs in queries.items()
        for doc in docs
    ]
    return pl.DataFrame(rows, schema=pl.DataFrame(POOL.empty_table()).schema)


def test_what_people_say_of_suggestions_is_in_the_graded_qrels(tmp_path, monkeypatch, pool):
    """Verdicts of the page and the sheet are graded 2, 1 and 0 for the queries of the pool."""
    monkeypatch.chdir(tmp_path)
    Path("judgements/toy").mkdir(parents=True)
    head = "split,task,query_id,doc_id,grade,assessor,query,document\n"
    Path("judgements/toy/ann.csv").write_text(f"{head}test,t2m,t1,a,3,ann,,\n")
    ann, bob = (open_ledger("toy", name) for name in ("ann", "bob"))
    for ledger, pair, verdict in (
        *((ann, ("t1", "a"), "bad"), (ann, ("t1", "b"), "good"), (ann, ("t2", "z"), "okay")),
        *((bob, ("t1", "b"), "bad"), (bob, ("t1", "a"), "no picture wanted")),
        *((bob, ("o9", "a"), "good"), (bob, (pasted("a text"), "a"), "good")),
    ):
        ledger.give(Suggestion(*pair), Verdict(verdict), expected=None)
    sheets = [Path(p) for p in sheet_paths("toy") + sheet_paths("toy", "suggestions")]
    grades = read_sheets(sheets, pool, scale=[0, 1, 2, 3])
    assert grades.rows() == [
        # `a` is a query of the pool, too; a text that was pasted is no section.
        *(("m2t", "a", "o9", 2, "bob"), ("m2t", "a", "t1", 0, "ann")),
        # What ann has said on the pool's own sheet counts, not the verdict on the same pair.
        *(("t2m", "t1", "a", 3, "ann"), ("t2m", "t1", "b", 2, "ann")),
        *(("t2m", "t1", "b", 0, "bob"), ("t2m", "t2", "z", 1, "ann")),
    ]


def test_grades_that_the_scale_lacks_are_left_out(tmp_path, monkeypatch, pool):
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger("toy", "ann")
    for image, verdict in (("a", "good"), ("b", "okay")):
        ledger.give(Suggestion("t1", image), Verdict(verdict), expected=None)
    sheets = [Path(p) for p in sheet_paths("toy", "suggestions")]
    grades = read_sheets(sheets, pool.filter(task="t2m"), scale=[0, 1])
    assert grades.select("doc_id", "grade").rows() == [("b", 1)]
    qrels = pl.DataFrame(
        {"split": ["test"], "text_id": ["t1"], "image_id": ["a"], "relevance": [1]}
    )
    graded = graded_qrels(grades, pool.filter(task="t2m"), qrels)
    assert graded.select("doc_id", "relevance", "grades").rows() == [("a", 1, 0), ("b", 1, 1)]
    with pytest.raises(EmptyTable, match="no grade"):
        read_sheets(sheets, pool.filter(query_id="t2"))
