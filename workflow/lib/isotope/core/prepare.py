"""How BM25's words are prepared: as AToMiC's authors prepared them, or not at all.

Their converter (TREC-AToMiC/AToMiC, examples/bm25_en_caption, of 2023) takes each field of a text
and each caption through eight functions of textacy 0.12, joins what is left, and keeps the first
1,024 words. textacy had its last release in 2023 and needs spaCy, so `prepared` does here what
those functions do; files of facts (tests/golden/textacy.*) hold it to their outputs.

What the words of a text are is decided by white space at the end, so none is normalised before,
but where it decides what a bullet is. Tags and character references are read by Python's own
parser, by which textacy reads them, and what it holds back at the end of a text is lost here too:
an open `<`, or all since the last tag where the text ends in such as `AT&T`.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser

ATOMIC, NONE = "atomic", "none"
# The order in which the converter joins the fields of a text: that of the published columns.
ORDER = (
    "page_title",
    "section_title",
    "context_page_description",
    "context_section_description",
    "hierarchy",
)
MOST_WORDS = 1_024
_HASHTAG, _URL = "_TAG_", "_URL_"
_INVISIBLE = "\u200b\u2060\ufeff"
_QUOTES = {"\u02bc": "'", "\u2018": "'", "\u2019": "'", "\u00b4": "'", "\u201c": '"', "\u201d": '"'}
_BULLETS = "\u2022\u2023\u2043\u204c\u204d\u2219\u25aa\u25cf\u25e6\u29be\u29bf\u30fb"
# The first of a line.
_BULLET = re.compile(rf"((?:^|[\n\v])[^\S\n\v]*)[{_BULLETS}]")
# The number sign, and that of full width.
_SIGNS = "#\uff03"
_TAG = re.compile(rf"(?<![\w{_SIGNS}.])[{_SIGNS}](?!\d)\w+")
# No bracket of the kind inside, so nested ones lose the inner pair alone.
_BRACKETS = {"{": r"\{[^{}]*\}", "[": r"\[[^\[\]]*\]", "(": r"\([^()]*\)"}
_IN_BRACKETS = {mark: re.compile(pattern) for mark, pattern in _BRACKETS.items()}
# Past this, what stands without white space is no address, and looking for one would take long.
_LONGEST = 4_096
_LETTER = "[a-z0-9\u00a1-\uffff]"
_LABEL = rf"{_LETTER}(?:-?{_LETTER})*"
# The address of an Internet protocol but for private and reserved ones.
_OCTET = r"(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5]))"
_IP = (
    r"(?!(?:10|127)(?:\.\d{1,3}){3})"
    r"(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})"
    r"(?!172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})"
    rf"(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3]){_OCTET}{{2}}(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))"
)
_HOST = rf"{_LABEL}(?:\.{_LABEL})*\.[a-z\u00a1-\uffff]{{2,}}"
_STARTS, _ENDS = r"(?<![\w/.])", r"(?![\w?!+&/])"
_ADDRESS = re.compile(
    rf"{_STARTS}(?:https?://|ftp://|www\d{{0,3}}\.)(?:\S+@)?(?:{_IP}|{_HOST})"
    rf"(?::\d{{2,5}})?(?:/\S*)?{_ENDS}",
    re.IGNORECASE,
)
_SHORT_ADDRESS = re.compile(
    rf"{_STARTS}(?:https?://)?\w+(?:-\w+)*(?:\.[a-z]{{2,12}}){{1,3}}/[^\s.,?!'\"|+]{{2,12}}{_ENDS}",
    re.IGNORECASE,
)


def in_order(fields: Iterable[str], prepare: str) -> Sequence[str]:
    """Return the fields in the order in which they are joined: the converter's, or as named."""
    return sorted(fields, key=ORDER.index) if prepare == ATOMIC else [*fields]


def joined(parts: Iterable[str], prepare: str) -> str:
    """Return what BM25 reads of some fields or captions: as `prepared`, or joined by spaces."""
    return prepared(parts) if prepare == ATOMIC else " ".join(filter(None, map(str.strip, parts)))


def prepared(parts: Iterable[str]) -> str:
    """Return the first 1,024 words of fields or captions, each cleaned by itself.

    Tags go, characters are composed (NFC) and invisible spaces go, bullets become `-` and curly
    quotation marks straight ones, hashtags `_TAG_`; what stands in brackets goes, and addresses of
    the web become `_URL_`.
    """
    words = list[str]()
    for part in parts:
        words += _cleaned(part)
        if len(words) >= MOST_WORDS:
            break
    return " ".join(words[:MOST_WORDS])


def _cleaned(text: str) -> list[str]:
    """Return the words of a text."""
    if "<" in text or "&" in text:
        text = _without_tags(text)
    if not text.isascii():
        text = _composed(text)
    text = text.replace("`", "'")
    if any(sign in text for sign in _SIGNS):
        text = _TAG.sub(_HASHTAG, text)
    for mark, pattern in _IN_BRACKETS.items():
        if mark in text:
            text = pattern.sub("", text)
    words = text.split()
    if "/" in text or "www" in text.lower():
        words = [_without_address(word) if "." in word else word for word in words]
    return words


class _Data(HTMLParser):
    """What is no tag, comment or declaration, with character references resolved."""

    def __init__(self) -> None:
        super().__init__()
        self.data = list[str]()

    def handle_data(self, data: str) -> None:
        self.data.append(data)


def _without_tags(text: str) -> str:
    # Never closed, as textacy does not close it: what the parser holds back is lost.
    parser = _Data()
    try:
        parser.feed(text)
    except AssertionError:  # A `<![` that older Pythons do not understand.
        return text
    return "".join(parser.data)


def _composed(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    for mark in _INVISIBLE:
        text = text.replace(mark, "")
    if any(mark in text for mark in _BULLETS):
        text = _BULLET.sub(r"\1-", text)
    for mark, plain in _QUOTES.items():
        text = text.replace(mark, plain)
    return text


def _without_address(word: str) -> str:
    if len(word) > _LONGEST or not ("/" in word or "www" in word.lower()):
        return word
    return _SHORT_ADDRESS.sub(_URL, _ADDRESS.sub(_URL, word))
