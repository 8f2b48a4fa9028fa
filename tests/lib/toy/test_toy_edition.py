"""The second edition differs from the first in what `revisions.csv` says, and in nothing else."""

import bz2
import csv
import gzip
import hashlib
import re
import xml.etree.ElementTree as ET
from difflib import unified_diff
from pathlib import Path

import pytest

from isotope.toy import dump, snapshot, words
from isotope.toy.edition import REVISIONS, entries

PAGES = 300
XMLNS = "{http://www.mediawiki.org/xml/export-0.10/}"
# Of 60 pages by the generator that knew one edition: texts, without what libraries compress.
FIRST = "7bc35f14e66514d207c4ab0d5499bec28685b2dfbba5d18dc183a912178c4aa6"


@pytest.fixture(scope="module")
def editions(tmp_path_factory) -> list[Path]:
    places = [tmp_path_factory.mktemp(f"edition{n}") for n in (1, 2)]
    for n, place in enumerate(places, start=1):
        snapshot.generate(place, pages=PAGES, edition=n, draw=False)
    return places


@pytest.fixture(scope="module")
def revisions(editions) -> dict[int, str]:
    with (editions[1] / "revisions.csv").open(newline="") as file:
        return {int(row["page_id"]): row["revision"] for row in csv.DictReader(file)}


def articles(place: Path) -> dict[int, tuple[str, str, str]]:
    """Title, wikitext and revision of every article."""
    (path,) = place.glob("dump/*.xml.bz2")
    found = ET.fromstring(bz2.decompress(path.read_bytes())).iter(f"{XMLNS}page")
    plain = [p for p in found if p.findtext(f"{XMLNS}ns") == "0"]
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


def rows(place: Path) -> dict[str, list[str]]:
    """WIT's records by the title of their page, cut where a line begins with an address."""
    found: dict[str, list[str]] = {}
    for path in sorted(place.glob("wit/*.tsv.gz")):
        text = gzip.decompress(path.read_bytes()).decode()
        for record in re.split(r"\n(?=[a-z-]+\thttps?://)", text)[1:]:
            found.setdefault(record.split("\t")[3], []).append(record.rstrip("\n"))
    return found


def test_the_first_edition_is_what_it_was_before_there_was_a_second(tmp_path):
    snapshot.generate(tmp_path, pages=60, draw=False)
    seen = hashlib.sha256()
    for path in sorted(tmp_path.rglob("*")):
        if path.suffix == ".gz":
            seen.update(gzip.decompress(path.read_bytes()))
        elif path.suffix == ".csv" or path.name.endswith("stream.xml.bz2"):
            raw = path.read_bytes()
            seen.update(raw if path.suffix == ".csv" else bz2.decompress(raw))
    assert seen.hexdigest() == FIRST
    assert not (tmp_path / "revisions.csv").exists()


def test_only_pages_that_are_said_to_be_revised_differ(editions, revisions):
    before, after = (articles(place) for place in editions)
    differ = {page for page in before | after if before.get(page) != after.get(page)}
    assert differ == revisions.keys()
    added = {page for page, told in revisions.items() if told == "page added"}
    assert after.keys() - before.keys() == added
    assert {revisions[page] for page in before.keys() - after.keys()} == {"page removed"}


def test_only_their_rows_of_wit_differ(editions, revisions):
    before, after = (rows(place) for place in editions)
    revised = {words.title(n) for n in range(2 * PAGES) if dump.page_id(n) in revisions}
    assert {t for t in before | after if before.get(t) != after.get(t)} <= revised


def test_one_page_in_twenty_is_revised_each_in_one_way_and_all_ways_occur(revisions):
    told = [t for t in revisions.values() if t != "page added"]
    assert len(told) == PAGES / 20
    assert set(told) == set(REVISIONS)


def test_a_revision_is_later_than_what_it_revises(editions, revisions):
    before, after = (articles(place) for place in editions)
    for page in before.keys() & after.keys():
        assert (before[page][2] < after[page][2]) == (page in revisions)
    names = [next(place.glob("dump/*stream.xml.bz2")).name for place in editions]
    assert [re.findall(r"\d{8}", name) for name in names] == [["20230101"], ["20230201"]]


def test_the_later_wiki_keeps_every_file_and_redraws_one_under_its_address():
    redrawn = 0
    for entry in entries(0, PAGES, 2):
        kept = {p.path: p for p in entry.pictures}
        for old in entry.before.own_pictures if entry.before else []:
            assert old.path in kept
            redrawn += old.scene != kept[old.path].scene
    assert redrawn == 1


def test_each_way_changes_what_its_name_says(editions, revisions):
    before, after = (articles(place) for place in editions)
    lines = {
        told: differing(before[page][1], after[page][1])
        for page, told in revisions.items()
        if page in before and page in after
    }
    assert all(line[1:].startswith("==") for line in lines["section renamed"])
    assert all("as it hangs since" in line for line in lines["caption changed"] if line[0] == "+")
    assert {line[0] for line in lines["section added"]} == {"+"}
    assert {line[0] for line in lines["section removed"]} == {"-"}
    assert {line[0] for line in lines["picture added"]} == {"+"}
    assert all("File:" in line or "image" in line for line in lines["picture added"])
    assert lines["picture redrawn"] == []


def differing(one: str, two: str) -> list[str]:
    told = unified_diff(one.splitlines(), two.splitlines(), n=0, lineterm="")
    return [line for line in told if not line.startswith(("---", "+++", "@@")) and line[1:]]
