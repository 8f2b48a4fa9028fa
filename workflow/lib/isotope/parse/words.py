"""The words that each wiki has for MediaWiki's own: of pictures, redirects and namespaces.

`wiki_words.json` (see `wiki_words_table`) has them for 346 wikis. As in MediaWiki, English words
count in every wiki, the words of pictures are case-sensitive, and those of redirects are not
(`languages/messages/MessagesEn.php` of MediaWiki 1.39).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# A wiki's names of namespaces, and its words, each by its English name, as MediaWiki lists them.
Wiki = Mapping[str, Mapping[str, Sequence[str]]]

NAMESPACES = {6: "File", 10: "Template", 14: "Category"}
_OTHERS = ("redirect", "disambiguation")
ENGLISH = "enwiki"
# What MediaWiki calls these namespaces in every wiki.
CANONICAL = {"File": ("File", "Image"), "Template": ("Template",), "Category": ("Category",)}


def wiki_of(siteinfo: Mapping[str, Any]) -> tuple[str, Wiki]:
    """Return a wiki's database name and `{"namespaces": ..., "words": ...}` from its siteinfo.

    Both versions of the JSON format are read.

    Raises:
        KeyError: the answer lacks one of the four properties.
    """
    query = siteinfo["query"]
    names: dict[str, list[str]] = {name: [] for name in NAMESPACES.values()}
    for told in (*query["namespaces"].values(), *query["namespacealiases"]):
        if (number := int(told["id"])) in NAMESPACES:
            every = (told.get(key, "") for key in ("*", "name", "canonical", "alias"))
            names[NAMESPACES[number]] += [name for name in every if name]
    words = {
        word["name"]: list(word["aliases"])
        for word in query["magicwords"]
        if word["name"].startswith("img_") or word["name"] in _OTHERS
    }
    unique = {kind: list(dict.fromkeys(given)) for kind, given in names.items()}
    return query["general"]["wikiid"], {"namespaces": unique, "words": words}


def table(wikis: Mapping[str, Wiki]) -> str:
    """Return the table as text, a line a wiki; `wikis` are by their names and have `enwiki`."""
    everywhere = {**_flat(wikis[ENGLISH]), **CANONICAL}
    lines = []
    for name in sorted(wikis):
        own = {
            kind: kept
            for kind, words in _flat(wikis[name]).items()
            if (kept := [w for w in words if name == ENGLISH or w not in everywhere.get(kind, ())])
        }
        told = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{json.dumps(name)}:{told}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _flat(wiki: Wiki) -> dict[str, Sequence[str]]:
    words = {name.removeprefix("img_"): given for name, given in wiki["words"].items()}
    return {**wiki["namespaces"], **words}


_TABLE = Path(__file__).with_name("wiki_words.json")
_FRAMES = ("thumbnail", "framed", "manualthumb")
_ANY, _NUMBER = r".*", r"[\d.,\s]*"
# What a word's value may be; anything else makes it a caption, as in `Parser::makeImage`.
_VALUES = {
    **{"link": _ANY, "class": _ANY, "manualthumb": _ANY, "page": _NUMBER, "upright": _NUMBER},
    **{"lang": r"[A-Za-z-]*", "lossy": r"\w*"},
}
# The words of TimedMediaHandler, which no wiki translates.
_MEDIA = ("thumbtime=$1", "start=$1", "end=$1")
_SISTERS = re.compile(r"(wiki|wiktionary|wiki(?:books|news|quote|source|versity|voyage))$")
_HOST = re.compile(r"https?://(?:www\.)?([^/:]+)")
_SHARED = re.compile(r"(?:www\.)?(commons|meta|species|incubator)\.wikimedia\.org|(wikidata)\.org")
_PROJECT = re.compile(r"([a-z-]+)\.(?:m\.)?(wikipedia|wik[a-z]+)\.org")
# Languages whose wikis have older names (LanguageCode::DEPRECATED_LANGUAGE_CODE_MAPPING).
_OLDER = {
    **{"be-tarask": "be-x-old", "cbk": "cbk-zam", "gsw": "als", "lzh": "zh-classical"},
    **{"nan": "zh-min-nan", "nb": "no", "rup": "roa-rup", "sgs": "bat-smg", "vro": "fiu-vro"},
    "yue": "zh-yue",
}
_SHORTEST_FOREIGN = 3


@dataclass(frozen=True, eq=False)
class Words:
    """A wiki's words, ready to match.

    `flags` are those without a value: whether the word shows the caption under a picture. `size`
    has width and height as groups, `valued` the value of an alternative text, then a word that
    shows the caption. `redirect` matches the begin of a redirect, up to its link. `names` are those
    of File, Template and Category by number, lower case.
    """

    flags: Mapping[str, bool]
    size: re.Pattern[str]
    valued: re.Pattern[str]
    redirect: re.Pattern[str]
    names: Mapping[int, frozenset[str]]


@cache
def words_of(wiki: str) -> Words:
    """Return the words of a wiki of the table; raises KeyError for any other."""
    own = every(wiki)
    values = {kind: [word for word in own[kind] if "$1" in word] for kind in own}
    alt = _any_of(word.removesuffix("$1") for word in values["alt"])
    frames = _any_of(values["manualthumb"], _ANY)
    others = [_any_of(values[k], v) for k, v in _VALUES.items() if k != "manualthumb" and values[k]]
    others.append(_any_of(_MEDIA, _ANY))
    # Python's lower case of `İ` has two letters, which its regular expressions hold for another.
    redirects = [form for word in own["redirect"] for form in (word, word.lower())]
    px = _any_of(word.removeprefix("$1") for word in values["width"])
    return Words(
        {
            word: kind in _FRAMES
            for kind, given in own.items()
            if kind not in (*CANONICAL, "redirect", "disambiguation")
            for word in given
            if "$1" not in word
        },
        re.compile(rf"(\d{{1,5}})?(?:x(\d{{1,5}})?)?\s*(?:px)?\s*(?:{px})\s*"),
        re.compile(rf"(?:{alt})(.*)|({frames})|(?:{'|'.join(others)})", re.DOTALL),
        re.compile(rf"\s*(?:{_any_of(redirects)})\s*:?\s*\[\[", re.IGNORECASE),
        {
            number: frozenset(map(normal, (*CANONICAL[kind], *own.get(kind, ()))))
            for number, kind in NAMESPACES.items()
        },
    )


def every(wiki: str) -> dict[str, list[str]]:
    """Return a wiki's words by kind as MediaWiki writes them, English ones last."""
    own, english = _table()[wiki], _table()[ENGLISH]
    if wiki == ENGLISH:
        return {kind: list(words) for kind, words in own.items()}
    kinds = [kind for kind in {**english, **own} if kind not in CANONICAL]
    both = {kind: [*own.get(kind, ()), *english.get(kind, ())] for kind in kinds}
    return {**{kind: list(own.get(kind, ())) for kind in CANONICAL}, **both}


def wikis() -> list[str]:
    """List the wikis of the table, by the names of their databases with `-` for `_`."""
    return list(_table())


def wiki_name(database: str, url: str) -> str:
    """Return a wiki's name: that of its database, or what its address tells, or its host.

    A database that the table lacks gives way to an address whose wiki it has, so that a part of a
    wiki under a name of its own has that wiki's words.

    >>> wiki_name("", "https://zh-yue.wikipedia.org/wiki/X")
    'zh-yuewiki'
    """
    own, there = database.lower().replace("_", "-"), _wiki_at(url)
    return own if own and (own in _table() or there not in _table()) else there


def _wiki_at(url: str) -> str:
    host = _HOST.match(url)
    shared, project = (p.fullmatch(host[1]) if host else None for p in (_SHARED, _PROJECT))
    if shared:
        return f"{shared[1] or shared[2]}wiki"
    if project:
        return project[1] + project[2].replace("wikipedia", "wiki")
    return host[1] if host else url


def words_for(wiki: str, language: str) -> tuple[str, bool]:
    """Choose whose words of the table a wiki has; tell whether they are surely its own.

    They are where the table has the wiki, or the Wikipedia of a sister project's language. Any
    other wiki has the words of the Wikipedia of its `language` (a code, or empty), or of the
    language that a code begins with (`de` for `de-at`); for want of them English ones.
    """
    own = _SISTERS.sub("", wiki) if _SISTERS.search(wiki) else language
    known = next((name for name in (wiki, *_wikipedias(own)) if name in _table()), None)
    if known:
        return known, True
    begins = (code.partition("-")[0] for code in (own, language))
    near = (name for code in (language, *begins) for name in _wikipedias(code))
    return next((name for name in near if name in _table()), ENGLISH), False


def _wikipedias(language: str) -> list[str]:
    code = language.lower()
    return [f"{code}wiki", f"{_OLDER.get(code, code)}wiki"]


@cache
def foreign_files() -> frozenset[str]:
    """Return what any wiki calls its namespace File, lower case, but for names of a letter or two.

    Two letters of another script than Latin may be a whole word.
    """
    names = {normal(name) for own in _table().values() for name in own.get("File", ())}
    long = (name for name in names if len(name) >= _SHORTEST_FOREIGN)
    return frozenset((*long, *(n for n in names if len(n) > 1 and not n[0].isascii())))


@cache
def disambiguation() -> str:
    """Return a pattern of the words that mark a disambiguation page, of all wikis, less `__`."""
    marks = (word for own in _table().values() for word in own.get("disambiguation", ()))
    return _any_of({word.strip("_") for word in marks})


def normal(name: str) -> str:
    """Return the form in which names of namespaces are compared."""
    return " ".join(name.replace("_", " ").split()).lower()


@cache
def _table() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return json.loads(_TABLE.read_text(encoding="utf-8"))


def _any_of(words: Iterator[str] | Sequence[str] | set[str], value: str = "") -> str:
    """Return a pattern of these words, longest first, with `value` in place of `$1`."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\$1", value) for word in ordered)
