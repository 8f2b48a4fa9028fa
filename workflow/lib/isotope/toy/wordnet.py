"""The part of WordNet that the toy's objects need, as WN-LMF: no demo lacks it.

Format: https://globalwordnet.github.io/schemas/
"""

from collections.abc import Mapping
from pathlib import Path

from wn import lmf

from isotope.core import store
from isotope.toy import scenes

FILE = "wordnet.xml"
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


def write(folder: Path) -> None:
    """Write nouns and adjectives to `FILE` in `folder`.

    A sense that the toy has no use for is one of the synsets `left_out`.
    """
    nouns = hypernyms()
    most = max(int(name.rpartition(".")[2]) for name in nouns)
    above = {**{_left_out(n): ["entity.n.01"] for n in range(1, most)}, **nouns}
    adjectives = sorted(f"{word}.a.01" for word in {*scenes.COLOURS, *_OPPOSITES})
    names = [*above, *adjectives]
    ids = {name: f"toy-{n:08d}-{_part(name)}" for n, name in enumerate(names, 1)}
    synsets = [_synset(name, above.get(name, []), ids) for name in names]
    entries = [_entry(name, ids) for name in [*nouns, *adjectives]]
    with store.aside(folder / FILE) as part:
        lmf.dump({"lmf_version": "1.1", "lexicons": [_lexicon(entries, synsets)]}, part)


def _lexicon(entries: list[lmf.LexicalEntry], synsets: list[lmf.Synset]) -> lmf.Lexicon:
    return {
        "id": "toy",
        "version": "3.0",
        "label": "An excerpt for the embedded encyclopedia: names and hypernyms as in WordNet 3.0",
        "language": "en",
        "email": "",
        "license": "https://wordnet.princeton.edu/license-and-commercial-use",
        "citation": "WordNet 3.0, Copyright 2006 by Princeton University. All rights reserved.",
        "entries": entries,
        "synsets": synsets,
        "meta": None,
    }


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


def _synset(name: str, above: list[str], ids: Mapping[str, str]) -> lmf.Synset:
    return {
        "id": ids[name],
        "ili": "",
        "partOfSpeech": _part(name),
        "relations": [_relation("hypernym", ids[up]) for up in above],
        "meta": None,
    }


def _entry(name: str, ids: Mapping[str, str]) -> lmf.LexicalEntry:
    lemma, part, number = name.split(".")
    others = map(_left_out, range(1, int(number)))
    senses = [_sense(lemma, part, n, ids[own]) for n, own in enumerate([*others, name], 1)]
    return {
        "id": f"toy-{lemma}-{part}",
        "lemma": {"writtenForm": lemma.replace("_", " "), "partOfSpeech": part},
        "senses": senses,
        "meta": None,
    }


def _sense(lemma: str, part: str, number: int, synset: str) -> lmf.Sense:
    opposite = _OPPOSITES.get(lemma) if part == "a" else None
    return {
        "id": f"toy-{lemma}-{part}-{number}",
        "synset": synset,
        "relations": [_relation("antonym", f"toy-{opposite}-a-1")] if opposite else [],
        "meta": None,
    }


def _relation(kind: str, target: str) -> lmf.Relation:
    return {"target": target, "relType": kind, "meta": None}


def _left_out(number: int) -> str:
    return f"left_out.n.{number:02d}"


def _part(name: str) -> str:
    return name.split(".")[1]
