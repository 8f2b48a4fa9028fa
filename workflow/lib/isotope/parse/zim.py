"""Kiwix ZIM files: the articles of a wiki as HTML, and their pictures.

What is in the pages is mwoffliner's, https://github.com/openzim/mwoffliner. `zim_file` has the
format, `zim_wiki` the wiki.
"""

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow as pa
from lxml.html import HtmlElement

from isotope.core.zim import Page, content_of, damage_named, opened, page_at, page_by, pieces
from isotope.parse.articles import Parsed
from isotope.parse.html_page import enter, tree
from isotope.parse.site import Site, known_site

_EDITIONS = (
    *("wikipedia", "wiktionary", "wikibooks", "wikinews", "wikiquote", "wikisource"),
    *("wikiversity", "wikivoyage"),
)
_WITHOUT_EDITIONS = {
    "mediawiki": "www.mediawiki.org",
    "wikispecies": "species.wikimedia.org",
}
_NAMED = re.compile(r"(?P<project>[a-z]+)_(?P<language>[a-z]{2,}(?:-[a-z]+)*)(?:_|$)")
_SIMPLE = re.compile(r"[a-z]+_en[_-]simple(?:_|$)")
_HOST = re.compile(r"(?:https?:)?(?://)?(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:[:/]|$)")


def _codes(pairs: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in pairs.split())


_TWO_LETTERS = _codes("""
aar:aa abk:ab afr:af aka:ak amh:am ara:ar arg:an asm:as ava:av ave:ae aym:ay aze:az bak:ba
bam:bm bel:be ben:bn bis:bi bod:bo bos:bs bre:br bul:bg cat:ca ces:cs cha:ch che:ce chu:cu
chv:cv cor:kw cos:co cre:cr cym:cy dan:da deu:de div:dv dzo:dz ell:el eng:en epo:eo est:et
eus:eu ewe:ee fao:fo fas:fa fij:fj fin:fi fra:fr fry:fy ful:ff gla:gd gle:ga glg:gl glv:gv
grn:gn guj:gu hat:ht hau:ha hbs:sh heb:he her:hz hin:hi hmo:ho hrv:hr hun:hu hye:hy ibo:ig
ido:io iii:ii iku:iu ile:ie ina:ia ind:id ipk:ik isl:is ita:it jav:jv jpn:ja kal:kl kan:kn
kas:ks kat:ka kau:kr kaz:kk khm:km kik:ki kin:rw kir:ky kom:kv kon:kg kor:ko kua:kj kur:ku
lao:lo lat:la lav:lv lim:li lin:ln lit:lt ltz:lb lub:lu lug:lg mah:mh mal:ml mar:mr mkd:mk
mlg:mg mlt:mt mon:mn mri:mi msa:ms mya:my nau:na nav:nv nbl:nr nde:nd ndo:ng nep:ne nld:nl
nno:nn nob:nb nor:no nya:ny oci:oc oji:oj ori:or orm:om oss:os pan:pa pli:pi pol:pl por:pt
pus:ps que:qu roh:rm ron:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk slv:sl sme:se smo:sm
sna:sn snd:sd som:so sot:st spa:es sqi:sq srd:sc srp:sr ssw:ss sun:su swa:sw swe:sv tah:ty
tam:ta tat:tt tel:te tgk:tg tgl:tl tha:th tir:ti ton:to tsn:tn tso:ts tuk:tk tur:tr twi:tw
uig:ug ukr:uk urd:ur uzb:uz ven:ve vie:vi vol:vo wln:wa wol:wo xho:xh yid:yi yor:yo zha:za
zho:zh zul:zu
""")
# Wikis whose code is another one: ISO 639-2's bibliographic codes, members of macrolanguages, and
# codes that are older than the standard's.
_WIKIS = _codes("""
alb:sq arm:hy baq:eu bur:my chi:zh cze:cs dut:nl fre:fr geo:ka ger:de gre:el ice:is mac:mk mao:mi
may:ms per:fa rum:ro slo:sk tib:bo wel:cy arb:ar azj:az bih:bh cmn:zh ekk:et gug:gn khk:mn kmr:ku
lvs:lv npi:ne ory:or pes:fa plt:mg swh:sw uzn:uz zsm:ms cbk:cbk-zam egl:eml gsw:als lzh:zh-classical
nan:zh-min-nan nob:no rgn:eml rup:roa-rup sgs:bat-smg vro:fiu-vro yue:zh-yue
""")


def wiki_language(code: str) -> str:
    """Return what the wikis of a language are called by, from its code in any part of ISO 639."""
    return _WIKIS.get(code) or _TWO_LETTERS.get(code, code)


@cache
def site_of(path: Path) -> Site:
    """Return the wiki that a file is of, as its metadata Source, Name or Language tell.

    ASSUME a file that names neither its source nor a project of Wikimedia is one of Wikipedia, in
    its first language; the file does not say.

    Raises:
        MissingFile, CorruptFile: as `zim_file.opened`; metadata that can't be read.
    """
    metadata = _metadata(path)
    spoken = wiki_language(metadata.get("Language", "eng").partition(",")[0].strip())
    source = _HOST.match(metadata.get("Source", "").strip().lower())
    if source is None:
        language, host = _by_name(metadata.get("Name", ""), spoken)
    else:
        host = source["host"].replace(".m.", ".", 1)
        edition, _, domain = host.partition(".")
        language = edition if domain.removesuffix(".org") in _EDITIONS else spoken
    return known_site(language, f"https://{host}/wiki/")


def _metadata(path: Path) -> dict[str, str]:
    archive = opened(path)
    with damage_named(path, "its metadata"):
        names = {*archive.metadata_keys} & {"Source", "Name", "Language"}
        return {name: archive.get_metadata(name).decode() for name in names}


def _by_name(name: str, spoken: str) -> tuple[str, str]:
    """Return language and host by a name such as `wikibooks_fr_all`."""
    named = _NAMED.match(name)
    if named is None or named["project"] not in {*_EDITIONS, *_WITHOUT_EDITIONS}:
        return spoken, f"{spoken}.wikipedia.org"
    project, language = named["project"], wiki_language(named["language"])
    if project in _WITHOUT_EDITIONS:
        return spoken, _WITHOUT_EDITIONS[project]
    if language == "mul":
        return language, f"{project}.org"
    language = "simple" if _SIMPLE.match(name) else language
    return language, f"{language}.{project}.org"


ENTRIES = 256
_DIGITS = 15
_ADDRESSES = 1 << 17
_HTML = "text/html"
_REVISION = re.compile(r"(?:/revision/|[?&]oldid=)(\d+)")
_ROOT = re.compile(r"^(?:(?:\.\./)+|/(?:wiki/)?)")


@dataclass(frozen=True)
class Entries:
    """The entries of a file from number `start` to before `stop`, in the order of their paths."""

    path: Path
    start: int
    stop: int


def batches(path: Path, start: int, stop: int) -> Iterator[Entries]:
    """Cut the entries that belong to bytes `start` to `stop` of a file into batches, in order.

    Of a split file, each piece has its own share of the entries, which all come from the first one.

    Raises:
        MissingFile, CorruptFile: as `zim_file.opened`.
    """
    files = pieces(path)
    sizes = [file.stat().st_size for file in files]
    before, size = sum(sizes[: files.index(path)]), sum(sizes)
    count = opened(files[0]).entry_count
    first, last = count * (before + start) // size, count * (before + stop) // size
    for at in range(first, last, ENTRIES):
        yield Entries(files[0], at, min(at + ENTRIES, last))


def parse_entries(batch: Entries) -> tuple[pa.Table, pa.Table, Parsed]:
    """Parse a batch as `dump_pages.parse_batch` does; entries that are no pages don't count.

    Raises:
        CorruptFile: a pointer, type or cluster that is damaged.
    """
    parsed, site = Parsed(batch.path), site_of(batch.path)
    for number in range(batch.start, batch.stop):
        title, page = page_at(batch.path, number)
        if page is None:
            parsed.pages += 1
            parsed.leave_out("redirect", title)
        elif page.kind.startswith(_HTML):
            parsed.pages += 1
            _enter(title, page, site, parsed)
    return parsed.handed_over()


def page_id_of(title: str) -> int:
    """Return the number of a page that tells none: the first 60 bits of its title's MD5.

    ASSUME that no two titles of a wiki meet: among ten million the odds are 1 to 23,000; a ZIM file
    does not say what number a page has.
    """
    digest = hashlib.md5(title.encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_DIGITS], 16)


def titles_by_address(path: Path, page: str) -> Callable[[str], str | None]:
    """Return what turns the links of a page, given by its own path, into titles of pages.

    An address is resolved against the page's, as readers do it, and the entry there has the title;
    a redirect has its own title. Where the file lacks the page, its address is all that tells;
    None where what is linked is no page, such as a picture.

    Raises:
        CorruptFile: a pointer that leads nowhere, by the function that is returned.
    """
    folder = posixpath.dirname(quote(page))

    def title(address: str) -> str | None:
        if not address:
            return None
        at = unquote(_ROOT.sub("", posixpath.normpath(posixpath.join(folder, address)), count=1))
        found, known = _title_at(path, at)
        return known if found else _title_without(at, page)

    return title


@lru_cache(_ADDRESSES)
def _title_at(path: Path, at: str) -> tuple[bool, str | None]:
    """Return whether there is an entry, and its title if it is a page or a redirect to one."""
    found = page_by(path, at)
    if found is None:
        return False, None
    title, page = found
    return True, title if page is None or page.kind.startswith(_HTML) else None


def _title_without(at: str, page: str) -> str:
    """Return the title that an address alone tells, in the manner of the page that links to it."""
    if page.startswith("A/"):
        at = at.removeprefix("A/")
    if page.endswith(".html"):
        at = at.removesuffix(".html")
    return at


def _enter(title: str, page: Page, site: Site, parsed: Parsed) -> None:
    prefix, colon, _ = title.partition(":")
    if page.is_redirected:
        parsed.leave_out("redirect", title, page.title)
    elif colon and prefix.lower() in site.prefixes:
        parsed.leave_out("other_namespace", title)
    else:
        content = content_of(parsed.path, page)
        try:
            root = tree(content)
            page_id, revision_id = _ids(root) if root is not None else (None, None)
            ids = (page_id_of(title) if page_id is None else page_id, revision_id, title)
            enter(parsed, root, ids, site, titles_by_address(parsed.path, page.address))
        except (ValueError, RecursionError) as error:
            raw = content.decode("utf-8", "backslashreplace")
            parsed.leave_out("bad_record", f"{title}: {error}", raw)


def _ids(root: HtmlElement) -> tuple[int | None, int | None]:
    """Return page and revision where Parsoid's head, or mwoffliner's foot, tells them."""
    told = next(iter(root.xpath("//meta[@property='mw:pageId']/@content")), None)
    feet = root.xpath("//body//a[contains(@href, '?oldid=') or contains(@href, '&oldid=')]")
    revision = _REVISION.search(root.get("about", ""))
    if feet and feet[-1].getparent().tag in ("div", "footer"):
        revision = revision or _REVISION.search(feet[-1].get("href", ""))
        feet[-1].getparent().drop_tree()
    return (int(told) if told else None), (int(revision[1]) if revision else None)
