"""Words that say nothing of what a text is about, by language: Lucene's own lists."""

import re
import zipfile
from collections.abc import Iterable, Sequence
from functools import cache

from isotope.core.lucene import jar

_LISTS = "org/apache/lucene/analysis/"
# Wikipedias whose language Lucene calls otherwise, or has in a list of several.
_FOLDERS = {"cs": "cz", "be-tarask": "be", "simple": "en"}
_SNOWBALL = {
    **{"da": "danish", "nl": "dutch", "en": "english", "fi": "finnish", "fr": "french"},
    **{"de": "german", "hu": "hungarian", "it": "italian", "no": "norwegian", "nn": "norwegian"},
    **{"pt": "portuguese", "ru": "russian", "es": "spanish", "sv": "swedish"},
}
_COMMENT = re.compile(r"\s*[|#].*")
# An apostrophe cuts them in Lucene's list of English; texts write them whole.
_SHORTENED = {"en": "can't couldn't didn't doesn't don't isn't it's wasn't weren't won't would"}


@cache
def stop_words(languages: Sequence[str]) -> frozenset[str]:
    """Return the stop words of languages, by the codes of their Wikipedias, without case.

    A language of which Lucene has no list adds none.

    Raises:
        MissingFile: Pyserini is installed without its jar.
    """
    with zipfile.ZipFile(jar()) as archive:
        there = set(archive.namelist())
        lists = [name for code in languages if (name := _list_of(code)) in there]
        texts = [archive.read(name).decode("utf-8") for name in lists]
    also = (_SHORTENED.get(_FOLDERS.get(code, code), "") for code in languages)
    return frozenset(word.casefold() for text in (*texts, *also) for word in _words(text))


def _list_of(code: str) -> str:
    code = _FOLDERS.get(code, code)
    if code in _SNOWBALL:
        return f"{_LISTS}snowball/{_SNOWBALL[code]}_stop.txt"
    return f"{_LISTS}{code}/stopwords.txt"


def _words(text: str) -> Iterable[str]:
    return (word for line in text.splitlines() for word in _COMMENT.sub("", line).split())
