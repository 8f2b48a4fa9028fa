"""Where a WordNet lies: Princeton's dict files, in a folder or in NLTK's zip, or wn's database."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from isotope.core.errors import CorruptFile, MissingFile
from isotope.explain import wordnet_db

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
            place / wordnet_db.NAME,
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
    if place.name == wordnet_db.NAME:
        part = next(p for p, noun in PARTS.items() if name.endswith(f".{noun}"))
        return wordnet_db.read_db(place, part)[name.startswith("data")]
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
    if place.name == wordnet_db.NAME:
        return place.is_file()
    if place.suffix != ".zip":
        return all((place / name).is_file() for name in NAMES)
    try:
        with zipfile.ZipFile(place) as file:
            return {f"wordnet/{name}" for name in NAMES} <= set(file.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
