"""The page on two snapshots shows what changed, safely, and no more than a page can hold."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.accessibility import SCREENS, faults

from isotope.collect import tables as collect_tables
from isotope.core import store
from isotope.crawl.tables import PIXELS
from isotope.report import collection, since
from isotope.report.since import Side, compared
from isotope.tabulate import since as snapshot_diff

EVIL = '<script>alert("1")</script><img src=x onerror=alert(2)>'
WORDS = "The old bridge over the river was built of oak by the people of the town in 1820"
HIDDEN = "[...document.querySelectorAll('.group li li')].filter(l => l.offsetParent).length"


def text(page: int, number: int, path: str, words: str, title: str = "") -> dict[str, object]:
    name = title or f"Page {page} {EVIL}"
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "page_title": name,
        "page_url": f"javascript:alert({page})" if page == 1 else f"https://x.org/{page}",
        "section_title": path,
        "hierarchy": f"{name} / {path}" if path else name,
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


def side(folder: Path, name: str, rows: Rows, colour: str) -> Side:
    files = {table: folder / f"{name}-{table}.parquet" for table in rows}
    for table, path in files.items():
        store.write_rows(rows[table], path, getattr(collect_tables, table.upper()))
    made = [
        {"image_id": row["image_id"], "image_url": "", "width": 8, "height": 4}
        for row in rows["images"]
    ]
    pixels = folder / f"{name}-shard.parquet"
    store.write_rows([{**row, "webp": picture(colour)} for row in made], pixels, PIXELS)
    return Side(name, files, [pixels])


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
    since.build(*sides, folder / "changes.parquet", out)
    return out


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    return page(tmp_path_factory.mktemp("since"))


@pytest.fixture(scope="module")
def html(written) -> str:
    return written.read_text()


def said(html: str, classes: str) -> list[str]:
    return re.findall(rf'<li class="item {classes}">\n(.*?)\n</li>', html, re.DOTALL)


def test_edited_words_are_marked_in_their_place(html):
    (told,) = said(html, "text edited text-edited")
    assert "<del> oak</del><ins> stone &lt;script&gt;" in told
    assert "built of<del>" in told


def test_a_caption_is_shown_as_it_was_and_as_it_is(html):
    (told,) = said(html, "image edited image-edited")
    assert "A bridge<ins> &lt;script&gt;" in told


def test_a_picture_that_was_replaced_is_shown_twice(html):
    (told,) = said(html, "image replaced image-replaced")
    assert len(set(re.findall(r"data:image/webp;base64,[^\"]+", told))) == 2
    assert "drawn &lt;b&gt;.png" in told


def test_pages_are_listed_by_what_became_of_them(html):
    headings = re.findall(r"<h3>([^<]+)</h3>\n<p class=\"note\">([^<]+)<", html)
    assert headings == [
        ("Edited pages", "1 of 1 with changes"),
        ("Renamed pages", "1 of 1 with changes"),
        ("New pages", "1 of 1 with changes"),
    ]
    assert 'New name</a> <span class="note">was Old name</span>' in html


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
        self.ids += [told for name, told in attrs if name == "id" and told]
        if tag not in ("meta", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_asks_for_nothing(html):
    elements = Elements(html)
    assert elements.open == []
    assert len(elements.ids) == len(set(elements.ids)) > 10
    assert re.findall(r'src="(?!data:)', html) == []


def test_its_links_lead_to_files(written):
    for place in re.findall(r'href="([^"#:]+)"', written.read_text()):
        path = written.parent / place
        assert path.is_file() or path == written.parent / "../../index.html", place


def test_the_front_page_links_to_it(written):
    front = written.parents[2] / "index.html"
    collection.build_front_page(written.parents[4], "small", "validation", front)
    assert '<a href="later/since/old.html">later since old</a>' in front.read_text()


def test_the_same_input_gives_the_same_page(written, tmp_path):
    assert page(tmp_path).read_bytes() == written.read_bytes()


def test_it_says_how_many_pages_and_changes_are_shown_of_how_many(tmp_path, monkeypatch):
    monkeypatch.setattr(since, "PAGES", 2)
    monkeypatch.setattr(since, "ITEMS", 3)
    monkeypatch.setattr(since, "PICTURES", 1)
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


def test_nothing_has_changed_since_the_same_snapshot(tmp_path):
    html = page(tmp_path, BEFORE, BEFORE).read_text()
    assert "Nothing has changed." in html
    assert "100.0%" in html


def test_the_headline_counts_by_kind_and_change(written):
    table = written.parents[4] / "results/tables/later/since/old/snapshot_diff.csv"
    lines = since.summary(table).splitlines()
    assert lines[0].split() == ["unchanged", *since.CHANGES]
    assert lines[1].split() == ["texts", "1", "1", "0", "0", "0", "1", "1"]
    assert lines[2].split() == ["images", "0", "1", "0", "0", "1", "1", "1"]


@pytest.mark.parametrize("screen", SCREENS)
def test_a_reader_chooses_what_to_see_without_a_script(written, chromium, screen):
    shown = chromium.open(written.as_uri())
    assert faults(shown, [screen]) == []
    every = shown.evaluate(HIDDEN)
    shown.click("label[for=kind-image]")
    assert shown.evaluate(HIDDEN) == 4
    shown.click("label[for=change-replaced]")
    assert shown.evaluate(HIDDEN) == 1
    shown.click("label[for=kind-all]")
    shown.click("label[for=change-all]")
    assert shown.evaluate(HIDDEN) == every > 4
    assert chromium.faults == []


WORD = st.sampled_from(["a", "bee", "c,", "dé", "蜂", " ", "\n", "."])


@given(st.lists(WORD, max_size=40).map("".join), st.lists(WORD, max_size=40).map("".join))
def test_what_is_shown_is_both_texts_but_for_what_is_cut(before, after):
    pieces = compared(before, after)
    for version, other in ((before, "new"), (after, "gone")):
        parts = [re.escape(p.text) if p.what != "cut" else ".*" for p in pieces if p.what != other]
        assert re.fullmatch("".join(parts), version, re.DOTALL)


def test_far_words_are_cut_and_long_texts_compared_in_part():
    pieces = compared("far " * 100 + "old" + " away" * 100, "far " * 100 + "new" + " away" * 100)
    assert [p.what for p in pieces] == ["cut", "same", "gone", "new", "same", "cut"]
    long = compared(" ".join(map(str, range(9_000))), " ".join(map(str, range(9_000, 1, -1))))
    assert sum(len(p.text) for p in long) < 30_000
