"""Who links to whom: titles as pages have them, redirects resolved, pages counted once."""

import re
from collections import defaultdict

import mwparserfromhell
import polars as pl
import pytest

from isotope.core import sql, store
from isotope.parse import dump
from isotope.parse.site import FILE, Namespaces
from isotope.parse.xml_dump import targets
from isotope.schemas.parse import INLINKS, LINKS, REJECTED, SECTIONS
from isotope.tabulate.table import rows as asked
from isotope_toy import dump as toy_dump
from isotope_toy import snapshot
from isotope_toy.edition import entries

GERMAN = Namespaces.from_names({FILE: "Datei"})
QUERY = sql.SQL / "parse/inlinks.sql"
RAY = 50000046


def counted(folder, files):
    """The count of links by page id, and the title by page id."""
    names = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    paths = {name: folder / name for name in names}
    dump.parse_dump(files, **paths, workers=1)
    return of_tables(folder, {**paths, "sections": paths["out"]})


def of_tables(folder, paths):
    """The same of a parsed dump."""
    found = {name: paths[name] for name in ("sections", "links", "rejected")}
    out = folder / "inlinks.parquet"
    sql.query(QUERY, found, {}, out=out, schema=INLINKS, memory_limit="200MB")
    sections = pl.read_parquet(paths["sections"])
    titles = dict(sections.select("page_id", "page_title").iter_rows())
    return dict(pl.read_parquet(out).iter_rows()), titles


@pytest.mark.parametrize(
    ("wikitext", "titles"),
    [
        (
            "[[ray Charles]] and [[Ray_Charles|him]], [[Ray  Charles#Life|his life]]",
            ["Ray Charles"],
        ),
        ("[[AT&amp;T]], [[Caf%C3%A9]] [[:Öl]]s", ["AT&T", "Café", "Öl"]),
        ("[[Datei:A.jpg|mini|at [[Georgia]]]] [[Category:X]] [[:Category:X]]", ["Georgia"]),
        ("[[de:Ray]] [[User talk:Ray]] [[Star Wars: A Story]]", ["Star Wars: A Story"]),
        ("[[#Life]] [[|x]] [[ ]] [[A\nB]] [http://h x] [[open", []),
    ],
)
def test_titles_are_as_their_pages_have_them(wikitext, titles):
    assert targets(wikitext, GERMAN, {"user talk"}) == titles


@pytest.fixture
def tables_of(tmp_path):
    def write(pages, links, redirects):
        rows = {
            "sections": ([{"page_id": i, "page_title": t, "section": 0} for i, t in pages]),
            "links": [{"page_id": i, "target": t} for i, t in links],
            "rejected": [
                {"reason": why, "detail": title, "raw": to} for why, title, to in redirects
            ],
        }
        kinds = {"sections": SECTIONS, "links": LINKS, "rejected": REJECTED}
        for name, schema in kinds.items():
            store.write_rows(rows[name], tmp_path / f"{name}.parquet", schema)
        return {name: tmp_path / f"{name}.parquet" for name in kinds}

    return write


def test_an_article_that_links_directly_and_through_a_redirect_counts_once(tables_of):
    pages = [(1, "Ray"), (2, "Georgia"), (3, "Soul")]
    links = [(2, "Ray"), (2, "Brother Ray"), (3, "Brother Ray"), (1, "Nowhere"), (1, "Brother Ray")]
    redirects = [("redirect", "Brother Ray", "Ray"), ("disambiguation", "Soul", "Ray")]
    found = asked(QUERY, tables_of(pages, [*links, (1, "Soul")], redirects), {})
    assert found.rows() == [(1, 2), (2, 0), (3, 1)]


def test_an_article_goes_before_a_redirect_of_its_name(tables_of):
    pages, links = [(1, "Ray"), (2, "Soul")], [(2, "Ray")]
    found = asked(QUERY, tables_of(pages, links, [("redirect", "Ray", "Soul")]), {})
    assert found.rows() == [(1, 1), (2, 0)]


def test_the_encyclopedias_links_are_those_that_mwparserfromhell_finds(tmp_path):
    snapshot.generate(tmp_path, pages=60, draw=False)
    found, titles = counted(tmp_path, sorted((tmp_path / "dump").glob("*.xml.bz2")))
    ids, origins = {title: i for i, title in titles.items()}, defaultdict(set)
    wiki = [
        [p for p in toy_dump.wiki_pages(entry.now, 0) if p.namespace == 0]
        for entry in entries(0, 60, 1)
        if entry.now
    ]
    for article, *others in wiki:
        ids |= dict.fromkeys((p.title for p in others if p.redirect), article.page_id)
    for page in (p for pages in wiki for p in pages if p.page_id in titles):
        for title in judged(page.text) & set(ids):
            origins[ids[title]] |= {page.page_id} - {ids[title]}
    assert found == {i: len(origins[i]) for i in titles}
    assert sum(found.values()) > 60


def judged(wikitext):
    """The targets of links outside of templates and references, by another parser."""
    code = mwparserfromhell.parse(wikitext)
    for node in (*code.filter_templates(), *code.filter_tags(matches=lambda n: n.tag == "ref")):
        if node in code.nodes:
            code.remove(node)
    links = (str(link.title) for link in code.filter_wikilinks())
    return {re.sub("#.*", "", title).strip() for title in links}


def test_every_page_about_ray_charles_but_one_links_to_him(raycharles, tmp_path):
    found, titles = of_tables(tmp_path, raycharles)
    assert titles[RAY] == "Ray Charles"
    assert found[RAY] == 83 == max(found.values())
    about = [i for i in titles if i > 50_000_000]
    assert len(about) == 85
