"""Pictures, redirects and namespaces in the words of every wiki that MediaWiki has words for."""
# ruff: noqa: RUF001 (letters of other scripts)

import json
import logging
from dataclasses import dataclass

import polars as pl
import pytest
from tests import snapshots
from tests.lib.parse.test_snapshots import parse, read
from tests.snapshots import Page, Wiki

from isotope.core import provenance, sql
from isotope.parse.files import read_options
from isotope.parse.picture_arguments import Options
from isotope.parse.site import (
    Site,
    all_words,
    normal_name,
    wiki_of_siteinfo,
    wikipedia_site,
    wikis,
    words_table,
)
from isotope.parse.wikitext import plain_text, split_pictured
from isotope.tabulate import table as tabulate

# What `name` must be followed by so that MediaWiki reads it, by the kind of word.
VALUES = {"page": "3", "upright": "1.2", "lang": "de", "lossy": "false", "width": "250x90"}
PLACES = (
    *("right", "left", "center", "none", "border", "baseline", "sub", "super", "top", "text_top"),
    *("middle", "bottom", "text_bottom", "upright", "page", "lang", "link", "class", "lossy"),
)


def site(wiki: str) -> Site:
    return Site.from_siteinfo(
        f"https://{wiki.removesuffix('wiki')}.wikipedia.org/wiki/", "", {}, wiki
    )


def written(kind: str, word: str) -> str:
    """A word of a wiki as it stands in a link."""
    return word.replace("$1", VALUES.get(kind, "A.png"))


def words(wiki: str, *kinds: str) -> list[tuple[str, str]]:
    own = all_words(wiki)
    return [(kind, word) for kind in kinds for word in own[kind]]


def shown(wiki: str, *given: str) -> Options:
    """How a link with these parts shows its picture, whose text is checked to be empty."""
    own = site(wiki).namespaces
    name = all_words(wiki)["File"][:1] or ["File"]
    sections, ((_, use),) = split_pictured(f"a [[{name[0]}:A.jpg|{'|'.join(given)}]] b", own)
    assert plain_text(sections[0][2], own) == "a b"
    return use.options


def test_the_table_has_every_word_that_mediawiki_has(shared):
    """`img_*`, redirect and disambiguation words and three namespaces, of 346 wikis."""
    published = json.loads((shared / "published/wiki_words.json").read_text("utf-8"))
    assert wikis() == sorted(published)
    for wiki, told in published.items():
        own = all_words(wiki)
        for name, words in told["words"].items():
            assert set(words) <= set(own[name.removeprefix("img_")]), (wiki, name)
        names = site(wiki).namespaces
        for kind, spaces in told["namespaces"].items():
            known = {"File": names.file, "Category": names.category, "Template": names.template}
            assert {normal_name(space) for space in spaces} <= known[kind], (wiki, kind)


class TestEveryWiki:
    def test_each_word_that_frames_shows_the_caption_under_the_picture(self):
        for wiki in wikis():
            own = all_words(wiki)
            size = written("width", own["width"][0])
            alt = next(w for w in own["alt"] if "$1" in w).replace("$1", "Alt [[B]]")
            for kind, word in words(wiki, "thumbnail", "framed", "manualthumb"):
                parts = (written(kind, word), own["right"][0], size, alt, "The [[C|caption]]")
                framed = Options("The [[C|caption]]", "Alt [[B]]", 250, True)
                assert shown(wiki, *parts) == framed, (wiki, word)
                assert shown(wiki, *parts[:-1]) == Options("", "Alt [[B]]", 250, True), (wiki, word)

    def test_each_word_that_places_is_no_caption(self):
        for wiki in wikis():
            for kind, word in words(wiki, *PLACES):
                part = written(kind, word)
                framed = shown(wiki, "thumb", "Caption", part)
                assert framed == Options("Caption", "", None, True), (wiki, word)
                assert shown(wiki, part) == Options(), (wiki, word)

    def test_each_word_for_a_size_or_an_alternative_text_is_read(self):
        for wiki in wikis():
            for _, word in words(wiki, "frameless"):
                assert shown(wiki, word, "Caption") == Options("", "Caption", 220), (wiki, word)
                for kind, share in words(wiki, "upright"):
                    part, width = share.replace("$1", "0.5"), 110 if "$1" in share else 165
                    assert shown(wiki, part, word) == Options("", "", width), (wiki, kind, part)
            for kind, word in words(wiki, "width"):
                assert shown(wiki, written(kind, word)) == Options("", "", 250), (wiki, word)
            for kind, word in words(wiki, "alt"):
                framed = Options("C", "A.png" if "$1" in word else "", None, True)
                assert shown(wiki, "thumb", "C", written(kind, word)) == framed, (wiki, word)

    def test_english_words_count_as_well(self):
        parts = ("thumb", "right", "120px", "alt=Alt", "upright=1.2", "link=", "Caption")
        for wiki in wikis():
            assert shown(wiki, *parts) == Options("Caption", "Alt", 120, True), wiki

    def test_its_redirects_and_namespaces_are_known(self):
        for wiki in wikis():
            own, names = all_words(wiki), site(wiki).namespaces
            for _, word in words(wiki, "redirect"):
                for form in (word, word.lower(), f" {word} :"):
                    assert names.words.redirect.match(f"{form} [[A]]"), (wiki, form)
            assert not names.words.redirect.match("#LINK [[A]]"), wiki
            assert all(map(names.is_file, [*own["File"], "file", "Image"])), wiki
            assert all(map(names.is_category, [*own["Category"], "category"])), wiki
            for name in (*own["Template"], "template"):
                assert names.without_prefix(f"{{{{ {name}: Sic|x}}}}") == "{{ Sic|x}}", (wiki, name)


@dataclass(frozen=True)
class Own:
    """Words of a wiki as its pages have them (siteinfo of each wiki), and a page's sentences."""

    language: str
    names: tuple[str, str, str]
    redirect: str
    options: tuple[str, ...]
    caption: str
    text: str

    @property
    def wiki(self) -> Wiki:
        """The wiki as its dump tells it: siteinfo has one name for each namespace."""
        file, category, template = self.names
        return Wiki(self.language, {6: file, 14: category, 10: template})


# Names of File, Category, Template; redirect; thumb, right, size, alt=, and another place.
OWN = [
    Own(
        *("id", ("Berkas", "Kategori", "Templat"), "ALIH"),
        ("jmpl", "ka", "200px", "al=Alt", "tegak=1.2"),
        *("Pemandangan kota dari udara", "Jakarta adalah ibu kota Indonesia."),
    ),
    Own(
        *("tr", ("Dosya", "Kategori", "Şablon"), "YÖNLENDİRME"),
        ("küçükresim", "sağ", "200pik", "alt=Alt", "dikey 1.2"),
        *("Kentin havadan görünümü", "Ankara Türkiye'nin başkentidir."),
    ),
    Own(
        *("sv", ("Fil", "Kategori", "Mall"), "OMDIRIGERING"),
        ("miniatyr", "höger", "200px", "alt=Alt", "stående=1.2"),
        *("Utsikt över staden", "Stockholm är Sveriges huvudstad."),
    ),
    Own(
        *("he", ("קובץ", "קטגוריה", "תבנית"), "הפניה"),
        ("ממוזער", "ימין", "200 פיקסלים", "טקסט=Alt", "ימין למעלה=1.2"),
        *("מראה העיר מהאוויר", "ירושלים היא עיר הבירה."),
    ),
    Own(
        *("fa", ("پرونده", "رده", "الگو"), "تغییر_مسیر"),
        ("بندانگشتی", "راست", "200پیکسل", "جایگزین=Alt", "ایستاده=1.2"),
        *("نمای شهر از بالا", "تهران پایتخت ایران است."),
    ),
    Own(
        *("ur", ("فائل", "زمرہ", "سانچہ"), "رجوع_مکرر"),
        ("تصغیر", "دائیں", "200پکسل", "متبادل=Alt", "ایستادہ=1.2"),
        *("شہر کا منظر", "اسلام آباد پاکستان کا دارالحکومت ہے۔"),
    ),
    Own(
        *("hu", ("Fájl", "Kategória", "Sablon"), "ÁTIRÁNYÍTÁS"),
        ("bélyegkép", "jobbra", "200px", "alt=Alt", "fennjobbra=1.2"),
        *("A város látképe", "Budapest Magyarország fővárosa."),
    ),
    Own(
        *("ar", ("ملف", "تصنيف", "قالب"), "تحويل"),
        ("تصغير", "يمين", "200بك", "بديل=Alt", "معدول=1.2"),
        *("منظر المدينة من الجو", "القاهرة عاصمة مصر."),
    ),
    Own(
        *("ru", ("Файл", "Категория", "Шаблон"), "перенаправление"),
        ("мини", "справа", "200пкс", "альт=Alt", "сверхусправа 1.2"),
        *("Вид города с воздуха", "Москва - столица России."),
    ),
    Own(
        *("zh", ("File", "Category", "Template"), "重新導向"),
        ("缩略图", "右", "200像素", "替代文本=Alt", "右上1.2"),
        *("城市鸟瞰图", "北京是中国的首都。"),
    ),
    Own(
        *("th", ("ไฟล์", "หมวดหมู่", "แม่แบบ"), "เปลี่ยนทาง"),
        ("thumb", "right", "200px", "alt=Alt", "upright=1.2"),
        *("ทิวทัศน์ของเมือง", "กรุงเทพมหานครเป็นเมืองหลวง"),
    ),
    Own(
        *("vi", ("Tập tin", "Thể loại", "Bản mẫu"), "đổi"),
        ("nhỏ", "phải", "200px", "thế=Alt", "đứng=1.2"),
        *("Quang cảnh thành phố", "Hà Nội là thủ đô."),
    ),
]
each_language = pytest.mark.parametrize("own", OWN, ids=lambda own: own.language)


@each_language
def test_a_page_is_read_in_the_words_of_its_wiki(own, tmp_path):
    file, category, template = own.names
    parts = "|".join(own.options)
    link = f"[[{file}:A b.jpg|{parts}|{own.caption} [[B|x]]]]"
    unframed = f"[[{file}:C.jpg|{'|'.join(own.options[1:3])}|{own.caption}]]"
    text = (
        f"{link}{own.text}{unframed}\n\n== H ==\n<gallery>\n{file}:D.jpg|{own.options[3]}|"
        f"{own.caption}\n</gallery>\n{{{{{template}:Nowrap|y}}}}\n[[{category}:K]]"
    )
    pages = [
        Page(1, 0, "T", text),
        Page(2, 0, "R", f"#{own.redirect} [[T]]"),
        Page(3, 0, "D", f"x\n{{{{{template}:Disambig}}}}"),
    ]
    made = read(parse([snapshots.write_export(pages, tmp_path / "x.xml", own.wiki)], tmp_path))
    told = made["pictures"].select("file", "caption", "alt", "width", "is_framed").rows()
    assert told == [
        ("A b.jpg", f"{own.caption} x", "Alt", 200, True),
        ("C.jpg", "", own.caption, 200, False),
        ("D.jpg", own.caption, "Alt", None, True),
    ]
    texts = made["sections"]["context_section_description"].to_list()
    assert texts == [own.text, "y"]
    assert made["sections"]["category"].to_list() == [["K"], ["K"]]
    left_out = made["rejected"].select("reason", "detail", "raw").rows()
    assert left_out == [("redirect", "R", "T"), ("disambiguation", "D", "")]


def test_a_second_name_of_a_namespace_counts_in_dumps_that_tell_one(tmp_path):
    """Siteinfo of an export has a name for each namespace, and none of its aliases."""
    text = "a [[Gambar:A.jpg|jmpl|B]] [[Kategori:C]] [[Templat:T]] [[Fichier:D.jpg|vignette|E]]"
    wiki = Wiki("id", {6: "Berkas", 14: "Kategori", 10: "Templat"})
    path = snapshots.write_export([Page(1, 0, "T", text)], tmp_path / "x.xml", wiki)
    made = read(parse([path], tmp_path))
    assert made["pictures"].select("file", "caption").rows() == [("A.jpg", "B")]
    assert made["sections"]["category"].to_list() == [["C"]]
    assert made["links"].height == 0
    assert made["sections"]["context_section_description"].to_list() == ["a Templat:T"]


def test_a_name_that_the_dump_has_for_another_namespace_is_no_file(tmp_path):
    """A wiki may have made `Gambar` a namespace of its own."""
    names = {6: "Berkas", 14: "Kategori", 100: "Gambar"}
    text = "a [[Gambar:A.jpg|jmpl|B]] [[Berkas:C.jpg|jmpl|D]]"
    path = snapshots.write_export([Page(1, 0, "T", text)], tmp_path / "x.xml", Wiki("id", names))
    made = read(parse([path], tmp_path))
    assert made["pictures"]["file"].to_list() == ["C.jpg"]


class TestMediaWikisRules:
    """`Parser::makeImage`: words of pictures are case-sensitive, values must fit, the last wins."""

    @pytest.mark.parametrize(
        ("parts", "caption"),
        [
            (("thumb", "Left"), "Left"),
            (("thumb", "Text", "page 3"), "Text"),
            (("thumb", "Text", "upright 1.2"), "Text"),
            (("thumb", "page one of the book"), "page one of the book"),
            (("thumb", "upright piano"), "upright piano"),
            (("thumb", "px"), "px"),
            (("thumb", "a 20px"), "a 20px"),
            (("thumb=Other.png", "Text"), "Text"),
            (("thumb", " Text with = sign "), "Text with = sign"),
        ],
    )
    def test_what_is_no_option_is_the_caption(self, parts, caption):
        assert read_options(list(parts)).caption == caption

    @pytest.mark.parametrize(
        ("part", "width"),
        [("20px", 20), ("20x30px", 20), ("x30px", 30), ("20 px", 20), ("20pxpx", 20)],
    )
    def test_a_size_has_a_width_or_a_height_or_both(self, part, width):
        assert read_options([part]) == Options("", "", width)

    def test_a_caption_that_another_one_overrides_is_told(self):
        assert read_options(["jmpl", "ka", "Text", "thumb"]).unread == ("jmpl", "ka")


@pytest.mark.parametrize(
    ("database", "url", "language", "wiki", "words", "surely"),
    [
        ("zh_min_nanwiki", "", "", "zh-min-nanwiki", "zh-min-nanwiki", True),
        ("", "https://sv.wikipedia.org/wiki/", "sv", "svwiki", "svwiki", True),
        ("", "https://sv.m.wikipedia.org/wiki/", "sv", "svwiki", "svwiki", True),
        ("svwiktionary", "", "sv", "svwiktionary", "svwiki", True),
        ("", "https://id.wikibooks.org/wiki/", "id", "idwikibooks", "idwiki", True),
        ("", "https://commons.wikimedia.org/wiki/", "en", "commonswiki", "commonswiki", True),
        ("part", "https://hu.wikipedia.org/wiki/", "hu", "huwiki", "huwiki", True),
        ("be_x_oldwiki", "", "be-tarask", "be-x-oldwiki", "bewiki", False),
        ("tlhwiki", "https://tlh.wikipedia.org/wiki/", "tlh", "tlhwiki", "enwiki", False),
        ("", "http://wiki.example.org/a/", "tr", "wiki.example.org", "trwiki", True),
        ("", "http://wiki.example.org/a/", "nb", "wiki.example.org", "nowiki", True),
    ],
)
def test_a_wiki_is_told_by_its_database_or_else_by_its_address(  # noqa: PLR0913, PLR0917
    database, url, language, wiki, words, surely
):
    found = Site.from_siteinfo(url, language, {}, database)
    assert (found.wiki, found.namespaces.wiki, found.has_words) == (wiki, words, surely)


def test_html_of_a_wiki_has_its_second_names_too():
    found = wikipedia_site("id", "https://id.wikipedia.org/wiki/")
    assert found.namespaces.is_file("Gambar")
    assert {"templat", "gambar", "pengguna"} <= found.prefixes


class TestReport:
    TEXT = "[[File:A.jpg|thumb|vIng|poS|Qo'noS]] [[File:B.jpg|thumb|vIng|B]] [[File:C.jpg|thumb|C]]"

    @pytest.fixture
    def klingon(self, tmp_path):
        """The dump of a wiki that the table lacks."""
        path = tmp_path / "tlh.xml"
        return snapshots.write_export([Page(1, 0, "T", self.TEXT)], path, Wiki("tlh"))

    @pytest.fixture
    def unknown(self, klingon, tmp_path):
        return parse([klingon], tmp_path)

    def test_a_wiki_without_words_is_named_in_the_log(self, klingon, tmp_path, caplog):
        with caplog.at_level(logging.INFO, logger="isotope"):
            parse([klingon], tmp_path)
        (warning,) = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
        assert "no words of the wiki tlhwiki are known" in warning
        assert "3 pictures, 2 with parts unread" in warning
        parts = "2 of 3 pictures of tlhwiki have parts that no word explains: 'vIng' (2), 'poS' (1)"
        assert parts in caplog.messages

    def test_what_no_word_explains_is_kept_with_its_picture(self, unknown):
        pictures = read(unknown)["pictures"]
        assert pictures["unread"].to_list() == [["vIng", "poS"], ["vIng"], []]
        assert set(pictures["wiki"]) == {"tlhwiki"}
        assert pictures["words"].null_count() == 3
        assert pictures["caption"].to_list() == ["Qo'noS", "B", "C"]

    def test_a_table_counts_it_by_wiki(self, unknown, tmp_path):
        (tmp_path / "id").mkdir()
        text = "[[Berkas:A.jpg|jmpl|ka|A]] [[Berkas:B.jpg|jmpl|kanann|B]]"
        path = tmp_path / "id/id.xml"
        snapshots.write_export([Page(2, 0, "T", text)], path, Wiki("id", {6: "Berkas"}))
        known = parse([path], tmp_path / "id")
        both = pl.concat([read(out)["pictures"] for out in (unknown, known)])
        both.write_parquet(tmp_path / "both.parquet")
        query = sql.SQL / "tabulate/tables/picture_words.sql"
        assert tabulate.rows(query, {"pictures": tmp_path / "both.parquet"}, {}).rows() == [
            ("idwiki", "idwiki", 2, 1, 1, "kanann (1)"),
            ("tlhwiki", "none", 3, 2, 3, "vIng (2), poS (1)"),
        ]

    def test_a_wiki_with_words_is_not_warned_of(self, tmp_path, caplog):
        path = snapshots.write_export([Page(1, 0, "T", self.TEXT)], tmp_path / "x.xml")
        parse([path], tmp_path)
        assert not [r for r in caplog.records if r.levelno == logging.WARNING]


def test_siteinfo_becomes_a_line_of_the_table():
    """The form is that of https://id.wikipedia.org/w/api.php?action=query&meta=siteinfo."""
    english = {
        "namespaces": {"File": ["File", "Image"], "Category": ["Category"], "Template": []},
        "words": {"img_thumbnail": ["thumb"], "redirect": ["#REDIRECT"]},
    }
    told = {
        "general": {"wikiid": "idwiki", "lang": "id"},
        "namespaces": {
            "0": {"id": 0, "*": ""},
            "6": {"id": 6, "*": "Berkas", "canonical": "File"},
            "14": {"id": 14, "name": "Kategori", "canonical": "Category"},
        },
        "namespacealiases": [{"id": 6, "*": "Gambar"}, {"id": 4, "alias": "WP"}],
        "magicwords": [
            {"name": "img_thumbnail", "aliases": ["jmpl", "thumb"], "case-sensitive": ""},
            {"name": "redirect", "aliases": ["#ALIH", "#REDIRECT"]},
            {"name": "notoc", "aliases": ["__TANPADAFTARISI__"]},
        ],
    }
    name, wiki = wiki_of_siteinfo({"query": told})
    made = json.loads(words_table({"enwiki": english, name: wiki}))
    assert made["idwiki"] == {
        "File": ["Berkas", "Gambar"],
        "Category": ["Kategori"],
        "thumbnail": ["jmpl"],
        "redirect": ["#ALIH"],
    }


def test_a_changed_table_is_a_changed_input_of_parse():
    assert "parse/wiki_words.json" in provenance.closure("parse.dump:parse_source")
