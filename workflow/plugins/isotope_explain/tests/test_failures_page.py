"""The page of failures: both pictures, their boxes, and the matching in words."""

import io
import re
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.accessibility import SCREENS, faults

from isotope.core import store
from isotope.report.content import Scope
from isotope.report.site import PAGES
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.tabulate.table import write_table
from isotope_explain.failures_page import PageFiles, failures_page, noun, parts, sentences
from isotope_explain.objects import BOX
from isotope_explain.schemas import CONCEPTS, FAILURES

FAILURE = {
    "setting": "small",
    "split": "validation",
    "task": "t2m",
    "system": "<sys>",
    "query_id": "t1",
    "rank": 7,
    "doc_id": "i2",
    "truth_id": "i1",
    "found_id": "i2",
    "ca": 0.5,
    "ncs": 0.125,
    "ce": 1,
    "sd": 1.0,
    "hit": 1,
    "miss": 1,
    "pairs": [{"truth": "stop_sign.n.01", "found": "tree.n.01", "similarity": 0.125}],
    "counts": [{"concept": "ball.n.03", "truth": 1, "found": 2}],
    "sizes": [{"concept": "ball.n.03", "truth_px": 2500.0, "found_px": 100.0, "differs": True}],
}
OBJECTS = [
    ("i1", "ball.n.03", (0, 0, 50, 50)),
    ("i1", "stop_sign.n.01", (50, 10, 90, 40)),
    ("i2", "ball.n.03", (0, 0, 10, 10)),
    ("i2", "ball.n.03", (20, 0, 30, 10)),
    ("i2", "tree.n.01", (30, 30, 60, 60)),
    ("i2", "cup.n.01", (70, 70, 80, 80)),
]
SCOPE = Scope(
    Path(),
    "toy",
    ["toy"],
    "small",
    "test",
    "bm25",
    further={"failures": ["Failures", "What was found instead.", "systems"]},
)


@pytest.fixture
def page_files(tmp_path) -> PageFiles:
    texts, images, failures, concepts = (tmp_path / f"{n}.parquet" for n in ("t", "i", "f", "k"))
    files = PageFiles(texts, images, failures, concepts, [tmp_path / "p"])
    asked = [{"text_id": "t1", "context_section_description": "A <b>ball</b> by a sign"}]
    store.write_rows(asked, files.texts, TEXTS)
    listed = [
        {"image_id": i, "image_url": f"http://x/{i}.jpg", "width": 100, "height": 90}
        for i in ("i1", "i2")
    ]
    store.write_rows(listed, files.images, IMAGES)
    store.write_rows([FAILURE], files.failures, FAILURES)
    boxes = [{"image_id": i, "concept": c, **dict(zip(BOX, b, strict=True))} for i, c, b in OBJECTS]
    store.write_rows(boxes, files.concepts, CONCEPTS)
    picture = io.BytesIO()
    Image.new("RGB", (100, 90), "teal").save(picture, "WEBP")
    pixels = [{"image_id": "i1", "image_url": "http://x/i1.jpg", "webp": picture.getvalue()}]
    store.write_rows(pixels, tmp_path / "p", PIXELS)
    return files


def page(page_files: PageFiles, out: Path) -> str:
    row = {"task": "t2m", "system": "<sys>", "failures": 1, "ca_share": 0.5}
    write_table(pl.DataFrame([row]), out.with_name("explained"))
    failures_page(SCOPE, page_files, [out.with_name("explained.arrow")], shown=3, out=out)
    return out.read_text()


def test_the_matching_is_told_in_words():
    assert sentences(FAILURE) == [
        "Of the 2 concepts of the right picture the returned one has 1: ball (CA 0.50).",
        "For stop sign it has tree, 0.125 alike on WordNet's paths.",
        "It has 2 instead of 1 of ball, 1 too many.",
        "Ball differs in size in 1 of 1: 100 px² for 2,500.",
    ]
    assert noun("fire_engine.n.02") == "fire engine"


def test_a_concept_and_its_stand_in_have_the_same_number():
    by_name = parts(FAILURE, ["ball.n.03", "tree.n.01", "cup.n.01"])
    assert {name: (p.kind, p.number) for name, p in by_name.items()} == {
        "ball.n.03": ("common", 1),
        "tree.n.01": ("paired", 2),
        "cup.n.01": ("alone", 0),
    }


def test_both_pictures_are_drawn_with_all_their_boxes(page_files, tmp_path):
    html = page(page_files, tmp_path / "failures.html")
    assert html.count("<svg") == 2
    assert html.count("<rect ") == len(OBJECTS)
    assert html.count("data:image/webp;base64,") == 1
    assert '<rect x="50" y="10" width="40" height="30"' in html
    for kind, boxes in (("common", 3), ("paired", 2), ("alone", 1)):
        assert html.count(f'<g class="{kind}">') == boxes
    assert "is at rank 7" in html
    assert ">50.0<" in html


def test_the_page_is_self_contained_and_escapes_what_it_is_given(page_files, tmp_path):
    html = page(page_files, tmp_path / "failures.html")
    assert "<b>ball</b>" not in html
    assert "<sys>" not in html
    assert set(re.findall(r'(?:href|src)="([^"#]*)"', html)) - {""} <= {
        *("../index.html", *(f"{name}.html" for name in (*PAGES, *SCOPE.further))),
        *re.findall(r'"(data:[^"]*)"', html),
    }


def test_the_page_stands_in_the_site_and_explains_its_measures(page_files, tmp_path):
    html = page(page_files, tmp_path / "failures.html")
    assert '<a href="failures.html" aria-current="page">Failures</a>' in html
    assert '<a href="systems.html">Systems</a>' in html
    terms = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<:]*):", html))
    assert terms["CA"] == "concept agreement"
    assert terms["NCS"] == "non-common concept similarity"
    assert terms["CE"] == "concept enumeration"
    assert terms["SD"] == "size disagreement"
    assert "Image suggestion" in html


def test_a_page_without_failures_says_so(page_files, tmp_path):
    store.write_rows([], page_files.failures, FAILURES)
    assert "No failure could be explained" in page(page_files, tmp_path / "failures.html")


def test_the_same_input_gives_the_same_page(page_files, tmp_path):
    places = [tmp_path / name / "failures.html" for name in ("one", "two")]
    for path in places:
        path.parent.mkdir()
    assert page(page_files, places[0]) == page(page_files, places[1])


@pytest.mark.parametrize("screen", SCREENS)
def test_in_a_browser_the_boxes_lie_on_the_picture_and_nothing_is_asked_for(
    page_files, tmp_path, chromium, screen
):
    out = tmp_path / "failures.html"
    page(page_files, out)
    opened = chromium.open(out.as_uri())
    assert faults(opened, [screen]) == []
    assert opened.get_by_text("A <b>ball</b> by a sign").count() >= 1
    inside = """(() => {
        const rects = [...document.querySelectorAll('svg rect')];
        const within = (box, all) => box.left >= all.left - 1 && box.right <= all.right + 1
            && box.top >= all.top - 1 && box.bottom <= all.bottom + 1;
        return rects.map(r => within(r.getBoundingClientRect(),
            r.closest('svg').getBoundingClientRect()));
    })()"""
    is_inside = opened.evaluate(inside)
    assert is_inside
    assert all(is_inside)
    assert chromium.faults == []
    assert [r for r in chromium.requests if not r.startswith(("file:", "data:"))] == []
