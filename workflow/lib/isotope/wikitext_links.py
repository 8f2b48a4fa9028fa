"""Links of wikitext: the anchor is text, always; pictures, categories, language links are not."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

MAX_DEPTH = 40
FILE, CATEGORY = 6, 14
_INNERMOST = re.compile(r"\[\[((?:[^\[\]]++|\[(?!\[)|\](?!\]))*+)\]\](\](?!\]))?")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftps?|sftp|ircs?|gopher|telnet|nntp|worldwind|svn|git|mms|news|mailto|tel|geo"
    r"|urn|magnet|bitcoin|xmpp|sips?|sms):|//)[^\s\[\]<>]*+"
    r"([^\[\]\n]*+(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+)\]",
    re.IGNORECASE,
)
_MEDIA = "media"
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
_ALIASES = {
    FILE: re.compile(
        r"file|image|datei|bild|archivo|imagen|fichier|immagine|imagem|ficheiro|arquivo"
        r"|bestand|afbeelding|plik|grafika|файл|изображение|ファイル|画像|文件|檔案|图像|圖像|파일|그림"
        r"|tập tin|hình|fil|fitxer|imatge|fitxategi|irudi|soubor|súbor|obrázok|berkas|gambar"
        r"|dosya|resim|tiedosto|kuva|billede|bilde|mynd|fájl|kép|datoteka|slika|датотека|слика"
        r"|картинка|зображення|выява|сурет|fișier|imagine|vaizdas|attēls|pilt|imaxe"
        r"|dosiero|fail|imej|fasciculus|imago|αρχείο|εικόνα|պատկեր|ფაილი|სურათი|ملف|صورة|پرونده|تصویر|فائل|קובץ|תמונה|चित्र|छवि"
        r"|চিত্র|படிமம்|దస్త్రం|బొమ్మ|പ്രമാണം|ചിത്രം|ਤਸਵੀਰ|ચિત્ર|ಚಿತ್ರ|ගොනුව|රූපය|ไฟล์|ภาพ|picha|faili"
        r"|lêer|beeld|delwedd|íomhá|şəkil|tasvir"
    ),
    CATEGORY: re.compile(
        r"category|kategorie|categoría|catégorie|categoria|categorie|kategoria|kategori|категория"
        r"|カテゴリ|分类|分類|분류|thể loại|luokka"
    ),
}
# ASSUME the codes of Wikipedias that existed in 2023; a link to one of them is a language link.
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
    """The names, lower case, that make a link a picture or a category in one wiki."""

    file: str
    category: str

    @classmethod
    def named(cls, names: Mapping[int, str]) -> "Namespaces":
        """Take names by number from a dump's siteinfo; English and old names count as well."""
        return cls(_normal(names.get(FILE, "")), _normal(names.get(CATEGORY, "")))

    def shows(self, prefix: str) -> bool:
        """Tell whether a link with this prefix shows a file."""
        name = _normal(prefix)
        return name == self.file != "" or bool(_ALIASES[FILE].fullmatch(name))

    def is_category(self, prefix: str) -> bool:
        """Tell whether a link with this prefix puts the page into a category."""
        name = _normal(prefix)
        return name == self.category != "" or bool(_ALIASES[CATEGORY].fullmatch(name))

    def hides(self, prefix: str) -> bool:
        """Tell whether a link with this prefix leaves nothing in the running text."""
        name = _normal(prefix)
        hidden = name == _MEDIA or self.shows(name) or self.is_category(name)
        return hidden or bool(_LANGUAGE.fullmatch(name))


def _normal(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).lower()


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
