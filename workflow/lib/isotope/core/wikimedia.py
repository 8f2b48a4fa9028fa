"""Wikimedia's wikis: the wiki that a ZIM file holds, and what languages are called there.

`core.titles` has the names of files, `core.uploads` their addresses. A file is one of Wikimedia
Commons or of the wiki itself; `intake.wiki_files` reads the tables that say which.
"""

import re
from functools import cache
from pathlib import Path

from isotope.core.files import zim_metadata

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


@cache
def wiki_of(path: Path) -> tuple[str, str]:
    """Return language and host of the wiki, as the metadata Source, Name or Language tell.

    ASSUME a file that names neither its source nor a project of Wikimedia is one of Wikipedia, in
    its first language; the file does not say.

    Raises:
        MissingFile, CorruptFile: as `open_zim`; metadata that can't be read.
    """
    metadata = zim_metadata(path, ("Source", "Name", "Language"))
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


def two_letters() -> frozenset[str]:
    """Return the codes of ISO 639-1."""
    return frozenset(_TWO_LETTERS.values())


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
