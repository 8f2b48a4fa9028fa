"""What MediaWiki's parser functions and variables give for words that are known.

Names and meaning: https://www.mediawiki.org/wiki/Help:Magic_words and
Help:Extension:ParserFunctions; other languages' names: `vocabulary`.
"""

import re
from collections.abc import Callable, Sequence

from isotope.parse.transclusion.arithmetic import number, value_of
from isotope.parse.transclusion.vocabulary import vocabulary

DEFAULTS = frozenset(vocabulary()["default_case"])
_ENGLISH = {
    f"#{word}": f"#{name}" for name, words in vocabulary()["functions"].items() for word in words
}
# What decides for itself which of its arguments is read.
BRANCHING = frozenset(("#if", "#ifeq", "#ifexpr", "#iferror", "#ifexist", "#switch"))
# Of these one depends on the page: its title.
_TITLES = (
    "PAGENAME FULLPAGENAME BASEPAGENAME ROOTPAGENAME SUBPAGENAME ARTICLEPAGENAME SUBJECTPAGENAME"
    " PAGENAMEE FULLPAGENAMEE PAGENAMEBASE"
)
TITLES = frozenset(_TITLES.split())
CONSTANTS = {"!": "|", "=": "=", "(": "[", "!(": "[", ")!": "]"}
_SILENT = (
    "displaytitle defaultsort defaultsortkey defaultcategorysort notoc noexternallanglinks"
    " revisionid revisionuser pagelanguage namespace namespacenumber talkpagename talkspace"
    " subjectspace articlespace namespacee #coordinates #seo #noexternallanglinks subst safesubst"
    " #related #assessment #addbodyclass #tracking"
)
SILENT = frozenset(_SILENT.split())
_ADDRESSES = frozenset(("fullurl", "localurl", "canonicalurl", "filepath", "fullurle", "server"))
_PREFIX = re.compile(r"(?:safesubst|subst|msgnw|msg|raw)\s*:\s*", re.IGNORECASE)
# What a number is written with: between thousands, before decimals, and from how many digits on.
_SEPARATORS = {
    **{"en": (",", ".", 4), "zh": (",", ".", 4), "ja": (",", ".", 4), "ko": (",", ".", 4)},
    **{"he": (",", ".", 4), "th": (",", ".", 4), "simple": (",", ".", 4)},
    **{"de": (".", ",", 4), "it": (".", ",", 4), "nl": (".", ",", 4), "tr": (".", ",", 4)},
    **{"id": (".", ",", 4), "da": (".", ",", 4), "vi": (".", ",", 4), "el": (".", ",", 4)},
    **{"ro": (".", ",", 4), "sr": (".", ",", 4), "hr": (".", ",", 4), "ca": (".", ",", 4)},
    "fr": ("\u202f", ",", 4),
    **dict.fromkeys(("ru", "sv", "cs", "fi", "nb", "no", "nn", "sk", "uk"), ("\u00a0", ",", 4)),
    **dict.fromkeys(("es", "pl", "pt", "hu", "bg"), ("\u00a0", ",", 5)),
}
_NUMBER = re.compile(r"([-\u2212]?)(\d+)(\.\d+)?")
_SCIENCE = ("+", "-")


def without_prefix(name: str) -> str:
    """Drop `subst:` and the like, which change nothing of what is shown."""
    return _PREFIX.sub("", name, count=1) if ":" in name else name


def english(name: str) -> str:
    """Return the name of a parser function in lower case, in English."""
    name = name.strip().lower()
    return _ENGLISH.get(name, name)


def formatted(value: str, language: str) -> str:
    """Write a number as `formatnum` does; any other word stays."""
    match = _NUMBER.fullmatch(value.strip())
    thousands, point, least = _SEPARATORS.get(language.partition("-")[0], (",", ".", 4))
    if match is None:
        return value
    sign, integer, decimals = match[1], match[2], match[3] or ""
    if len(integer) >= least:
        integer = f"{int(integer):,}".replace(",", thousands)
    return sign + integer + decimals.replace(".", point)


def is_equal(left: str, other: str) -> bool:
    """Compare as `#ifeq` and `#switch` do: numbers by their value."""
    left, other = left.strip(), other.strip()
    if left == other:
        return True
    try:
        return bool(left and other) and float(left) == float(other)
    except ValueError:
        return False


def is_true(expression: str) -> bool | None:
    """Return whether an expression's value is not 0; None where it has none."""
    try:
        return bool(value_of(expression))
    except ValueError:
        return None


def _expression(words: Sequence[str], _: str) -> str:
    try:
        value = value_of(words[0])
    except ValueError:
        return '<strong class="error">Expression error</strong>'
    return "" if value is None else number(value)


def _padded(words: Sequence[str], *, left: bool) -> str:
    text, length = words[0].strip(), words[1].strip() if len(words) > 1 else ""
    with_what = words[2].strip() if len(words) > 2 else "0"  # noqa: PLR2004
    missing = int(length) - len(text) if length.isdecimal() and len(length) < 4 else 0  # noqa: PLR2004
    pad = (with_what * max(missing, 0))[: max(missing, 0)] if with_what else ""
    return pad + text if left else text + pad


def _item(words: Sequence[str], position: int) -> str:
    return words[position].strip() if len(words) > position else ""


def _integer(text: str, default: int) -> int:
    try:
        return int(text.strip()[:6])
    except ValueError:
        return default


def _plural(words: Sequence[str], _: str) -> str:
    forms = [form for form in words[1:] if form] or [""]
    return (forms[0] if _item(words, 0).lstrip("-") == "1" else forms[-1]).strip()


def _part(words: Sequence[str], _: str) -> str:
    text, start, length = (
        _item(words, 0),
        _integer(_item(words, 1), 0),
        _integer(_item(words, 2), 0),
    )
    text = text[start:]
    return text[:length] if length else text


def _title_part(words: Sequence[str], _: str) -> str:
    parts, most, first = _item(words, 0).split("/"), _item(words, 1), _integer(_item(words, 2), 1)
    begin = first - 1 if first > 0 else first
    parts = parts[begin:] if first else parts
    return "/".join(parts[: _integer(most, 0)] if _integer(most, 0) else parts)


def _explode(words: Sequence[str], _: str) -> str:
    pieces = words[0].split(_item(words, 1) or " ")
    position = _integer(_item(words, 2), 0)
    return pieces[position] if -len(pieces) <= position < len(pieces) else ""


# From what stands after the colon and behind each bar, and the language of the wiki.
FUNCTIONS: dict[str, Callable[[Sequence[str], str], str]] = {
    "lc": lambda words, _: words[0].strip().lower(),
    "uc": lambda words, _: words[0].strip().upper(),
    "ucfirst": lambda words, _: words[0].strip()[:1].upper() + words[0].strip()[1:],
    "lcfirst": lambda words, _: words[0].strip()[:1].lower() + words[0].strip()[1:],
    "formatnum": lambda words, language: (
        words[0].replace(",", "") if _item(words, 1) == "R" else formatted(words[0], language)
    ),
    "padleft": lambda words, _: _padded(words, left=True),
    "padright": lambda words, _: _padded(words, left=False),
    "plural": _plural,
    "grammar": lambda words, _: _item(words, 1),
    "gender": lambda words, _: _item(words, len(words) - 1),
    "urlencode": lambda words, _: words[0].strip(),
    "anchorencode": lambda words, _: words[0].strip(),
    "#formatdate": lambda words, _: words[0].strip(),
    "#dateformat": lambda words, _: words[0].strip(),
    "#expr": _expression,
    "#len": lambda words, _: str(len(_item(words, 0))),
    "#pos": lambda words, _: (
        str(words[0].find(_item(words, 1))) if _item(words, 1) in words[0] else ""
    ),
    "#sub": _part,
    "#replace": lambda words, _: words[0].replace(_item(words, 1) or " ", _item(words, 2)),
    "#explode": _explode,
    "#titleparts": _title_part,
    "#rel2abs": lambda words, _: _item(words, 0),
    "#urldecode": lambda words, _: words[0].strip(),
    "#language": lambda words, _: words[0].strip() if not words[0].isascii() else "",
    **dict.fromkeys(_ADDRESSES, lambda words, _: "//"),
}


def title_of(variable: str, title: str) -> str:
    """Return what a variable of TITLES is on a page of this title."""
    if variable == "PAGENAMEBASE":
        return title.partition(" (")[0]
    if variable.startswith("BASE"):
        return title.rpartition("/")[0] or title
    if variable.startswith("ROOT"):
        return title.partition("/")[0]
    return title.rpartition("/")[2] if variable.startswith("SUBPAGE") else title


def namespace(which: str) -> str:
    """Return the name of the namespace that `{{ns:...}}` asks for, in English."""
    names_by_key = {"6": "File", "file": "File", "image": "File", "14": "Category"}
    return names_by_key.get(which.lower(), "" if which.isdecimal() else which)


def is_of_the_time(variable: str) -> bool:
    """Tell whether a variable is a time, or otherwise nothing that a dump could say."""
    return variable.isupper() and variable.startswith(("CURRENT", "LOCAL", "NUMBEROF"))
