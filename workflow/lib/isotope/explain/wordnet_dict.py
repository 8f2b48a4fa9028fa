"""WordNet's own files, index and data, out of synsets and senses.

Format: https://wordnet.princeton.edu/documentation/wndb5wn
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Synset(NamedTuple, Generic[Key]):
    """The words of a synset, and its pointers: sign, synset, words (`0000` for the whole)."""

    words: Sequence[str]
    pointers: Sequence[tuple[str, Key, str]]


def dict_files(
    letter: str,
    synsets: Mapping[Key, Synset[Key]],
    senses: Mapping[str, Sequence[Key]],
    header: str = "",
) -> tuple[bytes, bytes]:
    """Return the bytes of index.* and data.*; `senses` has each lemma's synsets in their order.

    `letter` is the part of speech. Pointers to synsets that are not given are left out.
    """
    nowhere = dict.fromkeys(synsets, 0)
    offsets, end = dict[Key, int](), len(header.encode())
    for key, synset in synsets.items():
        offsets[key] = end
        end += len(_line(key, synset, letter, nowhere).encode())
    data = [_line(key, synset, letter, offsets) for key, synset in synsets.items()]
    index = [_entry(lemma, keys, letter, offsets) for lemma, keys in senses.items()]
    return (header + "".join(sorted(index))).encode(), (header + "".join(data)).encode()


def _line(key: Key, synset: Synset[Key], letter: str, offsets: Mapping[Key, int]) -> str:
    words = " ".join(f"{word.replace(' ', '_')} 0" for word in synset.words)
    known = [pointer for pointer in synset.pointers if pointer[1] in offsets]
    told = "".join(f" {sign} {offsets[to]:08d} {letter} {of}" for sign, to, of in known)
    head = f"{offsets[key]:08d} 00 {letter} {len(synset.words):02x} {words} {len(known):03d}"
    return f"{head}{told} | {', '.join(synset.words)}  \n"


def _entry(lemma: str, keys: Sequence[Key], letter: str, offsets: Mapping[Key, int]) -> str:
    told = " ".join(f"{offsets[key]:08d}" for key in keys)
    return f"{lemma} {letter} {len(keys)} 1 @ {len(keys)} 0 {told}  \n"
