"""By wiki: pictures whose links hold parts that no word of the wiki explains, as lines of a log."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

_COMMONEST = 5
_LONGEST = 40
_LINKED = ("link", "gallery")
_ADD = "docs/wiki_words.py makes a list of a wiki's own words from its siteinfo"


class WordsAccount:
    """Sums over all pieces of a snapshot."""

    def __init__(self) -> None:
        self._words: dict[str, str | None] = {}
        self._pictures, self._unread = Counter[str](), Counter[str]()
        self._parts = Counter[tuple[str, str]]()

    def enter(
        self, wikis: Mapping[str, str | None], pictures: Sequence[Mapping[str, object]]
    ) -> None:
        """Count a piece: its wikis with whose words they have, None for none of their own.

        `pictures` are rows of `tables.PICTURES`.
        """
        self._words.update(wikis)
        for picture in pictures:
            if picture["origin"] in _LINKED:
                wiki, parts = str(picture["wiki"]), cast(tuple[str, ...], picture["unread"])
                self._pictures[wiki] += 1
                self._unread[wiki] += bool(parts)
                self._parts.update((wiki, part) for part in parts)

    def warnings(self) -> Iterator[str]:
        """Yield a line for each wiki without words of its own."""
        for wiki in sorted(wiki for wiki, words in self._words.items() if words is None):
            read = "English ones, and those of the nearest language, were read"
            told = f"{self._pictures[wiki]:,} pictures, {self._unread[wiki]:,} with parts unread"
            yield f"no words of the wiki {wiki} are known: {read}; {told}; {_ADD}"

    def lines(self) -> Iterator[str]:
        """Yield a line for each wiki with parts that no word explains, the commonest named."""
        for wiki in sorted(self._unread):
            if self._unread[wiki]:
                of = f"{self._unread[wiki]:,} of {self._pictures[wiki]:,} pictures of {wiki}"
                yield f"{of} have parts that no word explains: {', '.join(self._commonest(wiki))}"

    def _commonest(self, wiki: str) -> list[str]:
        own = [(part, n) for (name, part), n in self._parts.items() if name == wiki]
        first = sorted(own, key=lambda counted: (-counted[1], counted[0]))[:_COMMONEST]
        return [f"{part[:_LONGEST]!r} ({n:,})" for part, n in first]
