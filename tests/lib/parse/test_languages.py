"""Editions in any language: names of the lead and of namespaces, marks, words for BM25."""

from dataclasses import dataclass
from urllib.parse import quote

import polars as pl
import pytest
from mwparserfromhtml.parse.const import NAMESPACES
from tests import snapshots
from tests.lib.parse.test_snapshots import parse, read
from tests.snapshots import Page, Wiki

from isotope.core import lucene, store
from isotope.core.languages import lead_title
from isotope.project import match
from isotope.schemas.parse import ASSOCIATIONS
from isotope.schemas.project import MEMBERS


@dataclass(frozen=True)
class Edition:
    """A language edition's own words, as its wiki uses them."""

    language: str
    lead: str
    redirect: str
    mark: str
    thumb: str
    title: str
    heading: str
    text: str
    asked: str

    @property
    def wiki(self) -> Wiki:
        """The wiki with its own names of namespaces."""
        own = {number: name for name, number in NAMESPACES[self.language].items()}
        return Wiki(self.language, {n: own[n] for n in (1, 6, 10, 14)})

    def pages(self) -> list[Page]:
        """An article, a redirect, a disambiguation page, and pages of other namespaces."""
        file, kind = self.wiki.names[6], self.wiki.names[14]
        text = (
            f"{self.text} [[{self.heading}|{self.title}]]\n\n== {self.heading} ==\n"
            f"[[{file}:A b.jpg|{self.thumb}|alt=B|'''{self.title}''']]\n{self.text}\n\n"
            f"[[{kind}:{self.heading}]]"
        )
        return [
            Page(1, 0, self.title, text),
            Page(2, 0, f"{self.title} 2", f"#{self.redirect} [[{self.title}]]", self.title),
            Page(3, 0, f"{self.title} 3", f"{self.title}\n\n{{{{{self.mark}}}}}"),
            Page(4, 1, f"{self.wiki.names[1]}:{self.title}", "x"),
            Page(5, 14, f"{kind}:{self.title}", "x"),
        ]


EDITIONS = [
    Edition(
        *("ar", "مقدمة", "تحويل", "توضيح", "تصغير", "القاهرة", "التاريخ"),
        *("القاهرة عاصمة مصر وفيها مدارس كثيرة.", "المدارس"),
    ),
    Edition(
        *("zh", "序言", "重定向", "消歧义", "缩略图", "北京", "历史"),
        *("北京是中国的首都。有很多学校。", "学校"),
    ),
    Edition(
        *("ja", "導入部", "転送", "曖昧さ回避", "サムネイル", "京都", "歴史"),
        *("京都には古い寺院がたくさんある。", "寺院"),
    ),
    Edition(
        *("hi", "परिचय", "पुनर्प्रेषित", "बहुविकल्पी शब्द", "अंगूठाकार", "दिल्ली", "इतिहास"),
        *("दिल्ली भारत की राजधानी है और यहाँ कई किताबें छपती हैं।", "किताब"),
    ),
    Edition(
        *("ru", "Введение", "ПЕРЕНАПРАВЛЕНИЕ", "Неоднозначность", "мини", "Москва", "История"),
        *("Здесь построили высокие дома.", "дом"),
    ),
    Edition(
        *("sw", "Utangulizi", "REDIRECT", "maana", "thumb", "Nairobi", "Historia"),
        *("Nairobi ni mji mkuu wa Kenya na ina shule nyingi.", "shule"),
    ),
]
FORMATS = [
    ("x.xml", snapshots.write_export),
    ("x.tar.gz", snapshots.write_enterprise),
    ("x.zim", snapshots.write_zim),
]
each_edition = pytest.mark.parametrize("edition", EDITIONS, ids=lambda e: e.language)


@each_edition
@pytest.mark.parametrize(("name", "write"), FORMATS, ids=[name for name, _ in FORMATS])
def test_an_edition_is_read_by_its_own_names(edition, name, write, tmp_path):
    tables_of = read(parse([write(edition.pages(), tmp_path / name, edition.wiki)], tmp_path))
    sections, pictures = tables_of["sections"], tables_of["pictures"]
    assert sections["section_title"].to_list() == [edition.lead, edition.heading]
    assert sections["hierarchy"].to_list() == [edition.lead, edition.heading]
    assert sections["context_section_description"].to_list() == [
        f"{edition.text} {edition.title}",
        edition.text,
    ]
    assert set(sections["language"]) == {edition.language}
    assert set(sections["page_url"]) == {f"{edition.wiki.url}/wiki/{quote(edition.title)}"}
    assert sections["category"].to_list() == [[edition.heading]] * 2
    shown = pictures.select("file", "caption", "alt", "is_framed").rows()
    assert shown == [("A b.jpg", edition.title, "B", True)]
    assert tables_of["links"]["target"].to_list() == [edition.heading]
    left_out = tables_of["rejected"].select("reason", "detail", "raw").rows()
    assert set(left_out) == {
        ("redirect", f"{edition.title} 2", edition.title),
        ("disambiguation", f"{edition.title} 3", ""),
        *(("other_namespace", page.title, "") for page in edition.pages()[3:]),
    }
    assert len(left_out) == len(edition.pages()) - 1


@each_edition
def test_bm25_reads_an_edition_with_its_own_analyzer(edition, tmp_path):
    """What is asked is another form of a word of the text, or one that no space sets apart."""
    other = next(e for e in EDITIONS if e is not edition)
    documents = [("own", edition.text), ("other", other.text)]
    lucene.build_index(
        documents, tmp_path / "i", threads=1, memory_mb=256, language=edition.language
    )
    model = lucene.Bm25Parameters(0.9, 0.4, memory_mb=256, language=edition.language)
    asked = [("q", edition.asked)]
    found = lucene.search(tmp_path / "i", asked, model, hits=2, threads=1)
    assert found["doc_id"].to_list() == ["own"]


@pytest.mark.parametrize(
    ("language", "flags"),
    [
        ("ja", ["-language", "ja"]),
        ("zh-yue", ["-language", "zh"]),
        ("en", []),
        ("sw", []),
        ("", []),
    ],
)
def test_a_language_without_an_analyzer_gets_anserinis_default(language, flags):
    assert lucene.analysis(language) == flags
    assert lucene.analysis(language, pretokenized=True) == ["-pretokenized"]


@each_edition
def test_the_lead_finds_its_section_by_its_name_in_that_language(edition, tmp_path):
    row = dict.fromkeys(ASSOCIATIONS.names) | {
        "language": edition.language,
        "page_title": edition.title,
        "section_title": "",
        "split": "test",
        "file": "wit",
        "row": 1,
    }
    store.write_rows([row], tmp_path / "associations", ASSOCIATIONS)
    member = {"source_text_id": "t", "file": "wit", "row": 1}
    store.write_rows([member], tmp_path / "members", MEMBERS)
    associations, members, queries = (
        tmp_path / name for name in ("associations", "members", "queries")
    )
    match.write_queries(associations, members, queries, edition.language)
    assert pl.read_parquet(tmp_path / "queries")["section_title"].to_list() == [edition.lead]


def test_a_language_that_no_list_has_calls_its_lead_as_atomics_published_texts_do():
    assert lead_title("en") == lead_title("tlh") == "Introduction"
    assert lead_title("zh-yue") == lead_title("zh")
