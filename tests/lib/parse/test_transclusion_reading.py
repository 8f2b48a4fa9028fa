"""What templates print is read from their bodies, without the arguments of any call."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import seconds
from tests.transclusion import ENGLISH, pages, rows, shown, site_of

from isotope.parse.site import Site
from isotope.parse.transclusion.reading import LONGEST_SHOWN, read_templates

FRENCH = Site.from_siteinfo(
    "https://fr.wikipedia.org/wiki/", "fr", {6: "Fichier", 10: "Modèle"}, "frwiki"
)
GERMAN = Site.from_siteinfo(
    "https://de.wikipedia.org/wiki/", "de", {6: "Datei", 10: "Vorlage"}, "dewiki"
)


def read(body, call, folder, site=ENGLISH, **others):
    return shown(site_of({"T": body, **others}, folder, site), call)


@pytest.mark.parametrize(
    ("body", "call", "words"),
    [
        ("{{{1}}} of {{{name}}}", "{{T|Duke|name= York }}", "Duke of York"),
        ("{{{1|one}}}, {{{2|}}}, {{{a|{{{b|c}}}}}}", "{{T||two|b=B}}", ", two, B"),
        ("{{{x}}}", "{{T}}", "{{{x}}}"),
        ("{{{1}}}", "{{T|a|1=b}}", "b"),
        ("{{{1}}}", "{{T|1=a|b}}", "b"),
        ("<{{{1}}}>", "{{T| a }}", "< a >"),
        ("{{{text}}}", "{{T|text=[[A|b=c]]}}", "b=c"),
        ("{{{1}}}", "{{T|a{{!}}b{{=}}c}}", "a|b=c"),
        ("{{PAGENAME}} {{{1}}}", "{{T|{{PAGENAME}}}}", "Lark Lark"),
        ("a<noinclude>b</noinclude><!-- c --><ref>d</ref>", "{{T}}", "a"),
        ("[[Category:{{{1}}}]][[{{{1}}}]]", "{{T|Lark}}", "Lark"),
        ("* {{{1}}}\n* {{{2}}}", "List:{{T|a|b}}", "List:\na\nb"),
    ],
)
def test_parameters_stand_for_arguments_as_in_mediawiki(body, call, words, tmp_path):
    assert read(body, call, tmp_path) == words


@pytest.mark.parametrize(
    ("body", "call", "words"),
    [
        ("{{#if:{{{1|}}}|yes {{{1}}}|no}}", "{{T|a}} {{T}} {{T| }}", "yes a no no"),
        ("{{#if:{{{1}}}|given}}", "{{T}}", "given"),
        ("{{#ifeq:{{{1}}}|1.0|one|other}}", "{{T|1}} {{T|2}}", "one other"),
        ("{{#switch:{{{1}}}|a|b=first|c=second|#default=none}}", "{{T|b}} {{T|c}} {{T|d}}",
         "first second none"),
        ("{{#switch:{{{1}}}|a=first|last}}", "{{T|a}} {{T|x}}", "first last"),
        ("{{#switch:{{{1}}}|#default=none|a=first}}", "{{T|a}} {{T|x}}", "first none"),
        ("{{#ifexist:{{{1}}}|[[{{{1}}}|x]]|{{{1}}}}}", "{{T|Lark}}", "x"),
        ("{{#ifexpr:{{{1}}}>3 and 1|big|small}}", "{{T|4}} {{T|2}}", "big small"),
        ("{{#iferror:{{#expr:{{{1}}}}}|bad|good}}", "{{T|1+1}} {{T|1+}}", "good bad"),
        ("{{lc:{{{1}}}}}{{uc:b}}{{ucfirst:{{{2}}}}}", "{{T|A|xy}}", "aBXy"),
        ("{{padleft:{{{1}}}|3}} {{#expr:{{{1}}}*2 round 0}}", "{{T|7}}", "007 14"),
        ("{{formatnum:{{{1}}}}}", "{{T|12345.6}}", "12,345.6"),
        ("{{plural:{{{1}}}|lark|larks}}", "{{T|1}} {{T|2}}", "lark larks"),
        ("{{#tag:ref|{{{1}}}}}{{#tag:b|{{{1}}}}}", "{{T|a}}", "a"),
        ("{{DEFAULTSORT:{{{1}}}}}{{DISPLAYTITLE:x}}{{{1}}}", "{{T|a}}", "a"),
        ("{{{{{|safesubst:}}}#if:{{{1|}}}|a|b}}", "{{T|1}}", "a"),
    ],
)  # fmt: skip
def test_functions_of_arguments_are_worked_out_at_the_call(body, call, words, tmp_path):
    assert read(body, call, tmp_path) == words


@pytest.mark.parametrize(
    ("name", "site"),
    [("if", GERMAN), ("ha", ENGLISH), ("si", FRENCH), ("eğer", FRENCH), ("もし", GERMAN)],
)
def test_functions_are_known_by_their_names_in_other_languages(name, site, tmp_path):
    assert (
        read(f"{{{{#{name}:{{{{{{1|}}}}}}|yes|no}}}}", "{{T|a}} {{T}}", tmp_path, site) == "yes no"
    )


def test_a_switch_with_a_default_in_german(tmp_path):
    body = "{{#wechsle:{{{1}}}|1=Januar|#standard=Monat}}"
    assert read(body, "{{T|1}} {{T|2}}", tmp_path, GERMAN) == "Januar Monat"


def test_numbers_have_the_separators_of_the_wiki(tmp_path):
    assert read("{{formatnum:{{{1}}}}}", "{{T|12345.6}}", tmp_path, GERMAN) == "12.345,6"


def test_a_template_within_has_its_arguments_in_place_of_its_parameters(tmp_path):
    month = "{{#switch:{{lc:{{{1|}}}}}|1|janvier=janvier|9=septembre|#default={{{1}}}}}"
    date = "{{{1}}} {{mois|{{{2}}}}}{{#if:{{{3|}}}|&nbsp;{{{3}}}}}"
    site = site_of({"Mois": month, "Jour": date, "Né": "né le {{Jour|{{{1}}}|{{{2}}}|{{{an}}}}}"},
                   tmp_path, FRENCH)  # fmt: skip
    text = "{{né|3|9|an=1936}}; {{jour|1|Janvier}}"
    assert shown(site, text) == "né le 3 septembre 1936; 1 janvier"
    assert "mois" not in rows({"Mois": month, "Jour": date})["Jour"]["shows"]


def test_redirects_of_templates_are_followed_in_calls_and_in_bodies(tmp_path):
    bodies = {"Circa": "c. {{{1}}}", "C.": "->Circa", "Um": "({{C.|{{{1}}}}})"}
    assert shown(site_of(bodies, tmp_path), "{{c.|1900}} {{um|2}}") == "c. 1900 (c. 2)"


def test_a_redirect_to_a_template_known_by_hand_is_read_by_hand(tmp_path):
    bodies = {"Lang": "{{#invoke:Unheard of|x}}", "Sprache": "->Lang"}
    assert shown(site_of(bodies, tmp_path), "{{sprache|de|Haus}}") == "Haus"


@pytest.mark.parametrize(
    ("body", "prints"),
    [
        ("{{{1}}}", "text"),
        ("''word''", "text"),
        ("[[Category:X]]{{DEFAULTSORT:{{{1}}}}}", "nothing"),
        ("<noinclude>{{documentation}}</noinclude>", "nothing"),
        ('<div class="navbox">{{{1}}}</div>', "box"),
        ('<div class="hatnote">For {{{1}}}, see [[{{{2}}}]].</div>', "box"),
        ('<span style="display:none">{{{1}}}</span>', "box"),
        ("{| class='wikitable'\n| {{{1}}}\n|}", "box"),
        ("<table><tr><td>{{{1}}}</td></tr></table>", "box"),
        ("<span class=\"nowrap\" style='color:{{{c}}}'>{{{1}}}</span>", "text"),
        ("<sup class='noprint'>[{{{1}}}]</sup>{{{2}}}", "text"),
        ("{{#invoke:Navbox|navbox}}", "box"),
        ("{{#invoke:Unheard of|x}}", "unknown"),
        ("({{#invoke:Unheard of|x|{{{1}}}}})", "unknown"),
        ("{{#if:{{{1|}}}|<div class=noprint>{{{1}}}</div>|}}", "box"),
        ("|-\n| {{{1}}}", "box"),
    ],
)
def test_a_body_prints_running_text_unless_its_elements_are_none(body, prints):
    found = rows({"T": body})["T"]
    assert found["prints"] == ("nothing" if "Navbox|" in body else prints)


def test_what_is_no_running_text_goes_from_what_a_call_leaves(tmp_path):
    body = "{{{1}}}<sup class='noprint'>[{{{2|x}}}]</sup><div class=metadata><div>a</div>b</div>!"
    assert read(body, "{{T|word}}", tmp_path) == "word!"


def test_what_is_not_read_is_named_with_its_reason():
    bodies = {
        "Loop": "a{{Loop}}",
        "Gone": "{{Nowhere}}",
        "Lua": "a {{{1}}} {{#invoke:Unheard of|f}}",
        "Now": "{{CURRENTYEAR}}",
        "Any": "{{ {{CURRENTDAY}} }}",
        "Deep": "{{#if:{{{1|}}}|" * 55 + "x" + "}}" * 55,
        "Long": "{{{1}}}" * LONGEST_SHOWN,
    }
    known = {title: row["known_by"] for title, row in rows(bodies).items()}
    assert known == {
        "Loop": "body, but for a loop through Loop",
        "Gone": "unknown: no page of Nowhere",
        "Lua": "body, but for Module:Unheard of",
        "Now": "unknown: CURRENTYEAR",
        "Any": "unknown: a template named by an argument",
        "Deep": "unknown: too deep",
        "Long": "unknown: too long",
    }


def test_a_rule_by_hand_comes_before_a_body_that_is_read_in_part(tmp_path):
    bodies = {
        "Circa": "about {{#invoke:Unheard of|x}}{{{1}}}",
        "T": "about {{#invoke:No|x}}{{{1}}}",
    }
    assert shown(site_of(bodies, tmp_path), "{{circa|1900}} {{T|1900}}") == "c. 1900 about 1900"


def test_modules_that_wikis_share_are_known_by_name(tmp_path):
    bodies = {
        "Langx": "{{#invoke:Lang|langx}}",
        "Lang-de": "{{langx|de|{{{1|}}}}}",
        "Convert": "{{#invoke:Convert|convert}}",
        "Km": "{{convert|{{{1}}}|km|mi|abbr=on}}",
        "First": "{{#invoke:String|sub|{{{1}}}|1|3}}",
        "If empty": "{{#invoke:If empty|main}}",
        "Either": "{{if empty|{{{a|}}}|{{{b|}}}}}",
    }
    text = "{{langx|ru|Лангс}}, {{lang-de|Haus}}, {{km|5}}, {{first|Larkspur}}, {{either|b=x}}"
    assert shown(site_of(bodies, tmp_path), text) == "Лангс, Haus, 5 km (3.1 mi), Lar, x"


def test_a_template_of_a_template_by_hand_is_kept_for_the_call(tmp_path):
    site = site_of({"T": "({{nowrap|{{{1}}}}})"}, tmp_path)
    assert shown(site, "{{T|a b}}") == "(a b)"


def test_braces_that_an_argument_brings_are_no_call(tmp_path):
    assert read("{{{1}}}", "{{T|&#123;&#123;circa&#124;1&#125;&#125;}}", tmp_path) == "{{circa|1}}"


TOKENS = st.sampled_from(
    ["{{", "}}", "{{{", "}}}", "|", "=", "[[", "]]", "#if:", "#switch:", "A", "B", "C", "1", "\n",
     "#invoke:Infobox|", "File:", "{|", "|}", "<div class=navbox>", "</div>", "<!--", "<noinclude>",
     "#ifeq:", "#expr:", "lc:", "image", " "]
)  # fmt: skip
BODIES = st.lists(TOKENS, max_size=40).map("".join)


@given(st.tuples(BODIES, BODIES, BODIES), BODIES)
@settings(max_examples=150, deadline=None)
def test_any_bodies_are_read_and_any_page_is_shown(tmp_path_factory, bodies, page):
    site = site_of(dict(zip("ABC", bodies, strict=True)), tmp_path_factory.mktemp("any"))
    assert isinstance(shown(site, page), str)
    assert set(rows(dict(zip("ABC", bodies, strict=True)))) == set("ABC")


def test_templates_that_double_each_other_are_read_to_an_end():
    bodies = {f"T{n}": f"{{{{T{n + 1}|{{{{{{1}}}}}}}}}}" * 2 for n in range(60)}
    found = rows({**bodies, "T60": "{{{1}}}"})
    assert found["T50"]["prints"] == "text"
    assert found["T0"]["known_by"] == "unknown: too long"


def test_reading_takes_time_in_proportion_to_the_pages():
    def spent(count: int) -> float:
        bodies = {
            f"T{n}": f"{{{{#if:{{{{{{1|}}}}}}|{{{{T{n - n % 10}}}}}|b}}}}" * 3 for n in range(count)
        }
        return seconds(lambda: read_templates(pages(bodies), ENGLISH))

    assert spent(4000) < 12 * spent(1000)


WORDS = st.text(alphabet="abc é1", min_size=0, max_size=4)


@given(WORDS, WORDS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_an_expansion_is_what_its_definition_says(tmp_path_factory, one, two, is_given):
    body = "{{#if:{{{1|}}}|({{{1}}})|none}} {{#ifeq:{{{1|}}}|{{{2|x}}}|same|other}}"
    call = f"{{{{T|1={one}|2={two}}}}}" if is_given else f"{{{{T|1={one}}}}}"
    first = one.strip()
    second = two.strip() if is_given else "x"
    is_same = first == second or _number(first) == _number(second) is not None
    expected = f"({first})" if first else "none"
    words = f"{expected} {'same' if is_same else 'other'}"
    site = site_of({"T": body}, tmp_path_factory.mktemp("one"))
    assert shown(site, call).split() == words.split()


def _number(text):
    return float(text) if text.isascii() and text.isdecimal() else None


def test_arguments_in_every_order_of_given_and_missing_show_the_same_as_a_reference(tmp_path):
    body = "{{{a|{{{b|{{{c|none}}}}}}}}}"
    site = site_of({"T": body}, tmp_path)
    for given_ones in product([None, "", "x"], repeat=3):
        call = "".join(f"|{k}={v}" for k, v in zip("abc", given_ones, strict=True) if v is not None)
        expected = next((v for v in given_ones if v is not None), "none")
        assert shown(site, f"-{{{{T{call}}}}}-") == f"-{expected}-"


def test_a_template_whose_name_an_argument_makes_is_found_at_the_call(tmp_path):
    bodies = {
        "Country data Elmland": "{{{{{1}}}|name=Elmland|of={{{of|}}}}}",
        "Flag/core": "[[{{{name}}}]]{{#if:{{{of|}}}|&nbsp;({{{of}}})}}",
        "Flag": "{{country data {{{1}}}|flag/core|of={{{2|}}}}}",
        "Echo": "{{{{{1}}}|{{{1}}}}}",
    }
    site = site_of(bodies, tmp_path)
    assert shown(site, "{{flag|Elmland|1900}}; {{flag|Nowhere}}.") == "Elmland (1900); ."
    assert shown(site, "a{{echo|echo}}b") == "ab"


HALF_A_MEGABYTE = 1 << 19
MARKS = ["|", "{{", "}}", "{{a|", "[[", "<nowiki>", "<onlyinclude>", "<templatedata>", "{{{1}}}"]


@pytest.mark.parametrize("mark", [*MARKS, "<div class=caption ", "<b>", "{|\n", "='"])
def test_time_grows_with_a_bodys_length_and_not_faster(mark):
    def spent(length: int) -> float:
        return seconds(lambda: rows({"T": mark * (length // len(mark))}))

    assert spent(HALF_A_MEGABYTE) < 64 * spent(HALF_A_MEGABYTE // 16) + 0.5


@pytest.mark.parametrize(
    "body",
    [
        "{{{1}}}" * (HALF_A_MEGABYTE // 7),
        "<noinclude></noinclude>" * 20_000 + "{{T2|" + "x" * HALF_A_MEGABYTE + "}}",
        "{{T2|" * 30 + "x" * 1000 + "}}" * 30,
        "{{#switch:{{{1}}}" + "|a=b" * 100_000 + "}}",
    ],
    ids=lambda body: body[:15],
)
def test_what_a_template_shows_is_bounded(body):
    found = rows({"T": body, "T2": "{{{1}}}" * 500})["T"]
    assert len(found["shows"]) <= LONGEST_SHOWN


def test_a_page_of_costly_calls_is_shown_to_its_end(tmp_path):
    costly = "{{#switch:{{{1}}}|" + "|".join(f"{n}={{{{{{1}}}}}}" for n in range(700)) + "|x}}"
    site = site_of({"T": costly, "U": "{{T|{{{1}}}}}" * 2}, tmp_path)
    words = shown(site, "{{U|699}} " * 1500).split()
    assert words[0] == "699699"
