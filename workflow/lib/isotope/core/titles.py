"""Titles of pages and names of files, in the one form in which MediaWiki keeps them.

A link may spell a title in many ways: with percent signs, character references, underscores, marks
of writing direction, another first letter. Every spelling of one title has one form here. Source:
`Title::newFromText`, `TitleParser::splitTitleString`, `Language::ucfirst` of MediaWiki 1.44, and
`UcfirstOverrides.php` of Wikimedia's configuration.
"""

import re
import unicodedata
from dataclasses import dataclass
from html.entities import html5
from urllib.parse import unquote

ARTICLES, FILES, CATEGORIES = 0, 6, 14
# Two names are MediaWiki's own (`Sanitizer::MW_ENTITY_ALIASES`): a mark of writing direction.
_RIGHT_TO_LEFT = ("רלמ", "رلم")
_ENTITY = re.compile(
    rf"&(?:#[0-9]{{1,20}}|#[xX][0-9a-fA-F]{{1,20}}|[A-Za-z][A-Za-z0-9]{{1,31}}"
    rf"|{'|'.join(_RIGHT_TO_LEFT)});"
)
# `Sanitizer::validateCodepoint`.
_SHOWN = ((0x9, 0xA), (0x20, 0x7E), (0xA0, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_DIRECTIONS = re.compile("[\u200e\u200f\u202a-\u202e]+")
# A space of MediaWiki's that is none of Python's.
_VOWEL_SEPARATOR = "\u180e"
_SUSPECT = re.compile(r"[\x00-\x1f\x7f<>\[\]{}|\ufffd%&~]|\.(?=/|$)")
_ILLEGAL = re.compile(
    r"[\x00-\x1f\x7f<>\[\]{}|\ufffd]|%[0-9A-Fa-f]{2}|&[A-Za-z0-9\x80-\U0010ffff]+;|~~~"
    r"|(?:^|/)\.{1,2}(?:/|$)"
)
# A title may have so many bytes, and a letter at most so many.
_LONGEST, _BYTES = 255, 4
# Unicode's title case of these is a letter of its own.
_PAIRS = {"ǆ": "Ǆ", "ǉ": "Ǉ", "ǌ": "Ǌ", "ǳ": "Ǳ"}
# Of the scripts whose capitals are younger than Wikimedia's table of letters.
_YOUNG = re.compile("[\ua7b9\U00016e60-\U00016e7f]")
_DOTTED = {"i": "\u0130"}
_TURKIC = {"tr": {**_DOTTED, "\u0131": "I"}, "az": _DOTTED, "kaa": _DOTTED}


@dataclass(frozen=True)
class Capitals:
    """How a wiki writes the first letters of its titles.

    `language` is that of the wiki; `case_sensitive` are the numbers of the namespaces whose titles
    keep the letter that they were written with.
    """

    language: str = ""
    case_sensitive: frozenset[int] = frozenset()

    def title(self, text: str, namespace: int = ARTICLES) -> str:
        """Return a title without its namespace as its page has it, of one that needs no decoding.

        >>> Capitals().title("a_ b")
        'A b'
        """
        return self.begun(spaced(text), namespace)

    def begun(self, text: str, namespace: int = ARTICLES) -> str:
        """Return a title with its first letter, of one that is right but for that."""
        return text if namespace in self.case_sensitive else with_capital(text, self.language)

    def target(self, text: str, namespace: int = ARTICLES) -> str:
        """Return the title that a link's target names; empty where it can be none of any page.

        >>> Capitals().target(":caf%C3%A9&nbsp;noir#Menu")
        'Café noir'
        """
        text = self.begun(spaced(decoded(text)).removeprefix(":").lstrip(), namespace)
        return text if is_title(text) else ""


USUAL_CAPITALS = Capitals()


def file_name(name: str, language: str = "") -> str:
    """Return a file's name as its page has it, of one that needs no decoding.

    A capital comes first in every wiki: Commons writes them so, and asks so for the files of wikis
    that don't (`FileRepo::getNameFromTitle`).
    ASSUME the own uploads of wikis without capitals, which are few, are written so too; no dump
    says.
    """
    return with_capital(spaced(name), language)


def decoded(target: str) -> str:
    """Return what a link's target says: without escapes, character references and fragment.

    Bytes that are no UTF-8 keep their escapes.
    """
    if "%" in target:
        target = _ESCAPES.sub(_unescaped, target)
    if "&" in target:
        target = _ENTITY.sub(_character_of_title, target)
    return target.partition("#")[0] if "#" in target else target


def prefixed(target: str) -> tuple[str, str, str]:
    """Return the prefix, the colon and the rest of what a link's target says."""
    return (decoded(target) if "%" in target or "&" in target else target).partition(":")


def decode_entities(text: str) -> str:
    """Replace character references; unlike HTML, wikitext needs their semicolon.

    One of a character that no page may have stays as it is written.
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def spaced(text: str) -> str:
    """Return a title with single spaces, in Unicode's NFC, without marks of writing direction."""
    if not text.isascii():
        text = _DIRECTIONS.sub("", text).replace(_VOWEL_SEPARATOR, " ")
        text = unicodedata.normalize("NFC", text)
    if "_" in text:
        text = text.replace("_", " ")
    return " ".join(text.split())


def is_title(text: str) -> bool:
    """Tell whether a page may have this title, without its namespace."""
    if not text or text[0] == ":" or (_SUSPECT.search(text) and _ILLEGAL.search(text)):
        return False
    return len(text) * _BYTES <= _LONGEST or len(text.encode("utf-8", "replace")) <= _LONGEST


def with_capital(text: str, language: str = "") -> str:
    """Return a title whose first letter is as MediaWiki writes it in a wiki of this language.

    Only a lower-case letter with one capital changes: `ß`, `ⅳ` and Georgian letters stay.

    >>> with_capital("საქართველო"), with_capital("istanbul", "tr")
    ('საქართველო', 'İstanbul')
    """
    letter = text[:1]
    if "A" <= letter <= "Z":
        return text
    capital = _TURKIC[language].get(letter) if language in _TURKIC else None
    if capital is None:
        capital = letter.upper() if letter.isascii() else _capital(letter)
    return capital + text[1:] if capital != letter else text


def _capital(letter: str) -> str:
    if unicodedata.category(letter) != "Ll" or _YOUNG.match(letter):
        return letter
    capital = _PAIRS.get(letter) or letter.title()
    return capital if len(capital) == 1 else letter


def _unescaped(escapes: re.Match[str]) -> str:
    try:
        return unquote(escapes[0], errors="strict")
    except UnicodeDecodeError:
        return escapes[0]


def _character(entity: re.Match[str]) -> str:
    name = entity[0][1:-1]
    if name in _RIGHT_TO_LEFT:
        return "\u200f"
    if name[0] != "#":
        return html5.get(f"{name};", entity[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if any(low <= code <= high for low, high in _SHOWN) else entity[0]


def _character_of_title(entity: re.Match[str]) -> str:
    """Return what no title may have (U+FFFD) for a number that is no character's."""
    character = _character(entity)
    return "\ufffd" if character == entity[0] and character[1] == "#" else character
