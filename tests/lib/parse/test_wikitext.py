"""Wikitext to plain text: what a reader sees stays, what only the wiki needs goes."""

import re
from pathlib import Path

import mwparserfromhell
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import seconds
from tests.wikicode import anchors_of, letters

from isotope.parse import wikitext as module
from isotope.parse.site import Namespaces
from isotope.parse.wikitext import categories, plain_text, reduce, split_sections

GERMAN = Namespaces.from_names({6: "Datei", 14: "Kategorie"}, "dewiki")


class TestLinkedWordsAreNeverLost:
    """AToMiC texts v0.2 lost the words of links: Fig. 6 has "a depiction of with a mustache"."""

    @pytest.mark.parametrize(
        ("wikitext", "text"),
        [
            ("written by [[Ray Charles]] and", "written by Ray Charles and"),
            ("[[Ray Charles|Charles]]'s [[piano]]s", "Charles's pianos"),
            ("* \"[[What'd I Say (song)|What'd I Say]]\" [Live]", '"What\'d I Say" [Live]'),
            ("''[[Georgia on My Mind]]'' and '''[[soul music|soul]]'''", None),
            ("see [[Ray Charles#Legacy|his legacy]], [[#Awards|awards]]", None),
            ("a [[Genius (disambiguation)|]] and [[:Category:Songs]]", None),
            ("[[wikt:soul|soul]] [[Star Trek: Voyager]] [[User talk:X|x]]", None),
            ("[[File:A.jpg|thumb|a [[lost]] caption]]kept [[word]]", "kept word"),
            ("{|\n| [[Atlantic]] || [[ABC|ABC Records]]\n|-\n! [[Tangerine]]\n|}", None),
            ('| style="x" | [[a|b]] text', "b text"),
            ("{| class=wikitable\n|+ [[Hits]]\n| rowspan=2 | [[Busted (song)|Busted]]\n|}", None),
            ("[[unclosed and [[Ray Charles|Ray]] goes on", "unclosed and Ray goes on"),
            ("<div>[[a]]<br/>[[b]]</div> <small>[[c]]</small>", "a\nb\nc"),
            ("[http://x.org The [[site]] of] [[Ray]]", "The site of Ray"),
            ("{{nowrap|by [[Ray Charles|Ray]] (1959)}} {{lang|fr|[[mot]]}}", "by Ray (1959) mot"),
            ("x<ref>[[Gone]]</ref> [[stays]]<ref name=a/> [[too]]", "x stays too"),
        ],
    )
    def test_in_passages_of_every_kind(self, wikitext, text):
        plain = plain_text(wikitext)
        if text is not None:
            assert plain == text
        for anchor in anchors_of(mwparserfromhell.parse(wikitext, skip_style_tags=True)):
            assert letters(anchor) in letters(plain)


class TestMarkup:
    @pytest.mark.parametrize(
        ("wikitext", "text"),
        [
            ("'''''a''' b'' '''c'''", "a b c"),
            ("l'''amour'' toujours", "l'amour toujours"),
            ("''''quoted''''", "'quoted'"),
            ("dell''''arte'''", "dell'arte"),
            ("rock 'n' roll, 1960's", "rock 'n' roll, 1960's"),
            ("a<!-- [[b]] {{c -->d", "ad"),
            ("a{{b|c={{d|[[e]]}}|{{f}}}}g", "ag"),
            ("a {{convert|5|to|10|km|mi}} b", "a 5 to 10 kilometres (3.1 to 6.2 mi) b"),
            ("in {{circa|1900}}, {{As of|2010|5|lc=y}}", "in c. 1900, as of May 2010"),
            ("{{lang-fr|mot}} {{abbr|BBC|x}}{{'s}} {{frac|1|2}}", "mot BBC's 1/2"),
            ("{{#if:x|y|z}}{{PAGENAME}}__NOTOC__ __init__", "y __init__"),
            ("[[de:Haus]][[zh-min-nan:Chhù]][[Category:A|b]]x", "x"),
            ("[http://a.org b c] [http://a.org] [//a.org d]", "b c d"),
            ("see http://a.org/b.", "see http://a.org/b."),
            ("a &amp; b&nbsp;c &lt;ref&gt; AT&T &notit;", "a & b c <ref> AT&T &notit;"),
            ("<nowiki>[[a]] ''b'' {{c}} &amp;</nowiki>", "[[a]] ''b'' {{c}} &"),
            ("x < y and z > w <b>v</b> <unknown>", "x < y and z > w v <unknown>"),
            ("H<sub>2</sub>O <math>x^2</math>e", "H2O e"),
            ("* a\n** b\n# c\n; d : e\n: f\n----\ng", "a\nb\nc\nd : e\nf\ng"),
            ("a\n\n\n  b   c\n", "a\nb c"),
            # As `Parser::handleTables`: what stands before a cell's first pipe are attributes.
            (
                '{|\n| class="b" colspan=2 | c || rowspan="2"|\n| d e | f || [[g|h]] | i\n|}',
                "c f h | i",
            ),
            # As `Sanitizer::validateCodepoint`.
            (
                "&#x0000063;&#00000112; &#128; &#xD83D; &#x1F4A9; a&רלמ;b",
                "cp &#128; &#xD83D; 💩 a\u200fb",
            ),
            # As `Parser::handleInternalLinks`.
            ("[[7%25 Solution]] [[A%5Bb]] [[L''e]] [[A%C3%A4]]s", "7% Solution A%5Bb L''e Aäs"),
            ("[[http://a.org]] [[http://a.org b c]] [[//a.org]] x", "b c x"),
            ("a [[Main Page| ]] b", "a b"),
            (
                "<gallery>\nFile:A.jpg|x\n</gallery>\n<syntaxhighlight>a[[b]]</syntaxhighlight>c",
                "c",
            ),
            ("[[File:A.jpg|thumb|x {{y}} [[z|[[w]]]] [http://a b]]]c", "c"),
            ("{{{1|default}}} {{{2}}}x", "default x"),
            ("{|\n! a !! b\n|-\n| style='x' | c || d\n* e\n|}\nf", "a b\nc d e\nf"),
            ("{|\n|\n{|\n| inner\n|}\n| outer\n|}", "inner\nouter"),
            ("<references><ref name=a>b</ref></references>c", "c"),
        ],
    )
    def test_becomes_what_a_reader_sees(self, wikitext, text):
        assert plain_text(wikitext) == text

    def test_names_of_namespaces_follow_the_wiki(self):
        wikitext = "[[Datei:A.jpg|mini|B]][[Kategorie:C]][[Bild:D.png]][[File:E.svg]]f"
        assert plain_text(wikitext, GERMAN) == "f"
        assert plain_text("[[Fichier:A]] b", Namespaces.from_names({6: "Berkas"}, "idwiki")) == "b"

    def test_categories_come_in_page_order_once_each_without_sort_keys(self):
        wikitext = (
            "[[Category:B c|x]] [[:Category:No]] [[category:A_d]] [[Category:B c]] [[Kategorie:E]]"
        )
        assert categories(wikitext, GERMAN) == ["B c", "A d", "E"]

    @given(text=st.text(alphabet="<>nowik/[]{}|'=*#:;!-&amp; \nref", max_size=60))
    def test_reducing_twice_changes_nothing_that_a_reader_sees(self, text):
        assert plain_text(reduce(text)) == plain_text(text)


class TestSections:
    def test_a_page_is_cut_at_headings_of_every_level(self):
        page = "lead\n== A ==\na\n===B=== \nb\n= C =\n====== D ======\nd\n== E == not\n==F\n"
        assert split_sections(page) == [
            (0, "", "lead\n"),
            (2, "A", "\na\n"),
            (3, "B", "\nb\n"),
            (1, "C", "\n"),
            (6, "D", "\nd\n== E == not\n==F\n"),
        ]

    @pytest.mark.parametrize(
        "hidden",
        [
            "<!--\n== H ==\n-->",
            "<nowiki>\n== H ==\n</nowiki>",
            "<ref>\n== H ==\n</ref>",
            "{{quote|\n== H ==\n}}",
            "<pre>\n== H ==\n</pre>",
            "{{a|{{b}}\n== H ==\n}}",
        ],
    )
    def test_a_heading_inside_something_else_does_not_cut(self, hidden):
        titles = [title for _, title, _ in split_sections(f"lead {hidden}\n== Real ==\nx")]
        assert titles == ["", "Real"]

    @pytest.mark.parametrize(
        ("line", "level", "title"),
        [
            ("== [[a|''B'']]<ref>c</ref> {{anchor|d}}==<!-- e -->", 2, "B"),
            ("=== Tom &amp; Jerry ==", 2, "= Tom & Jerry"),
            ("=====", 2, "="),
            ("== a = b ==  ", 2, "a = b"),
        ],
    )
    def test_titles_are_plain_text(self, line, level, title):
        assert split_sections(f"\n{line}\n")[1][:2] == (level, title)

    def test_an_empty_page_is_one_empty_lead(self):
        assert split_sections("") == [(0, "", "")]


TOKENS = [
    "{{",
    "}}",
    "{{{",
    "}}}",
    "[[",
    "]]",
    "[",
    "]",
    "{|",
    "|}",
    "|-",
    "|+",
    "|",
    "||",
    "!",
    "!!",
    "=",
    "==",
    "===",
    "'",
    "''",
    "'''",
    "<ref>",
    "<ref/>",
    "</ref>",
    "<!--",
    "-->",
    "<nowiki>",
    "</nowiki>",
    "<math>",
    "</math>",
    "<br>",
    "<div",
    "</div>",
    "http://a",
    "*",
    "#",
    ":",
    ";",
    "&",
    "&amp;",
    "&#0;",
    "&#xD800;",
    "File:",
    "Category:",
    "lang",
    "lang|",
    "convert|",
    "__X__",
    "~~~~",
    "\\",
    "\x00",
    "é",
    "漢",
    "word",
]
soup = st.lists(st.sampled_from([*TOKENS, "\n", " "]), max_size=60).map("".join)
OPENERS = [
    "{{",
    "[[",
    "{|\n",
    "<ref>",
    "<!--",
    "<nowiki>",
    "<math>",
    "[http://a ",
    "{{{",
    "''",
    "|",
]


class TestBrokenMarkup:
    @settings(deadline=None)
    @given(text=soup)
    def test_no_soup_of_markup_hides_the_paragraph_behind_it(self, text):
        sections = split_sections(text + "\n\nThe end of it.\n\n== Heading ==\nLast words.")
        plain = [plain_text(body) for _, _, body in sections]
        assert "The end of it." in "\n".join(plain)
        assert sections[-1][1] == "Heading"
        assert plain[-1] == "Last words."

    @given(parts=st.lists(st.sampled_from(OPENERS), max_size=20))
    def test_what_is_opened_and_never_closed_takes_no_word_with_it(self, parts):
        text = "".join(f"{part} word{i} " for i, part in enumerate(parts))
        assert re.findall(r"word\d+", plain_text(text)) == [f"word{i}" for i in range(len(parts))]

    @pytest.mark.parametrize(
        "unit",
        [
            *("{{", "[[", "{|\n", "<ref>", "<!--", "<nowiki>", "{{a|", "[[a|", "[[File:a|", "{"),
            *("[http://a ", "[http://a [x] ", "{{small|", "|", "'", "''a", "'''''", "<ref name=a "),
            *(
                "=",
                "= ",
                "== \n",
                "{{}",
                "}}",
                "]]",
                "[[a]",
                "&",
                "&#1",
                "<",
                "<div ",
                "__",
                "{{{|",
            ),
            *("\n|", "||", "!!", "{|\n|", "|}\n", "<ref", "{{lang|", "[", "{{{{", "-->", "* ", " "),
            *("<math>", "</ref>", "{{a{", "[[a[", "[//a", "{{small||||", "(", "\n=", "a=", "__A"),
        ],
    )
    def test_time_grows_with_length_and_not_faster(self, unit):
        small, large = (self.seconds(unit * (n // len(unit))) for n in (10_000, 80_000))
        assert large < 30 * small + 0.05

    @pytest.mark.parametrize(("opening", "closing"), [("{{", "}}"), ("[[", "]]"), ("{{a|", "}}")])
    def test_deep_nesting_costs_no_more_than_the_passes_allowed(self, opening, closing):
        small, large = (self.seconds(opening * n + closing * n) for n in (2_000, 16_000))
        assert large < 30 * small + 0.05

    @staticmethod
    def seconds(text: str) -> float:
        return seconds(lambda: [plain_text(body) for _, _, body in split_sections(text)])


def test_no_pattern_has_a_possessive_group():
    """Before Python 3.11.5 these miss matches (python/cpython issue 106052); Debian has 3.11.2."""
    library = Path(module.__file__).parents[1]
    found = {
        p.name for p in library.rglob("*.py") if re.search(r"\)[*+?}]\+", p.read_text("utf-8"))
    }
    assert found == set()
