"""WordNet: found where it lies, read line by line, similar as NLTK says."""

import itertools
import sqlite3
import zipfile
from contextlib import closing

import pytest

from isotope.core.errors import CorruptFile, EmptyTable, MissingFile
from isotope.explain import wordnet as wordnet_files
from isotope.explain.wordnet import WordNet
from isotope.toy import scenes, wordnet


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> WordNet:
    folder = tmp_path_factory.mktemp("wordnet")
    wordnet.write(folder)
    return WordNet(wordnet_files.find(folder))


@pytest.fixture(scope="module")
def whole() -> WordNet:
    try:
        return WordNet(wordnet_files.find())
    except MissingFile as error:
        pytest.skip(str(error))


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


@pytest.mark.parametrize(("one", "other", "similarity"), NLTK)
def test_path_similarity_is_nltks(whole, one, other, similarity):
    found = whole.similarity(whole.synset(one), whole.synset(other))
    assert found == pytest.approx(similarity)


def test_a_sense_that_wordnet_lacks_is_none(whole):
    assert whole.synset("stop_sign.n.01") is None
    assert whole.synset("dog.n.99") is None
    assert whole.synset("") is None


def test_a_bare_noun_is_its_first_sense(whole):
    assert whole.synset("dining table") == whole.synset("dining_table.n.01")


def test_antonyms_are_direct_and_of_the_first_sense_that_has_some(whole):
    assert whole.antonyms("hot") == ["cold"]
    assert whole.antonyms("young") == ["old"]
    assert whole.antonyms("huge") == []
    assert whole.antonyms("isotopes") == []


def test_the_toys_synsets_are_as_far_apart_as_in_wordnet(toy, whole):
    for one, other in itertools.combinations(wordnet.hypernyms(), 2):
        there, here = (d.similarity(d.synset(one), d.synset(other)) for d in (whole, toy))
        assert here == there, (one, other)


def test_every_object_of_the_toy_is_in_its_dictionary(toy):
    assert None not in [toy.synset(name) for name in scenes.SYNSETS.values()]
    assert toy.antonyms("white") == ["black"]


def test_a_dictionary_is_found_below_nltks_folder_and_in_its_zip(tmp_path):
    folder = tmp_path / "data/corpora/wordnet"
    wordnet.write(folder)
    assert wordnet_files.find(tmp_path / "data") == folder
    assert wordnet_files.find(environ={"NLTK_DATA": str(tmp_path / "data")}) == folder
    packed = tmp_path / "packed/corpora/wordnet.zip"
    packed.parent.mkdir(parents=True)
    with zipfile.ZipFile(packed, "w") as file:
        for path in folder.iterdir():
            file.write(path, f"wordnet/{path.name}")
    found = WordNet(wordnet_files.find(tmp_path / "packed"))
    assert found.place == packed
    assert found.synset("tree.n.01") is not None


TABLES = """
CREATE TABLE lexicons (rowid INTEGER PRIMARY KEY, specifier TEXT, language TEXT);
CREATE TABLE entries (rowid INTEGER PRIMARY KEY, lexicon_rowid INTEGER, pos TEXT);
CREATE TABLE forms (rowid INTEGER PRIMARY KEY, entry_rowid INTEGER, form TEXT, rank INTEGER);
CREATE TABLE senses (rowid INTEGER PRIMARY KEY, lexicon_rowid INTEGER, entry_rowid INTEGER,
    entry_rank INTEGER, synset_rowid INTEGER);
CREATE TABLE relation_types (rowid INTEGER PRIMARY KEY, type TEXT);
CREATE TABLE synset_relations (lexicon_rowid INTEGER, source_rowid INTEGER,
    target_rowid INTEGER, type_rowid INTEGER);
CREATE TABLE sense_relations (lexicon_rowid INTEGER, source_rowid INTEGER,
    target_rowid INTEGER, type_rowid INTEGER);
INSERT INTO lexicons VALUES (1, 'odenet:1', 'de'), (2, 'omw-en:1.4', 'en');
INSERT INTO entries VALUES (1, 2, 'n'), (2, 2, 'n'), (3, 2, 'n'), (4, 2, 'a'), (5, 2, 's');
INSERT INTO forms VALUES (1, 1, 'tree', 0), (2, 2, 'street sign', 0), (3, 3, 'thing', 0),
    (4, 4, 'big', 0), (5, 5, 'small', 0), (6, 1, 'trees', 1);
INSERT INTO senses VALUES (1, 2, 1, 1, 1), (2, 2, 2, 1, 2), (3, 2, 3, 1, 2), (4, 2, 3, 2, 3),
    (5, 2, 4, 1, 4), (6, 2, 5, 1, 5);
INSERT INTO relation_types VALUES (1, 'antonym'), (2, 'hypernym'), (3, 'instance_hypernym');
INSERT INTO synset_relations VALUES (2, 1, 3, 2), (2, 2, 3, 3);
INSERT INTO sense_relations VALUES (2, 5, 6, 1), (2, 6, 5, 1);
"""


def test_the_database_of_wn_is_read(tmp_path):
    """The columns that wn 1.1.1 wrote of a lexicon of five synsets."""
    with closing(sqlite3.connect(tmp_path / "wn.db")) as con:
        con.executescript(TABLES)
    found = WordNet(wordnet_files.find(tmp_path))
    (tree,), (sign,) = found.senses("tree"), found.senses("street_sign")
    assert found.similarity(tree, sign) == pytest.approx(1 / 3)
    assert found.synset("thing.n.01") == sign
    assert found.similarity(found.senses("thing")[1], tree) == pytest.approx(1 / 2)
    assert found.synset("trees.n.01") is None
    assert found.antonyms("big") == ["small"]


def test_a_database_without_english_or_that_is_none_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "wn.db")) as con:
        con.executescript(TABLES.replace("'en'", "'fr'"))
    with pytest.raises(EmptyTable, match="no English lexicon"):
        WordNet(tmp_path / "wn.db")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/wn.db").write_text("not a database, but as long as the header of one is")
    with pytest.raises(CorruptFile, match="not a database of wn"):
        WordNet(tmp_path / "other/wn.db")


def test_a_missing_dictionary_is_named_with_the_way_to_get_one(tmp_path):
    with pytest.raises(MissingFile, match=r"index\.noun.*wordnet-base"):
        wordnet_files.find(tmp_path)


def test_an_index_that_does_not_fit_its_data_is_refused(tmp_path):
    wordnet.write(tmp_path)
    file = tmp_path / "data.noun"
    file.write_bytes(b" " + file.read_bytes())
    broken = WordNet(wordnet_files.find(tmp_path))
    with pytest.raises(CorruptFile, match="no entry at byte"):
        broken.entry(broken.senses("tree")[0])
