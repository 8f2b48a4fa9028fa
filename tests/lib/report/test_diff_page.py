"""The page on two snapshots shows what changed, safely, and at once no more than 20 pages."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.accessibility import SCREENS, faults
from tests.report_project import record

from isotope.core import store
from isotope.report import collection, diff_page
from isotope.report.diff_page import Snapshot, compared
from isotope.schemas import collect as collect_tables
from isotope.schemas.crawl import PIXELS
from isotope.tabulate import snapshot_diff

EVIL = '<script>alert("1")</script><img src=x onerror=alert(2)>'
WORDS = "The old bridge over the river was built of oak by the people of the town in 1820"
OPEN_ALL = "document.querySelectorAll('#changes details').forEach(d => { d.open = true; })"
ITEMS = "[...document.querySelectorAll('.content li')].filter(l => l.checkVisibility()).length"
ROWS = "[...document.querySelectorAll('.entry > summary')].filter(s => s.checkVisibility()).length"
TITLES = "[...document.querySelectorAll('.letters li')].filter(l => l.checkVisibility()).length"
TWO_FRAMES = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
HEIGHT = "document.documentElement.scrollHeight"


def text(page: int, number: int, path: str, words: str, title: str = "") -> dict[str, object]:
    name = title or f"Page {page} {EVIL}"
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "page_title": name,
        "page_url": f"javascript:alert({page})" if page == 1 else f"https://x.org/{page}",
        "section_title": path,
        "hierarchy": path or "Introduction",
        "context_section_description": words,
    }


def image(name: str, caption: str, sha: str = "s") -> dict[str, object]:
    return {
        "image_id": name,
        "image_url": f"http://x/{name}_%3Cb%3E.png",
        "caption_reference_description": [caption],
        "caption_alt_text_description": [""],
        "sha256": sha,
    }


def pair(page: int, number: int, name: str) -> dict[str, object]:
    ids = {"text_id": f"projected-{page:08d}-{number:03d}", "image_id": name}
    return {**ids, "relevance": 1, "split": "test"}


def picture(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (300, 200), colour).save(out, "WEBP")
    return out.getvalue()


BEFORE = {
    "texts": [text(1, 0, "", WORDS), text(1, 1, "Arch", WORDS), text(2, 0, "", "same", "Old name")],
    "images": [image("kept", "A bridge"), image("drawn", "c"), image("goes", "an old caption")],
    "qrels": [pair(1, 0, "kept"), pair(1, 0, "goes"), pair(2, 0, "drawn")],
}
AFTER = {
    "texts": [
        text(1, 0, "", WORDS.replace("oak", f"stone {EVIL}")),
        text(2, 0, "", "same", "New name"),
        text(3, 0, "", "quite new"),
    ],
    "images": [image("kept", f"A bridge {EVIL}"), image("drawn", "c", "t"), image("new", "n")],
    "qrels": [pair(1, 0, "kept"), pair(2, 0, "drawn"), pair(3, 0, "new")],
}
Rows = dict[str, list[dict[str, object]]]


def side(folder: Path, name: str, rows: Rows, colour: str) -> Snapshot:
    files = {table: folder / f"{name}-{table}.parquet" for table in rows}
    for table, path in files.items():
        store.write_rows(rows[table], path, getattr(collect_tables, table.upper()))
    made = [
        {"image_id": row["image_id"], "image_url": "", "width": 8, "height": 4}
        for row in rows["images"]
    ]
    pixels = folder / f"{name}-shard.parquet"
    store.write_rows([{**row, "webp": picture(colour)} for row in made], pixels, PIXELS)
    return Snapshot(name, files, [pixels])


def page(root: Path, before: Rows = BEFORE, after: Rows = AFTER) -> Path:
    sides = side(root, "old", before, "navy"), side(root, "later", after, "teal")
    folder = root / "results/tables/later/since/old"
    folder.mkdir(parents=True)
    snapshot_diff.write_changes(
        sides[0].tables, sides[1].tables, folder / "changes.parquet", folder / "ids.parquet"
    )
    stems = [folder / name for name in ("snapshot_diff", "snapshot_survival")]
    snapshot_diff.tabulate_changes(folder / "changes.parquet", stems)
    out = root / "results/report/later/since/old.html"
    diff_page.build(*sides, folder / "changes.parquet", out)
    return out


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    return page(tmp_path_factory.mktemp("diff"))


@pytest.fixture(scope="module")
def html(written) -> str:
    return written.read_text()


def items(html: str, classes: str) -> list[str]:
    return re.findall(rf'<li class="item {classes}">\n(.*?)\n</li>', html, re.DOTALL)


def test_edited_words_are_marked_in_their_place(html):
    (shown,) = items(html, "text edited text-edited")
    assert "<del> oak</del><ins> stone &lt;script&gt;" in shown
    assert "built of<del>" in shown


def test_a_caption_is_shown_as_it_was_and_as_it_is(html):
    (shown,) = items(html, "image edited image-edited")
    assert "A bridge<ins> &lt;script&gt;" in shown


def test_a_picture_that_was_replaced_is_shown_twice(html):
    (shown,) = items(html, "image replaced image-replaced")
    assert len(set(re.findall(r"data:image/webp;base64,[^\"]+", shown))) == 2
    assert "drawn &lt;b&gt;.png" in shown


def test_pages_are_listed_by_what_became_of_them(html):
    headings = re.findall(r"<h3>([^<]+)</h3>\n<p class=\"note\">([^<]+)<", html)
    assert headings == [
        ("Edited pages", "1 of 1 with changes"),
        ("Renamed pages", "1 of 1 with changes"),
        ("New pages", "1 of 1 with changes"),
    ]
    assert '<h4>New name <span class="note">was Old name</span></h4>' in html
    assert '<a href="https://x.org/2" rel="noreferrer">New name in the encyclopedia</a>' in html


def test_a_page_says_how_many_changes_of_each_sort_it_has(html):
    lines = re.findall(r'<span class="tally">([^<]*)</span>', html)
    assert lines[0] == (
        "Texts: 1 edited, 1 removed · Images: 1 edited, 1 removed · Pairs: 1 removed"
    )


def test_zeros_that_mean_nothing_are_left_out(html):
    (merit,) = re.findall(r'<dl class="figures-of-merit">(.*?)</dl>', html, re.DOTALL)
    names = re.findall(r'<dt class="label">([^<]+)<', merit)
    assert names == ["pages edited", "pages renamed", "pages new", "judgements that hold"]
    tables = re.findall(r"<table[^>]*>(.*?)</table>", html, re.DOTALL)
    heads = [re.findall(r'<th scope="col"[^>]*>([^<]*)<', table) for table in tables]
    pages = ["on new pages", "on renamed pages", "on edited pages"]
    judgements = ["split", "judgements", "held", "held, %", "gone"]
    assert heads == [["change", "every", *pages], judgements]
    cells = re.findall(r'<td class="number">([^<]*)</td>', tables[0])
    assert cells[: 3 * 4] == ["1", "", "1", "", "1", "", "", "1", "1", "1", "", ""]
    assert "0" not in cells


def test_words_of_a_wiki_cannot_become_markup(html):
    assert '<script>alert("1")' not in html
    assert "onerror=alert(2)>" not in html
    assert 'href="javascript' not in html
    assert "default-src 'none'" in html


class Elements(HTMLParser):
    """The elements that are open at the end, and the ids of all."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in ("meta", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_asks_for_nothing(html):
    elements = Elements(html)
    assert elements.open == []
    assert len(elements.ids) == len(set(elements.ids)) > 10
    assert re.findall(r'src="(?!data:)', html) == []


def test_its_links_lead_to_files_and_to_places_in_the_page(written):
    html = written.read_text()
    for place in re.findall(r'href="([^"#:]+)"', html):
        path = written.parent / place
        assert path.is_file() or path == written.parent / "../../index.html", place
    places = re.findall(r'href="#([^"]+)"', html)
    assert len(places) > 6
    assert set(places) <= set(Elements(html).ids)


def test_the_front_page_links_to_it(written):
    front = written.parents[2] / "index.html"
    link = '<a href="later/since/old.html">later since old</a>'
    collection.build_front_page(written.parents[4], [record("old", ["later"])], front)
    assert link in front.read_text()
    collection.build_front_page(written.parents[4], [record("old")], front)
    assert link not in front.read_text()


def test_the_same_input_gives_the_same_page(written, tmp_path):
    assert page(tmp_path).read_bytes() == written.read_bytes()


def test_it_says_how_many_pages_and_changes_are_shown_of_how_many(tmp_path, monkeypatch):
    monkeypatch.setattr(diff_page, "PAGES", 2)
    monkeypatch.setattr(diff_page, "ITEMS", 3)
    monkeypatch.setattr(diff_page, "PICTURES", 1)
    before = {
        "texts": [text(p, n, f"S{n}", "was") for p in range(1, 6) for n in range(p)],
        "images": [image(f"i{n}", "c") for n in range(5)],
        "qrels": [pair(n + 1, 0, f"i{n}") for n in range(5)],
    }
    after = {
        "texts": [text(p, n, f"S{n}", "is") for p in range(1, 6) for n in range(p)],
        "images": [image(f"i{n}", "c", "t") for n in range(5)],
        "qrels": before["qrels"],
    }
    html = page(tmp_path, before, after).read_text()
    assert "2 of 5 with changes" in html
    assert re.findall(r"3 of (\d) changes", html) == ["6", "5"]
    assert html.count("data:image") <= 1
    titles = re.findall(r">(Page \d)", "".join(re.findall("<h4>.*?</h4>", html)))
    assert titles == ["Page 5", "Page 4"]
    assert "the others are in <code>changes.parquet</code>" in html


def test_a_page_with_many_changes_shows_some_of_every_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(diff_page, "ITEMS", 6)
    sides = [
        {
            "texts": [text(1, n, f"S{n}", words) for n in range(9)],
            "images": [image("i", "c", words), *map(image, [words], "c")],
            "qrels": [pair(1, 0, "i"), pair(1, 1, words)],
        }
        for words in ("was", "is")
    ]
    html = page(tmp_path, *sides).read_text()
    marks = re.findall(r'<span class="mark">([^<]+)<', html)
    images = ["image replaced", "image removed", "image added"]
    assert marks == ["text edited", *images, "pair replaced", "pair added"]
    assert "Texts: 9 edited" in html


def test_nothing_has_changed_since_the_same_snapshot(tmp_path):
    html = page(tmp_path, BEFORE, BEFORE).read_text()
    assert "Nothing has changed." in html
    assert "100.0%" in html


def test_the_headline_counts_by_kind_and_change(written):
    table = written.parents[4] / "results/tables/later/since/old/snapshot_diff.arrow"
    lines = diff_page.summary(table).splitlines()
    assert lines[0].split() == ["unchanged", *diff_page.CHANGES]
    assert lines[1].split() == ["texts", "1", "1", "0", "0", "0", "1", "1"]
    assert lines[2].split() == ["images", "0", "1", "0", "0", "1", "1", "1"]


@pytest.mark.parametrize("screen", [pytest.param(SCREENS[0], marks=pytest.mark.long), *SCREENS[1:]])
def test_a_reader_chooses_what_to_see(written, chromium, screen):
    page = chromium.open(written.as_uri())
    page.evaluate(OPEN_ALL)
    assert faults(page, [screen]) == []
    every = page.evaluate(ITEMS)
    page.click("label[for=kind-image]")
    assert page.evaluate(ITEMS) == 4
    assert page.evaluate(TITLES) == 3
    page.click("label[for=change-replaced]")
    assert page.evaluate(ITEMS) == page.evaluate(ROWS) == page.evaluate(TITLES) == 1
    assert page.inner_text("#count") == "1 page matches"
    page.click("label[for=change-edited]")
    page.click("label[for=kind-pair]")
    assert page.evaluate(ITEMS) == page.evaluate(ROWS) == 0
    assert page.is_visible("text=No page here has such a change.")
    page.click("label[for=kind-all]")
    page.click("label[for=change-all]")
    assert page.evaluate(ITEMS) == every > 4
    assert page.inner_text("#count") == ""
    assert chromium.faults == []


TITLE_WORDS = ("Alder", "Ängelholm", "Берлин", "2001", "東京", "“Heroes”", "Ελλάδα", "?", "가나")


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    """The page on two editions of which 45 pages differ in their texts; 22 pages are gone."""
    words = [" ".join(f"{word}{n}" for n in range(60)) for word in ("old", "new")]
    sides: list[Rows] = []
    for own, last in zip(words, (67, 45), strict=True):
        pages = {p: f"{TITLE_WORDS[p % len(TITLE_WORDS)]} {p}" for p in range(1, last + 1)}
        texts = [text(p, n, f"S{n}", own, pages[p]) for p in pages for n in range(3)]
        images = [image(f"i{p}", "c") for p in pages]
        qrels = [pair(p, 0, f"i{p}") for p in pages]
        sides.append({"texts": texts, "images": images, "qrels": qrels})
    # One page has a picture that was replaced, and so many changes as the others.
    sides[1]["images"][25]["sha256"] = "t"
    sides[1]["texts"][25 * 3 + 2] = sides[0]["texts"][25 * 3 + 2]
    sides[1]["images"].append(image("alone", "c"))
    return page(tmp_path_factory.mktemp("many"), *sides)


@pytest.mark.parametrize(("width", "most"), [(1280, 6_000), (390, 7_000)])
def test_at_most_twenty_pages_are_shown_at_once_and_the_document_is_short(
    many, chromium, width, most
):
    page = chromium.open(many.as_uri(), width=width)
    assert page.evaluate(HEIGHT) < most
    assert page.evaluate(ROWS) == 20
    reached = 0
    for n in range(page.locator(".batch").count()):
        batch = page.locator(".batch > summary").nth(n)
        if n:
            batch.click()
        reached += (rows := page.evaluate(ROWS))
        assert 1 <= rows <= 20
        assert page.evaluate(HEIGHT) < most
        page.evaluate(TWO_FRAMES)
        assert batch.bounding_box()["y"] > -1
    assert reached == 45 + 22 + 1
    assert chromium.faults == []


def test_a_long_list_of_pages_keeps_no_reader_out(many, chromium):
    assert faults(chromium.open(many.as_uri()), SCREENS[1:]) == []
    assert chromium.faults == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_index_leads_by_letter_to_a_page_from_the_keyboard(many, chromium, width):
    page = chromium.open(many.as_uri(), width=width)
    page.focus("summary:text-is('Б')")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    title = page.evaluate("document.activeElement.textContent")
    assert title.startswith("Берлин")
    page.keyboard.press("Enter")
    page.locator(".entry > summary:focus").wait_for()
    assert page.evaluate("document.activeElement.querySelector('h4').textContent.trim()") == title
    entry = page.locator(":focus")
    assert -1 <= entry.bounding_box()["y"] < 450
    assert page.evaluate(ITEMS) >= 3
    assert page.evaluate(ROWS) <= 20
    page.click("nav.index a:text('Pages that are gone')")
    first = page.locator(".batch > summary:focus:has-text('Pages 1 to 20 of 22')")
    first.wait_for()
    assert first.bounding_box()["y"] < 450
    assert chromium.faults == []


def test_what_a_reader_chooses_is_found_on_a_later_batch_and_in_the_index(many, chromium):
    page = chromium.open(many.as_uri())
    page.click("label[for=kind-image]")
    page.click("label[for=change-replaced]")
    assert page.evaluate(ROWS) == 1
    assert page.inner_text(".batch[open] > summary") == "Pages 21 to 40 of 45 1 match"
    assert page.locator(".letters summary:visible").count() == 1
    page.evaluate("location.hash = 'page-1'")
    page.locator(".entry > summary:focus").wait_for()
    assert page.is_checked("#kind-all")
    assert page.is_checked("#change-all")
    assert chromium.faults == []


def test_without_scripts_the_index_and_the_filter_still_lead_to_every_page(many, chromium):
    html = many.read_text()
    assert html.count('<details class="item batch') == html.count('name="batch"') == 6
    place = many.with_name("without.html")
    place.write_text(re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL))
    page = chromium.open(place.as_uri())
    page.click("summary:text-is('A')")
    page.click(".initial[open] a >> nth=0")
    assert page.evaluate(ITEMS) >= 3
    assert page.evaluate(ROWS) <= 20
    place.unlink()


def test_pages_are_indexed_under_the_first_letter_in_any_script():
    titles = {
        "Ängelholm": "A",
        "ødegård": "Ø",
        "ßtraße": "S",
        "“Heroes”": "H",
        "(I Can't Get No) …": "I",
        "¿Qué?": "Q",
        "берлин": "Б",
        "Йорк": "И",
        "ωmega": "Ω",
        "ქართული": "ქ",
        "가나": "\u1100",
        "がっこう": "か",
        "بغداد": "ب",
        "東京": "漢字",
        "一": "漢字",
        "2001: A Space Odyssey": "0-9",
        "٣ أيام": "0-9",
        "½": "0-9",
        "?": "#",
        ".NET": "#",
        "": "#",
    }
    assert {title: diff_page.first_letter(title) for title in titles} == titles


def test_the_index_has_every_page_once_digits_first_signs_last_and_no_empty_letter():
    names = ["Zug", "?", "éa", "Eb", "東京", "Ωmega", "10", "9", ""]
    entries = [
        diff_page.PageChanges(f"page-{n}", name, "", "", 0, [], []) for n, name in enumerate(names)
    ]
    shelves = diff_page.by_letter(entries)
    assert [(s.title, [e.title for e in s.entries]) for s in shelves] == [
        ("0-9", ["10", "9"]),
        ("E", ["éa", "Eb"]),
        ("Z", ["Zug"]),
        ("Ω", ["Ωmega"]),
        ("漢字", ["東京"]),
        ("#", ["?"]),
    ]


WORD = st.sampled_from(["a", "bee", "c,", "dé", "蜂", " ", "\n", "."])


@given(st.lists(WORD, max_size=40).map("".join), st.lists(WORD, max_size=40).map("".join))
def test_what_is_shown_is_both_texts_but_for_what_is_cut(before, after):
    pieces = compared(before, after)
    for version, other in ((before, "new"), (after, "gone")):
        parts = [re.escape(p.text) if p.kind != "cut" else ".*" for p in pieces if p.kind != other]
        assert re.fullmatch("".join(parts), version, re.DOTALL)


def test_far_words_are_cut_and_long_texts_compared_in_part():
    pieces = compared("far " * 100 + "old" + " away" * 100, "far " * 100 + "new" + " away" * 100)
    assert [p.kind for p in pieces] == ["cut", "same", "gone", "new", "same", "cut"]
    long = compared(" ".join(map(str, range(9_000))), " ".join(map(str, range(9_000, 1, -1))))
    assert sum(len(p.text) for p in long) < 30_000
