"""Kiwix ZIM files as archives: whole or in pieces, opened once, damage named.

Format: https://wiki.openzim.org/wiki/ZIM_file_format, and .../wiki/ZIM_split_files for `x.zimaa`,
`x.zimab` and so on, which libzim reads as one file where they lie side by side.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from libzim.reader import Archive, Entry

from isotope.core.errors import CorruptFile, MissingFile

_NAME = re.compile(r"(?P<whole>.+\.zim)(?P<piece>[a-z]{2})?")
_WHOLE = "give a whole ZIM file of a wiki, such as wikipedia_en_all_maxi_2024-01.zim"
_REFETCH = "fetch the file again, and compare its checksum with the published one"
_DAMAGES = (RuntimeError, LookupError, UnicodeDecodeError, OverflowError, MemoryError, SystemError)
_LONGEST_CHAIN = 50


@dataclass(frozen=True)
class Page:
    """What an entry holds: a page, a picture or anything else of this MIME type.

    `address` is its path in the file; `is_redirected` if a redirect was followed.
    """

    entry: Entry
    address: str
    title: str
    kind: str
    is_redirected: bool


def is_zim(path: Path) -> bool:
    """Tell whether a file is a ZIM file, or a piece of one, by its name."""
    return _NAME.fullmatch(path.name) is not None


def pieces(path: Path) -> list[Path]:
    """Return the files that a ZIM file is split into, in order; the file itself if it is whole.

    Raises:
        MissingFile: a piece before another one that is there.
    """
    named = _NAME.fullmatch(path.name)
    if named is None or named["piece"] is None:
        return [path]
    found = sorted(p for p in path.parent.iterdir() if _is_piece(p, named["whole"]))
    for number, piece in enumerate(found):
        wanted = path.with_name(f"{named['whole']}{_letters(number)}")
        if piece != wanted:
            remedy = "name all pieces of the file, x.zimaa, x.zimab and so on, in one part"
            raise MissingFile(wanted, f"no such piece, but there is {piece.name}", remedy)
    return found


@cache
def opened(path: Path) -> Archive:
    """Open a file by its name or that of any of its pieces, once a process.

    Raises:
        MissingFile: a piece that is not there.
        CorruptFile: no ZIM file, or not all of it.
    """
    parts = pieces(path)
    try:
        return Archive(parts[0])
    except _DAMAGES as error:
        split = f"add the pieces that come after {parts[-1].name}, or join them to a .zim file"
        remedy = split if parts[0].suffix != ".zim" else _WHOLE
        raise CorruptFile(path, f"it can't be opened ({error})", remedy) from error


@contextmanager
def damage_named(path: Path, what: str) -> Generator[None, None, None]:
    """Turn what libzim says of broken pointers, types and clusters into one named error.

    Raises:
        CorruptFile: with the file, and `what` was read.
    """
    try:
        yield
    except _DAMAGES as error:
        raise CorruptFile(path, f"{what} can't be read ({error})", _REFETCH) from error


def page_at(path: Path, number: int) -> tuple[str, Page | None]:
    """Return the title of an entry, by its number in the order of paths, and its page.

    A redirect has the page that it leads to, or none where redirects form a circle.

    Raises:
        CorruptFile: a pointer, name or type that can't be read.
    """
    with damage_named(path, f"entry {number}"):
        entry = opened(path)._get_entry_by_id(number)
        return _title(entry), _page(entry)


def page_by(path: Path, address: str) -> tuple[str, Page | None] | None:
    """Return the title of an entry and its page, by its path; None if there is no such entry.

    Raises:
        CorruptFile: as `page_at`.
    """
    archive = opened(path)
    with damage_named(path, f"entry {address!r}"):
        if not archive.has_entry_by_path(address):
            return None
        entry = archive.get_entry_by_path(address)
        return _title(entry), _page(entry)


def content_of(path: Path, page: Page) -> bytes:
    """Return the bytes of a page or picture.

    Raises:
        CorruptFile: a cluster that is not where its pointer leads, or can't be unpacked.
    """
    with damage_named(path, f"entry {page.address!r}"):
        return bytes(page.entry.get_item().content)


def _page(entry: Entry) -> Page | None:
    is_redirect = entry.is_redirect
    for _ in range(_LONGEST_CHAIN):
        if not entry.is_redirect:
            kind = entry.get_item().mimetype
            return Page(entry, entry.path, _title(entry), kind, is_redirect)
        entry = entry.get_redirect_entry()
    return None


def _title(entry: Entry) -> str:
    title = entry.title
    # An entry without a title of its own is called by its address.
    if entry.path == f"A/{title}":
        title = title.removesuffix(".html")
    return title.replace("_", " ")


def _is_piece(path: Path, whole: str) -> bool:
    named = _NAME.fullmatch(path.name)
    return named is not None and named["whole"] == whole and named["piece"] is not None


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + n) for n in divmod(number, 26))


_EDITIONS = (
    *("wikipedia", "wiktionary", "wikibooks", "wikinews", "wikiquote", "wikisource"),
    *("wikiversity", "wikivoyage"),
)
_WITHOUT_EDITIONS = {
    "mediawiki": "www.mediawiki.org",
    "wikispecies": "species.wikimedia.org",
}
_WIKI_NAMED = re.compile(r"(?P<project>[a-z]+)_(?P<language>[a-z]{2,}(?:-[a-z]+)*)(?:_|$)")
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


@cache
def wiki_of(path: Path) -> tuple[str, str]:
    """Return language and host of the wiki, as the metadata Source, Name or Language tell.

    ASSUME a file that names neither its source nor a project of Wikimedia is one of Wikipedia, in
    its first language; the file does not say.

    Raises:
        MissingFile, CorruptFile: as `opened`; metadata that can't be read.
    """
    metadata = _metadata(path)
    spoken = wiki_language(metadata.get("Language", "eng").partition(",")[0].strip())
    source = _HOST.match(metadata.get("Source", "").strip().lower())
    if source is None:
        return _by_name(metadata.get("Name", ""), spoken)
    host = source["host"].replace(".m.", ".", 1)
    edition, _, domain = host.partition(".")
    return (edition if domain.removesuffix(".org") in _EDITIONS else spoken), host


def wiki_language(code: str) -> str:
    """Return what the wikis of a language are called by, from its code in any part of ISO 639."""
    return _WIKIS.get(code) or _TWO_LETTERS.get(code, code)


def _metadata(path: Path) -> dict[str, str]:
    archive = opened(path)
    with damage_named(path, "its metadata"):
        names = {*archive.metadata_keys} & {"Source", "Name", "Language"}
        return {name: archive.get_metadata(name).decode() for name in names}


def _by_name(name: str, spoken: str) -> tuple[str, str]:
    """Return language and host by a name such as `wikibooks_fr_all`."""
    named = _WIKI_NAMED.match(name)
    if named is None or named["project"] not in {*_EDITIONS, *_WITHOUT_EDITIONS}:
        return spoken, f"{spoken}.wikipedia.org"
    project, language = named["project"], wiki_language(named["language"])
    if project in _WITHOUT_EDITIONS:
        return spoken, _WITHOUT_EDITIONS[project]
    if language == "mul":
        return language, f"{project}.org"
    language = "simple" if _SIMPLE.match(name) else language
    return language, f"{language}.{project}.org"
