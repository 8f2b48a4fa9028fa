"""WordNet's nouns as a graph of hypernyms, and its adjectives' antonyms, read line by line.

Only the lines that are asked for are parsed: an entry of data.* begins at its own byte offset.
Format: https://wordnet.princeton.edu/documentation/wndb5wn
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from isotope.core.errors import CorruptFile
from isotope.explain import wordnet_files

_NAME = re.compile(r"(?P<lemma>.+)\.n\.(?P<sense>\d+)")
_HYPERNYMS = ("@", "@i")
_MARKER = re.compile(r"\(\w+\)$")
_HEXADECIMAL = 16
_PAIRS = 1 << 20


class Pointer(NamedTuple):
    """A relation from word `source` (0: the whole synset) to word `target` of another synset."""

    symbol: str
    offset: int
    part: str
    source: int
    target: int


class Entry(NamedTuple):
    """A synset: its words, as they are written, and its relations."""

    words: list[str]
    pointers: list[Pointer]


class WordNet:
    """A dictionary in memory (20 MB); synsets are known by their offset among the nouns."""

    def __init__(self, place: Path) -> None:
        """Read the files that `wordnet_files.find` found.

        Raises:
            CorruptFile: a zip that does not open.
        """
        self.place = place
        parts = wordnet_files.PARTS.items()
        self._index = {p: b"\n" + wordnet_files.read(place, f"index.{n}") for p, n in parts}
        self._data = {p: wordnet_files.read(place, f"data.{n}") for p, n in parts}
        self.senses = cache(self._senses)
        self.synset = cache(self._synset)
        self.distance = lru_cache(_PAIRS)(self._distance)
        self._above = cache(self._distances_above)

    def _senses(self, lemma: str, part: str = "n") -> list[int]:
        """Return the offsets of a word's synsets, the most frequent sense first."""
        key = lemma.lower().replace(" ", "_").encode()
        start = self._index[part].find(b"\n" + key + b" ")
        if start < 0 or not key:
            return []
        fields = self._index[part][start + 1 : self._index[part].index(b"\n", start + 1)].split()
        return [int(offset) for offset in fields[-int(fields[2]) :]]

    def _synset(self, name: str) -> int | None:
        """Return the offset of `dog.n.01`, None where WordNet has no such sense.

        A bare noun, as a detector may give it, is its first sense.
        """
        found = _NAME.fullmatch(name)
        # ASSUME a label without a sense is the noun's most frequent one; the paper's have senses.
        lemma, sense = (found["lemma"], int(found["sense"])) if found else (name, 1)
        senses = self.senses(lemma)
        return senses[sense - 1] if 1 <= sense <= len(senses) else None

    def entry(self, offset: int, part: str = "n") -> Entry:
        """Return the synset at an offset.

        Raises:
            CorruptFile: no entry begins there.
        """
        end = self._data[part].find(b"\n", offset)
        fields = self._data[part][offset:end].partition(b" | ")[0].decode().split()
        if not fields or fields[0] != f"{offset:08d}":
            found = f"no entry at byte {offset} of data.{wordnet_files.PARTS[part]}"
            raise CorruptFile(self.place, found, "install it again: index and data don't agree")
        count = int(fields[3], _HEXADECIMAL)
        words = [_MARKER.sub("", w) for w in fields[4 : 4 + 2 * count : 2]]
        rest = fields[5 + 2 * count :][: 4 * int(fields[4 + 2 * count])]
        return Entry(words, [_pointer(*rest[i : i + 4]) for i in range(0, len(rest), 4)])

    def similarity(self, one: int, other: int) -> float:
        """Return the path similarity 1 / (1 + edges of the shortest path), 0 without a path.

        Equal to NLTK's path_similarity on nouns.
        """
        apart = self.distance(*sorted((one, other)))
        return 0.0 if apart is None else 1 / (1 + apart)

    def _distance(self, one: int, other: int) -> int | None:
        up, down = self._above(one), self._above(other)
        return min((up[c] + down[c] for c in up.keys() & down.keys()), default=None)

    def _distances_above(self, offset: int) -> dict[int, int]:
        found, edge = {offset: 0}, [offset]
        while edge:
            above = {p.offset for o in edge for p in self._hypernyms(o)} - found.keys()
            found.update(dict.fromkeys(above, found[edge[0]] + 1))
            edge = sorted(above)
        return found

    def _hypernyms(self, offset: int) -> list[Pointer]:
        return [p for p in self.entry(offset).pointers if p.symbol in _HYPERNYMS]

    def antonyms(self, adjective: str) -> list[str]:
        """Return the direct antonyms of an adjective's first sense that has some, in their order.

        Those of a satellite adjective are its head's affair, and left out.
        """
        for offset in self.senses(adjective, "a"):
            entry = self.entry(offset, "a")
            own = [w.lower() for w in entry.words].index(adjective.lower().replace(" ", "_")) + 1
            direct = [p for p in entry.pointers if p.symbol == "!" and p.source == own]
            if direct:
                found = [self.entry(p.offset, "a").words[p.target - 1] for p in direct]
                return list(dict.fromkeys(word.replace("_", " ") for word in found))
        return []


def _pointer(symbol: str, offset: str, part: str, words: str) -> Pointer:
    source, target = int(words[:2], _HEXADECIMAL), int(words[2:], _HEXADECIMAL)
    return Pointer(symbol, int(offset), part, source, target)
