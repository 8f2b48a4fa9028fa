"""WordNet's nouns as a graph of hypernyms, and its adjectives' antonyms, read line by line.

Only the lines that are asked for are parsed: an entry of data.* begins at its own byte offset.
Format: https://wordnet.princeton.edu/documentation/wndb5wn
"""

import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from isotope.core.errors import CorruptFile, EmptyTable, MissingFile
from isotope.explain.wordnet_dict import Synset, dict_files

NAME = "wn.db"
_WORDNET_3_0 = "omw-en:1.4"
_LETTERS = {"n": ("n", "n"), "a": ("a", "s")}
_LEXICON = """
SELECT rowid FROM lexicons WHERE language = 'en' ORDER BY specifier <> ?, specifier LIMIT 1
"""
_SENSES = """
SELECT senses.rowid, senses.synset_rowid, forms.form
FROM senses
JOIN entries ON senses.entry_rowid = entries.rowid
JOIN forms ON forms.entry_rowid = entries.rowid AND forms.rank = 0
WHERE senses.lexicon_rowid = ? AND entries.pos IN (?, ?)
ORDER BY senses.entry_rank, forms.form, entries.pos, senses.rowid
"""
_HYPERNYM_PAIRS = """
SELECT source_rowid, target_rowid
FROM synset_relations JOIN relation_types ON type_rowid = relation_types.rowid
WHERE lexicon_rowid = ? AND type IN ('hypernym', 'instance_hypernym')
ORDER BY source_rowid, target_rowid
"""
_ANTONYMS = """
SELECT source_rowid, target_rowid
FROM sense_relations JOIN relation_types ON type_rowid = relation_types.rowid
WHERE lexicon_rowid = ? AND type = 'antonym'
ORDER BY source_rowid, target_rowid
"""


@lru_cache(maxsize=2)
def read_db(path: Path, part: str) -> tuple[bytes, bytes]:
    """Return index and data of nouns (`n`) or adjectives (`a`) of the English lexicon.

    omw-en:1.4, which is WordNet 3.0, goes before others.

    Raises:
        EmptyTable: no English lexicon.
        CorruptFile: not a database of wn.
    """
    # ASSUME senses of words that differ in case only are numbered by rank, then by spelling; the
    # database does not say.
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as con:
            return _converted(con, path, part)
    except sqlite3.Error as error:
        raise CorruptFile(path, f"not a database of wn ({error})", "make it anew") from error


def _converted(con: sqlite3.Connection, path: Path, part: str) -> tuple[bytes, bytes]:
    found = con.execute(_LEXICON, (_WORDNET_3_0,)).fetchone()
    if found is None:
        remedy = f"add one, such as {_WORDNET_3_0}"
        raise EmptyTable(path, "no English lexicon", remedy)
    words: dict[int, list[str]] = {}
    senses: dict[str, list[int]] = {}
    place: dict[int, tuple[int, int]] = {}
    for sense, synset, form in con.execute(_SENSES, (found[0], *_LETTERS[part])):
        words.setdefault(synset, []).append(form)
        place[sense] = (synset, len(words[synset]))
        senses.setdefault(form.lower().replace(" ", "_"), []).append(synset)
    pointers: dict[int, list[tuple[str, int, str]]] = {synset: [] for synset in words}
    for source, sign, target, of in _pointers(con, found[0], place):
        pointers.get(source, []).append((sign, target, of))
    synsets = {synset: Synset(words[synset], pointers[synset]) for synset in sorted(words)}
    return dict_files(part, synsets, {k: list(dict.fromkeys(v)) for k, v in senses.items()})


def _pointers(
    con: sqlite3.Connection, lexicon: int, place: dict[int, tuple[int, int]]
) -> Iterator[tuple[int, str, int, str]]:
    for source, target in con.execute(_HYPERNYM_PAIRS, (lexicon,)):
        yield source, "@", target, "0000"
    for one, other in con.execute(_ANTONYMS, (lexicon,)):
        if one in place and other in place:
            (source, n), (target, m) = place[one], place[other]
            yield source, "!", target, f"{n:02x}{m:02x}"


PARTS = {"n": "noun", "a": "adj"}
NAMES = tuple(f"{kind}.{part}" for part in PARTS.values() for kind in ("index", "data"))
_NLTK = "corpora/wordnet"
_SYSTEM = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/usr/local/WordNet-3.0/dict",
    "/opt/local/share/WordNet-3.0/dict",
)
_DATA = ("/usr/share/nltk_data", "/usr/local/share/nltk_data", "/usr/lib/nltk_data")


def find(named: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, the zip or the database that holds nouns and adjectives.

    `named` may be the dict folder, a WordNet with a folder `dict`, an NLTK data folder or a wn data
    folder. Without it the places are WNSEARCHDIR, WNHOME, NLTK_DATA, ~/nltk_data, the system's and
    ~/.wn_data.
    Format: https://wordnet.princeton.edu/documentation/wndb5wn

    Raises:
        MissingFile: no dictionary there, or anywhere.
    """
    places = [Path(named)] if named else list(_usual(environ))
    for place in places:
        for found in (
            place,
            place / "dict",
            place / _NLTK,
            place / f"{_NLTK}.zip",
            place / NAME,
        ):
            if _holds(found):
                return found
    searched = f"no {' or '.join(NAMES)} in {', '.join(map(str, places))}"
    remedy = "install Debian's wordnet-base, or set tabulate.explain.<collection>.wordnet"
    raise MissingFile("WordNet", searched, remedy)


def read(place: Path, name: str) -> bytes:
    """Return the bytes of one dict file of `place`, as `find` returned it.

    Raises:
        CorruptFile: a zip that does not open.
    """
    if place.name == NAME:
        part = next(p for p, noun in PARTS.items() if name.endswith(f".{noun}"))
        return read_db(place, part)[name.startswith("data")]
    if place.is_dir():
        return (place / name).read_bytes()
    try:
        with zipfile.ZipFile(place) as file:
            return file.read(f"wordnet/{name}")
    except (zipfile.BadZipFile, OSError) as error:
        raise CorruptFile(place, f"not a zip ({error})", "fetch it again") from error


def _usual(environ: Mapping[str, str]) -> Iterator[Path]:
    for key in ("WNSEARCHDIR", "WNHOME"):
        if environ.get(key):
            yield Path(environ[key])
    yield from map(Path, filter(None, environ.get("NLTK_DATA", "").split(os.pathsep)))
    yield Path(environ.get("HOME", "/")) / "nltk_data"
    yield from map(Path, (*_SYSTEM, *_DATA))
    yield Path(environ.get("HOME", "/")) / ".wn_data"


def _holds(place: Path) -> bool:
    if place.name == NAME:
        return place.is_file()
    if place.suffix != ".zip":
        return all((place / name).is_file() for name in NAMES)
    try:
        with zipfile.ZipFile(place) as file:
            return {f"wordnet/{name}" for name in NAMES} <= set(file.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


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
        parts = PARTS.items()
        self._index = {p: b"\n" + read(place, f"index.{n}") for p, n in parts}
        self._data = {p: read(place, f"data.{n}") for p, n in parts}
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
            found = f"no entry at byte {offset} of data.{PARTS[part]}"
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
