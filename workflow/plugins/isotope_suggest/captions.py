"""Captions as readers are shown them: without the label of their language.

Wikimedia Commons writes "English: A tower" where a description names its language; WIT has copied
it, with what stands for a description where there is none: the name of the file.
"""

import json
from functools import cache
from pathlib import Path

import polars as pl

LANGUAGES = Path(__file__).with_name("languages.json")
# What languages with many descriptions are called in themselves.
_OWN_NAMES = (
    "العربية|Български|Català|Čeština|Dansk|Deutsch|Ελληνικά|Español|Esperanto|Eesti|Euskara"
    "|فارسی|Suomi|Français|Galego|עברית|हिन्दी|Hrvatski|Magyar|Հայերեն|Bahasa Indonesia|Italiano"
    "|日本語|ქართული|한국어|Latina|Lietuvių|Latviešu|Македонски|Nederlands|Norsk|Norsk bokmål"
    "|Norsk nynorsk|Polski|Português|Português do Brasil|Română|Русский|Slovenčina|Slovenščina"
    "|Српски|Srpski|Svenska|தமிழ்|తెలుగు|ไทย|Türkçe|Українська|Tiếng Việt|中文"
)


def without_language(captions: pl.Expr) -> pl.Expr:
    """Return captions without the label of a language before them, such as `English: `."""
    return captions.str.replace(_labels(), "")


@cache
def language_names() -> dict[str, str]:
    """Return the English name of each Wikipedia's language, by its code."""
    return json.loads(LANGUAGES.read_text("utf-8"))


@cache
def _labels() -> str:
    names = {*language_names().values(), *_OWN_NAMES.split("|")}
    plain = "|".join(sorted(map(_literal, names), key=len, reverse=True))
    return rf"^\s*(?:{plain})\s?[:\uff1a]\s+"


def _literal(name: str) -> str:
    return "".join(f"\\{sign}" if sign in r".()[]{}+*?|^$\-" else sign for sign in name)
