"""Templates that are known by hand, quantities in two units, and expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.parse.transclusion.arguments import Arguments
from isotope.parse.transclusion.arithmetic import number, value_of
from isotope.parse.transclusion.convert import converted
from isotope.parse.wikitext import plain_text


# Of the examples of Template:Convert's own documentation and of Help:Convert.
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("2|km|mi", "2 kilometres (1.2 mi)"),
        ("5|km|mi", "5 kilometres (3.1 mi)"),
        ("100|km", "100 kilometres (62 mi)"),
        ("60|m", "60 metres (200 ft)"),
        ("500|ft|m", "500 feet (150 m)"),
        ("1000|ft|m", "1,000 feet (300 m)"),
        ("1100|ft|m", "1,100 feet (340 m)"),
        ("1234|ft|m", "1,234 feet (376 m)"),
        ("1|mi|km", "1 mile (1.6 km)"),
        ("10|to|15|km|mi", "10 to 15 kilometres (6.2 to 9.3 mi)"),
        ("2|-|5|km|mi|abbr=on", "2\u20135 km (1.2\u20133.1 mi)"),
        ("100|km|mi|0", "100 kilometres (62 mi)"),
        ("10|km|mi|3", "10 kilometres (6.214 mi)"),
        ("10|km|mi|sigfig=3", "10 kilometres (6.21 mi)"),
        ("10|km|mi|sp=us", "10 kilometers (6.2 mi)"),
        ("10|km|mi|abbr=off", "10 kilometres (6.2 miles)"),
        ("10|km|mi|adj=on", "10-kilometre (6.2 mi)"),
        ("10|km|mi|order=flip", "6.2 miles (10 km)"),
        ("10|km|mi|disp=or", "10 kilometres or 6.2 miles"),
        ("25|C|F", "25 °C (77 °F)"),
        ("0|C|F", "0 °C (32 °F)"),
        ("68|F", "68 °F (20 °C)"),
        ("640|acre|km2", "640 acres (2.6 km2)"),
        ("5|km|smoot", "5 km"),
        ("5|furlong|m", "5 furlong"),
        ("five|km|mi", "five"),
    ],
)
def test_a_quantity_is_shown_in_both_units(call, words):
    assert plain_text(f"{{{{convert|{call}}}}}") == words


@given(st.decimals(-1e12, 1e12, allow_nan=False), st.sampled_from(["km", "C", "acre", "hp", "kg"]))
def test_any_quantity_is_shown_with_what_was_given(value, unit):
    text = converted(Arguments("cvt", [f"{value:f}", unit], {}))
    assert "(" in text or unit in text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("{{langx|ru|Лангс}}", "Лангс"),
        ("{{langx|ru|Лангс|Langs|meaning}}", "Лангс"),
        ("{{As of|2010|alt=In 2010}}", "In 2010"),
        ("{{As of|2010|5|lc=y|since=y}}", "as since May 2010"),
        ("{{c.|965|1040}}", "c. 965 \u2013 c. 1040"),
        ("né le {{date de naissance|11|novembre|1866}}", "né le 11 novembre 1866"),
        ("{{date|1|mai|1936}}, {{date||mai|1936}}", "1er mai 1936, mai 1936"),
        ("{{date|2010|5|3}}", "3 May 2010"),
        ("{{s|XX|e}}, {{sp|XIX|e|et|XX|e}}", "XXe siècle, XIXe et XXe siècles"),
        ("{{unité|2000|m}}", "2000 m"),
        ("{{GBP|25}}, {{US$|3 million}}, {{currency|90|EUR}}", "£25, US$3 million, €90"),
        ("{{HMS|Victory|1765}}, {{ship|HMS|Ark|R07}}", "HMS Victory, HMS Ark (R07)"),
        ("{{ship|HMS|Ark|R07|2}}", "R07"),
        ("{{formatnum:1234}} {{lc:ABC}} {{#if:x|y|z}}", "1,234 abc y"),
        ("{{nowrap|{{c.|1830}}}} {{nowrap|a{{!}}b}}", "c. 1830 a|b"),
    ],
)
def test_templates_that_are_known_by_hand_leave_their_words(wikitext, text):
    assert plain_text(wikitext) == text


# Of exprTests.txt of MediaWiki's extension ParserFunctions, by their kind.
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("-2 ^ 2", "4"),
        ("7 mod 3", "1"),
        ("1 / 3", "0.33333333333333"),
        ("9.876 round 2", "9.88"),
        ("2.5 round 0", "3"),
        ("not 0 and 3 > 2", "1"),
        ("1 = 1.0", "1"),
        ("ceil 1.2 + floor 1.8 + trunc 1.9", "4"),
        ("abs (-3)", "3"),
        ("1e3", "1000"),
        ("\u22125 + 2", "-3"),
    ],
)
def test_expressions_have_the_value_that_mediawiki_gives(expression, value):
    found = value_of(expression)
    assert found is not None
    assert number(found) == value


@given(st.text(alphabet="0123456789.+-*/^()e modrunpi=<>", max_size=30))
def test_any_expression_has_a_value_or_none(expression):
    try:
        found = value_of(expression)
    except ValueError:
        found = None
    assert found is None or isinstance(found, float)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("Nome=Ada|Cognome=Allodola|Sesso=F|LuogoNascita=Roma|GiornoMeseNascita=21 settembre"
         "|AnnoNascita=1936|Attività=pittrice|Nazionalità=italiana",
         "Ada Allodola (Roma, 21 settembre 1936) è una pittrice italiana."),
        ("Nome=Ugo|Cognome=Elmo|Sesso=M|LuogoNascita=Pisa|AnnoNascita=1801|LuogoMorte=Bari"
         "|AnnoMorte=1870|Attività=scrittore|Attività2=poeta|Nazionalità=italiano"
         "|PostNazionalità=, amico dei fiumi",
         "Ugo Elmo (Pisa, 1801 \u2013 Bari, 1870) è stato uno scrittore e poeta italiano, amico"
         " dei fiumi."),
        ("Nome=Eva|Cognome=Elmo|Sesso=F|FineIncipit=è la sorella di [[Ugo]]",
         "Eva Elmo è la sorella di Ugo."),
    ],
)  # fmt: skip
def test_the_first_sentence_of_an_italian_life_is_what_its_template_writes(arguments, sentence):
    assert plain_text(f"{{{{Bio|{arguments}}}}}") == sentence
