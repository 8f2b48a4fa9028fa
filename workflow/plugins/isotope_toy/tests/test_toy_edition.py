"""The second edition differs from the first in what `revisions.csv` says, and in nothing else."""

import bz2
import csv
import gzip
import hashlib
import re
import xml.etree.ElementTree as ET
from collections import Counter
from difflib import unified_diff
from pathlib import Path
from urllib.parse import quote

import pytest

from isotope_toy import dump, gaps, pages, snapshot, words
from isotope_toy.edition import ILLUSTRATED, REVISIONS, Entry, entries
from isotope_toy.pages import ToySection

PAGES = 300
XMLNS = "{http://www.mediawiki.org/xml/export-0.10/}"
NEVER = (1, 1)
# Of 60 pages by the generator of one edition, and no sections without their picture: texts,
# without what libraries compress.
FIRST = "3d2fcaf911b4532488aac52f742872dedf6c56a37226bff1c36698d67e1c8c08"


@pytest.fixture(scope="module")
def editions(tmp_path_factory) -> list[Path]:
    places = [tmp_path_factory.mktemp(f"edition{n}") for n in (1, 2)]
    for n, folder in enumerate(places, start=1):
        snapshot.generate(folder, pages=PAGES, edition=n, draw=False)
    return places


@pytest.fixture(scope="module")
def revisions(editions) -> dict[int, str]:
    with (editions[1] / "revisions.csv").open(newline="") as file:
        return {int(row["page_id"]): row["revision"] for row in csv.DictReader(file)}


def articles(folder: Path) -> dict[int, tuple[str, str, str]]:
    """Title, wikitext and revision of every article."""
    (path,) = folder.glob("dump/*.xml.bz2")
    elements = ET.fromstring(bz2.decompress(path.read_bytes())).iter(f"{XMLNS}page")
    plain = [p for p in elements if p.findtext(f"{XMLNS}ns") == "0"]
    return {
        int(p.findtext(f"{XMLNS}id", "")): (
            p.findtext(f"{XMLNS}title", ""),
            p.findtext(f"{XMLNS}revision/{XMLNS}text", ""),
            p.findtext(f"{XMLNS}revision/{XMLNS}id", ""),
        )
        for p in plain
        if p.find(f"{XMLNS}redirect") is None
        and "{{disambiguation}}" not in p.findtext(f"{XMLNS}revision/{XMLNS}text", "")
    }


def rows(folder: Path) -> dict[str, list[str]]:
    """WIT's records by the title of their page, cut where a line begins with an address."""
    rows_by_page: dict[str, list[str]] = {}
    for path in sorted(folder.glob("wit/*.tsv.gz")):
        text = gzip.decompress(path.read_bytes()).decode()
        for record in re.split(r"\n(?=[a-z-]+\thttps?://)", text)[1:]:
            rows_by_page.setdefault(record.split("\t")[3], []).append(record.rstrip("\n"))
    return rows_by_page


def test_without_what_suggestions_need_the_first_edition_is_what_it_was(tmp_path, monkeypatch):
    """Sections, pages, icons, links and templates were added; no random number has changed."""
    monkeypatch.setattr(gaps, "with_gaps", lambda page, *_: page)
    monkeypatch.setattr(pages, "ICONS", ())
    monkeypatch.setattr(dump, "_language_links", lambda *_: ())
    monkeypatch.setattr(dump, "_FLAG", "")
    for feature in ("books", "list", "year", "logo"):
        monkeypatch.setitem(dump._DUE, feature, NEVER)
    monkeypatch.setattr(snapshot, "template_pages", lambda: ())
    snapshot.generate(tmp_path, pages=60, draw=False)
    digest = hashlib.sha256()
    for path in sorted(tmp_path.rglob("*")):
        if path.suffix == ".gz":
            digest.update(gzip.decompress(path.read_bytes()))
        elif path.suffix == ".csv" or path.name.endswith("stream.xml.bz2"):
            raw = path.read_bytes()
            digest.update(raw if path.suffix == ".csv" else bz2.decompress(raw))
    assert digest.hexdigest() == FIRST
    assert not (tmp_path / "revisions.csv").exists()


def test_only_pages_that_are_said_to_be_revised_differ(editions, revisions):
    before, after = (articles(folder) for folder in editions)
    differ = {page for page in before | after if before.get(page) != after.get(page)}
    assert differ == revisions.keys()
    added = {page for page, change in revisions.items() if change == "page added"}
    assert after.keys() - before.keys() == added
    assert {revisions[page] for page in before.keys() - after.keys()} == {"page removed"}


def test_only_their_rows_of_wit_differ(editions, revisions):
    before, after = (rows(folder) for folder in editions)
    revised = {words.title(n) for n in range(2 * PAGES) if dump.page_id(n) in revisions}
    assert {t for t in before | after if before.get(t) != after.get(t)} <= revised


def test_one_page_in_twenty_is_revised_each_in_one_way_and_all_ways_occur(revisions):
    changes = [t for t in revisions.values() if t not in ("page added", ILLUSTRATED)]
    assert len(changes) == PAGES / 20
    assert set(changes) == set(REVISIONS)


def test_a_revision_is_later_than_what_it_revises(editions, revisions):
    before, after = (articles(folder) for folder in editions)
    for page in before.keys() & after.keys():
        assert (before[page][2] < after[page][2]) == (page in revisions)
    names = [next(folder.glob("dump/*stream.xml.bz2")).name for folder in editions]
    assert [re.findall(r"\d{8}", name) for name in names] == [["20230101"], ["20230201"]]


def test_the_later_wiki_keeps_every_file_and_redraws_one_under_its_address():
    redrawn = 0
    for entry in entries(0, PAGES, 2):
        later_pictures = {p.path: p for p in entry.pictures}
        for old in entry.before.own_pictures if entry.before else []:
            assert old.path in later_pictures
            redrawn += old.scene != later_pictures[old.path].scene
    assert redrawn == 1


def test_each_way_changes_what_its_name_says(editions, revisions):
    before, after = (articles(folder) for folder in editions)
    lines = {
        change: differing(before[page][1], after[page][1])
        for page, change in revisions.items()
        if page in before and page in after
    }
    assert all(line[1:].startswith("==") for line in lines["section renamed"])
    assert all("as it hangs since" in line for line in lines["caption changed"] if line[0] == "+")
    assert {line[0] for line in lines["section added"]} == {"+"}
    assert {line[0] for line in lines["section removed"]} == {"-"}
    assert {line[0] for line in lines["picture added"]} == {"+"}
    assert all("File:" in line or "image" in line for line in lines["picture added"])
    assert lines["picture redrawn"] == []


def test_of_the_sections_without_their_picture_editors_fill_six_in_ten(revisions):
    """Of 1,000 pages, so that chance moves the shares by a few points alone."""
    outcomes = Counter[str]()
    for entry in entries(0, 1000, 2):
        for section in entry.before.sections if entry.before else []:
            if section.subject:
                outcomes[outcome(entry, section)] += 1
    pictured = outcomes.total() - outcomes["none can be"]
    assert outcomes["the picture"] / pictured == pytest.approx(0.6, abs=0.1)
    assert outcomes["another one"] / pictured == pytest.approx(0.1, abs=0.05)
    assert outcomes["none can be"] == pytest.approx(1000 / 66, abs=5)


def outcome(entry: Entry, section: ToySection) -> str:
    """What became of a section that describes a picture."""
    assert entry.now
    assert section.subject
    now = next(s for s in entry.now.sections if s.title == section.title)
    assert (entry.revision == ILLUSTRATED) == bool(now.pictures)
    if not section.subject.name:
        assert not now.pictures
        return "none can be"
    if not now.pictures:
        return "no picture"
    return "the picture" if now.pictures == [section.subject] else "another one"


def test_a_filled_section_differs_by_its_picture_alone_and_has_a_row_of_wit(editions, revisions):
    before, after = (articles(folder) for folder in editions)
    filled = [page for page, change in revisions.items() if change == ILLUSTRATED]
    new = rows(editions[1])
    assert len(filled) > 20
    for page in filled:
        (line,) = differing(before[page][1], after[page][1])
        file = re.fullmatch(r"\+\[\[File:(.+?)\|thumb\|.*\]\]", line)
        assert file
        name = quote(file[1].replace(" ", "_"))
        assert any(
            f"/{name}\t" in row
            for row in new[before[page][0].removesuffix(" Museum")]
            if row.startswith("en\t")
        )


def differing(first: str, second: str) -> list[str]:
    difference = unified_diff(first.splitlines(), second.splitlines(), n=0, lineterm="")
    return [line for line in difference if not line.startswith(("---", "+++", "@@")) and line[1:]]
