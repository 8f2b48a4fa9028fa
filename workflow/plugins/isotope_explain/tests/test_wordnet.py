"""WordNet: found in the usual places, read by wn or line by line, similar as NLTK says."""

import gc
import itertools
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
import wn
from tests import wordnet_dict
from wn import lmf

from isotope.core.errors import CorruptFile, EmptyTable, MissingFile
from isotope_explain import wordnet as wordnet_files
from isotope_explain.wordnet import WordNet
from isotope_toy import scenes, words


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> WordNet:
    folder = tmp_path_factory.mktemp("wordnet")
    words.write_wordnet(folder)
    return WordNet(wordnet_files.find(folder))


@pytest.fixture(scope="module")
def full_wordnet(installed_wordnet) -> WordNet:
    return installed_wordnet


# As NLTK 3.10.4 says, with WordNet 3.0.
NLTK = [
    ("hill.n.01", "grassland.n.01", 1 / 9),
    ("tree.n.01", "grass.n.01", 1 / 6),
    ("dog.n.01", "cat.n.01", 1 / 5),
    ("dog.n.01", "dog.n.01", 1.0),
    ("person.n.01", "zebra.n.01", 1 / 11),
    ("einstein.n.01", "person.n.01", 1 / 4),
    ("entity.n.01", "dog.n.01", 1 / 9),
    ("couch.n.01", "sofa.n.01", 1.0),
    ("motion.n.03", "group_action.n.01", 1 / 5),
]


@pytest.mark.parametrize(("first", "second", "similarity"), NLTK)
def test_path_similarity_is_nltks(full_wordnet, first, second, similarity):
    computed = full_wordnet.similarity(full_wordnet.synset(first), full_wordnet.synset(second))
    assert computed == pytest.approx(similarity)


def test_a_sense_that_wordnet_lacks_is_none(full_wordnet):
    assert full_wordnet.synset("stop_sign.n.01") is None
    assert full_wordnet.synset("dog.n.99") is None
    assert full_wordnet.synset("") is None


def test_a_bare_noun_is_its_first_sense(full_wordnet):
    assert full_wordnet.synset("dining table") == full_wordnet.synset("dining_table.n.01")


def test_antonyms_are_direct_and_of_the_first_sense_that_has_some(full_wordnet):
    assert full_wordnet.antonyms("hot") == ["cold"]
    assert full_wordnet.antonyms("young") == ["old"]
    assert full_wordnet.antonyms("huge") == []
    assert full_wordnet.antonyms("isotopes") == []


def test_the_toys_synsets_are_as_far_apart_as_in_wordnet(toy, full_wordnet):
    for first, second in itertools.combinations(words.hypernyms(), 2):
        full_similarity, toy_similarity = (
            d.similarity(d.synset(first), d.synset(second)) for d in (full_wordnet, toy)
        )
        assert toy_similarity == full_similarity, (first, second)


def test_every_object_of_the_toy_is_in_its_dictionary(toy):
    assert None not in [toy.synset(name) for name in scenes.SYNSETS.values()]
    assert toy.antonyms("white") == ["black"]


def test_a_dictionary_is_found_below_nltks_folder_and_in_its_zip(tmp_path):
    folder = tmp_path / "data/corpora/wordnet"
    wordnet_dict.write(folder)
    assert wordnet_files.find(tmp_path / "data") == folder
    assert wordnet_files.find(environ={"NLTK_DATA": str(tmp_path / "data")}) == folder
    packed = tmp_path / "packed/corpora/wordnet.zip"
    packed.parent.mkdir(parents=True)
    with zipfile.ZipFile(packed, "w") as file:
        for path in folder.iterdir():
            file.write(path, f"wordnet/{path.name}")
    dictionary = WordNet(wordnet_files.find(tmp_path / "packed"))
    assert dictionary.path == packed
    assert dictionary.synset("tree.n.01") is not None


def test_princetons_files_say_what_the_same_synsets_in_lmf_say(toy, tmp_path):
    wordnet_dict.write(tmp_path)
    princeton = WordNet(wordnet_files.find(tmp_path))
    for first, second in itertools.combinations(words.hypernyms(), 2):
        princeton_similarity, toy_similarity = (
            d.similarity(d.synset(first) or "", d.synset(second) or "") for d in (princeton, toy)
        )
        assert toy_similarity == princeton_similarity, (first, second)
    assert princeton.antonyms("white") == toy.antonyms("white") == ["black"]


def test_the_number_of_a_synset_is_its_offset_where_its_name_has_one():
    names = ("02084071-n", "omw-en-02084071-n", "oewn-02084071-n", "my-dog", "dog.n.01")
    assert list(map(wordnet_files.offset, names)) == [2084071] * 3 + [None] * 2


def lexicon(language: str, name: str = "omw-en") -> lmf.Lexicon:
    """A lexicon of five synsets, with the names that Open Multilingual Wordnet gives them."""
    entries = [
        entry(name, "tree", "n", 1),
        entry(name, "street sign", "n", 2),
        entry(name, "thing", "n", 2, 3),
        entry(name, "big", "a", 4, antonym="small-5"),
        entry(name, "small", "s", 5, antonym="big-4"),
    ]
    entries[0]["forms"] = [{"writtenForm": "trees"}]
    synsets = [synset(name, n, part) for n, part in enumerate("nnnas", 1)]
    synsets[0]["relations"] = [relation("hypernym", f"{name}-00000003-n")]
    synsets[1]["relations"] = [relation("instance_hypernym", f"{name}-00000003-n")]
    return {
        "id": name,
        "version": "1.4",
        "label": "five synsets",
        "language": language,
        "email": "",
        "license": "",
        "meta": None,
        "entries": entries,
        "synsets": synsets,
    }


def entry(name: str, form: str, part: str, *numbers: int, antonym: str = "") -> lmf.LexicalEntry:
    entry_id = f"{name}-{form.replace(' ', '_')}"
    relations = [relation("antonym", f"{name}-{antonym}")] if antonym else []
    senses: list[lmf.Sense] = [
        {
            "id": f"{entry_id}-{n}",
            "synset": f"{name}-{n:08d}-{part}",
            "relations": relations,
            "meta": None,
        }
        for n in numbers
    ]
    lemma: lmf.Lemma = {"writtenForm": form, "partOfSpeech": part}
    return {"id": entry_id, "lemma": lemma, "senses": senses, "meta": None}


def synset(name: str, number: int, part: str) -> lmf.Synset:
    synset_id = f"{name}-{number:08d}-{part}"
    return {"id": synset_id, "ili": "", "partOfSpeech": part, "relations": [], "meta": None}


def relation(kind: str, target: str) -> lmf.Relation:
    return {"relType": kind, "target": target, "meta": None}


def database(folder: Path, *lexicons: lmf.Lexicon) -> Path:
    """Write wn's own database, as `wn.add` does."""
    folder.mkdir(exist_ok=True)
    wn.config.data_directory = folder  # pyright: ignore[reportPrivateImportUsage]
    wn.add_lexical_resource({"lmf_version": "1.1", "lexicons": list(lexicons)}, None)
    return folder / "wn.db"


def five(dictionary: WordNet) -> None:
    (tree,), (sign,) = dictionary.senses("tree"), dictionary.senses("street_sign")
    assert dictionary.similarity(tree, sign) == pytest.approx(1 / 3)
    assert dictionary.synset("thing.n.01") == sign
    assert dictionary.similarity(dictionary.senses("thing")[1], tree) == pytest.approx(1 / 2)
    assert dictionary.synset("trees.n.01") is None
    assert dictionary.antonyms("big") == ["small"]
    assert [wordnet_files.offset(synset) for synset in dictionary.senses("Thing")] == [2, 3]


def test_the_database_of_wn_is_read(tmp_path):
    path = database(tmp_path, lexicon("de", "odenet"), lexicon("en", "zz"), lexicon("en"))
    assert wordnet_files.find(tmp_path) == path
    dictionary = WordNet(path)
    five(dictionary)
    assert dictionary.synset("tree.n.01") == "omw-en-00000001-n"


def test_a_file_of_lmf_and_a_folder_with_one_are_read_without_the_network(tmp_path, monkeypatch):
    def refused(*_: object) -> None:
        raise AssertionError("the network is not asked")

    monkeypatch.setattr("socket.socket.connect", refused)
    file = tmp_path / "five.xml"
    lmf.dump({"lmf_version": "1.1", "lexicons": [lexicon("en", "five")]}, file)
    assert wordnet_files.find(file) == wordnet_files.find(tmp_path) == file
    dictionary, other = WordNet(file), WordNet(file)
    five(dictionary)
    five(other)


def test_a_database_without_english_or_that_is_none_is_refused(tmp_path):
    path = database(tmp_path, lexicon("fr", "wolf"))
    with pytest.raises(EmptyTable, match="no English lexicon"):
        WordNet(path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/wn.db").write_text("not a database, but as long as the header of one is")
    with pytest.raises(CorruptFile, match="not a database of wn"):
        WordNet(tmp_path / "other/wn.db")
    (tmp_path / "other/wn.db").unlink()
    with closing(sqlite3.connect(tmp_path / "other/wn.db")) as con:
        con.execute("CREATE TABLE lexemes (id)")
    with pytest.raises(CorruptFile, match="no such table: lexicons"):
        WordNet(tmp_path / "other/wn.db")
    # By which Python 3.13 warns of a database that is still open.
    gc.collect()
    toy_file = tmp_path / "cut.xml"
    words.write_wordnet(tmp_path)
    toy_file.write_bytes((tmp_path / words.WORDNET_FILE).read_bytes()[:-200])
    with pytest.raises(CorruptFile, match="not WN-LMF"):
        WordNet(toy_file)


def test_a_missing_dictionary_is_named_with_the_way_to_get_one(tmp_path):
    with pytest.raises(MissingFile, match=r"index\.noun.*wordnet-base"):
        wordnet_files.find(tmp_path)


def test_an_index_that_does_not_fit_its_data_is_refused(tmp_path):
    wordnet_dict.write(tmp_path)
    file = tmp_path / "data.noun"
    file.write_bytes(b" " + file.read_bytes())
    broken = WordNet(wordnet_files.find(tmp_path))
    tree, house = (broken.senses(noun)[0] for noun in ("tree", "house"))
    with pytest.raises(CorruptFile, match="no entry at byte"):
        broken.similarity(tree, house)
