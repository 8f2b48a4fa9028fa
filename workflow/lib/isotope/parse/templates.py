"""Templates of wikitext: all are dropped but those whose arguments are part of the sentence."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from html.entities import html5

_DROPPED = (
    "ref|references|gallery|math|syntaxhighlight|source|timeline|score|imagemap|inputbox|hiero"
    "|categorytree|graph|mapframe|maplink|templatedata|templatestyles|includeonly|indicator"
)
# ASSUME formulas, code listings, scores and galleries are no running text, chemistry is; no paper
# says.
_LITERAL = "nowiki|pre|ce|chem"
# No XML document has it.
GALLERY = "\0"
# What their tags enclose is the page's own where the page itself is shown.
_TRANSPARENT = "noinclude|onlyinclude"
_OPENING = re.compile(
    rf"<(?:(!--)|({_DROPPED}|{_LITERAL})(?:[\s/][^<>]*)?>|/?(?:{_TRANSPARENT})(?:[\s/][^<>]*)?>)",
    re.IGNORECASE,
)
_CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE)
    for name in f"{_DROPPED}|{_LITERAL}".split("|")
} | {
    "!--": re.compile("-->"),
    "ref": re.compile(r"</ref\s*>|<ref(?:\s[^<>]*(?<!/))?>", re.IGNORECASE),
}
_ESCAPES = {ord(char): f"&#{ord(char)};" for char in "&[]{}|'=<>*#:;_!-+"}
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LITERAL_NAMES = frozenset(_LITERAL.split("|"))


def strip_blocks(
    text: str, galleries: list[str] | None = None, references: list[int] | None = None
) -> str:
    """Drop comments and embedded blocks; keep the content of literal ones as character references.

    What galleries hold goes to the list `galleries` if there is one; GALLERY stands in their place.
    The offsets at which references stood, in the text that is returned, go to `references`.

    An opening tag without its closing one is dropped alone. A reference that meets another
    opening `<ref>` first counts as such, so that it can't swallow what lies between. Of what is for
    inclusion elsewhere `<includeonly>` goes, and the tags of `<noinclude>` and `<onlyinclude>`.
    """
    if "<" not in text:
        return text
    pieces: list[str] = []
    unclosed: set[str] = set()
    at = removed = 0
    while opening := _OPENING.search(text, at):
        pieces.append(text[at : opening.start()])
        name = (opening[1] or opening[2] or "").lower()
        content, at = _content(text, opening, name, unclosed)
        stays = ""
        if content and name in _LITERAL_NAMES:
            stays = literal(decode_entities(content))
        elif content and name == "gallery" and galleries is not None:
            stays = GALLERY
            galleries.append(content)
        elif name == "ref" and references is not None:
            references.append(opening.start() - removed)
        pieces.append(stays)
        removed += at - opening.start() - len(stays)
    pieces.append(text[at:])
    return "".join(pieces)


def literal(text: str) -> str:
    """Return wikitext that shows this text, whatever markup it looks like."""
    return text.translate(_ESCAPES)


def decode_entities(text: str) -> str:
    """Replace character references; unlike HTML, wikitext needs their semicolon."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    name = entity[0]
    return html.unescape(name) if name[1] == "#" else html5.get(name[1:], name)


def _content(text: str, opening: re.Match[str], name: str, unclosed: set[str]) -> tuple[str, int]:
    """Return what the block holds, and where the text goes on after it."""
    start = opening.end()
    if not name or name in unclosed or opening[0].endswith("/>"):
        return "", start
    closing = _CLOSING[name].search(text, start)
    if closing is None:
        unclosed.add(name)
        return "", start
    if not closing[0].startswith(("</", "--")):
        return "", start
    return text[start : closing.start()], closing.end()


# MediaWiki itself expands templates no deeper than this ($wgMaxTemplateDepth).
MAX_DEPTH = 40
_INNERMOST = re.compile(r"\{\{((?:[^{}]++|\{(?!\{)|\}(?!\}))*)\}\}")
_PARAMETER = re.compile(r"\{\{\{[^{}|]*+(?:\|([^{}]*+))?\}\}\}")
_ARGUMENT = re.compile(r"\|((?:\[\[[^\[\]]*+\]\]|[^|])*)")
_NAMED = re.compile(r"\s*([\w-]{1,30})\s*=")
_NUMBER = re.compile(r"[\s\d.,/+\u2212-]+")
_MONTHS = "January February March April May June July August September October November December"
_RANGE = re.compile(r"[-\u2013+\u00b1\u00d7x]|to|and|or|by|to\(-\)")


@dataclass(frozen=True)
class _Call:
    """A template as written: its name, and its arguments without markup around them."""

    name: str
    positional: list[str]
    named: dict[str, str]

    def first(self) -> str:
        """Return the first argument, however it is named."""
        if self.positional:
            return self.positional[0]
        return next((self.named[key] for key in ("1", "text", "quote") if key in self.named), "")

    def last(self) -> str:
        """Return the last positional argument: `{{lang|fr|mot}}` reads `mot`."""
        return self.positional[-1] if self.positional else self.named.get("2", "")

    def items(self) -> str:
        """Return one item a line."""
        return "\n".join(self.positional) or self.first()

    def inline_items(self) -> str:
        """Return the items as an enumeration."""
        return ", ".join(self.positional)

    def joined(self) -> str:
        """Return the arguments run together: `{{chem|H|2|O}}` reads `H2O`."""
        return "".join(self.positional)

    def fraction(self) -> str:
        """Return `1/2`, or `3 1/2` for three arguments."""
        whole, parts = self.positional[:-2], self.positional[-2:]
        return " ".join([*whole, "/".join(parts)])

    def quantity(self) -> str:
        """Return a converted or formatted number with the unit it is given in."""
        words = list[str]()
        for word in self.positional:
            words.append(word)
            if not _NUMBER.fullmatch(word) and not _RANGE.fullmatch(word):
                break
        return " ".join([*words, *(self.named[key] for key in ("u", "ul") if key in self.named)])

    def date(self) -> str:
        """Return `3 May 2010` for year, month and day."""
        words = self.positional[:3]
        if len(words) > 1 and re.fullmatch("0?[1-9]|1[0-2]", words[1], re.ASCII):
            words[1] = _MONTHS.split()[int(words[1]) - 1]
        return " ".join(reversed(words))

    def as_of(self) -> str:
        """Return `As of May 2010`."""
        return f"{'as' if 'lc' in self.named else 'As'} of {self.date()}"

    def circa(self) -> str:
        """Return `c. 1900`."""
        return f"c. {self.first()}"

    def gloss(self) -> str:
        """Return `Tokyo Tower (東京タワー, Tōkyō tawā)`."""
        inside = ", ".join(word for word in self.positional[1:3] if word)
        return f"{self.first()} ({inside})" if inside else self.first()

    def ship(self) -> str:
        """Return `USS Enterprise` for `{{USS|Enterprise|CV-6}}`."""
        return f"{self.name.upper()} {self.first()}"


def _named(phrases: str, read: Callable[[_Call], str]) -> dict[str, Callable[[_Call], str]]:
    return dict.fromkeys((name.strip() for name in phrases.split(",")), read)


# ASSUME these templates of the English Wikipedia carry words of the sentence and others carry none;
# no paper says: AToMiC parses the dump (section 4.2) without naming templates.
_TEXT_BEARING: dict[str, Callable[[_Call], str]] = {
    **_named(
        "nowrap,nobr,small,smaller,smalldiv,big,larger,resize,abbr,tooltip,sic,bold,em,strong,italic"
        ",smallcaps,small caps,sc,caps,center,centre,block indent,bi,bq,blockquote,quote,cquote"
        ",quotation,quote box,visible anchor,vanchor,ill,interlanguage link,mvar,math,proper name"
        ",not a typo,underline,u,sup,sub,su,mono,monospace,code,kbd,samp,var,nts,ntsh,formatnum,num"
        ",number,keypress,key press,ruby,angbr,flag,flagcountry,poem,nobold,normal,strikethrough"
        ",uc,lc,ucfirst,lcfirst,linktext,chem2,nihongo2,ndashed,plainlist,flatlist,notelist text"
        ",sfn text,pull quote,verse translation,poemquote,quote without source,lit"
        ",literal translation",
        _Call.first,
    ),
    **_named("lang,transl,transliteration,color,colour,font color,sort", _Call.last),
    **_named("unbulleted list,ubl,ublist,bulleted list,ordered list,ubil", _Call.items),
    **_named("hlist,hlist-comma,cslist,comma separated entries", _Call.inline_items),
    **_named("chem,simplenuclide,nuclide", _Call.joined),
    **_named("frac,sfrac,fraction,tfrac", _Call.fraction),
    **_named("convert,cvt,val", _Call.quantity),
    **_named("dts,start date,end date,date,film date", _Call.date),
    **_named("circa,c.,ca.", _Call.circa),
    **_named("nihongo,nihongo3,korean,zh-gloss", _Call.gloss),
    **_named("uss,hms,ss,rms,hmas,hmcs,usns,ins,rfa,mv,ms", _Call.ship),
    "as of": _Call.as_of,
}
_CONSTANT = {
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


def strip_templates(text: str) -> str:
    """Drop templates from the innermost out, in at most `MAX_DEPTH` linear passes.

    Braces without their partner stay for the caller to strip: they never take text with them.
    """
    if "{{" not in text:
        return text
    if "{{{" in text:
        text = _PARAMETER.sub(_default, text)
    for _ in range(MAX_DEPTH):
        text, replaced = _INNERMOST.subn(_read, text)
        if not replaced:
            break
    return text


def _default(parameter: re.Match[str]) -> str:
    return parameter[1] or ""


def _read(match: re.Match[str]) -> str:
    content = match[1]
    name = content.partition("|")[0].strip().replace("_", " ").lower()
    if name in _CONSTANT:
        return _CONSTANT[name]
    function, colon, _ = name.partition(":")
    read = _TEXT_BEARING.get(function)
    if read is None:
        read = _Call.first if name.startswith(("lang-", "langx")) else None
    if read is None:
        return ""
    if colon:
        return content.partition(":")[2].partition("|")[0]
    text = read(_call(name, content)) if "|" in content else ""
    return text.replace("\n=", "\n&#61;")


def _call(name: str, content: str) -> _Call:
    positional, named = list[str](), dict[str, str]()
    for argument in _ARGUMENT.findall(content):
        key = _NAMED.match(argument)
        if key and key[1] != "1":
            named[key[1]] = argument[key.end() :].strip()
        else:
            positional.append(argument[key.end() if key else 0 :].strip(" \t"))
    return _Call(name, positional, named)
