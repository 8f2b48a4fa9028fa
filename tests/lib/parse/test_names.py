"""Pages name files and other pages as MediaWiki reads them, on both roads."""

from pathlib import Path

import pytest
from tests.lib.parse.test_dump import HEAD, TAIL, page

from isotope.core.titles import Capitals
from isotope.core.uploads import upload_url
from isotope.parse import xml_dump
from isotope.parse.articles import ParsedBatch, ParsedTables
from isotope.parse.html_page import add_page, parse_html
from isotope.parse.site import FILE, Namespaces, Site, read_site
from isotope.parse.wikitext import categories

GEORGIAN = {0: "", 6: "ფაილი", 10: "თარგი", 14: "კატეგორია"}


def site(language: str = "en", wiki: str = "enwiki", names: dict[int, str] | None = None) -> Site:
    project = "wiktionary" if wiki.endswith("wiktionary") else "wikipedia"
    url = f"https://{language}.{project}.org/wiki/"
    return Site.from_siteinfo(url, language, names or {6: "File", 14: "Category"}, wiki)


def tables(text: str, of: Site) -> ParsedTables:
    return xml_dump.parse_batch((of, xml_dump.Chunk(Path("x"), 0, page(1, "P", text).encode())))


def parsed(text: str, of: Site) -> ParsedBatch:
    return tables(text, of)[-1]


def files(text: str, of: Site | None = None) -> list[object]:
    return [use["file"] for use in parsed(text, of or site()).pictures]


@pytest.mark.parametrize(
    "link",
    [
        "[[File:Rook & Sons (1).png|thumb|Shop]]",
        "[[File:Rook%20%26%20Sons%20%281%29.png|thumb|Shop]]",
        "[[File:Rook &amp; Sons&nbsp;(1).png|thumb|Shop]]",
        "[[File:Rook &#38; Sons &#x28;1).png#top|thumb|Shop]]",
        "[[\u200eFile:Rook_&_Sons\u00a0(1).png\u200f|thumb|Shop]]",
        "[[File\u200e:_rook & Sons  (1).png |thumb|Shop]]",
        "[[File&#58;Rook & Sons (1).png|thumb|Shop]]",
        "[[{{ns:6}}:Rook & Sons (1).png|thumb|Shop]]",
        "[[{{ns:File}}:Rook & Sons (1).png|thumb|Shop]]",
        "[[{{NS:image}}:Rook & Sons (1).png|thumb|Shop]]",
        "<gallery>\nFile:Rook%20&amp; Sons (1).png#a|Shop\n</gallery>",
        "<gallery>\n\u200eFile:Rook & Sons (1).png|Shop\n</gallery>",
        "{{Infobox shop|image=Rook &amp; Sons (1).png|caption=Shop}}",
        "{{Infobox shop|image=\u200erook_&_Sons (1).png\u200e|caption=Shop}}",
    ],
)
def test_every_spelling_of_a_file_is_one_file_and_leaves_no_text(link):
    sections, links, _, found = tables(f"A {link}", site())
    shown = [(use["file"], use["caption"]) for use in found.pictures]
    assert shown == [("Rook & Sons (1).png", "Shop")]
    assert sections["context_section_description"].to_pylist() == ["A"]
    assert links.num_rows == 0


def test_a_name_may_have_an_equals_sign():
    gallery = "<gallery>\nFile:E=mc2 drawing.png|A drawing\n</gallery>"
    box = "{{Infobox law|image = A=B.jpg|caption = Law}}"
    found = parsed(f"{box}\n{gallery}", site())
    assert [use["file"] for use in found.pictures] == ["A=B.jpg", "E=mc2 drawing.png"]
    assert [(row["file"], row["image_url"]) for row in found.infoboxes] == [
        ("A=B.jpg", upload_url("A=B.jpg"))
    ]
    assert files("{{Listen|A=B.jpg}}") == ["B.jpg"]


def test_georgian_names_keep_their_first_letter():
    georgian = site("ka", "kawiki", GEORGIAN)
    text = "[[საქართველო]]ს [[ფაილი:თბილისის ხედი.jpg|მინი|ხედი]]"
    assert files(text, georgian) == ["თბილისის ხედი.jpg"]
    _, links, *_ = tables(text, georgian)
    assert links["target"].to_pylist() == ["საქართველო"]


HTML = '<html><head></head><body><p>A <a rel="mw:WikiLink" href="./{}">x</a></p></body></html>'


@pytest.mark.parametrize(
    ("language", "wiki", "written", "title"),
    [
        ("tr", "trwiki", "istanbul", "İstanbul"),
        ("de", "dewiki", "ß (Buchstabe)", "ß (Buchstabe)"),
        ("en", "enwiktionary", "free_lunch", "free lunch"),
        ("jbo", "jbowiki", "lojban.", "lojban."),
        ("en", "enwiki", "AC%2FDC", "AC/DC"),
        ("en", "enwiki", "café%26bar", "Café&bar"),
    ],
)
def test_links_of_both_roads_are_titles_of_their_wiki(language, wiki, written, title):
    of = site(language, wiki)
    _, links, *_ = tables(f"A [[{written}|x]]", of)
    batch = ParsedBatch(Path("x"))
    add_page(batch, parse_html(HTML.format(written).encode()), (1, 1, "P"), of)
    assert links["target"].to_pylist() == [to for _, to in batch.links] == [title]


def cased(case: str, of_category: str) -> Site:
    head = HEAD.replace("</base>", f"</base><case>{case}</case>").replace(
        '<namespace key="14">', f'<namespace key="14" case="{of_category}">'
    )
    head = head.replace(' case="first-letter" />', f' case="{case}" />')
    return read_site(Path("x.xml"), iter([(head + TAIL).encode()]))


def test_siteinfo_says_which_namespaces_keep_first_letters():
    assert cased("case-sensitive", "first-letter").namespaces.capitals == Capitals(
        "de", frozenset((0, 6, 1))
    )
    assert cased("first-letter", "case-sensitive").namespaces.capitals.case_sensitive == {14}


def test_links_to_other_namespaces_are_none_to_articles_however_they_are_spelt():
    text = "[[User_talk:A]] [[User%20talk:B]] [[user&nbsp;talk:C]] [[:File:D.jpg]] [[E]]"
    of = Site.from_siteinfo(
        "https://en.wikipedia.org/wiki/", "en", {3: "User talk", 6: "File"}, "enwiki"
    )
    _, links, *_ = tables(text, of)
    assert links["target"].to_pylist() == ["E"]


def test_a_redirect_leads_to_the_title_of_its_wiki():
    text = "#REDIRECT [[:caf%C3%A9&nbsp;noir#Menu]]"
    assert parsed(text, site()).rejected[0]["raw"] == "Café noir"
    assert parsed(text, site("en", "enwiktionary")).rejected[0]["raw"] == "café noir"


def test_categories_are_titles_too():
    of = Namespaces.from_names({FILE: "File", 14: "Category"})
    assert categories("[[Category:living_people|A]] [[category:&Eacute;tudes#x]]", of) == [
        "Living people",
        "Études",
    ]
