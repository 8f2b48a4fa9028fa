"""Of words in several variants of a language one variant's are read, in dumps and in HTML."""

import json
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import snapshots, transclusion
from tests.snapshots import Page, Wiki

from isotope.core.errors import BadParams
from isotope.parse import dump
from isotope.parse.prepared import PreparedPage
from isotope.parse.site import Site
from isotope.parse.variants import Variant
from isotope.parse.wikitext import plain_text, split_page

CASE = "cases/input/06-variants-zh"
TABLES = ("sections", "links", "outline", "rejected", "infoboxes", "pictures")


def parsed(path: Path, variant: str | None = None) -> dict[str, pl.DataFrame]:
    out = {name: path.parent / f"{name}.parquet" for name in (*TABLES, "counts")}
    rest: dict[str, Any] = {name: out[name] for name in out if name != "sections"}
    dump.parse_dump([path], out=out["sections"], **rest, workers=1, variant=variant)
    return {name: pl.read_parquet(out[name]) for name in TABLES}


def in_wikitext(
    text: str, folder: Path, language: str = "zh", variant: str | None = None
) -> dict[str, pl.DataFrame]:
    page = Page(7, 0, "Lark", text)
    return parsed(snapshots.write_export([page], folder / "x.xml", Wiki(language)), variant)


def in_html(
    body: str, folder: Path, language: str = "zh", variant: str | None = None
) -> dict[str, pl.DataFrame]:
    (record,) = map(json.loads, snapshots.records([Page(7, 0, "Lark", "x")], Wiki(language)))
    record["article_body"]["html"] = f"<html><body>{body}</body></html>"
    (folder / "x.ndjson").write_text(json.dumps(record) + "\n")
    return parsed(folder / "x.ndjson", variant)


def span(said: dict[str, object], tag: str = "span") -> str:
    rules = escape(json.dumps(said, ensure_ascii=False))
    return f'<{tag} typeof="mw:LanguageVariant" data-mw-variant="{rules}"></{tag}>'


def two_way(**words: str) -> dict[str, object]:
    return {"twoway": [{"l": code.replace("_", "-"), "t": t} for code, t in words.items()]}


# Each with what MediaWiki shows: the structures are those of langParserTests.txt of Parsoid.
SHOWN = [
    ("zh", "zh-tw", "-{zh:lark;zh-tw:robin}-, not lark", "robin, not lark"),
    ("zh", "zh-tw", "-{zh:lark;zh-Hant-TW:robin}-", "robin"),
    ("zh", "zh-tw", "a-{zh;zh-hans;zh-hant|LARK, Robin}-b", "aLARK, Robinb"),
    ("zh", "zh-tw", "But -{A|zh:lark; zh-tw:robin}- is one", "But robin is one"),
    ("zh", "zh-tw", "(This-{-|zh:lark; zh-tw:robin}- goes)", "(This goes)"),
    ("zh", "zh-tw", "-{BIRD=>zh:lark;BIRD=>zh-tw:robin}-", "robin"),
    ("zh", "zh-tw", "(This-{H|zh:lark;zh-tw:robin}- goes)", "(This goes)"),
    ("zh", "zh-tw", "(This-{H|BIRD=>zh:lark;BIRD=>zh-tw:robin}- goes)", "(This goes)"),
    ("zh", "zh-tw", "gone-{T|zh:lark;zh-tw:robin}-!", "gone!"),
    ("zh", "zh-tw", "gone-{T;H|zh:lark; zh-tw:robin}-!", "gone!"),
    ("zh", "zh-tw", "gone-{T|lark is robin}-!", "gone!"),
    ("zh", "zh-tw", "test: -{ H  |all variants}-", "test: "),
    ("zh", "zh-tw", "-{R|zh:lark;zh-tw:robin}-", "zh:lark;zh-tw:robin"),
    ("zh", "zh-tw", "-{Words}- -{D|of}- -{D;R|birds}-", "Words of birds"),
    ("zh", "zh-tw", "raw: -{R|in -{zh:lark;zh-tw:robin}- out}-", "raw: in robin out"),
    ("zh", "zh-tw", "X-{ outer -{ inner }- outer }-X", "X outer  inner  outer X"),
    ("zh", "zh-tw", "-{R|in {{1x|hi}} out}-", "in {{1x|hi}} out"),
    ("zh", "zh-cn", "-{zh-cn:0;zh-sg:1;zh-tw:2;zh-hk:3}-", "0"),
    (
        "zh",
        "zh-hk",
        "-{zh-hans:Hi -{zh-cn:A;zh-sg:B;}-;zh-hant:Ho -{zh-tw:C;zh-hk:D-{ong}- E-{}-ong;}-;}-!",
        "Ho Dong Eong!",
    ),
    ("zh", "zh", "this bit is safe: }- -{zh-cn:x;zh-tw:y}- so is: }- all", None),
    ("sr", None, "Latin: -{Ne nuntium}-", "Latin: Ne nuntium"),
    ("sr", None, "-{T|hello", "-{T|hello"),
    ("sr", None, "-{[[Main Page]]}-", "[[Main Page]]"),
    ("sr", "sr-el", "-{sr-ec:Ц;sr-el:C}-", "C"),
    ("sr", "sr-Cyrl", "-{sr-ec:Ц;sr-el:C}-", "Ц"),
]


@pytest.mark.parametrize(("language", "code", "text", "shown"), SHOWN)
def test_what_mediawiki_shows_is_chosen(language, code, text, shown):
    variant = Variant.of_language(language, code)
    assert variant is not None
    if shown is None:
        shown = "this bit is safe: }- x so is: }- all"
    assert variant.chosen(text) == shown


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("zh", "-{zh-hans:软件;zh-hant:軟體}-", "软件"),
        ("zh", "-{zh-tw:軟體;zh-cn:软件}-", "软件"),
        ("zh", "-{zh-tw:軟體;zh-hk:軟件}-", "軟體"),
        ("kk", "-{kk-arab:ارنا;kk-cyrl:арна}-", "арна"),
        ("uz", "-{uz-cyrl:тил;uz-latn:til}-", "til"),
        ("tg", "-{tg:забон;tg-latn:zabon}-", "забон"),
        ("ku", "-{ku-arab:زمان;ku-latn:ziman}-", "ziman"),
        ("gan", "-{gan-hant:語;gan-hans:语}-", "语"),
        ("iu", "-{ike-latn:uqausiq;ike-cans:ᐅᖃᐅᓯᖅ}-", "ᐅᖃᐅᓯᖅ"),
        ("shi", "-{shi-tfng:ⵜⵓⵜⵍⴰⵢⵜ;shi-latn:tutlayt}-", "tutlayt"),
        ("crh", "-{crh-cyrl:тиль;crh-latn:til}-", "til"),
        ("sh", "-{sh-cyrl:језик;sh-latn:jezik}-", "jezik"),
        ("tg", "-{tg-latn:zabon}-", "zabon"),
    ],
)
def test_readers_who_chose_no_variant_see_the_first_that_there_is(language, text, words, tmp_path):
    found = in_wikitext(text, tmp_path, language)["sections"]
    assert found["context_section_description"].to_list() == [words]


@pytest.mark.parametrize("language", ["en", "de", "ja", "zh-yue", "zh-classical"])
def test_in_a_wiki_without_variants_the_marks_are_text(language, tmp_path):
    text = "a -{zh-hans:b;zh-hant:c}- d"
    found = in_wikitext(text, tmp_path, language)["sections"]
    assert found["context_section_description"].to_list() == [text]


WIKITEXT = """{{Infobox x|image=-{zh-hans:A.jpg;zh-hant:B.jpg}-|caption=-{zh-hans:甲;zh-hant:乙}-}}
-{zh-hans:计算机; zh-hant:電腦; }--{H|zh-hans:软;zh-hant:軟}-见[[-{zh-hans:C;zh-hant:D}-|-{丙}-]]。
<ref>x</ref>
[[File:E.jpg|thumb|alt=-{zh-hans:丁;zh-hant:戊}-|-{zh-hans:己;zh-hant:庚}-的照片]]
{| class="wikitable"
| <nowiki>-{zh-hans:n;zh-hant:o}-</nowiki>
|}
== -{zh-hans:历史;zh-hant:歷史}- ==
-{zh-hans:<gallery>
F.jpg|辛
</gallery>;zh-hant:<gallery>
G.jpg|-{壬}-
</gallery>}- x<ref>y</ref>
<gallery>
H.jpg|-{zh-hans:癸;zh-hant:寅}-
</gallery>
[[Category:-{zh-hans:I;zh-hant:J}-]]
"""


@pytest.mark.parametrize(
    ("variant", "pick"), [(None, 0), ("zh-hans", 0), ("zh-cn", 0), ("zh-hant", 1), ("zh-TW", 1)]
)
def test_every_part_of_a_page_is_read_in_its_variant(variant, pick, tmp_path):
    found = in_wikitext(WIKITEXT, tmp_path, "zh", variant)

    def one(*words: str) -> str:
        return words[pick]

    sections, pictures = found["sections"], found["pictures"]
    assert sections["context_section_description"].to_list() == [
        f"{one('计算机', '電腦')}见丙。\n-{{zh-hans:n;zh-hant:o}}-",
        "x",
    ]
    assert sections["section_title"][1] == one("历史", "歷史")
    assert sections["category"].to_list() == [[one("I", "J")]] * 2
    assert pictures.select("file", "caption", "alt").rows() == [
        (one("A.jpg", "B.jpg"), one("甲", "乙"), ""),
        ("E.jpg", one("己的照片", "庚的照片"), one("丁", "戊")),
        (one("F.jpg", "G.jpg"), one("辛", "壬"), ""),
        ("H.jpg", one("癸", "寅"), ""),
    ]
    assert found["infoboxes"]["file"].to_list() == [one("A.jpg", "B.jpg")]
    assert found["links"]["target"].to_list() == [one("C", "D")]
    assert found["outline"]["references"].to_list() == [1, 1]


BODY = (
    "<section><p>"
    + span(two_way(zh_hans="计算机", zh_hant="<b>電</b>腦"))
    + "见<a rel='mw:WikiLink' href='./C'>"
    + span({"disabled": {"t": "丙"}})
    + "</a>"
    + span({**two_way(zh_hans="软件", zh_hant="軟體"), "add": True}, "meta")
    + span({"filter": {"l": ["zh-hans", "zh-hant"], "t": "。"}})
    + "</p><figure typeof='mw:File/Thumb mw:ExpandedAttrs' data-mw='"
    + escape(
        json.dumps(
            {"attribs": [["alt", {"html": "alt=" + span(two_way(zh_hans="丁", zh_hant="戊"))}]]}
        )
    )
    + "'><a><img resource='./File:E.jpg' alt='' /></a><figcaption>"
    + span(two_way(zh_hans="己", zh_hant="庚"))
    + "的照片</figcaption></figure></section><section><h2>"
    + span(two_way(zh_hans="历史", zh_hant="歷史"))
    + "</h2><p>"
    + span({"twoway": [{"l": "zh-hans", "t": "x" + span(two_way(zh_cn="y", zh_tw="z"))}]})
    + span({"oneway": [{"f": "v", "l": "zh-hant", "t": "w"}, {"f": "v", "l": "zh", "t": "u"}]})
    + "</p></section>"
)


@pytest.mark.parametrize(("variant", "pick"), [(None, 0), ("zh-hant", 1)])
def test_a_rendered_page_is_read_in_its_variant_too(variant, pick, tmp_path):
    found = in_html(BODY, tmp_path, "zh", variant)
    sections, pictures = found["sections"], found["pictures"]
    texts = [("计算机见丙。", "xyu"), ("電腦见丙。", "xzw")][pick]
    assert sections["context_section_description"].to_list() == list(texts)
    assert sections["section_title"][1] == ("历史", "歷史")[pick]
    words = [("己的照片", "丁"), ("庚的照片", "戊")][pick]
    assert pictures.select("file", "caption", "alt").rows() == [("E.jpg", *words)]
    assert found["links"]["target"].to_list() == ["C"]


def test_a_zim_file_is_read_in_its_variant_too(tmp_path, monkeypatch):
    words = span(two_way(zh_hans="计算机", zh_hant="電腦"))
    page = f"<html><body><h1>Lark</h1><p>{words}</p></body></html>"
    monkeypatch.setattr(snapshots, "kiwix", lambda *_, **__: page)
    path = snapshots.write_zim([Page(7, 0, "Lark", "x")], tmp_path / "x.zim", Wiki("zh"))
    found = parsed(path, "zh-hk")["sections"]
    assert "電腦" in found["context_section_description"].to_list()
    with pytest.raises(BadParams, match="no variant"):
        parsed(path, "sr-el")


@pytest.mark.parametrize("said", ["{", "[]", '{"twoway": 1}', '{"twoway": [1, {"l": 2}]}', "\\0"])
def test_a_rule_that_says_nothing_keeps_what_stands_there(said, tmp_path):
    body = f'<p>a<span typeof="mw:LanguageVariant" data-mw-variant="{escape(said)}">b</span>c</p>'
    found = in_html(body, tmp_path)["sections"]
    assert found["context_section_description"].to_list() == ["abc"]


def test_the_case_of_the_audit_is_read_on_both_roads(shared, tmp_path):
    text = (shared / CASE / "page.wikitext").read_text("utf-8")
    body = (shared / CASE / "page.html").read_text("utf-8")
    found = in_wikitext(text, tmp_path)
    written = found["sections"]["context_section_description"].to_list()
    rendered = in_html(body, tmp_path)["sections"]["context_section_description"].to_list()
    assert written == ["布萊恩是计算机科學家。生於台灣。"]
    assert found["pictures"]["caption"].to_list() == ["软件的照片"]
    assert rendered == ["他是计算机科學家，生於台灣。"]  # noqa: RUF001


@pytest.mark.parametrize(
    ("language", "code"), [("zh", "zh-xx"), ("sr", "zh-hans"), ("en", "en-us")]
)
@pytest.mark.parametrize("read", [in_wikitext, in_html])
def test_a_variant_that_the_wiki_lacks_is_refused_by_name(read, language, code, tmp_path):
    with pytest.raises(BadParams, match=f"'{code}', which is no variant .* '{language}'"):
        read("<p>x</p>", tmp_path, language, code)
    assert not (tmp_path / "sections.parquet").exists()


PIECES = [
    "-{",
    "}-",
    "{{",
    "}}",
    "|",
    ";",
    "zh-hans:",
    "zh-tw:",
    "=>",
    "H",
    "A",
    "R",
    "-",
    "[[",
    "x",
]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_read_and_what_has_no_closed_rule_stays(text):
    variant = Variant.of_language("zh")
    assert variant is not None
    chosen = variant.chosen(text)
    assert len(chosen) <= len(text)
    if "}-" not in text or "-{" not in text.rpartition("}-")[0]:
        assert chosen == text


@pytest.mark.parametrize(
    "text",
    [
        "-{" * 100_000,
        "-{" * 100_000 + "}-" * 100_000,
        "-{x" + "{{" * 100_000,
        "-{" + "}}" * 100_000,
        "-{zh-hans:" + "a;" * 100_000 + "}-",
        "-{" + "x=>" * 50_000 + "zh:y}-",
    ],
    ids=["open", "nested", "templates", "ends", "semicolons", "arrows"],
)
def test_no_text_takes_longer_than_its_length(text):
    """Read anew for each mark, these took hours; they end at once."""
    variant = Variant.of_language("zh")
    assert variant is not None
    assert len(variant.chosen(text)) <= len(text)


def test_words_that_a_template_leaves_are_chosen_too(tmp_path):
    names = {6: "File", 10: "Template", 14: "Category", 828: "Module"}
    chinese = Site.from_siteinfo("https://zh.wikipedia.org/wiki/", "zh", names, "zhwiki")
    bodies = {"软": "-{zh-hans:软件;zh-hant:軟體}-"}
    site = transclusion.site_of(bodies, tmp_path, chinese).in_variant("zh-hant")
    page = PreparedPage.from_wikitext("一{{软}}二", site.namespaces, "Lark", site.variant)
    ((_, _, body),) = split_page(page, site.namespaces).sections
    assert plain_text(body, site.namespaces) == "一軟體二"
