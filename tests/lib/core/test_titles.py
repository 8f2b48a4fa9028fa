"""Every spelling of a title is one title, the one that MediaWiki gives its page."""

import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.core.titles import (
    CATEGORIES,
    FILES,
    Capitals,
    decoded,
    file_name,
    is_title,
    with_capital,
)

ENGLISH = Capitals("en")
# Of MediaWiki's MediaWikiTitleCodecTest.php (provideParseTitle, provideMakeTitleValueSafe) what has
# no namespace before it; its titles have underscores.
MEDIAWIKI = [
    ("  : Hansi_Maier _ ", "Hansi Maier"),
    (":Quux", "Quux"),
    ("a b c", "A b c"),
    (" a  b  c ", "A b c"),
    (" _ Foo __ Bar_ _", "Foo Bar"),
    ("Sandbox", "Sandbox"),
    ('A "B"', 'A "B"'),
    ("A 'B'", "A 'B'"),
    (".com", ".com"),
    ("~", "~"),
    ('"', '"'),
    ("'", "'"),
    ("Foo/.../Sandbox", "Foo/.../Sandbox"),
    ("Sandbox/...", "Sandbox/..."),
    ("A~~", "A~~"),
    ("x" * 252, "X" + "x" * 251),
    ("A" * 255, "A" * 255),
    ("&quot;n&#x303;&#34;", '"ñ"'),
    ("X#n&#x303;", "X"),
    ("X#", "X"),
    ("X##", "X"),
    ("X#z#z", "X"),
    ("X#z%z", "X"),
    ("X#z&z", "X"),
    (" Test # Frag_ment ", "Test"),
    ("Talkk:Test", "Talkk:Test"),
    ("\u200eT\u200fe\u202as\u202bt\u202c\u202d\u202e", "Test"),
    (
        "Test _\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
        "\u2028\u2029\u202f\u205f\u3000test",
        "Test test",
    ),
    ("alice", "Alice"),
    ("århus", "Århus"),
    ("ვიკიპედია", "ვიკიპედია"),
]
# The same file's provideParseTitle_invalid.
NO_TITLES = [
    *("::", "::xx", "::##", " :: x", "::1", "", ":", "__  __", "  __  "),
    *("A [ B", "A ] B", "A { B", "A } B", "A < B", "A > B", "A | B"),
    *(".", "..", "./Sandbox", "../Sandbox", "Foo/./Sandbox", "Foo/../Sandbox", "Sandbox/."),
    *("Sandbox/..", "A ~~~ Name", "A ~~~~ Signature", "A ~~~~~ Timestamp", "x" * 256),
    *("Apollo\ufffdSoyuz", "Test\x07this"),
    # A link is decoded once (Parser::handleInternalLinks2), and what is left is no title.
    *("A%2520B", "A%2523B", "A &amp;eacute; B"),
]
# UcfirstOverrides.php of Wikimedia's configuration: letters that stay as they are, and letters
# whose capital is not the one of Unicode's title case.
KEPT = (
    "ßŉǄǅǇǈǊǋǰǱǲ\u0345ΐΰև"
    "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿ"
    "ẖẗẘẙẚὐὒὔὖᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾲᾴᾶᾷᾼῂῄῆῇῌῒΐῖῗῢΰῤῦῧῲῴῶῷῼ"
    "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻⅼⅽⅾⅿⓐⓑⓒⓓⓔⓕⓖⓗⓘⓙⓚⓛⓜⓝⓞⓟⓠⓡⓢⓣⓤⓥⓦⓧⓨⓩꞹﬀﬁﬂﬃﬄﬅﬆﬓﬔﬕﬖﬗ"
    + "".join(map(chr, range(0x16E60, 0x16E80)))
)
RAISED = dict(
    zip(
        "ǆǉǌǳᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ",
        "ǄǇǊǱᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ",
        strict=True,
    )
)


@pytest.mark.parametrize(("written", "title"), MEDIAWIKI)
def test_titles_are_those_of_mediawikis_own_tests(written, title):
    assert ENGLISH.target(written) == title


@pytest.mark.parametrize("written", NO_TITLES)
def test_what_mediawiki_refuses_is_no_title(written):
    assert ENGLISH.target(written) == ""


def test_the_first_letter_is_wikimedias():
    assert {c: with_capital(c) for c in KEPT} == {c: c for c in KEPT}
    assert {c: with_capital(c) for c in RAISED} == RAISED
    assert with_capital("éà") == "Éà"


# LanguageTr, LanguageAz and LanguageKaa of MediaWiki.
@pytest.mark.parametrize(
    ("language", "of_i", "of_dotless"), [("tr", "İ", "I"), ("az", "İ", "I"), ("en", "I", "I")]
)
def test_languages_with_two_letters_i_have_two_capitals(language, of_i, of_dotless):
    assert Capitals(language).target("istanbul.jpg") == f"{of_i}stanbul.jpg"
    assert file_name("\u0131rmak.jpg", language) == f"{of_dotless}rmak.jpg"


def test_a_wiki_may_keep_first_letters_in_some_namespaces():
    wiktionary = Capitals("en", frozenset((0, CATEGORIES)))
    assert wiktionary.target("free_lunch") == "free lunch"
    assert wiktionary.title("english lemmas", CATEGORIES) == "english lemmas"
    assert wiktionary.title("a.jpg", FILES) == "A.jpg"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("100% wool.jpg", "100% wool.jpg"),
        ("100%25 wool.jpg", "100% wool.jpg"),
        ("50%zz.jpg", "50%zz.jpg"),
        ("Caf%E9.jpg", "Caf%E9.jpg"),
        ("R&B.jpg", "R&B.jpg"),
        ("A&copy.jpg", "A&copy.jpg"),
        ("A&nosuch;b.jpg", "A&nosuch;b.jpg"),
        ("Rook &amp; Sons.png#top", "Rook & Sons.png"),
        ("A&#39;s.jpg", "A's.jpg"),
    ],
)
def test_only_what_is_an_escape_is_decoded(written, name):
    assert file_name(decoded(written)) == name


LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="#<>[]{}|%&_:~/.\ufffd")
TITLES = st.text(LETTERS, max_size=40).map(ENGLISH.target).filter(bool)
SPELLINGS = [
    lambda title: title.replace(" ", "_"),
    lambda title: f"  :{title.replace(' ', ' __ ')}_",
    lambda title: f"\u200e{title}\u200f",
    lambda title: title.replace(" ", "\u00a0\u3000"),
    lambda title: title.replace(" ", "&nbsp;"),
    lambda title: "".join(f"&#{ord(char)};" for char in title),
    lambda title: "".join(f"&#x{ord(char):x};" for char in title),
    quote,
    lambda title: f"{title}#{title}",
    lambda title: unicodedata.normalize("NFD", title),
]


@given(st.text(), st.sampled_from(["", "tr", "ka"]))
def test_a_title_has_one_form(text, language):
    capitals = Capitals(language)
    title = capitals.target(text)
    assert title == capitals.title(title)
    assert not title or is_title(title)
    assert file_name(file_name(text, language), language) == file_name(text, language)


@given(TITLES, st.sampled_from(SPELLINGS))
def test_all_spellings_are_one_title(title, spelling):
    assert ENGLISH.target(spelling(title)) == title
