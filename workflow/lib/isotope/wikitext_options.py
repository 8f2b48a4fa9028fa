"""What stands between the bars of a picture's link: its size, place, caption, alternative text.

Format: https://www.mediawiki.org/wiki/Help:Images#Syntax and the `img_*` words of MediaWiki 1.39's
`languages/messages/Messages*.php`.
"""

import re
from dataclasses import dataclass

# ASSUME the words of these languages, beside English ones, which are valid in every wiki.
_FRAMED = (
    "thumb|thumbnail|frame|framed|enframed|mini|miniatur|gerahmt|vignette|cadre|encadré|redresse"
    "|miniaturadeimagen|miniaturaimagen|miniatura|mini|marco|enmarcado|enmarcada|riquadrato|moldura"
    "|commoldura|miniaturadaimagem|mały|ramka|ramkę|obramuj|мини|миниатюра|обрамить|міні|мініатюра"
    "|рамка|サムネイル|フレーム|缩略图|縮圖|有框|تصغير|مصغر|إطار|بإطار|أيقونة|अंगूठाकार|फ़्रेम|फ्रेम|썸네일|섬네일|프레임"
    "|bnahmt|gerahmt|omkaderd|ممان|kichwa"
)
_FRAMELESS = (
    "frameless|rahmenlos|sans_cadre|non_encadré|sinmarco|sinenmarcar|senza_cornice|semmoldura|bez_ramki"
    "|безрамки|フレームなし|無框|无框|لاإطار|بدون|फ़्रेमहीन|फ्रेमहीन|kaderloos"
)
_PLACED = (
    "right|left|center|centre|none|border|baseline|sub|super|sup|top|text-top|middle|bottom|text-bottom"
    "|upright|rechts|links|zentriert|ohne|rand|hochkant|droite|gauche|centré|centre|bordure|néant"
    "|derecha|dcha|der|izquierda|izda|izq|centro|centrado|centrada|centrar|ninguna|no|borde|destra|sinistra"
    "|bordo|direita|dir|esquerda|esq|borda|prawo|lewo|bezpłatne|справа|слева|центр|без|граница"
    "|праворуч|ліворуч|右|左|中央|なし|境界|居中|置中|无|無|边框|يمين|يسار|مركز|وسط|حدود|بلا|दाएँ|दाएं|बाएँ|बाएं|केंद्र"
    "|오른쪽|왼쪽|가운데|kulia|kushoto|naast"
)
_WORDS = {name: words.split("|") for name, words in (("framed", _FRAMED), ("less", _FRAMELESS))}
_FLAGS = {
    word: name
    for name, words in (*_WORDS.items(), ("placed", _PLACED.split("|")))
    for word in words
}
_SIZE = re.compile(
    r"(\d{1,5})?\s*(?:x\s*(\d{1,5}))?\s*(?:px|пкс|픽셀|像素|بك|عن|ピクセル)(?:px)?", re.IGNORECASE
)
_NAMED = re.compile(
    r"\s*(alt|link|page|class|lang|upright|thumb|thumbnail|thumbtime|start|end|alternativtext"
    r"|verweis|seite|klasse|hochkant|lien|enlace|альт|ссылка|代替文|替代|替代文本|بديل|وصلة)\s*=(.*)",
    re.IGNORECASE | re.DOTALL,
)
_ALT = frozenset(("alt", "alternativtext", "альт", "代替文", "替代", "替代文本", "بديل"))
_OPEN, _CLOSED = ("[[", "{{"), ("]]", "}}")
_BAR = re.compile(r"\[\[|\]\]|\{\{|\}\}|\|")


@dataclass(frozen=True)
class Shown:
    """How a file is shown: wikitext of caption and alternative text, width in px if it is told."""

    caption: str = ""
    alt: str = ""
    width: int | None = None
    is_framed: bool = False


def parts(content: str) -> list[str]:
    """Split at the bars that are not within links or templates."""
    if "|" not in content:
        return [content]
    found, begin, depth = list[str](), 0, 0
    for mark in _BAR.finditer(content):
        if mark[0] in _OPEN:
            depth += 1
        elif mark[0] in _CLOSED:
            depth = max(0, depth - 1)
        elif not depth:
            found.append(content[begin : mark.start()])
            begin = mark.end()
    return [*found, content[begin:]]


def options(given: list[str], *, framed: bool = False) -> Shown:
    """Read the parts after a file's name; of several captions the last one counts, as in MediaWiki.

    The caption of a picture that is neither a thumbnail nor framed is shown to nobody but those who
    can't see it: then it is the alternative text.
    """
    caption, alt, width = "", "", None
    for part in given:
        word = part.strip()
        flag, size, named = _FLAGS.get(word.lower()), _SIZE.fullmatch(word), _NAMED.fullmatch(part)
        if size and (size[1] or size[2]):
            width = int(size[1] or size[2])
        elif named:
            framed |= named[1].lower().startswith("thumb") and not named[1].lower().endswith("time")
            alt = named[2].strip() if named[1].lower() in _ALT else alt
        elif flag:
            framed |= flag == "framed"
        elif word:
            caption = word
    if framed:
        return Shown(caption, alt, width, framed)
    return Shown("", alt or caption, width, framed)
