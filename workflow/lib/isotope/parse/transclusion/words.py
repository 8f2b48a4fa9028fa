"""Templates that are known by hand, where no dump says what they show.

ASSUME these templates carry words of the sentence and others carry none; no paper says: AToMiC
parses the dump (section 4.2) without naming templates.
"""

from collections.abc import Callable
from functools import lru_cache

from isotope.parse.transclusion.arguments import (
    CURRENCIES,
    Arguments,
    biography,
    centuries,
    century,
    date_of,
    quantity,
)
from isotope.parse.transclusion.convert import converted
from isotope.parse.transclusion.functions import FUNCTIONS, english

Rule = Callable[[Arguments], str]


def _named(phrases: str, read: Rule) -> dict[str, Rule]:
    return dict.fromkeys((name.strip() for name in phrases.split(",")), read)


_SHIPS = "uss,hms,ss,rms,hmas,hmcs,usns,ins,rfa,mv,ms,hmnzs,jds,rov,usrc,uscgc,css,smu,gts,mt,psns"
_RULES: dict[str, Rule] = {
    **_named(
        "nowrap,nobr,small,smaller,smalldiv,big,larger,resize,abbr,tooltip,sic,bold,em,strong,italic"
        ",smallcaps,small caps,sc,caps,center,centre,block indent,bi,bq,blockquote,quote,cquote"
        ",quotation,quote box,visible anchor,vanchor,ill,interlanguage link,mvar,math,proper name"
        ",not a typo,underline,u,sup,sub,su,mono,monospace,code,kbd,samp,var,nts,ntsh,formatnum,num"
        ",number,keypress,key press,ruby,angbr,flag,flagcountry,poem,nobold,normal,strikethrough"
        ",uc,lc,ucfirst,lcfirst,linktext,chem2,nihongo2,ndashed,plainlist,flatlist,notelist text"
        ",sfn text,pull quote,verse translation,poemquote,quote without source,lit"
        ",literal translation,citation bloc,début citation,petit,terme défini,abréviation,abr"
        ",exposant,exp,ind,souligner,lien,japonais sans,guillemets,nombre,nb,nobr romains,romain",
        Arguments.first,
    ),
    **_named("lang,transl,transliteration,color,colour,font color,sort,langue", Arguments.last),
    "langx": Arguments.second,
    **_named("unbulleted list,ubl,ublist,bulleted list,ordered list,ubil", Arguments.items),
    **_named("hlist,hlist-comma,cslist,comma separated entries", Arguments.inline_items),
    **_named("chem,simplenuclide,nuclide", Arguments.joined),
    **_named("frac,sfrac,fraction,tfrac", Arguments.fraction),
    **_named("convert,cvt", converted),
    "val": quantity,
    **_named("dts,start date,end date,date,film date", date_of),
    **_named(
        "date de naissance,date de décès,date-,date naissance,date décès,date de mort"
        ",date de naissance-,date de décès-",
        date_of,
    ),
    **_named("s,s-,siècle", century),
    **_named("sp,sp-", centuries),
    **_named("unité,unité/2", Arguments.unit),
    **_named("circa,c.,ca.", Arguments.circa),
    **_named("nihongo,nihongo3,korean,zh-gloss", Arguments.gloss),
    **_named(_SHIPS, Arguments.ship),
    "ship": Arguments.any_ship,
    **dict.fromkeys(CURRENCIES, Arguments.money),
    "currency": Arguments.any_money,
    "as of": Arguments.as_of,
    "bio": biography,
}
CONSTANTS = {
    **{"ndash": "\u2013", "en dash": "\u2013", "mdash": "\u2014", "em dash": "\u2014"},
    **dict.fromkeys(("spaced ndash", "snd", "spnd"), " \u2013 "),
    **dict.fromkeys(("spaced mdash", "spaced em dash"), " \u2014 "),
    **dict.fromkeys(("nbsp", "space", "spaces", "thinsp", "hair space"), " "),
    **dict.fromkeys(("·", "dot", "middot"), " · "),
    **{
        "'": "'",
        "'s": "'s",
        "\"'": "\"'",
        "'\"": "'\"",
        "=": "=",
        "!": "|",
        "!!": "||",
        "!-": "|-",
    },
    **{"bull": " • ", "•": " • ", "break": "\n", "br": "\n", "pipe": "|", "...": "…"},
    **{"number sign": "#", "minus": "\u2212", "times": "\u00d7", "pm": "±"},
}


@lru_cache(maxsize=1 << 14)
def rule_of(name: str) -> Rule | None:
    """Return how a template is read that is known by hand, by the name in its call, or None."""
    name = name.strip().replace("_", " ").lower()
    if name in CONSTANTS:
        return lambda _: CONSTANTS[name]
    head, colon, _ = name.partition(":")
    if colon and english(head) in FUNCTIONS:
        return None
    rule = _RULES.get(head)
    return Arguments.first if rule is None and name.startswith("lang-") else rule
