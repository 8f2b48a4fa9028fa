"""Real pages, most at four dates: all are built, nothing is lost, and what changed is told.

Pictures come from a loopback mirror that draws one for every address of Commons, and has no others.
"""

import hashlib
import io
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import mwparserfromhell
import polars as pl
import pytest
import yaml
from mwparserfromhell.nodes import Text, Wikilink
from mwparserfromhell.wikicode import Wikicode
from PIL import Image
from tests.crawls import crawl_of
from tests.decoding import InProcess
from tests.wikicode import anchors_of, letters

from isotope.collect.build import collect
from isotope.core import sql, store
from isotope.core.titles import file_name
from isotope.crawl import shard
from isotope.crawl.ledger import gather_ledgers
from isotope.params import resolve
from isotope.params.project import Project
from isotope.parse.dump import associate, parse_dump
from isotope.parse.site import ENGLISH_NAMESPACES
from isotope.parse.wikitext import plain_text, split_pictured, split_sections
from isotope.parse.xml_dump import decompress
from isotope.project.match import project, write_queries
from isotope.report.diff_page import Snapshot, build
from isotope.schemas.collect import TEXTS
from isotope.schemas.crawl import URLS
from isotope.schemas.project import MEMBERS
from isotope.tabulate.snapshot_diff import tabulate_changes, write_changes

ROOT = Path(__file__).parents[3]
DATES = ("20200611", "20210122", "20210917", "20211213")
# `make test` reads the last date, `make test-long` all of them and what changed between two.
EVERY = pytest.mark.parametrize(
    "date", [*(pytest.param(d, marks=pytest.mark.long) for d in DATES[:-1]), DATES[-1]]
)
PARSED = ("sections", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
COLLECTED = ("texts", "images", "qrels")
FAST = {"connections": 16, "rate_per_s": 1000, "megabits_per_s": 1000}
JIM_PEWTER, KERALA, MINI = 33351363, 6961875, 3224921


class Mirror(BaseHTTPRequestHandler):
    """Draws a picture for every address of Commons, its colour from the name."""

    # Headers and body go out together, or each answer waits for the one before to be confirmed.
    wbufsize = 1 << 16

    def do_GET(self) -> None:
        at_commons = self.path.startswith("/wikipedia/commons/")
        self.send_response(200 if at_commons else 404)
        body = picture(self.path) if at_commons else b""
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


def picture(path: str) -> bytes:
    red, green, blue, *_ = hashlib.md5(path.encode(), usedforsecurity=False).digest()
    out = io.BytesIO()
    Image.new("RGB", (16, 12), (red, green, blue)).save(out, "PNG")
    return out.getvalue()


@contextmanager
def mirror() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def dumps(shared) -> dict[str, Path]:
    return {d: next((shared / "snapshots/minidumps" / d).glob("*.bz2")) for d in DATES}


@pytest.fixture(scope="module")
def parsed(dumps, tmp_path_factory) -> Callable[[str], dict[str, Path]]:
    """The tables of a date's dump."""

    @cache
    def tables(date: str) -> dict[str, Path]:
        folder = tmp_path_factory.mktemp(date)
        made = {n: folder / f"{n}.parquet" for n in PARSED}
        others = {n: made[n] for n in PARSED if n != "sections"}
        parse_dump([dumps[date]], out=made["sections"], **others, workers=1)
        return made

    return tables


@pytest.fixture(scope="module")
def built(parsed, tmp_path_factory) -> dict[str, dict[str, Path]]:
    """The collection of every dump, by the road that its own associations take."""
    root, found = tmp_path_factory.mktemp("built"), {}
    with mirror() as address, pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "Decoders", InProcess)
        specs = resolved(address)
        for date in DATES:
            found[date] = road(root / date, parsed(date), specs[date])
    return found


def resolved(address: str) -> dict[str, dict[str, dict[str, object]]]:
    """What the params say of each snapshot, by phase, complete with defaults."""
    config = yaml.safe_load((ROOT / "params.yaml").read_text())
    named = "wiki-{snapshot}"
    overlay = {
        "acquire": {named: {"files": {"dump": [f"{address}/{named}.xml.bz2"]}}},
        "parse": {named: {"associations": "dump"}},
        "crawl": {named: {"mirror": address, "shards": 1, **FAST}},
        "project": {named: {"mode": "exact-then-bm25"}},
    }
    for phase, entries in overlay.items():
        config.setdefault(phase, {}).update(entries)
    whole = resolve.resolve({**config, "snapshots": list(DATES)})
    return {d: {p: getattr(whole, p)[f"wiki-{d}"].filled() for p in overlay} for d in DATES}


def road(place: Path, of: dict[str, Path], spec: dict[str, dict[str, object]]) -> dict[str, Path]:
    """Take a parsed dump to its collection; return that and what it was made of."""
    place.mkdir()
    names = ("associations", "rejected", "urls", "members", "queries", "projection")
    at = {n: place / f"{n}.parquet" for n in names}
    pictured = {n: of[n] for n in ("pictures", "sections")}
    ratios = spec["parse"]["splits"]
    assert isinstance(ratios, dict)
    outputs = {n: at[n] for n in ("associations", "rejected")}
    associate(pictured, {"wit": [], "wit_rejected": []}, [], ratios, outputs)
    linked = {"associations": at["associations"]}
    sql.query(sql.SQL / "crawl/urls.sql", linked, {"shards": 1}, out=at["urls"], schema=URLS)
    crawled = {n: place / f"{n}-00000.parquet" for n in ("pixels", "ledger")}
    entry = crawl_of(spec["crawl"])
    shard.crawl_shard(at["urls"], entry, 0, crawled, place / "scratch", entry)
    gather_ledgers(at["urls"], [crawled["ledger"]], place / "ledger.parquet", entry, entry)
    members = sql.SQL / "project/members.sql"
    told = {"language": "en"}
    sql.query(members, linked, told, out=at["members"], schema=MEMBERS)
    write_queries(at["associations"], at["members"], at["queries"])
    where = (at["queries"], of["sections"], place / "no-index")
    project(*where, Project.of_plain(spec["project"]), at["projection"], threads=1)
    relations = {**{n: at[n] for n in ("associations", "members", "projection", "urls")}}
    relations |= {"sections": of["sections"], "ledger": place / "ledger.parquet"}
    entry = {"kind": "wikipedia", "source": place.name, "language": "en"}
    collect(sql.SQL / "collect/wikipedia", relations, entry, place / "collected")
    return {**at, **{n: place / f"collected/{n}.parquet" for n in COLLECTED}}


@pytest.fixture(scope="module")
def changes(parsed, built, tmp_path_factory) -> dict[tuple[str, str], pl.DataFrame]:
    """What has changed from each date to the next, also on pages that have no picture."""
    place, found = tmp_path_factory.mktemp("changes"), {}
    of = {date: {n: built[date][n] for n in COLLECTED} for date in DATES}
    for date in DATES:
        sections = pl.read_parquet(parsed(date)["sections"])
        of[date]["texts"] = place / f"{date}.parquet"
        texts = sections.drop("section").with_columns(split=pl.lit("test")).to_dicts()
        store.write_rows(texts, of[date]["texts"], TEXTS)
    for before, after in pairwise(DATES):
        out = place / f"{after}-changes.parquet"
        write_changes(of[before], of[after], out, place / f"{after}-identities.parquet")
        page = pl.coalesce("after_id", "before_id").str.slice(10, 8).cast(int, strict=False)
        found[before, after] = pl.read_parquet(out).with_columns(page_id=page)
    return found


@pytest.mark.long
def test_all_four_dates_are_built_with_a_picture_for_every_judgement(built):
    for date, of in built.items():
        texts, images, qrels = (pl.read_parquet(of[n]) for n in COLLECTED)
        assert texts.height > 500, date
        assert set(qrels["image_id"]) <= set(images["image_id"]), date
        assert images.filter(pl.col("width") == 16)["sha256"].null_count() == 0, date
        methods = pl.read_parquet(of["projection"])["method"]
        assert set(methods) == {"exact"}, date
        associated = pl.read_parquet(of["associations"])
        at_commons = associated.filter(pl.col("image_url").str.contains("/commons/"))
        assert qrels.height == at_commons.height > 200, date


@pytest.mark.long
def test_most_judgements_of_a_date_hold_at_the_next(changes):
    for pair, found in changes.items():
        old = found.filter(kind="pair").drop_nulls("before_id")
        assert old.drop_nulls("after_id").height / old.height > 0.75, pair


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), list(pairwise(DATES)))
def test_the_page_on_two_dates_is_short_and_its_counts_of_moved_pairs_agree(
    built, before, after, chromium, tmp_path
):
    old, new = ({n: built[date][n] for n in COLLECTED} for date in (before, after))
    write_changes(old, new, tmp_path / "changes.parquet", tmp_path / "identities.parquet")
    tables = [tmp_path / name for name in ("snapshot_diff", "snapshot_survival")]
    tabulate_changes(tmp_path / "changes.parquet", tables)
    diff, survival = (pl.read_csv(table.with_suffix(".csv")) for table in tables)
    counts = dict(diff.filter(kind="pair").select("change", "every").rows())
    every = survival.row(0, named=True)
    assert counts["unchanged"] == every["held"]
    assert counts["moved"] == every["picture_in_another_section"] > 0
    out = tmp_path / "results/report/later/since/old.html"
    build(Snapshot(before, old, []), Snapshot(after, new, []), tmp_path / "changes.parquet", out)
    for width in (1280, 390):
        page = chromium.open(out.as_uri(), width=width)
        assert page.evaluate("document.documentElement.scrollHeight") < 8_000
        assert page.locator(".entry:visible").count() <= 20
    assert chromium.faults == []


def tally(found: pl.DataFrame, kind: str, page: int) -> dict[str, int]:
    return dict(found.filter(kind=kind, page_id=page).group_by("change").len().rows())


@pytest.mark.long
def test_jim_pewter_was_given_an_outline(changes):
    """Counted by hand in the wikitext of both dates.

    June 2020: a lead of eleven paragraphs and `==References==`. January 2021: the lead is one
    new paragraph, most of the others stand under `==Biography==`; `== Discography ==` with
    `===Singles===` and `===Albums===`, and `== See also ==` are new; References says nothing in
    either. No picture.
    """
    found = changes["20200611", "20210122"]
    assert tally(found, "text", JIM_PEWTER) == {"edited": 1, "unchanged": 1, "added": 5}
    assert tally(found, "pair", JIM_PEWTER) == {}


@pytest.mark.long
def test_kerala_agricultural_university_changed_a_heading_and_two_pictures(changes, built):
    """Counted by hand in the wikitext of both dates.

    17 sections in January 2021. Their words are the same in September in the lead, Faculties and
    the four below it, References and External links: 8. `== Institutions under KAU ==` became
    `== Institutions==`, and below it `=== Forestry and Horticulture ===` became `=== Agriculture
    and Forestry ===`: 2 renamed. Seven more stand below the renamed heading under titles of their
    own (Management, Climate Studies, Agricultural Engineering & Technology, Veterinary and Animal
    Science, Research Stations, Training & Extension Centres, Research Centres): 7 moved.
    `===Diploma Course===` is new. Of four pictures the emblem of the infobox and the jackfruit
    tree (in Faculties) stayed; the entrance (in the lead) and the college (in Faculty of
    Agriculture) are other files.
    """
    pair = "20210122", "20210917"
    found = changes[pair]
    told = {"unchanged": 8, "renamed": 2, "moved": 7, "added": 1}
    assert tally(found, "text", KERALA) == told
    assert tally(found, "pair", KERALA) == {"unchanged": 2, "replaced": 2, "added": 2}
    names = [files(built[date], KERALA) for date in pair]
    assert names[0] & names[1] == {
        "Kerala_Agricultural_University_(emblem).png",
        "Ambalavayal_jackfruit_tree.jpg",
    }
    assert names[0] - names[1] == {
        "KeralaAgriculturalUniversity-entrance.JPG",
        "College_of_Agriculture,_Nileshwar_(4601175326).jpg",
    }
    assert names[1] - names[0] == {
        "Entrance_of_Kerala_Agricultural_University_Vellanikkara_Mannuthy_Thrissur.jpg",
        "College_of_Agriulture_Vellanikkara.jpg",
    }


@pytest.mark.long
def test_the_mini_lost_a_boast(changes):
    """Counted by hand in the wikitext of both dates.

    19 sections; the only words that differ are in Design, where packaging "which has often been
    imitated but has never been bettered" became "packaging". Nine pictures, one of them in the
    infobox, with the same captions.
    """
    found = changes["20210917", "20211213"]
    assert tally(found, "text", MINI) == {"edited": 1, "unchanged": 18}
    assert tally(found, "pair", MINI) == {"unchanged": 9}


def files(of: dict[str, Path], page: int) -> set[str]:
    """The names of the files that are judged to stand on a page."""
    qrels, images = (pl.read_parquet(of[n]) for n in ("qrels", "images"))
    own = qrels.filter(pl.col("text_id").str.slice(10, 8).cast(int) == page)
    urls = own.join(images, on="image_id")["image_url"]
    return {unquote(url.rpartition("/")[2]) for url in urls}


@pytest.mark.long
def test_real_pages_at_four_dates_differ_as_an_independent_count_says(changes, parsed):
    for (before, after), found in changes.items():
        rows = [pl.read_parquet(parsed(date)["sections"]) for date in (before, after)]
        pages = sorted(set(rows[0]["page_id"]) & set(rows[1]["page_id"]))
        assert len(pages) > 15
        for page in pages:
            own = (r.filter(page_id=page) for r in rows)
            assert counted(found.filter(kind="text"), page) == by_hand(*own), page


def counted(texts: pl.DataFrame, page: int) -> Counter[str]:
    found = Counter(texts.filter(page_id=page)["change"])
    # Whether a heading was renamed is a judgement; that a path is new or gone is none.
    renamed = found.pop("renamed", 0) + found.pop("moved", 0)
    return found + Counter(added=renamed, removed=renamed)


def by_hand(before: pl.DataFrame, after: pl.DataFrame) -> Counter[str]:
    """Sections by their path, where a path is one section's only; plain dictionaries, no SQL."""
    old, new = (
        {r["hierarchy"]: r["context_section_description"] for r in rows.to_dicts()}
        for rows in (before, after)
    )
    both = old.keys() & new.keys()
    edited = sum(old[path] != new[path] for path in both)
    return (
        Counter(
            {
                "edited": edited,
                "unchanged": len(both) - edited,
                "added": len(new) - len(both),
                "removed": len(old) - len(both),
            }
        )
        + Counter()
    )


@pytest.fixture(scope="module")
def articles(shared) -> dict[str, Path]:
    """Every dump."""
    paths = sorted((shared / "snapshots").glob("*/*/*pages-articles.xml.bz2"))
    assert len(paths) == 5
    return {path.parent.name: path for path in paths}


@cache
def wikitext(path: Path) -> dict[int, str]:
    """The wikitext of every article of a dump."""
    xml = re.sub(rb' xmlns="[^"]+"', b"", b"".join(decompress(path)), count=1)
    return {
        int(page.findtext("id", "")): page.findtext("revision/text") or ""
        for page in ET.fromstring(xml).iter("page")
        if page.findtext("ns") == "0" and page.find("redirect") is None
    }


class Facts(NamedTuple):
    """What another parser finds in wikitext."""

    # Outside of templates, references, pictures and categories.
    anchors: list[str]
    # The words of each link outside of templates, references, galleries and tables.
    links: Counter[str]
    # The files of all links outside of references and galleries.
    files: Counter[str]
    # File and words, of pictures outside of references, galleries and tables.
    captions: list[tuple[str, list[str]]]


@cache
def facts(text: str) -> Facts:
    code = mwparserfromhell.parse(text, skip_style_tags=True)
    anchors = anchors_of(code)
    remove(code, {"ref", "gallery"})
    files = Counter(map(file_of, code.filter_wikilinks(matches=is_file)))
    remove(code, {"table"})
    pictures = code.filter_wikilinks(matches=is_file)
    captions = [(file_of(p), words(unquoted(said(p.text)))) for p in pictures if p.text]
    links = Counter[str]()
    for link in code.filter_wikilinks(recursive=False):
        if not re.match(r"(?i):?(file|image|category)\s*:", str(link.title).strip()):
            links[" ".join(words(unquoted((link.text or link.title).strip_code())))] += 1
    del links[""]
    return Facts(anchors, links, files, [(name, own) for name, own in captions if own])


def by_section(text: str) -> Facts:
    """The same, a section at a time: most of them are the same at every date."""
    found = Facts([], Counter(), Counter(), [])
    for section in re.split(r"(?m)^(?==)", text):
        own = facts(section)
        found.anchors.extend(own.anchors)
        found.links.update(own.links)
        found.files.update(own.files)
        found.captions.extend(own.captions)
    return found


def first_fault(text: str, check: Callable[[Facts], str | None]) -> str | None:
    """What `check` says of the page; where markup spans sections, of the page as a whole."""
    return check(by_section(text)) and check(facts(text))


def remove(code: Wikicode, names: set[str]) -> None:
    for tag in code.filter_tags(matches=lambda t: str(t.tag).lower() in names):
        with suppress(ValueError):
            code.remove(tag)


def is_file(link: Wikilink) -> bool:
    return bool(re.match(r"(?i)(file|image)\s*:", str(link.title).strip()))


def file_of(link: Wikilink) -> str:
    return file_name(str(link.title).strip().partition(":")[2])


def unquoted(text: str) -> str:
    """A text without the marks of bold and italics, which the parser was told to leave."""
    return re.sub(r"'{2,}", "", text)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.long
def test_no_linked_word_is_lost_on_any_real_page(articles):
    """AToMiC texts v0.2 lost the words of links: Fig. 6 has "a depiction of with a mustache"."""
    assert sum(map(linked_words, articles.values())) > 40_000


def test_no_linked_word_is_lost_at_the_last_date(articles):
    assert linked_words(articles[DATES[-1]]) > 4_000


def linked_words(path: Path) -> int:
    """Assert that the text of every article has the words of its links; return how many links."""
    seen = 0
    for page, text in wikitext(path).items():
        sections = split_sections(text)
        plain = letters("".join(heading + plain_text(body) for _, heading, body in sections))

        def lost(found: Facts, plain: str = plain) -> str | None:
            return next((a for a in found.anchors if letters(a) not in plain), None)

        assert first_fault(text, lost) is None, (path, page)
        seen += len(by_section(text).anchors)
    return seen


@EVERY
def test_real_pages_lose_no_text_and_no_link_to_a_file(date, articles):
    for page, text in wikitext(articles[date]).items():
        sections, uses = split_pictured(text, ENGLISH_NAMESPACES)
        assert sections == split_sections(text), page
        own = Counter(use.file for _, use in uses if use.origin == "link")

        def differing(found: Facts, own: Counter[str] = own) -> str | None:
            return None if found.files == own else f"{found.files - own} {own - found.files}"

        assert first_fault(text, differing) is None, page


@EVERY
def test_no_text_of_a_link_is_lost(date, parsed, articles):
    """Each link's words, as often as it stands outside of templates; `[[bee]]s` goes on in text."""
    sections = pl.read_parquet(parsed(date)["sections"])
    links = 0
    for (page,), own in sections.group_by("page_id"):
        plain = " ".join(["", *words(" ".join(own["context_section_description"]))])

        def lost(found: Facts, plain: str = plain) -> str | None:
            rare = (w for w, n in found.links.items() if plain.count(f" {w}") < n)
            return next(rare, None)

        assert first_fault(wikitext(articles[date])[page], lost) is None, page
        links += by_section(wikitext(articles[date])[page]).links.total()
    assert links > 4_000


OPTION = re.compile(
    r"(?is)(thumb(nail)?|frame(d|less)?|border|left|right|cent(er|re)|none|upright(=.*)?"
    r"|(\d+)?(x\d+)? *px|(alt|link|class|lang|page|thumb|thumbnail)\s*=.*"
    r"|baseline|middle|sub|super|top|bottom)"
)


@EVERY
def test_no_caption_is_lost(date, parsed, articles):
    pictures = pl.read_parquet(parsed(date)["pictures"])
    captions = 0
    for (page,), own in pictures.group_by("page_id"):
        shown: dict[str, list[Counter[str]]] = {}
        for name, caption in own.select("file", "caption").rows():
            shown.setdefault(name.lower(), []).append(Counter(words(caption)))

        def lost(found: Facts, shown: dict[str, list[Counter[str]]] = shown) -> str | None:
            for name, caption in found.captions:
                if not any(Counter(caption) <= one for one in shown.get(name.lower(), [])):
                    return name
            return None

        assert first_fault(wikitext(articles[date])[page], lost) is None, page
        captions += len(by_section(wikitext(articles[date])[page]).captions)
    assert captions > 150


def said(text: Wikicode) -> str:
    """The last part of a link to a file that is no option, without templates and markup."""
    parts = [""]
    for node in text.nodes:
        first, *rest = str(node).split("|") if isinstance(node, Text) else [str(node)]
        parts = [*parts[:-1], parts[-1] + first, *rest]
    told = [part.strip() for part in parts if not OPTION.fullmatch(part.strip())]
    return mwparserfromhell.parse(told[-1]).strip_code() if told else ""
