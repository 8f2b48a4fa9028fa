"""The head of a MediaWiki export: which wiki it is, and how its namespaces are called."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mwparserfromhtml.parse.const import NAMESPACES

from isotope.core.errors import CorruptFile

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial



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


MAX_DEPTH = 40
FILE, TEMPLATE, CATEGORY = 6, 10, 14
WIKI = "enwiki"
_INNERMOST = re.compile(r"\[\[((?:[^\[\]]++|\[(?!\[)|\](?!\]))*+)\]\](\](?!\]))?")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftps?|sftp|ircs?|gopher|telnet|nntp|worldwind|svn|git|mms|news|mailto|tel|geo"
    r"|urn|magnet|bitcoin|xmpp|sips?|sms):|//)[^\s\[\]<>]*+"
    r"([^\[\]\n]*+(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+)\]",
    re.IGNORECASE,
)
_MEDIA = "media"
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
# ASSUME the codes of Wikipedias that existed in 2023, a link to one of which is a language link; a
# dump does not say.
_LANGUAGE = re.compile(
    r"""aa|ab|ace|ady|af|ak|als|alt|am|ami|an|ang|anp|ar|arc|ary|arz|as|ast|atj|
    av|avk|awa|ay|az|azb|ba|ban|bar|bat-smg|bcl|be|be-tarask|be-x-old|bg|bh|bi|
    bjn|blk|bm|bn|bo|bpy|br|bs|bug|bxr|ca|cbk-zam|cdo|ce|ceb|ch|cho|chr|chy|
    ckb|co|cr|crh|cs|csb|cu|cv|cy|da|dag|de|din|diq|dk|dsb|dty|dv|dz|ee|el|
    eml|en|eo|es|et|eu|ext|fa|fat|ff|fi|fiu-vro|fj|fo|fon|fr|frp|frr|fur|fy|
    ga|gag|gan|gcr|gd|gl|glk|gn|gom|gor|got|gpe|gu|guc|gur|guw|gv|ha|hak|haw|
    he|hi|hif|ho|hr|hsb|ht|hu|hy|hyw|hz|ia|id|ie|ig|igl|ii|ik|ilo|inh|io|is|
    it|iu|ja|jam|jbo|jv|ka|kaa|kab|kbd|kbp|kcg|kg|ki|kj|kk|kl|km|kn|ko|koi|
    kr|krc|ks|ksh|ku|kv|kw|ky|la|lad|lb|lbe|lez|lfn|lg|li|lij|lld|lmo|ln|lo|
    lrc|lt|ltg|lv|lzh|mad|mai|map-bms|mdf|mg|mh|mhr|mi|min|mk|ml|mn|mni|mnw|mo|
    mr|mrj|ms|mt|mus|mwl|my|myv|mzn|na|nah|nan|nap|nds|nds-nl|ne|new|ng|nia|nl|
    nn|no|nov|nqo|nrm|nso|nv|ny|oc|olo|om|or|os|pa|pag|pam|pap|pcd|pcm|pdc|
    pfl|pi|pih|pl|pms|pnb|pnt|ps|pt|pwn|qu|rm|rmy|rn|ro|roa-rup|roa-tara|ru|rue|
    rw|sa|sah|sat|sc|scn|sco|sd|se|sg|sh|shi|shn|si|simple|sk|skr|sl|sm|smn|
    sn|so|sq|sr|srn|ss|st|stq|su|sv|sw|szl|szy|ta|tay|tcy|te|tet|tg|th|ti|tk|
    tl|tly|tn|to|tpi|tr|trv|ts|tt|tum|tw|ty|tyv|udm|ug|uk|ur|uz|ve|vec|vep|
    vi|vls|vo|wa|war|wo|wuu|xal|xh|xmf|yi|yo|yue|za|zea|zh|zh-classical|
    zh-min-nan|zh-tw|zh-yue|zu""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Namespaces:
    """The names, lower case, that make a link a picture or a category in one wiki.

    `wiki` is the one of `wiki_words` whose words its pages are written in.
    """

    file: frozenset[str]
    category: frozenset[str]
    template: frozenset[str]
    wiki: str = WIKI

    @classmethod
    def named(cls, names: Mapping[int, str], wiki: str = WIKI) -> "Namespaces":
        """Take names by number from a dump's siteinfo; English and old names count as well.

        A name that siteinfo has for one namespace belongs to no other.
        """
        told = {number: normal(name) for number, name in names.items()}
        known = words_of(wiki).names

        def named(number: int) -> frozenset[str]:
            others = {name for n, name in told.items() if n != number}
            return frozenset({told.get(number, ""), *known[number]} - others - {""})

        return cls(named(FILE), named(CATEGORY), named(TEMPLATE), wiki)

    @property
    def words(self) -> Words:
        """The words of the wiki."""
        return words_of(self.wiki)

    def shows(self, prefix: str) -> bool:
        """Tell whether a link with this prefix shows a file."""
        return normal(prefix) in self.file

    def is_category(self, prefix: str) -> bool:
        """Tell whether a link with this prefix puts the page into a category."""
        return normal(prefix) in self.category

    def hides(self, prefix: str) -> bool:
        """Tell whether a link with this prefix leaves nothing in the running text.

        ASSUME a link with what another wiki calls a file was copied from there and is no text; no
        paper says.
        """
        name = normal(prefix)
        hidden = name == _MEDIA or name in self.file or name in self.category
        return hidden or name in foreign_files() or bool(_LANGUAGE.fullmatch(name))

    def without_prefix(self, text: str) -> str:
        """Call every template by its bare name: `{{Template:Sic}}` becomes `{{Sic}}`."""
        return _template_prefix(self.template).sub("{{", text) if "{{" in text else text


@cache
def _template_prefix(names: frozenset[str]) -> re.Pattern[str]:
    every = "|".join(re.escape(name).replace(r"\ ", "[ _]+") for name in sorted(names))
    return re.compile(rf"\{{\{{[\s_]*(?:{every})[\s_]*:", re.IGNORECASE)


ENGLISH = Namespaces.named({FILE: "File", CATEGORY: "Category"})


def strip_links(text: str, namespaces: Namespaces) -> str:
    """Replace every internal link by its anchor, from the innermost out.

    Pictures go with their captions, categories and language links go altogether, unless a colon
    leads (`[[:Category:Songs]]`). Brackets without their partner stay for the caller to strip.
    """
    if "[[" not in text:
        return text
    shown = partial(_anchor, namespaces)
    for _ in range(MAX_DEPTH):
        text, replaced = _INNERMOST.subn(shown, text)
        if not replaced:
            break
    return text


def strip_external_links(text: str) -> str:
    """Replace `[url label]` by its label and drop `[url]`; an address in the open stays."""
    return _EXTERNAL.sub(_label, text) if "[" in text else text


def categories(text: str, namespaces: Namespaces) -> list[str]:
    """List the categories of reduced wikitext in page order, each once, without sort keys."""
    found: dict[str, None] = {}
    for match in _INNERMOST.finditer(text):
        prefix, colon, rest = match[1].partition(":")
        if colon and namespaces.is_category(prefix):
            found[" ".join(rest.partition("|")[0].replace("_", " ").split())] = None
    found.pop("", None)
    return list(found)


def _anchor(namespaces: Namespaces, link: re.Match[str]) -> str:
    content, rest = link[1], link[2] or ""
    # `[[A|b [c]]]`: the last bracket belongs to the label, as in MediaWiki.
    if rest and content.count("[") > content.count("]"):
        content, rest = content + rest, ""
    target, pipe, label = content.partition("|")
    prefix, colon, _ = target.partition(":")
    if colon and namespaces.hides(prefix):
        return rest
    target = target.strip().removeprefix(":")
    if not pipe:
        return target + rest
    return (label if label.strip() else _QUALIFIER.sub("", target.rpartition(":")[2])) + rest


def _label(link: re.Match[str]) -> str:
    return link[1].strip()


_HEAD_LIMIT_BYTES = 16 << 20
_END = b"</siteinfo>"
_NAMESPACE_URI = re.compile(r"^\{[^}]*\}")
_REMEDY = "give a MediaWiki export such as enwiki-20221101-pages-articles-multistream.xml.bz2"


@dataclass(frozen=True)
class Site:
    """What a page's record takes from the dump's head.

    `wiki` is the name of its database with `-` for `_`, or else of its host; `has_words` tells
    whether the words that it is read with (`namespaces.wiki`) are its own, or only the nearest.
    """

    base_url: str
    language: str
    namespaces: Namespaces
    prefixes: frozenset[str]
    wiki: str
    has_words: bool

    @property
    def words(self) -> str | None:
        """The wiki of `wiki_words` that has its own words, or None."""
        return self.namespaces.wiki if self.has_words else None

    @classmethod
    def of(cls, base_url: str, language: str, names: Mapping[int, str], database: str) -> "Site":
        """Make a site of the names of its namespaces, by number, with its wiki's own words."""
        wiki = wiki_name(database, base_url)
        words, has_words = words_for(wiki, language)
        own = Namespaces.named(names, words)
        told = {name.lower() for number, name in names.items() if number and name}
        prefixes = frozenset(told) | own.file | own.category | own.template
        return cls(base_url, language, own, prefixes, wiki, has_words)


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
def known_site(language: str, base_url: str, database: str = "") -> Site:
    """Return the site of the Wikipedia of a language, for snapshots that don't tell namespaces.

    `base_url` ends where titles begin. The names are those that `mwparserfromhtml` keeps of all
    Wikipedias; a language that has none is taken for English, whose names count everywhere.
    File, Template and Category have those of `wiki_words` too.
    """
    names = {number: name for name, number in NAMESPACES.get(language, NAMESPACES["en"]).items()}
    every = {*NAMESPACES.get(language, ()), *NAMESPACES["en"]}
    site = Site.of(base_url, language, names, database)
    return replace(site, prefixes=site.prefixes | {name.lower() for name in every})


def _site(path: Path, root: ET.Element) -> Site:
    for element in root.iter():
        element.tag = _NAMESPACE_URI.sub("", element.tag)
    base = root.findtext("siteinfo/base", "")
    if "/" not in base:
        raise CorruptFile(path, f"<base> is {base!r}, not an address", _REMEDY)
    names = {int(n.get("key", "0")): n.text or "" for n in root.iter("namespace")}
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    database = root.findtext("siteinfo/dbname", "").strip()
    return Site.of(base.rpartition("/")[0] + "/", language, names, database)
