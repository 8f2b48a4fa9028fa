"""A language has one code, whoever names it, in Python and in SQL alike."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mwparserfromhtml.parse.const import NAMESPACES

from isotope.core import sql
from isotope.core.languages import (
    WIKIPEDIAS,
    is_spoken,
    lead_title,
    spellings,
    two_letters,
    wiki_codes,
    wiki_language,
)
from isotope.core.lucene import analyzer
from isotope.parse.site import wikis, words_for

# Codes of WIT (huggingface/datasets#2688) and of others, and of the wikis of the same languages, as
# meta.wikimedia.org/wiki/Special_language_codes and ISO 639 have them.
PAIRS = [
    *(("iw", "he"), ("fil", "tl"), ("tgl", "tl"), ("nan", "zh-min-nan"), ("lah", "pnb")),
    *(("nb", "no"), ("nob", "no"), ("in", "id"), ("ji", "yi"), ("jw", "jv"), ("mo", "ro")),
    *(("gsw", "als"), ("yue", "zh-yue"), ("lzh", "zh-classical"), ("be-x-old", "be-tarask")),
    *(("rup", "roa-rup"), ("sgs", "bat-smg"), ("vro", "fiu-vro"), ("cbk", "cbk-zam")),
    *(("zh-TW", "zh"), ("zh_Hant", "zh"), ("sr-Latn", "sr"), ("pt-BR", "pt"), ("de-AT", "de")),
    *(("heb", "he"), ("hrv", "hr"), ("ger", "de"), ("deu", "de"), (" EN ", "en"), ("hbs", "sh")),
]
WITHHELD = [
    *(("zh", "zh-yue"), ("zh", "zh-min-nan"), ("no", "nn"), ("be", "be-tarask"), ("nds", "nds-nl")),
    *(("sr", "sh"), ("hr", "sh"), ("pa", "pnb"), ("az", "azb"), ("simple", "en"), ("als", "sq")),
]
CODES = st.one_of(
    st.sampled_from(sorted({*WIKIPEDIAS, *wiki_codes(), *(code for code, _ in PAIRS)})),
    st.from_regex(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?", fullmatch=True),
)


@pytest.mark.parametrize(("code", "wiki"), PAIRS)
def test_codes_of_one_language_are_one(code, wiki):
    assert wiki_language(code) == wiki
    assert is_spoken(code, wiki)
    assert is_spoken(wiki, code)


@pytest.mark.parametrize(("one", "other"), WITHHELD)
def test_wikis_of_two_languages_stay_two(one, other):
    assert not is_spoken(one, other)


def test_every_wikipedia_is_called_by_its_own_code():
    """Those that siteinfo and mwparserfromhtml list; Moldovan was closed, and is Romanian."""
    listed = {name[:-4] for name in wikis() if name.endswith("wiki")} | {*NAMESPACES}
    assert {code for code in listed if wiki_language(code) != code} == {"mo"}


def test_every_code_leads_to_a_wikipedia():
    lost = {
        code for code in (*wiki_codes(), *two_letters()) if wiki_language(code) not in WIKIPEDIAS
    }
    # Without a Wikipedia: Avestan, Luba-Katanga, both Ndebele, Ojibwe.
    assert {wiki_language(code) for code in lost} == {"ae", "lu", "nd", "nr", "oj"}


@given(CODES)
def test_a_code_is_one_of_its_languages(code):
    wiki = wiki_language(code)
    assert wiki_language(wiki) == wiki
    assert {wiki_language(each) for each in spellings(code)} == {wiki}


@pytest.fixture(scope="module")
def query(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sql") / "codes.sql"
    path.write_text(
        "SELECT code, wiki_language(code) AS wiki, is_spoken(code, $chosen) AS spoken FROM codes"
    )
    return path


@pytest.mark.parametrize("chosen", ["he", "iw", "zh", "zh-yue", "xx", "en-GB", "mul"])
def test_sql_knows_what_python_knows(chosen, query, tmp_path):
    codes = sorted({*WIKIPEDIAS, *wiki_codes(), *(c for pair in PAIRS for c in pair), "", "xx-YY"})
    pl.DataFrame({"code": codes}).write_parquet(tmp_path / "codes.parquet")
    relations = {"codes": tmp_path / "codes.parquet"}
    sql.query(query, relations, {"chosen": chosen}, out=tmp_path / "out.parquet")
    rows = pl.read_parquet(tmp_path / "out.parquet").sort("code").rows()
    assert rows == [(code, wiki_language(code), is_spoken(code, chosen)) for code in codes]


def test_what_goes_by_language_goes_by_any_of_its_codes():
    assert lead_title("iw") == lead_title("he") == "מבוא"
    assert lead_title("nb") == "Innledning"
    assert (analyzer("nb"), analyzer("in"), analyzer("zh-TW"), analyzer("mul")) == (
        *("no", "id", "zh"),
        "zh",
    )
    assert words_for("", "nb") == ("nowiki", True)
    assert words_for("", "iw") == ("hewiki", True)
