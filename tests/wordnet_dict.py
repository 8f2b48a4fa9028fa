"""Princeton's index and data files with the toy's nouns and adjectives, as Debian installs them.

Format: https://wordnet.princeton.edu/documentation/wndb5wn
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from isotope_toy import words

OPPOSITES = {"black": "white", "white": "black"}
Synsets = Mapping[str, Sequence[tuple[str, str, str]]]


def write(folder: Path) -> None:
    """Write the four files; a sense that the toy lacks is the entry `left_out`."""
    folder.mkdir(parents=True, exist_ok=True)
    nouns = {"left_out": ["entity.n.01"], **words.hypernyms()}
    above = {name: [("@", up, "0000") for up in ups] for name, ups in nouns.items()}
    adjectives = {f"{a}.a.01": [("!", f"{b}.a.01", "0101")] for a, b in OPPOSITES.items()}
    for part, letter, synsets in (("noun", "n", above), ("adj", "a", adjectives)):
        index, data = _files(letter, synsets)
        (folder / f"index.{part}").write_text(index)
        (folder / f"data.{part}").write_text(data)


def _files(letter: str, synsets: Synsets) -> tuple[str, str]:
    header = "  1 A header of lines that begin with two spaces.  \n"
    places, end = dict[str, int](), len(header)
    for name in synsets:
        places[name] = end
        end += len(_line(name, letter, synsets, dict.fromkeys(synsets, 0)))
    data = "".join(_line(name, letter, synsets, places) for name in synsets)
    entries = [_entry(name, letter, places) for name in synsets if name != "left_out"]
    return header + "".join(sorted(entries)), header + data


def _line(name: str, letter: str, synsets: Synsets, places: Mapping[str, int]) -> str:
    pointers = "".join(f" {sign} {places[to]:08d} {letter} {of}" for sign, to, of in synsets[name])
    word = name.partition(".")[0]
    head = f"{places[name]:08d} 00 {letter} 01 {word} 0 {len(synsets[name]):03d}"
    return f"{head}{pointers} | {word}  \n"


def _entry(name: str, letter: str, places: Mapping[str, int]) -> str:
    lemma, _, number = name.split(".")
    senses = ["left_out"] * (int(number) - 1) + [name]
    offsets = " ".join(f"{places[sense]:08d}" for sense in senses)
    return f"{lemma} {letter} {len(senses)} 1 @ {len(senses)} 0 {offsets}  \n"
