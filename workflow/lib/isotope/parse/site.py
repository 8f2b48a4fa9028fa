"""A wiki as its pages are read: its address, its namespaces, and its words for MediaWiki's own.

A dump's head names the wiki and its namespaces; other snapshots name the wiki alone.
`wiki_words.json`, which `docs/wiki_words.py` writes, has the words of 346 wikis: for the options of
pictures, redirects, disambiguation pages and namespaces. As in MediaWiki, English words count in
every wiki, the words of pictures are case-sensitive, and those of redirects are not
(`languages/messages/MessagesEn.php` of MediaWiki 1.39).
"""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from mwparserfromhtml.parse.const import NAMESPACES as NAMES_BY_LANGUAGE

from isotope.core.errors import CorruptFile
from isotope.core.languages import is_language, spellings
from isotope.core.progress import log
from isotope.core.titles import USUAL_CAPITALS, Capitals, spaced
from isotope.intake.records import int64
from isotope.parse.transclusion.known import NO_TEMPLATES, Templates
from isotope.parse.variants import Variant

FILE, TEMPLATE, CATEGORY, MODULE = 6, 10, 14, 828
# A wiki's names of namespaces, and its words, each by its English name, as MediaWiki lists them.
Wiki = Mapping[str, Mapping[str, Sequence[str]]]
_NAMES_BY_NUMBER = {6: "File", 10: "Template", 14: "Category"}
_OTHER_WORDS = ("redirect", "disambiguation")
ENGLISH_WIKI = "enwiki"
# What MediaWiki calls these namespaces in every wiki.
CANONICAL = {"File": ("File", "Image"), "Template": ("Template",), "Category": ("Category",)}
_WORDS_FILE = Path(__file__).with_name("wiki_words.json")
_FRAMES = ("thumbnail", "framed", "manualthumb")
_ANY_VALUE, _NUMBER = r".*", r"[\d.,\s]*"
# What a word's value may be; anything else makes it a caption, as in `Parser::makeImage`.
_VALUES = {
    **{
        "link": _ANY_VALUE,
        "class": _ANY_VALUE,
        "manualthumb": _ANY_VALUE,
        "page": _NUMBER,
        "upright": _NUMBER,
    },
    **{"lang": r"[A-Za-z-]*", "lossy": r"\w*"},
}
# The words of TimedMediaHandler, which no wiki translates.
_PLAYER_WORDS = ("thumbtime=$1", "start=$1", "end=$1")
_SISTERS = re.compile(r"(wiki|wiktionary|wiki(?:books|news|quote|source|versity|voyage))$")
_HOST = re.compile(r"https?://(?:www\.)?([^/:]+)")
_SHARED = re.compile(r"(?:www\.)?(commons|meta|species|incubator)\.wikimedia\.org|(wikidata)\.org")
_PROJECT = re.compile(r"([a-z-]+)\.(?:m\.)?(wikipedia|wik[a-z]+)\.org")
_SHORTEST_FOREIGN = 3
_HEAD_LIMIT_BYTES = 16 << 20
_END = b"</siteinfo>"
_NAMESPACE_URI = re.compile(r"^\{[^}]*\}")
_REMEDY = "give a MediaWiki export such as enwiki-20221101-pages-articles-multistream.xml.bz2"
_MEDIA_PREFIX = "media"
_NAMESPACE_CALLS = ("{{ns:", "{{NS:", "{{Ns:", "{{nse:")
_NAMESPACE_CALL = re.compile(r"\{\{ *nse? *:([^{}|\n]{0,40})\}\}", re.IGNORECASE)
# Wikis whose titles keep their first letter ($wgCapitalLinks of Wikimedia's configuration), and
# the namespaces that wikis have even where a snapshot doesn't list them.
_WITHOUT_CAPITALS = re.compile(r"wiktionary$|^jbowiki$")
_USUAL = frozenset((0, 4, FILE, TEMPLATE, 12, CATEGORY))


@dataclass(frozen=True, eq=False)
class SiteWords:
    """A wiki's words, ready to match.

    `flags` are those without a value: whether the word shows the caption under a picture. `size`
    has width and height as groups, `valued` the value of an alternative text, then a word that
    shows the caption. `frameless` are the flags that give a picture the width of thumbnails,
    `upright` has the share of it, if one is told, as its last group. `redirect` matches the begin
    of a redirect, up to its link. `names` are those of File, Template and Category by number, lower
    case.
    """

    flags: Mapping[str, bool]
    size: re.Pattern[str]
    valued: re.Pattern[str]
    frameless: frozenset[str]
    upright: re.Pattern[str]
    redirect: re.Pattern[str]
    names: Mapping[int, frozenset[str]]


@dataclass(frozen=True)
class Namespaces:
    """The names, lower case, that make a link a picture or a category in one wiki.

    `wiki` is the one of `wiki_words` whose words its pages are written in, `templates` what its
    templates show, as far as that was read, `capitals` how its titles begin.
    """

    file: frozenset[str]
    category: frozenset[str]
    template: frozenset[str]
    wiki: str = ENGLISH_WIKI
    templates: Templates = NO_TEMPLATES
    capitals: Capitals = USUAL_CAPITALS

    @classmethod
    def from_names(
        cls,
        names: Mapping[int, str],
        wiki: str = ENGLISH_WIKI,
        capitals: Capitals = USUAL_CAPITALS,
    ) -> "Namespaces":
        """Make them of the names by number in a dump's siteinfo; English and old names count too.

        A name that siteinfo has for one namespace belongs to no other.
        """
        local = {number: normal_name(name) for number, name in names.items()}
        usual = words_of(wiki).names

        def all_of(number: int) -> frozenset[str]:
            elsewhere = {name for n, name in local.items() if n != number}
            return frozenset({local.get(number, ""), *usual[number]} - elsewhere - {""})

        return cls(all_of(FILE), all_of(CATEGORY), all_of(TEMPLATE), wiki, capitals=capitals)

    @property
    def words(self) -> SiteWords:
        """The words of the wiki."""
        return words_of(self.wiki)

    def is_file(self, prefix: str) -> bool:
        """Tell whether a link with this prefix shows a file."""
        return normal_name(prefix) in self.file

    def is_category(self, prefix: str) -> bool:
        """Tell whether a link with this prefix puts the page into a category."""
        return normal_name(prefix) in self.category

    def is_hidden(self, prefix: str) -> bool:
        """Tell whether a link with this prefix leaves nothing in the running text.

        ASSUME a link with what another wiki calls a file was copied from there and is no text; no
        paper says.
        """
        name = normal_name(prefix)
        hidden = name == _MEDIA_PREFIX or name in self.file or name in self.category
        return hidden or name in foreign_files() or is_language(name)

    def without_prefix(self, text: str) -> str:
        """Drop the namespace from the names of templates: `{{Template:Sic}}` becomes `{{Sic}}`.

        `{{ns:6}}` and `{{ns:File}}` are written out.
        """
        if "{{" not in text:
            return text
        if any(call in text for call in _NAMESPACE_CALLS):
            text = _NAMESPACE_CALL.sub(_namespace_called, text)
        return _template_prefix(self.template).sub("{{", text)


@dataclass(frozen=True)
class Site:
    """A wiki, as the records of its pages need it.

    `wiki` is the name of its database with `-` for `_`, or else of its host; `has_words` says
    whether the words that it is read with (`namespaces.wiki`) are its own or the nearest ones.
    `variant` is the one of its language that it is read in, None where that has none.
    """

    base_url: str
    language: str
    namespaces: Namespaces
    prefixes: frozenset[str]
    wiki: str
    has_words: bool
    variant: Variant | None = None

    @property
    def words(self) -> str | None:
        """The wiki of `wiki_words` that has its own words, or None."""
        return self.namespaces.wiki if self.has_words else None

    def with_templates(self, path: Path) -> "Site":
        """Return the site with what its templates show, from the file of `schemas.TEMPLATES`.

        Raises:
            MissingFile: no such file.
        """
        templates = Templates.load(path, self.wiki)
        return replace(self, namespaces=replace(self.namespaces, templates=templates))

    def in_variant(self, code: str | None) -> "Site":
        """Return the site as it is read in a variant of its language; None is the usual one.

        Raises:
            BadParams: the language has no such variant.
        """
        return (
            self
            if code is None
            else replace(self, variant=Variant.of_language(self.language, code))
        )

    @classmethod
    def from_siteinfo(
        cls,
        base_url: str,
        language: str,
        names: Mapping[int, str],
        database: str,
        case_sensitive: frozenset[int] | None = None,
    ) -> "Site":
        """Make a site of the names of its namespaces, by number, with its wiki's own words.

        `case_sensitive` are the namespaces whose titles keep their first letter, if they are known.
        """
        wiki = wiki_name(database, base_url)
        words, has_words = words_for(wiki, language)
        if case_sensitive is None:
            case_sensitive = (
                frozenset(names) | _USUAL if _WITHOUT_CAPITALS.search(wiki) else frozenset[int]()
            )
        namespaces = Namespaces.from_names(names, words, Capitals(language, case_sensitive))
        own_names = {name.lower() for number, name in names.items() if number and name}
        prefixes = (
            frozenset(own_names) | namespaces.file | namespaces.category | namespaces.template
        )
        variant = Variant.of_language(language)
        return cls(base_url, language, namespaces, prefixes, wiki, has_words, variant)


def read_site(path: Path, xml: Iterator[bytes]) -> Site:
    """Read the site from the first bytes of a dump.

    Raises:
        CorruptFile: no complete, well-formed `<siteinfo>` with a `<base>` at the beginning.
    """
    head = b""
    for piece in xml:
        head += piece
        if _END in head or len(head) > _HEAD_LIMIT_BYTES:
            break
    if _END not in head:
        raise CorruptFile(path, f"no <siteinfo> in its first {len(head):,} bytes", _REMEDY)
    try:
        root = ET.fromstring(head[: head.index(_END) + len(_END)] + b"</mediawiki>")
    except ET.ParseError as error:
        raise CorruptFile(path, f"malformed head ({error})", _REMEDY) from error
    return _site(path, root)


@cache
def wikipedia_site(language: str, base_url: str, database: str = "") -> Site:
    """Return the site of the Wikipedia of a language, for snapshots that don't list namespaces.

    `base_url` ends where titles begin. The names are those that `mwparserfromhtml` keeps of all
    Wikipedias; a language that has none is taken for English, whose names count everywhere.
    File, Template and Category have those of `wiki_words` too.
    """
    names = {
        number: name
        for name, number in NAMES_BY_LANGUAGE.get(language, NAMES_BY_LANGUAGE["en"]).items()
    }
    all_names = {*NAMES_BY_LANGUAGE.get(language, ()), *NAMES_BY_LANGUAGE["en"]}
    site = Site.from_siteinfo(base_url, language, names, database)
    return replace(site, prefixes=site.prefixes | {name.lower() for name in all_names})


def _site(path: Path, root: ET.Element) -> Site:
    for element in root.iter():
        element.tag = _NAMESPACE_URI.sub("", element.tag)
    base = root.findtext("siteinfo/base", "")
    if "/" not in base:
        raise CorruptFile(path, f"<base> is {base!r}, not an address", _REMEDY)
    namespaces = _numbered(path, root)
    names = {number: namespace.text or "" for number, namespace in namespaces.items()}
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    database = root.findtext("siteinfo/dbname", "").strip()
    url = base.rpartition("/")[0] + "/"
    return Site.from_siteinfo(url, language, names, database, _case_sensitive(root, namespaces))


def _numbered(path: Path, root: ET.Element) -> dict[int, ET.Element]:
    """Return siteinfo's namespaces by number; one without a number is left out, and logged."""
    namespaces: dict[int, ET.Element] = {}
    for element in root.iter("namespace"):
        try:
            namespaces[int64(element.get("key", "0"))] = element
        except ValueError as error:
            log.warning("%s: its namespace %r has no number (%s)", path, element.text or "", error)
    return namespaces


def _case_sensitive(
    root: ET.Element, namespaces: Mapping[int, ET.Element]
) -> frozenset[int] | None:
    """Return the namespaces that siteinfo says are case-sensitive; None where it is silent."""
    usual = root.findtext("siteinfo/case")
    cases = {number: element.get("case", usual) for number, element in namespaces.items()}
    if usual is None and not any(cases.values()):
        return None
    return frozenset(number for number, case in cases.items() if case == "case-sensitive")


def _namespace_called(call: re.Match[str]) -> str:
    """Return the English name, which counts in every wiki, of the namespaces that matter here."""
    name = normal_name(call[1])
    names = {str(n): [*CANONICAL[kind], str(n)] for n, kind in _NAMES_BY_NUMBER.items()}
    number = next((n for n, all_of in names.items() if name.capitalize() in all_of), None)
    return call[0] if number is None else names[number][0]


@cache
def _template_prefix(names: frozenset[str]) -> re.Pattern[str]:
    any_name = "|".join(re.escape(name).replace(r"\ ", "[ _]+") for name in sorted(names))
    return re.compile(rf"\{{\{{[\s_]*(?:{any_name})[\s_]*:", re.IGNORECASE)


@cache
def words_of(wiki: str) -> SiteWords:
    """Return the words of a wiki of `wiki_words.json`.

    Raises:
        KeyError: the table lacks the wiki.
    """
    by_kind = all_words(wiki)
    values = {kind: [word for word in by_kind[kind] if "$1" in word] for kind in by_kind}
    alt = _any_of(word.removesuffix("$1") for word in values["alt"])
    frames = _any_of(values["manualthumb"], _ANY_VALUE)
    value_patterns = [
        _any_of(values[k], v) for k, v in _VALUES.items() if k != "manualthumb" and values[k]
    ]
    value_patterns.append(_any_of(_PLAYER_WORDS, _ANY_VALUE))
    # Python's lower case of `İ` has two letters, which its regular expressions don't match.
    redirects = [form for word in by_kind["redirect"] for form in (word, word.lower())]
    px = _any_of(word.removeprefix("$1") for word in values["width"])
    return SiteWords(
        {
            word: kind in _FRAMES
            for kind, forms in by_kind.items()
            if kind not in (*CANONICAL, "redirect", "disambiguation")
            for word in forms
            if "$1" not in word
        },
        re.compile(rf"(\d{{1,5}})?(?:x(\d{{1,5}})?)?\s*(?:px)?\s*(?:{px})\s*"),
        re.compile(rf"(?:{alt})(.*)|({frames})|(?:{'|'.join(value_patterns)})", re.DOTALL),
        frozenset(by_kind["frameless"]),
        re.compile(_any_of(by_kind["upright"], r"([\d.,]*)\s*")),
        re.compile(rf"\s*(?:{_any_of(redirects)})\s*:?\s*\[\[", re.IGNORECASE),
        {
            number: frozenset(map(normal_name, (*CANONICAL[kind], *by_kind.get(kind, ()))))
            for number, kind in _NAMES_BY_NUMBER.items()
        },
    )


def all_words(wiki: str) -> dict[str, list[str]]:
    """Return a wiki's words by kind as MediaWiki writes them, English ones last."""
    local, english = _words_table()[wiki], _words_table()[ENGLISH_WIKI]
    if wiki == ENGLISH_WIKI:
        return {kind: list(words) for kind, words in local.items()}
    kinds = [kind for kind in {**english, **local} if kind not in CANONICAL]
    both = {kind: [*local.get(kind, ()), *english.get(kind, ())] for kind in kinds}
    return {**{kind: list(local.get(kind, ())) for kind in CANONICAL}, **both}


def wikis() -> list[str]:
    """List the wikis of the table, by the names of their databases with `-` for `_`."""
    return list(_words_table())


def wiki_name(database: str, url: str) -> str:
    """Return a wiki's name: that of its database, or that of its address, or its host.

    A database that the table lacks gives way to an address whose wiki it has, so that a part of a
    wiki under a name of its own has that wiki's words.

    >>> wiki_name("", "https://zh-yue.wikipedia.org/wiki/X")
    'zh-yuewiki'
    """
    named, addressed = database.lower().replace("_", "-"), _wiki_at(url)
    return (
        named
        if named and (named in _words_table() or addressed not in _words_table())
        else addressed
    )


def _wiki_at(url: str) -> str:
    host = _HOST.match(url)
    shared, project = (p.fullmatch(host[1]) if host else None for p in (_SHARED, _PROJECT))
    if shared:
        return f"{shared[1] or shared[2]}wiki"
    if project:
        return project[1] + project[2].replace("wikipedia", "wiki")
    return host[1] if host else url


def words_for(wiki: str, language: str) -> tuple[str, bool]:
    """Choose the wiki of the table whose words a wiki has, and whether they are its own.

    They are where the table has the wiki, or the Wikipedia of a sister project's language. Any
    other wiki has the words of the Wikipedia of its `language` (a code, or empty), or of the
    language that a code begins with (`de` for `de-at`); without them English ones.
    """
    code_of_wiki = _SISTERS.sub("", wiki) if _SISTERS.search(wiki) else language
    exact = next(
        (name for name in (wiki, *_wikipedias(code_of_wiki)) if name in _words_table()), None
    )
    if exact:
        return exact, True
    begins = (code.partition("-")[0] for code in (code_of_wiki, language))
    near = (name for code in (language, *begins) for name in _wikipedias(code))
    return next((name for name in near if name in _words_table()), ENGLISH_WIKI), False


def _wikipedias(language: str) -> list[str]:
    return [f"{code}wiki" for code in (language.lower(), *spellings(language))]


@cache
def foreign_files() -> frozenset[str]:
    """Return what any wiki calls its namespace File, lower case, but for names of a letter or two.

    Two letters of another script than Latin may be a whole word.
    """
    names = {
        normal_name(name) for words in _words_table().values() for name in words.get("File", ())
    }
    long = (name for name in names if len(name) >= _SHORTEST_FOREIGN)
    return frozenset((*long, *(n for n in names if len(n) > 1 and not n[0].isascii())))


@cache
def disambiguation() -> str:
    """Return a pattern of the words that mark a disambiguation page, of all wikis, less `__`."""
    marks = (word for words in _words_table().values() for word in words.get("disambiguation", ()))
    return _any_of({word.strip("_") for word in marks})


def normal_name(name: str) -> str:
    """Return the form in which names of namespaces are compared."""
    return spaced(name).lower()


@cache
def _words_table() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return json.loads(_WORDS_FILE.read_text(encoding="utf-8"))


def _any_of(words: Iterator[str] | Sequence[str] | set[str], value: str = "") -> str:
    """Return a pattern of these words, longest first, with `value` in place of `$1`."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\$1", value) for word in ordered)


def wiki_of_siteinfo(siteinfo: Mapping[str, Any]) -> tuple[str, Wiki]:
    """Return a wiki's database name and `{"namespaces": ..., "words": ...}` from its siteinfo.

    Both versions of the JSON format are read.

    Raises:
        KeyError: the answer lacks one of the four properties.
    """
    query = siteinfo["query"]
    names: dict[str, list[str]] = {name: [] for name in _NAMES_BY_NUMBER.values()}
    for namespace in (*query["namespaces"].values(), *query["namespacealiases"]):
        if (number := int(namespace["id"])) in _NAMES_BY_NUMBER:
            aliases = (namespace.get(key, "") for key in ("*", "name", "canonical", "alias"))
            names[_NAMES_BY_NUMBER[number]] += [name for name in aliases if name]
    words = {
        word["name"]: list(word["aliases"])
        for word in query["magicwords"]
        if word["name"].startswith("img_") or word["name"] in _OTHER_WORDS
    }
    unique = {kind: list(dict.fromkeys(aliases)) for kind, aliases in names.items()}
    return query["general"]["wikiid"], {"namespaces": unique, "words": words}


def words_table(wikis: Mapping[str, Wiki]) -> str:
    """Return the table as text, a line a wiki; `wikis` are by their names and have `enwiki`."""
    everywhere = {**_flat(wikis[ENGLISH_WIKI]), **CANONICAL}
    lines = []
    for name in sorted(wikis):
        special = {
            kind: extra
            for kind, words in _flat(wikis[name]).items()
            if (
                extra := [
                    w for w in words if name == ENGLISH_WIKI or w not in everywhere.get(kind, ())
                ]
            )
        }
        text = json.dumps(special, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{json.dumps(name)}:{text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _flat(wiki: Wiki) -> dict[str, Sequence[str]]:
    words = {name.removeprefix("img_"): values for name, values in wiki["words"].items()}
    return {**wiki["namespaces"], **words}


ENGLISH_NAMESPACES = Namespaces.from_names({FILE: "File", CATEGORY: "Category"})
