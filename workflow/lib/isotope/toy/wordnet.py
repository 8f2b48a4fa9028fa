"""The part of WordNet that the toy's objects need, in WordNet's own files: no demo lacks it.

Format: https://wordnet.princeton.edu/documentation/wndb5wn
"""

from collections.abc import Iterable
from pathlib import Path

from isotope.core import store
from isotope.explain.wordnet_dict import Synset, dict_files
from isotope.toy import scenes

_HEADER = (
    "  1 An excerpt for the embedded encyclopedia: names and hypernyms as in WordNet 3.0,  \n"
    "  2 Copyright 2006 by Princeton University. All rights reserved.  \n"
)
# One more space is one step down; what has two hypernyms stands below both.
_TREE = """
entity.n.01
 physical_entity.n.01
  object.n.01
   moon.n.02
   whole.n.02
    living_thing.n.01
     organism.n.01
      plant.n.02
       vascular_plant.n.01
        woody_plant.n.01
         tree.n.01
    artifact.n.01
     article.n.02
      ware.n.01
       tableware.n.01
        crockery.n.01
         cup.n.01
     instrumentality.n.03
      container.n.01
       box.n.01
       cup.n.01
      conveyance.n.03
       vehicle.n.01
        craft.n.02
         vessel.n.02
          boat.n.01
     structure.n.01
      cross.n.01
      building.n.01
       house.n.01
      housing.n.01
       dwelling.n.01
        house.n.01
 abstraction.n.06
  attribute.n.02
   shape.n.02
    figure.n.06
     plane_figure.n.01
      star.n.05
    round_shape.n.01
     sphere.n.05
      ball.n.03
    solid.n.03
     toroid.n.01
      ring.n.02
"""
_OPPOSITES = {"large": "small", "small": "large", "black": "white", "white": "black"}
_LEFT_OUT = "left_out"


def write(folder: Path) -> None:
    """Write data and index files of nouns and adjectives to `folder`.

    A sense that the toy has no use for is the entry `left_out`.
    """
    nouns = {_LEFT_OUT: ["entity.n.01"], **hypernyms()}
    above = {name: [("@", up, "0000") for up in ups] for name, ups in nouns.items()}
    adjectives = {
        f"{word}.a.01": [("!", f"{_OPPOSITES[word]}.a.01", "0101")] if word in _OPPOSITES else []
        for word in sorted({*scenes.COLOURS, *_OPPOSITES})
    }
    for part, letter, pointers in (("noun", "n", above), ("adj", "a", adjectives)):
        synsets = {name: Synset([_lemma(name)], own) for name, own in pointers.items()}
        index, data = dict_files(letter, synsets, _senses(synsets), _HEADER)
        _write(folder / f"index.{part}", index)
        _write(folder / f"data.{part}", data)


def hypernyms() -> dict[str, list[str]]:
    """Return the synsets above each synset."""
    found: dict[str, list[str]] = {}
    path: list[str] = []
    for line in _TREE.strip().splitlines():
        name = line.strip()
        depth = len(line) - len(name)
        path[depth:] = [name]
        found.setdefault(name, []).extend(path[depth - 1 : depth] if depth else [])
    return found


def _senses(names: Iterable[str]) -> dict[str, list[str]]:
    numbered = {name: int(name.rpartition(".")[2]) for name in names if name != _LEFT_OUT}
    return {_lemma(name): [_LEFT_OUT] * (sense - 1) + [name] for name, sense in numbered.items()}


def _lemma(name: str) -> str:
    return name.partition(".")[0]


def _write(path: Path, content: bytes) -> None:
    with store.aside(path) as part:
        part.write_bytes(content)
