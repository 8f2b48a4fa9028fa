"""What a language is called: one code of many, that of its Wikipedia.

A language has a code in each part of ISO 639, older ones, those of its script and country, and
the one that its wikis have, which is often another. WIT calls Hebrew `iw`, Filipino `fil`, and
Punjabi `lah`; their wikis are `he`, `tl` and `pnb`. Every comparison of languages goes through
`wiki_language`, in SQL by the macros of `core.sql`. Sources: https://www.loc.gov/standards/iso639-2/,
https://iso639-3.sil.org, `LanguageCode::DEPRECATED_LANGUAGE_CODE_MAPPING` of MediaWiki, and
https://meta.wikimedia.org/wiki/Special_language_codes.
"""

from functools import cache, lru_cache

from isotope.core.schemas import SEVERAL


@lru_cache(4096)
def wiki_language(code: str) -> str:
    """Return the code of the Wikipedia in a language, of any code of the language.

    The code of a script or a country goes unless a Wikipedia is called so; a code that nobody
    knows is returned in lower case.

    >>> [wiki_language(code) for code in ("iw", "heb", "zh-TW", "zh-yue", "sr_Latn")]
    ['he', 'he', 'zh', 'zh-yue', 'sr']
    """
    code = code.strip().lower().replace("_", "-")
    if code not in _ALIASES and code not in WIKIPEDIAS:
        code = code.partition("-")[0]
    return _ALIASES.get(code, code)


def is_spoken(spoken: str, chosen: str) -> bool:
    """Tell whether two codes are of one language; SEVERAL, as the chosen one, is all."""
    return chosen == SEVERAL or wiki_language(spoken) == wiki_language(chosen)


def spellings(code: str) -> list[str]:
    """Return all codes of a language without script and country, that of its Wikipedia first."""
    wiki = wiki_language(code)
    return [wiki, *(alias for alias, name in _ALIASES.items() if name == wiki)]


def is_language(name: str) -> bool:
    """Tell whether a link with this prefix, in lower case, leads to the Wikipedia of a language."""
    return name in WIKIPEDIAS


def two_letters() -> frozenset[str]:
    """Return the codes of ISO 639-1."""
    return frozenset(_TWO_LETTERS.values())


@cache
def wiki_codes() -> dict[str, str]:
    """Return what `wiki_language` returns of each code that is not cut at its first hyphen."""
    return {**{code: code for code in WIKIPEDIAS if "-" in code}, **_ALIASES}


@cache
def codes_by_wiki() -> dict[str, list[str]]:
    """Return the `spellings` of each language that has several."""
    return {wiki: spellings(wiki) for wiki in sorted({*_ALIASES.values()})}


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
# Wikis whose code is another one: ISO 639-2's bibliographic codes, members of macrolanguages, codes
# that are older than the standard's or are in use instead of it, and WIT's.
_WIKIS = _codes("""
alb:sq arm:hy baq:eu bur:my chi:zh cze:cs dut:nl fre:fr geo:ka ger:de gre:el ice:is mac:mk mao:mi
may:ms per:fa rum:ro slo:sk tib:bo wel:cy arb:ar azj:az bih:bh cmn:zh ekk:et gug:gn khk:mn kmr:ku
lvs:lv npi:ne ory:or pes:fa plt:mg swh:sw uzn:uz zsm:ms cbk:cbk-zam egl:eml gsw:als lzh:zh-classical
nan:zh-min-nan nob:no rgn:eml rup:roa-rup sgs:bat-smg vro:fiu-vro yue:zh-yue
iw:he in:id ji:yi jw:jv mo:ro nb:no fil:tl lah:pnb be-x-old:be-tarask zh-tw:zh zh-cn:zh dk:da jp:ja
cz:cs
""")
# ASSUME the codes of Wikipedias that existed in 2023, a link to one of which is a language link; a
# dump does not say.
_WIKIPEDIAS = """
aa ab ace ady af ak als alt am ami an ang anp ar arc ary arz as ast atj av avk awa ay az azb ba
ban bar bat-smg bcl be be-tarask be-x-old bg bh bi bjn blk bm bn bo bpy br bs bug bxr ca cbk-zam
cdo ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de din diq dk dsb dty dv dz ee el
eml en eo es et eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk
gn gom gor got gpe gu guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia id ie ig
igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg ki kj kk kl km kn ko koi
kr krc ks ksh ku kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv lzh mad
mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mr mrj ms mt mus mwl my myv mzn na nah nan
nap nds nds-nl ne new ng nia nl nn no nov nqo nrm nso nv ny oc olo om or os pa pag pam pap pcd
pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara ru rue rw sa sah
sat sc scn sco sd se sg sh shi shn si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw
szl szy ta tay tcy te tet tg th ti tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur
uz ve vec vep vi vls vo wa war wo wuu xal xh xmf yi yo yue za zea zh zh-classical zh-min-nan
zh-tw zh-yue zu
"""
WIKIPEDIAS = frozenset(_WIKIPEDIAS.split())
# Of codes that are the names of other wikis too, the wiki counts: `als` is Alemannic.
_ALIASES = {code: wiki for code, wiki in {**_TWO_LETTERS, **_WIKIS}.items() if code != wiki}


# ASSUME what these Wikipedias' own pages on layout call the lead; AToMiC is English and does not
# say: its published texts call it Introduction, and so do we in every other language.
_LEADS = {
    **{"ar": "مقدمة", "bn": "ভূমিকা", "ca": "Introducció", "cs": "Úvod", "da": "Indledning"},
    **{"de": "Einleitung", "el": "Εισαγωγή", "es": "Introducción", "fa": "مقدمه", "fi": "Johdanto"},
    **{"he": "מבוא", "hi": "परिचय", "hu": "Bevezető", "id": "Pendahuluan", "it": "Introduzione"},
    **{"ja": "導入部", "ko": "도입부", "nl": "Inleiding", "no": "Innledning", "pl": "Wstęp"},
    **{"pt": "Introdução", "ro": "Introducere", "ru": "Введение", "sv": "Inledning"},
    **{"sw": "Utangulizi", "ta": "அறிமுகம்", "te": "పరిచయం", "th": "บทนำ", "tr": "Giriş"},
    **{"uk": "Вступ", "vi": "Giới thiệu", "zh": "序言"},
}


def lead_title(language: str) -> str:
    """Return the name of the lead section in a wiki of this language code."""
    usual = _LEADS.get(language.partition("-")[0], "Introduction")
    return _LEADS.get(wiki_language(language), usual)
