"""The outline has what each section's own markup has: by hand, by construction, on real pages."""

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path

import mwparserfromhell
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import snapshots
from tests.snapshots import Page

from isotope.parse import dump
from isotope.parse.prepared import PreparedPage
from isotope.parse.site import ENGLISH_NAMESPACES
from isotope.parse.wikitext import list_items, split_page, table_rows
from isotope.parse.xml_dump import language_links

Row = dict[str, object]
PAGE = """{{Short description|A mill}}
{{Infobox mill<ref>In the box.</ref>
| name = The mill
| image = Mill.jpg
}}
'''The mill''' is near [[Oak River|the river]].<ref>One</ref> It is [[old]].<ref name="a" />
<!-- == Not a heading == <ref>None</ref> -->
== History {{anchor|Past}} ==
It burnt.<ref name="a">Two</ref><ref name="a" />

* [[First owner]]
** [[Second owner]] and [[old]]
# one
; Word
: its meaning
<nowiki>* no item</nowiki>
:{| class="wikitable"
|+ Visitors
! Year !! Guests
|-
| 1990 || 100

|-
|- class="x"
| colspan="2" | none
|}
=== Fire ===
See {{main|Fire|* no item}} [[File:Fire.jpg|thumb|By [[A painter]]]].
== References ==
{{Reflist}}
<references>
<ref name="a">Defined here</ref>
</references>
[[Category:Mills]]
[[de:Mühle]]
[[FR:moulin_rouge#Haut]] [[:it:Mulino]] [[en:The mill]] [[de:Mühle|x]] [[zh-min-nan: Bō-chhia ]]
"""
COLUMNS = ("heading", "level", "place", "list_items", "table_rows", "references", "has_infobox")
OUTLINE = [
    ("", 0, 0, 0, 0, 3, True),
    ("History", 2, 1, 5, 3, 2, False),
    ("Fire", 3, 2, 0, 0, 0, False),
    ("References", 2, 3, 0, 0, 0, False),
]


def outline(text: str, folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of a dump of one page."""
    path = snapshots.write_export([Page(7, 0, "The mill", text)], folder / "toywiki.xml")
    return parsed([path], folder)


def parsed(files: Sequence[Path], folder: Path) -> dict[str, pl.DataFrame]:
    names = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    paths = {name: folder / f"{name}.parquet" for name in names}
    dump.parse_dump(files, workers=1, **paths)  # pyright: ignore[reportArgumentType]
    return {name: pl.read_parquet(paths[name]) for name in names if name != "counts"}


@pytest.fixture(scope="module")
def mill(tmp_path_factory) -> dict[str, pl.DataFrame]:
    return outline(PAGE, tmp_path_factory.mktemp("mill"))


def test_each_section_has_its_own_items_rows_and_references(mill):
    assert mill["outline"].select(COLUMNS).rows() == OUTLINE
    assert set(mill["outline"]["sections"]) == {4}


def test_ids_and_characters_are_those_of_the_sections(mill):
    keys = ["text_id", "page_id"]
    assert mill["outline"].select(keys).equals(mill["out"].select(keys))
    texts = mill["out"]["context_section_description"]
    assert mill["outline"]["characters"].to_list() == texts.str.len_chars().to_list()


def test_links_are_a_sections_own_and_together_those_of_the_page(mill):
    links = mill["outline"]["links"].to_list()
    history = ["First owner", "Second owner", "Old"]
    assert links == [["Oak River", "Old"], history, ["A painter"], []]
    assert list(dict.fromkeys(chain.from_iterable(links))) == mill["links"]["target"].to_list()


def test_language_links_are_on_the_lead_without_inline_ones_and_the_wiki_itself(mill):
    found = mill["outline"]["languages"].to_list()
    assert found == [["de:Mühle", "fr:Moulin rouge", "zh-min-nan:Bō-chhia"], [], [], []]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[de:A]] [[de:A]] [[nl:B|c]]", ["de:A", "nl:B"]),
        ("[[commons:A]] [[wikt:b]] [[Category:C]] [[S:D]]", []),
        ("[[:de:A]] [[de:]] [[de: ]] [[de:a", []),
        ("[[simple:A]] [[be-x-old:Б]]", ["simple:A", "be-tarask:Б"]),
    ],
)
def test_only_wikipedias_in_other_languages_are_language_links(text, links):
    assert language_links(text, "en") == links


@pytest.mark.parametrize(
    ("body", "items", "rows"),
    [
        ("", 0, 0),
        ("* a\n*b\n:c\n;d\n#e\n text\n*f", 6, 0),
        ("<ul><li>a</li><LI>b</LI></ul>", 2, 0),
        ("a * b\n'''*c", 0, 0),
        ("{|\n|}", 0, 0),
        ("{|\n|-\n|-\n|}", 0, 0),
        ("{|\n| a\n| b\n|-\n| c\n|}", 0, 2),
        (":{|\n! a\n|-\n\n| c\n|}", 0, 2),
        ("{|\n|+ caption\n|-\n| a || b\n| c\n|}", 0, 1),
        ("{|\n|-\n|\n{|\n| inner\n|}\n|}", 0, 2),
        ("<table><tr><td>a</td></tr><tr></tr></table>", 0, 2),
    ],
)
def test_items_and_rows_are_counted_as_they_are_displayed(body, items, rows):
    assert (list_items(body), table_rows(body)) == (items, rows)


WORDS = st.sampled_from(["Mill", "river", "[[Oak|tree]]", "''old''", "{{nowrap|a b}}", "7 = 7"])
# A block of wikitext with the items, rows and references that it has.
BLOCKS = st.one_of(
    WORDS.map(lambda word: (f"It is {word}.", 0, 0, 0)),
    st.integers(1, 4).map(lambda n: ("\n".join(["* [[Mill]]"] * n), n, 0, 0)),
    st.integers(1, 4).map(lambda n: ("{|\n" + "|-\n| a || b\n" * n + "|}", 0, n, 0)),
    st.integers(1, 4).map(lambda n: ("So." + "<ref>x</ref><ref name=b />" * n, 0, 0, 2 * n)),
    st.just(("<!--\n* x\n== No ==\n<ref>x</ref>-->", 0, 0, 0)),
    st.just(("{{efn|a <ref>x</ref>\n* x\n}}", 0, 0, 1)),
    st.just(("<nowiki>\n* x\n<ref>x</ref></nowiki>", 0, 0, 0)),
    st.just(("[[File:A.jpg|thumb|A mill<ref>x</ref>]]", 0, 0, 1)),
    st.just(("<gallery>\nA.jpg|* x\n</gallery>", 0, 0, 0)),
)
HEADINGS = st.sampled_from(["Mill", "The ''river''", "Mill {{anchor|a}}", "Again", "7 = 7"])


@settings(max_examples=150)
@given(
    st.lists(BLOCKS, max_size=4),
    st.lists(st.tuples(st.integers(2, 4), HEADINGS, st.lists(BLOCKS, max_size=4)), max_size=6),
)
def test_sections_of_any_blocks_have_the_sums_of_their_blocks(lead, sections):
    every = [(0, "", lead), *sections]
    text = "\n".join(
        "\n\n".join([*([f"{'=' * level} {title} {'=' * level}"] if level else []), *parts])
        for level, title, blocks in every
        for parts in [[block[0] for block in blocks]]
    )
    split = split_page(PreparedPage.from_wikitext(text, ENGLISH_NAMESPACES), ENGLISH_NAMESPACES)
    assert [level for level, _, _ in split.sections] == [level for level, _, _ in every]
    found = zip(
        (list_items(body) for *_, body in split.sections),
        (table_rows(body) for *_, body in split.sections),
        split.references,
        strict=True,
    )
    sums = [tuple(sum(block[i] for block in blocks) for i in (1, 2, 3)) for *_, blocks in every]
    assert list(found) == sums


@given(st.text("=\n*#:;|{}-![]<>ref/ ab'&\0", max_size=80))
def test_any_wikitext_has_an_outline_of_as_many_sections_as_it_is_cut_into(text):
    page = PreparedPage.from_wikitext(text.replace("\0", ""), ENGLISH_NAMESPACES)
    split = split_page(page, ENGLISH_NAMESPACES)
    assert len(split.sections) == len(split.references) == len(split.infoboxes)
    for (*_, body), references in zip(split.sections, split.references, strict=True):
        assert min(list_items(body), table_rows(body), references) >= 0
    assert sum(split.infoboxes) <= 1


@pytest.fixture(scope="module", params=["20211213"])
def real(request, shared, tmp_path_factory) -> tuple[dict[str, str], dict[str, pl.DataFrame]]:
    """The wikitext of real pages by title, and their tables."""
    (path,) = (shared / "snapshots/minidumps" / request.param).glob("*.xml*")
    pages = {page.title: page.text for page in snapshots.pages_of(path)}
    return pages, parsed([path], tmp_path_factory.mktemp(request.param))


def test_references_of_real_pages_are_those_that_another_parser_finds(real):
    """mwparserfromhell sees the tags; those in a list of definitions are no marks."""
    pages, tables = real
    titles = tables["out"].select("text_id", "page_title")
    ours = dict(
        tables["outline"]
        .join(titles, on="text_id")
        .group_by("page_title")
        .agg(pl.col("references").sum())
        .iter_rows()
    )
    compared = 0
    for title, count in ours.items():
        text = re.sub(r"<!--.*?-->", "", pages[title], flags=re.DOTALL)
        if re.search(r"<references[^/>]*>|<(gallery|imagemap|timeline)", text):
            continue
        tags = mwparserfromhell.parse(text).filter_tags(matches=lambda tag: tag.tag == "ref")
        assert count == len(tags), title
        compared += count
    assert compared > 500


def test_real_pages_have_links_lists_and_tables_where_a_reader_finds_them(real):
    _, tables = real
    rows = tables["outline"]
    assert rows.select("text_id", "page_id").equals(tables["out"].select("text_id", "page_id"))
    union = rows.explode("links").drop_nulls("links").select("page_id", "links").unique()
    links = tables["links"].rename({"target": "links"})
    assert union.sort(pl.all()).equals(links.unique().sort(pl.all()))
    see_also = rows.filter(heading="See also")
    assert see_also.height > 3
    assert (see_also["list_items"] > 0).mean() > 0.5
    assert rows["table_rows"].sum() > 20
    places = rows.group_by("page_id", maintain_order=True).agg("place", "sections")
    for _, page, counts in places.iter_rows():
        assert all(later - earlier == 1 for earlier, later in pairwise(page))
        assert set(counts) == {len(page)}
