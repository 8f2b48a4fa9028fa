"""Words that say nothing of what a text is about, by language: Lucene's own lists."""

import re
import zipfile
from collections.abc import Iterable, Sequence
from functools import cache

from isotope.core.languages import wiki_language
from isotope.core.lucene import jar

_LISTS = "org/apache/lucene/analysis/"
# Wikipedias whose language Lucene calls otherwise, or has in a list of several.
_FOLDERS = {"cs": "cz", "be-tarask": "be", "simple": "en"}
_SNOWBALL = {
    **{"da": "danish", "nl": "dutch", "en": "english", "fi": "finnish", "fr": "french"},
    **{"de": "german", "hu": "hungarian", "it": "italian", "no": "norwegian", "nn": "norwegian"},
    **{"pt": "portuguese", "ru": "russian", "es": "spanish", "sv": "swedish"},
}
_COMMENT = re.compile(r"[|#].*")
# An apostrophe cuts them in Lucene's list of English; texts write them whole.
_SHORTENED = {"en": "can't couldn't didn't doesn't don't isn't it's wasn't weren't won't would"}


@cache
def stop_words(languages: Sequence[str]) -> frozenset[str]:
    """Return the stop words of languages, by the codes of their Wikipedias, without case.

    A language of which Lucene has no list adds none.

    Raises:
        MissingFile: Pyserini is installed without its jar.
    """
    also = (_SHORTENED.get(_folder(code), "") for code in languages)
    texts = (*lists(languages).values(), *also)
    return frozenset(word.casefold() for text in texts for word in text.split())


def lists(languages: Iterable[str]) -> dict[str, str]:
    """Return Lucene's list of each language that has one, by its Wikipedia's code, no comments.

    Raises:
        MissingFile: Pyserini is installed without its jar.
    """
    with zipfile.ZipFile(jar()) as archive:
        members = set(archive.namelist())
        named = {code: name for code in languages if (name := _list_of(code)) in members}
        texts = {code: archive.read(name).decode("utf-8") for code, name in named.items()}
    return {code: _COMMENT.sub("", text) for code, text in texts.items()}


def _list_of(code: str) -> str:
    code = _folder(code)
    if code in _SNOWBALL:
        return f"{_LISTS}snowball/{_SNOWBALL[code]}_stop.txt"
    return f"{_LISTS}{code}/stopwords.txt"


def _folder(code: str) -> str:
    wiki = wiki_language(code)
    return _FOLDERS.get(wiki, wiki)
