"""Links of wikitext: the anchor is text, always; pictures, categories, language links are not."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

from isotope.parse.words import Words, foreign_files, normal, words_of

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
