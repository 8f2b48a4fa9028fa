"""Failures are sorted on a page: what is wrong with them, and how bad it is."""

import json
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient
from workflow.plugins.isotope_judge.tests.test_judge_page import ORIGIN, end, judge, picture

from isotope.cli import commands as main
from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, IntegrityError, MissingFile
from isotope.params import files
from isotope.params.root import Params
from isotope.schemas.crawl import PIXELS
from isotope_explain.schemas import STUDY
from isotope_judge import session, study
from isotope_judge.app import sheet_app
from isotope_judge.ledger import Ledger, current_lines, sheet_paths
from isotope_judge.pool import read_sheets
from isotope_judge.session import SheetSession
from isotope_judge.study import VERDICTS, FailureVerdict

ROOT = Path(__file__).parents[4]
KINDS = ["correct", "too_generic", "misunderstood_query", "other"]
CLASSES = ["object class", "object color", "object enumeration", "action", "size", "details"]
ALTERNATIVE = "successful alternative"
OVERLAY = f"explain: {{mistakes: {{examples: 2, seed: 0, classes: {json.dumps(KINDS)}}}}}"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A project's folder with three failures of two systems, on both sheets."""
    monkeypatch.chdir(tmp_path)
    for name in ("workflow", "params", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    ids = {"query_id": "t1", "truth_id": "a", "found_id": "b"}
    failures = [
        {"lot": f"lot{n}", "task": "t2m", "system": s, **ids, "query": f"A bee | found: {n}"}
        for n, s in enumerate(["bm25", "bm25", "dense"])
    ]
    for name in ("study", "mistakes"):
        store.write_rows(failures, Path(f"results/tables/toy/{name}.parquet"), STUDY)
    pixels = [
        {"image_id": i, "image_url": "", "width": 8, "height": 4, "webp": picture(64, 32)}
        for i in "ab"
    ]
    store.write_rows(pixels, Path("data/crawl/toy/shard-00000.parquet"), PIXELS)
    Path("mistakes.yaml").write_text(OVERLAY)
    return tmp_path


@cache
def params() -> Params:
    """The params of the project with those of mistakes, which every place has."""
    return files.load([Path("mistakes.yaml")])


def sit(assessor: str, name: str) -> SheetSession:
    return session.open_sheet("toy", assessor, name, params())


def post(client: TestClient, **changes: object) -> int:
    grade = {"classes": ["object class"], "rating": 10}
    defaults = {"lot": "lot0", "grade": grade, "expected": None, "assessor": "ann"}
    body = {**defaults, "collection": "toy/failures", **changes}
    return client.post("/api/grade", json=body, headers=ORIGIN).status_code


def test_a_failure_comes_with_its_pictures_and_without_its_system(folder):
    client = TestClient(sheet_app(sit("ann", "failures")), "http://localhost")
    answer = client.get("/api/query/2").json()
    assert (answer["lot"], answer["query"], answer["grade"]) == ("lot2", "A bee | found: 2", None)
    assert [(p["role"], p["picture"]) for p in answer["pictures"]] == [
        ("truth", "/picture/a"),
        ("found", "/picture/b"),
    ]
    assert "dense" not in json.dumps(answer)
    assert client.get("/api/query/3").status_code == 404
    assert client.get("/picture/a").headers["Content-Type"] == "image/webp"
    assert client.get("/picture/t1").status_code == 404


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 200),
        ({"grade": {"classes": [], "rating": 1}}, 200),
        ({"grade": {"classes": [], "rating": None}}, 422),
        ({"grade": {"classes": ["shape"], "rating": 1}}, 422),
        ({"grade": {"classes": ["object class"], "rating": 11}}, 422),
        ({"grade": {"classes": ["object class"], "rating": True}}, 422),
        ({"grade": {"classes": "object class", "rating": 1}}, 422),
        ({"grade": {"classes": [1], "rating": 1}}, 422),
        ({"grade": {"classes": [ALTERNATIVE], "rating": 9}}, 200),
        ({"grade": {"classes": [ALTERNATIVE, "size"], "rating": 9}}, 422),
        ({"grade": 3}, 422),
        ({"expected": 3}, 422),
        ({"lot": "lot9"}, 422),
        ({"lot": 1}, 422),
        ({"collection": "toy"}, 409),
        ({"assessor": "bob"}, 409),
    ],
)
def test_only_verdicts_on_this_sheet_are_taken(folder, changes, status):
    client = TestClient(sheet_app(sit("ann", "failures")), "http://localhost")
    assert post(client, **changes) == status
    assert Path("judgements/toy/failures/ann.jsonl").exists() == (status == 200)


def test_mistakes_are_not_rated(folder):
    client = TestClient(sheet_app(sit("ann", "mistakes")), "http://localhost")
    target = {"collection": "toy/mistakes"}
    assert post(client, grade={"classes": ["other"], "rating": 3}, **target) == 422
    assert post(client, grade={"classes": ["other"], "rating": None}, **target) == 200


def test_verdicts_of_the_page_are_tabulated_like_a_sheet_that_came_back(folder):
    session = sit("ann", "failures")
    assert (
        session.give("lot0", FailureVerdict(("details", "action"), 3), expected=None)["progress"][
            "done"
        ]
        == 1
    )
    session.give("lot2", FailureVerdict((), 10), expected=None)
    session.give("lot1", FailureVerdict(("size",), None), expected=None)
    session.give("lot1", None, expected=FailureVerdict(("size",), None))
    Path("judgements/toy/failures/bob.csv").write_text(
        "lot,classes,rating,assessor\nlot0,details,4,bob\n"
    )
    sheets = [Path(p) for p in sheet_paths("toy", "failures")]
    sample = Path("results/tables/toy/study.parquet")
    verdicts = study.read_sheets(sheets, sample, CLASSES)
    columns = ("system", "assessor", "rating", "classes")
    assert verdicts.select(columns).rows() == [
        ("bm25", "ann", 3, ["action", "details"]),
        ("bm25", "bob", 4, ["details"]),
        ("dense", "ann", 10, []),
    ]
    with pytest.raises(CorruptFile, match=r"ann\.jsonl:1: a class other than action"):
        study.read_sheets(sheets, sample, ["action"])


def test_sorted_mistakes_of_the_page_are_counted(folder):
    for lot, classes in (("lot0", ("other",)), ("lot1", ("too_generic",)), ("lot2", ("other",))):
        sit("ann", "mistakes").give(lot, FailureVerdict(classes, None), expected=None)
    sheets = [Path(p) for p in sheet_paths("toy", "mistakes")]
    sample = Path("results/tables/toy/mistakes.parquet")
    study.tabulate_mistakes(sheets, sample, KINDS, Path("sorted"))
    shares = pl.read_csv("sorted.csv").select("system", "class", "judgements_share").rows()
    assert shares == [
        ("bm25", "incorrect", 1.0),
        ("bm25", "other", 0.5),
        ("bm25", "too_generic", 0.5),
        ("dense", "incorrect", 1.0),
        ("dense", "other", 1.0),
    ]


def test_two_pages_do_not_overwrite_what_they_have_not_seen(folder):
    first_page, second_page = sit("ann", "failures"), sit("ann", "failures")
    first, second = FailureVerdict(("action",), 2), FailureVerdict(("size",), None)
    assert first_page.give("lot0", first, expected=None)["grade"] == {
        "classes": ("action",),
        "rating": 2,
    }
    assert second_page.give("lot0", second, expected=None)["grade"]["rating"] == 2
    assert second_page.give("lot0", second, expected=first)["grade"]["rating"] is None
    path = Path("judgements/toy/failures/ann.jsonl")
    assert Ledger(path, "ann", VERDICTS).grades == {"lot0": second}


def test_what_is_missing_for_a_sheet_is_said(folder, capsys):
    for command in (["other", "--sheet", "failures"], ["toy", "--sheet", "mistakes"]):
        assert main.main(["judge", *command, "--assessor", "ann", "--port", "0"]) == 1
    errors = capsys.readouterr().err
    assert "no collection 'other'" in errors
    assert "BadParams: params: they hand out no sheet `mistakes` of toy" in errors
    Path("results/tables/toy/study.parquet").unlink()
    with pytest.raises(MissingFile, match=r"study\.parquet: no sheet to judge"):
        sit("ann", "failures")
    with pytest.raises(BadParams, match="--assessor"):
        sit("../ann", "mistakes")
    Path("judgements/toy/mistakes").mkdir(parents=True)
    Path("judgements/toy/mistakes/ann.csv").touch()
    with pytest.raises(IntegrityError, match="filled in by hand"):
        sit("ann", "mistakes")


@pytest.fixture
def served(folder) -> Iterator[str]:
    options = ["--port", "0", "--sheet", "mistakes", "--configfile", "mistakes.yaml"]
    server, address = judge(folder, "--assessor", "ann", *options)
    yield address
    printed = end(server, signal.SIGINT)
    assert "1 of 3 failures judged by ann in judgements/toy/mistakes/ann.jsonl" in printed


def saved(name: str) -> dict[str, FailureVerdict | None]:
    path = Path(f"judgements/toy/{name}/ann.jsonl")
    return {line.item: line.grade for _, line in current_lines(path, VERDICTS)}


@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_classes_and_ratings_are_given_by_keys_and_by_touch(
    folder, hosted, chromium, width
):
    address = hosted(sheet_app(sit("ann", "failures")))
    page = chromium.open(address, width=width)
    page.locator("#counts", has_text="0 of 3 failures judged, failure 1 of 3").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figcaption").all_inner_texts() == [
        "The right picture",
        "The picture found",
    ]
    for key in "72662--n":
        page.keyboard.press(key)
    page.locator("#counts", has_text="1 of 3 failures judged, failure 2 of 3").wait_for()
    page.get_by_role("button", name="object color").click()
    page.get_by_role("button", name="10", exact=True).click()
    page.locator("#counts", has_text="2 of 3 failures judged").wait_for()
    page.keyboard.press("n")
    page.locator("#counts", has_text="failure 3 of 3").wait_for()
    page.keyboard.press("1")
    page.locator("#state", has_text="All failures are judged").wait_for()
    page.reload()
    page.locator("#state", has_text="All failures are judged").wait_for()
    assert saved("failures") == {
        "lot0": FailureVerdict((), 3),
        "lot1": FailureVerdict(("object color",), 10),
        "lot2": FailureVerdict(("object class",), None),
    }
    assert chromium.faults == []
    assert all(url.startswith(address) for url in chromium.requests)


def test_in_a_browser_a_mistake_has_a_kind_and_no_rating(served, chromium):
    page = chromium.open(served)
    page.locator("#counts", has_text="0 of 3").wait_for()
    assert page.locator("#ratings").count() == 0
    assert page.locator("#query p").all_inner_texts() == ["A bee", "found: 0"]
    page.keyboard.press("4")
    page.locator("#counts", has_text="1 of 3 failures judged").wait_for()
    assert saved("mistakes") == {"lot0": FailureVerdict(("other",), None)}
    assert chromium.faults == []


@pytest.mark.parametrize("name", ["ann.xlsx", "ann.txt", "ann.csv.gz", "ann.ods", "ann"])
def test_a_file_among_sheets_that_is_none_is_refused_by_its_name(tmp_path, name):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / name).touch()
    with pytest.raises(BadParams, match="no sheet by its name") as error:
        sheet_paths("toy", folder=tmp_path)
    assert error.value.where == str(tmp_path / "toy" / name)


def test_sheets_have_any_case_and_what_lies_beside_them_is_none(tmp_path):
    names = ["a.CSV", "b.tsv", "c.jsonl", "d.Parquet"]
    for name in (*names, ".e.jsonl.part", "README.md", "c.torn", "suggestions/f.jsonl"):
        (tmp_path / "toy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "toy" / name).touch()
    assert sheet_paths("toy", folder=tmp_path) == [str(tmp_path / "toy" / name) for name in names]


def test_a_sheet_in_tsv_says_what_the_same_one_in_csv_says(tmp_path):
    columns = ["split", "task", "query_id", "doc_id", "grade", "assessor"]
    rows = [["test", "t2m", "q", "d", "2", "ann"], ["test", "t2m", "q", "e", "", ""]]
    pool = pl.DataFrame({"task": ["t2m"] * 2, "query_id": ["q"] * 2, "doc_id": ["d", "e"]})
    read = list[pl.DataFrame]()
    for name, separator in (("ann.csv", ","), ("ann.TSV", "\t")):
        text = "".join(separator.join(row) + "\n" for row in [columns, *rows])
        (tmp_path / name).write_text(text)
        read.append(read_sheets([tmp_path / name], pool))
    assert read[0].equals(read[1])
    assert read[0].height == 1
