"""WordNet's nouns as a graph of hypernyms, and its adjectives' antonyms.

The library `wn` reads its own database and files of WN-LMF; nothing is ever fetched. It has no
reader of WNDB, the format of Princeton's dict files, which Debian and NLTK install: `Princeton`
reads those, and only the lines that are looked up. Putting them into a database of wn would take
some 10 s and 50 MB.
"""

import os
import re
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

import wn
from wn.lmf import is_lmf
from wn.project import Package, is_package_directory

from isotope.core.errors import CorruptFile, EmptyTable, IsotopeError, MissingFile
from isotope.intake.archives import members
from isotope.intake.limits import Refused, is_of_the_system, reason_of

DATABASE = "wn.db"
PARTS = {"n": "noun", "a": "adj"}
NAMES = tuple(f"{kind}.{part}" for part in PARTS.values() for kind in ("index", "data"))
_NLTK = "corpora/wordnet"
_SYSTEM = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/usr/local/WordNet-3.0/dict",
    "/opt/local/share/WordNet-3.0/dict",
)
_NLTK_DATA = ("/usr/share/nltk_data", "/usr/local/share/nltk_data", "/usr/lib/nltk_data")
_WORDNET_3_0 = "omw-en:1.4"
_SENSE = re.compile(r"(?P<lemma>.+)\.n\.(?P<sense>\d+)")
_OFFSET = re.compile(r"(\d+)-[a-z]$")
_CACHED_PAIRS = 1 << 20


def find(path: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, the zip, the database or the file that has nouns and adjectives.

    `path` may be the dict folder, a WordNet with a folder `dict`, an NLTK data folder, a wn data
    folder, or a file or package folder of WN-LMF. Without it the places are WNSEARCHDIR, WNHOME,
    NLTK_DATA, ~/nltk_data, the system's and ~/.wn_data.

    Raises:
        MissingFile: no dictionary there, or anywhere.
    """
    places = [Path(path)] if path else list(_usual_places(environ))
    for root in places:
        below = (root, root / "dict", root / _NLTK, root / f"{_NLTK}.zip", root / DATABASE)
        for candidate in below:
            if _is_dictionary(candidate):
                return candidate
            if is_package_directory(candidate):
                return Package(candidate).resource_file()
    searched = f"no {' or '.join(NAMES)} in {', '.join(map(str, places))}"
    remedy = "install Debian's wordnet-base, or set explain.failures.<collection>.wordnet"
    raise MissingFile("WordNet", searched, remedy)


def _usual_places(environ: Mapping[str, str]) -> Iterator[Path]:
    for key in ("WNSEARCHDIR", "WNHOME"):
        if environ.get(key):
            yield Path(environ[key])
    yield from map(Path, filter(None, environ.get("NLTK_DATA", "").split(os.pathsep)))
    yield Path(environ.get("HOME", "/")) / "nltk_data"
    yield from map(Path, (*_SYSTEM, *_NLTK_DATA))
    yield Path(environ.get("HOME", "/")) / ".wn_data"


def _is_dictionary(path: Path) -> bool:
    if path.name == DATABASE or is_lmf(path):
        return path.is_file()
    if path.suffix != ".zip":
        return all((path / name).is_file() for name in NAMES)
    try:
        return {f"wordnet/{name}" for name in NAMES} <= {file.name for file in members(path)}
    except (CorruptFile, OSError):
        return False


class Lexicon(Protocol):
    """What `WordNet` asks of a reader; a synset is the string that names it in the lexicon."""

    def synsets(self, form: str, part: str = "n") -> list[str]:
        """Return the synsets of a noun (`n`) or adjective (`a`), the most frequent sense first."""
        ...

    def hypernyms(self, synset: str) -> list[str]:
        """Return the synsets right above a noun's, those of instances included."""
        ...

    def antonyms(self, adjective: str) -> Iterator[list[str]]:
        """Yield the direct antonyms of each sense of an adjective, in the order of the senses."""
        ...


class WordNet:
    """A dictionary by names such as `dog.n.01`, with the distances between its nouns."""

    def __init__(self, path: Path) -> None:
        """Open the dictionary that `find` returned.

        Raises:
            CorruptFile: a zip, a database or a file that can't be read as what it is.
            EmptyTable: no English lexicon.
        """
        self.path = path
        by_library = path.name == DATABASE or is_lmf(path)
        self._lexicon: Lexicon = Library(path) if by_library else Princeton(path)
        self.senses = cache(self._lexicon.synsets)
        self.synset = cache(self._synset)
        self.distance = lru_cache(_CACHED_PAIRS)(self._distance)
        self._hypernyms = cache(self._lexicon.hypernyms)
        self._above = cache(self._distances_above)

    def _synset(self, name: str) -> str | None:
        """Return the synset of `dog.n.01`, None where the dictionary has no such sense.

        A bare noun, as detectors return it, is its first sense.
        """
        parts = _SENSE.fullmatch(name)
        # ASSUME a label without a sense is the noun's most frequent one; the paper's have senses.
        lemma, sense = (parts["lemma"], int(parts["sense"])) if parts else (name, 1)
        senses = self.senses(lemma)
        return senses[sense - 1] if 1 <= sense <= len(senses) else None

    def similarity(self, first: str, second: str) -> float:
        """Return the path similarity 1 / (1 + edges of the shortest path), 0 without a path.

        Equal to NLTK's path_similarity on nouns.
        """
        edges = self.distance(*sorted((first, second)))
        return 0.0 if edges is None else 1 / (1 + edges)

    def _distance(self, first: str, second: str) -> int | None:
        up, down = self._above(first), self._above(second)
        return min((up[c] + down[c] for c in up.keys() & down.keys()), default=None)

    def _distances_above(self, synset: str) -> dict[str, int]:
        edges, level = {synset: 0}, [synset]
        while level:
            above = {up for synset in level for up in self._hypernyms(synset)} - edges.keys()
            edges.update(dict.fromkeys(above, edges[level[0]] + 1))
            level = sorted(above)
        return edges

    def antonyms(self, adjective: str) -> list[str]:
        """Return the direct antonyms of an adjective's first sense that has some, in their order.

        A satellite adjective has none of its own; those of its head are left out.
        """
        return next(filter(None, self._lexicon.antonyms(adjective)), [])

    def antonyms_of_first(self, word: str) -> list[str]:
        """Return the direct antonyms of a word's first sense; none if it is listed as a noun.

        The senses as a noun come before those as an adjective.
        """
        return [] if self.senses(word) else next(iter(self._lexicon.antonyms(word)), [])


def offset(synset: str) -> int | None:
    """Return the number in the name of a synset, as in `omw-en-02084071-n`; None without one.

    It is the synset's offset in Princeton's files, where the lexicon keeps to the custom.
    """
    number = _OFFSET.search(synset)
    return int(number[1]) if number else None


class Library:
    """A lexicon as wn reads it: in its own database, or in WN-LMF, which goes to a temporary one.

    English only; omw-en:1.4, which is WordNet 3.0, goes before others.
    """

    def __init__(self, path: Path) -> None:
        """Open the database or the file `path`.

        Raises:
            EmptyTable: no English lexicon.
            CorruptFile: not a database of wn, or a file that is no WN-LMF.
        """
        self._path, self._folder = path, path.parent
        if path.name == DATABASE:
            _demand_database(path)
        else:
            self._folder = Path(tempfile.mkdtemp(prefix="isotope-wn-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        with self._selected():
            if path.name != DATABASE:
                wn.add(path, progress_handler=None)
            english = [lexicon.specifier() for lexicon in wn.lexicons() if lexicon.language == "en"]
            if not english:
                remedy = f"add one, such as {_WORDNET_3_0}"
                raise EmptyTable(path, "no English lexicon", remedy)
            first = min(english, key=lambda specifier: (specifier != _WORDNET_3_0, specifier))
            self._words = wn.Wordnet(first, expand="", search_all_forms=False)

    def synsets(self, form: str, part: str = "n") -> list[str]:
        """Return the synsets of a form, as `Lexicon.synsets`; wn ignores case and accents."""
        with self._selected():
            written = form.lower().replace("_", " ")
            parts = ("a", "s") if part == "a" else (part,)
            return [synset.id for p in parts for synset in self._words.synsets(written, pos=p)]

    def hypernyms(self, synset: str) -> list[str]:
        """Return the synsets above, as `Lexicon.hypernyms`."""
        with self._selected():
            return [hypernym.id for hypernym in self._words.synset(synset).hypernyms()]

    def antonyms(self, adjective: str) -> Iterator[list[str]]:
        """Yield the antonyms of each sense, as `Lexicon.antonyms`."""
        with self._selected():
            written = adjective.lower().replace("_", " ")
            senses = [sense for p in ("a", "s") for sense in self._words.senses(written, pos=p)]
            related = [[to.word().lemma() for to in s.get_related("antonym")] for s in senses]
        yield from (list(dict.fromkeys(forms)) for forms in related)

    @contextmanager
    def _selected(self) -> Iterator[None]:
        """Make this database the one that wn, which has one at a time, reads from."""
        wn.config.data_directory = self._folder  # pyright: ignore[reportPrivateImportUsage]
        try:
            yield
        except IsotopeError:
            raise
        except Exception as error:
            if is_of_the_system(error):
                raise
            kind = "a database of wn" if self._path.name == DATABASE else "WN-LMF"
            raise CorruptFile(
                self._path, f"not {kind} ({reason_of(error)})", "make it anew"
            ) from error


def _demand_database(path: Path) -> None:
    """Look into a database before wn does, which leaves open what it can't read.

    Raises:
        CorruptFile: not one of wn.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as con:
            con.execute("SELECT language FROM lexicons").fetchone()
    except sqlite3.Error as error:
        problem = f"not a database of wn ({reason_of(error)})"
        raise CorruptFile(path, problem, "make it anew") from error


_HYPERNYMS = ("@", "@i")
_MARKER = re.compile(r"\(\w+\)$")
_HEXADECIMAL = 16
# WordNet's own are below 16 KB.
_LONGEST_LINE = 1 << 20


class Pointer(NamedTuple):
    """A relation from word `source` (0: the whole synset) to word `target` of another synset."""

    symbol: str
    synset: str
    source: int
    target: int


class Synset(NamedTuple):
    """A synset: its words, as they are written, and its relations."""

    words: list[str]
    pointers: list[Pointer]


class Princeton:
    """Index and data files of nouns and adjectives in memory (20 MB), parsed line by line.

    A synset is named by the byte at which its line begins, and its part of speech: `02084071-n`.
    Format: https://wordnet.princeton.edu/documentation/wndb5wn
    """

    def __init__(self, path: Path) -> None:
        """Read the files in the folder or zip `path`.

        Raises:
            CorruptFile: a zip that can't be read.
        """
        self._path = path
        files, parts = self._files(), PARTS.items()
        self._index = {part: b"\n" + files[f"index.{name}"] for part, name in parts}
        self._data = {part: files[f"data.{name}"] for part, name in parts}

    def _files(self) -> dict[str, bytes]:
        if self._path.is_dir():
            return {name: (self._path / name).read_bytes() for name in NAMES}
        names = {f"wordnet/{name}": name for name in NAMES}
        try:
            return {names[m.name]: m.read() for m in members(self._path) if m.name in names}
        except Refused as error:
            raise CorruptFile(self._path, error.reason, "fetch it again") from error

    def synsets(self, form: str, part: str = "n") -> list[str]:
        """Return the synsets of a form, as `Lexicon.synsets`."""
        key = form.lower().replace(" ", "_").encode()
        index = self._index[part]
        start = index.find(b"\n" + key + b" ")
        if start < 0 or not key:
            return []
        with self._line(f"index.{PARTS[part]}", start):
            fields = _line_at(index, start + 1).split()
            senses = int(fields[2])
            return [f"{int(offset):08d}-{part}" for offset in fields[-senses:] if senses > 0]

    def hypernyms(self, synset: str) -> list[str]:
        """Return the synsets above, as `Lexicon.hypernyms`.

        Raises:
            CorruptFile: as `entry`.
        """
        return [p.synset for p in self.entry(synset).pointers if p.symbol in _HYPERNYMS]

    def antonyms(self, adjective: str) -> Iterator[list[str]]:
        """Yield the antonyms of each sense, as `Lexicon.antonyms`.

        Raises:
            CorruptFile: as `entry`.
        """
        form = adjective.lower().replace(" ", "_")
        for synset in self.synsets(adjective, "a"):
            entry = self.entry(synset)
            forms = [word.lower() for word in entry.words]
            if form not in forms:
                self._refuse(f"{synset} without {form!r}, which index.adj has there")
            number = forms.index(form) + 1
            direct = [p for p in entry.pointers if p.symbol == "!" and p.source == number]
            words = [self._word(p) for p in direct]
            yield list(dict.fromkeys(word.replace("_", " ") for word in words))

    def _word(self, pointer: Pointer) -> str:
        words = self.entry(pointer.synset).words
        if not 1 <= pointer.target <= len(words):
            self._refuse(f"no word {pointer.target} in {pointer.synset}")
        return words[pointer.target - 1]

    def entry(self, synset: str) -> Synset:
        """Return a synset.

        Raises:
            CorruptFile: no entry begins at its byte.
        """
        number, _, part = synset.partition("-")
        if part not in self._data:
            self._refuse(f"a pointer to {synset}, of a part of speech that is not read")
        start, name = int(number), f"data.{PARTS[part]}"
        line = _line_at(self._data[part], start)
        with self._line(name, start):
            fields = line.partition(b" | ")[0].decode().split()
            if not fields or fields[0] != number:
                self._refuse(f"no entry at byte {start} of {name}")
            count = int(fields[3], _HEXADECIMAL)
            words = [_MARKER.sub("", word) for word in fields[4 : 4 + 2 * count : 2]]
            pointers = fields[5 + 2 * count :][: 4 * int(fields[4 + 2 * count])]
            return Synset(
                words, [_pointer(*pointers[i : i + 4]) for i in range(0, len(pointers), 4)]
            )

    @contextmanager
    def _line(self, name: str, start: int) -> Iterator[None]:
        """Name the line that begins at a byte of a file where it is none of the format."""
        try:
            yield
        except (ValueError, IndexError, TypeError) as error:
            self._refuse(f"no line of the format at byte {start} of {name} ({reason_of(error)})")

    def _refuse(self, problem: str) -> NoReturn:
        raise CorruptFile(self._path, problem, "install it again: index and data don't agree")


def _line_at(data: bytes, start: int) -> bytes:
    """Return the line that begins at a byte, without its end; no more than a line can have."""
    most = start + _LONGEST_LINE
    end = data.find(b"\n", start, most)
    return data[start : most if end < 0 else end]


def _pointer(symbol: str, offset: str, part: str, words: str) -> Pointer:
    source, target = int(words[:2], _HEXADECIMAL), int(words[2:], _HEXADECIMAL)
    return Pointer(symbol, f"{offset}-{part}", source, target)
