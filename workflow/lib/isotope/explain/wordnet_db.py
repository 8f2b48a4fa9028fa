"""The database of the Python library wn, as WordNet's own files (https://wn.readthedocs.io)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from isotope.core.errors import CorruptFile, EmptyTable
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
