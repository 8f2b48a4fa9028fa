"""Words of the toy encyclopedia: invented places, stock sentences, translations, and a WordNet.

Sentences are wikitext restricted to links, bold and italic; `plain` removes just these. The WordNet
is the part of WordNet 3.0 that the toy's objects need, as WN-LMF, so that the demo needs no
download. Format: https://globalwordnet.github.io/schemas/
"""

import re
from collections.abc import Mapping
from pathlib import Path

from wn import lmf

from isotope.core import store
from isotope_toy import scenes


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FIRSTS = _words(
    "Ash Bar Birk Bram Brim Cald Carr Crom Dal Dun Elm Fen Gar Hal Hart Hazel Holm Ingle Kel Kirk "
    "Lang Lin Lock Mar Mel Nor Oak Orm Pen Quar Ravens Row Sel Stan Tarn Thorn Ul Wen Wick Yar"
)
_LASTS = _words(
    "beck borough bourne bridge bury by cliff combe cote dale den field ford gate ham haven hill "
    "hurst ley mere minster moor ness port stead thorpe ton wald wick worth"
)
KINDS = _words(
    "Abbey Arcade Bakery Bridge Chapel Court Dairy Ferry Garden Hall Harbour Inn Library Lodge "
    "Market Mill School Station Theatre Tower"
)
_AGES = (
    "",
    *_words(
        "Upper Lower Old New Great Little North South East West High Low Far Near Middle Long "
        "Short Broad Outer"
    ),
)
_PER_AGE = len(_FIRSTS) * len(_LASTS) * len(KINDS)
_STRIDE = 7919
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CONSONANTS, _SHELFMARK = "BCDFGHJKLMNPQRSTVWXZ", 3
MEDIA = _words("Banner Carving Fresco Mosaic Mural Panel Poster Quilt Screen Sign Tapestry Window")
LANGUAGES = ("de", "fr", "es", "ja")
ABOUT_ART = (
    "{who} made it in {year} for the people of [[{place}]].",
    "It was given by the [[{place}|guild of {trade}]] in {year}.",
    "Visitors call it ''The {mood} {medium}''.",
    "The work was cleaned in {year} and hangs [[{place}|near the door]].",
    "A smaller copy was lent to [[{place}]] in {year}.",
    'Its maker, {who}, named it "{mood} Days" and never said why.',
    "Children of the [[{place}|nearby]] school learn to count with it.",
)
ABOUT_PLACE = (
    "The house was built in {year} by {trade} from [[{place}]].",
    "{who} kept it open through the long winter of {year}.",
    "A [[{place}|path]] leads from here to the river and back.",
    'Old letters speak of "the {mood} years", when {trade} met here each evening.',
    "Since {year} it has belonged to the town, and entry is free.",
    "Its roof was mended in {year} after a storm that also damaged [[{place}]].",
    "On market days {trade} still gather under its eaves.",
    "The door is narrow, the welcome wide, as {who} wrote in {year}.",
    "Bread, soup and ''{mood} tea'' are served on Sundays.",
    "[[{place}|Walkers]] arrive in spring, [[{trade}]] in autumn.",
    "The bell rings once at noon and, by an old quarrel, twice at one.",
    "An account of {year} lists eleven chairs, one cat and no debts.",
)
EDITS = (
    "The roof above it was renewed in 2022.",
    "Opening hours changed in the autumn of 2021.",
    "A new [[guidebook|guide]] appeared in 2022.",
)
PLAIN_TITLES = _words("Access Customs Economy Events Grounds History Kitchen Legend Music Setting")
MOODS = _words("Amber Bright Early Gentle Patient Quiet Silver Sleepy")
TRADES = _words("bakers bargemen bookbinders coopers millers potters tilers weavers")
PEOPLE = (
    "Ada Fenwick",
    "Bram Oakley",
    "Cora Lindqvist",
    "Émile Sault",
    "Greta Thornby",
    "Jonas Müller",
    "Nora O'Dell",
    "Tom Hartley",
)
_LANGUAGE_NAMES = {"de": "Deutsch", "fr": "Français", "es": "Español", "ja": "日本語"}
_PHRASES = {
    "de": ("{0} ist ein Ort im Tal.", "{0} zeigt", "Grund", "Geschichte"),
    "fr": ("{0} est un lieu de la vallée.", "{0} montre", "fond", "Histoire"),
    "es": ("{0} es un lugar del valle.", "{0} muestra", "fondo", "Historia"),
    "ja": ("{0}は谷にある場所である。", "{0}に描かれているもの", "背景", "歴史"),
}
_GLOSSARY: dict[str, str] = {
    "ball": "Ball balle pelota 玉",
    "box": "Kiste boîte caja 箱",
    "star": "Stern étoile estrella 星",
    "cross": "Kreuz croix cruz 十字",
    "ring": "Ring anneau anillo 輪",
    "tree": "Baum arbre árbol 木",
    "house": "Haus maison casa 家",
    "boat": "Boot bateau barco 船",
    "cup": "Tasse tasse taza 杯",
    "moon": "Mond lune luna 月",
    "red": "rot rouge rojo 赤",
    "orange": "orange orange naranja 橙",
    "yellow": "gelb jaune amarillo 黄",
    "green": "grün vert verde 緑",
    "blue": "blau bleu azul 青",
    "purple": "lila violet morado 紫",
    "black": "schwarz noir negro 黒",
    "white": "weiß blanc blanco 白",
    "sky": "himmelblau ciel cielo 空色",
    "mint": "mintgrün menthe menta 薄緑",
    "rose": "rosa rose rosa 桃色",
    "sand": "sandfarben sable arena 砂色",
    "slate": "schiefergrau ardoise pizarra 灰色",
    "lilac": "fliederfarben lilas lila 藤色",
}
WORDNET_FILE = "wordnet.xml"
# A synset is indented by one space more than its hypernym; one with two hypernyms stands twice.
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


def title(number: int) -> str:
    """Return the unique title of a page: two words below 24,000, e.g. `Ashford Mill`."""
    names = len(_FIRSTS) * len(_LASTS)
    age, number = divmod(number, _PER_AGE)
    name = number * _STRIDE % names
    locality = _FIRSTS[name % len(_FIRSTS)] + _LASTS[name // len(_FIRSTS)]
    kind = KINDS[(number + number // names) % len(KINDS)]
    edition, age = divmod(age, len(_AGES))
    words = f"{_AGES[age]} {locality} {kind}".strip()
    return words if edition == 0 else f"{words} {edition + 1}"


def shelfmark(number: int) -> str:
    """Return what an archive calls work `number`, in letters and of three at least, e.g. `DKB`.

    Numbers would make a series of all works of one medium.
    """
    letters = ""
    while number or len(letters) < _SHELFMARK:
        number, letter = divmod(number, len(_CONSONANTS))
        letters = _CONSONANTS[letter] + letters
    return letters


def wordpieces() -> dict[str, int]:
    """Return a WordPiece vocabulary in BERT's form: special tokens, characters, then the stock."""
    stock = " ".join([*ABOUT_ART, *ABOUT_PLACE, *EDITS, *PLAIN_TITLES, *_GLOSSARY, *MEDIA, *KINDS])
    words = sorted(set(re.findall(r"[a-z]+", stock.lower())) - set(_LETTERS))
    signs = [*_LETTERS, *"0123456789", *(f"##{c}" for c in f"{_LETTERS}0123456789"), *".,:;'()&-"]
    ends = [f"##{last}" for last in _LASTS]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *signs, *words, *ends]
    return {piece: n for n, piece in enumerate(pieces)}


def plain(wikitext: str) -> str:
    """Return a stock sentence without bold, italics and links; their anchor text stays."""
    return re.sub("'{2,3}", "", re.sub(r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1", wikitext))


def word(english: str, language: str) -> str:
    """Translate a shape, colour or ground."""
    return _GLOSSARY[english].split()[LANGUAGES.index(language)]


def language_name(language: str) -> str:
    """Return a language's name in itself, as file pages have it before a description."""
    return _LANGUAGE_NAMES[language]


def phrases(language: str) -> tuple[str, str, str, str]:
    """Return a language's lead sentence, its `shows`, its word for ground and a section title."""
    return _PHRASES[language]


def write_wordnet(folder: Path) -> None:
    """Write nouns and adjectives to WORDNET_FILE in `folder`.

    A sense that the toy has no use for leads to one of the synsets `left_out`.
    """
    nouns = hypernyms()
    most = max(int(name.rpartition(".")[2]) for name in nouns)
    above = {**{_left_out(n): ["entity.n.01"] for n in range(1, most)}, **nouns}
    adjectives = sorted(f"{word}.a.01" for word in {*scenes.COLOURS, *_OPPOSITES})
    names = [*above, *adjectives]
    ids = {name: f"toy-{n:08d}-{_part(name)}" for n, name in enumerate(names, 1)}
    synsets = [_synset(name, above.get(name, []), ids) for name in names]
    entries = [_entry(name, ids) for name in [*nouns, *adjectives]]
    with store.aside(folder / WORDNET_FILE) as part:
        lmf.dump({"lmf_version": "1.1", "lexicons": [_lexicon(entries, synsets)]}, part)


def hypernyms() -> dict[str, list[str]]:
    """Return the synsets above each synset."""
    above: dict[str, list[str]] = {}
    path: list[str] = []
    for line in _TREE.strip().splitlines():
        name = line.strip()
        depth = len(line) - len(name)
        path[depth:] = [name]
        above.setdefault(name, []).extend(path[depth - 1 : depth] if depth else [])
    return above


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
    before = map(_left_out, range(1, int(number)))
    senses = [_sense(lemma, part, n, ids[sense]) for n, sense in enumerate([*before, name], 1)]
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
