"""Dictionaries whose bytes were changed are read, or refused by name."""

import io
import zipfile
from pathlib import Path

import pytest
from tests import wordnet_dict
from tests.lib.intake.test_changed_inputs import MANY, SOME, Input, outcomes

from isotope_explain import wordnet
from isotope_explain.wordnet import WordNet
from isotope_toy import words

NAMES = (
    *("dict/data.adj", "dict/data.noun", "dict/index.adj", "dict/index.noun"),
    *("nltk/corpora/wordnet.zip", "lmf/wordnet.xml"),
)


def nouns(path: Path) -> None:
    """Ask a dictionary whatever the explanations ask, by the folder that holds the file."""
    dictionary = WordNet(wordnet.find(path.parent))
    for name in ("dog.n.01", "cat", "tree", "left_out", "person"):
        synset = dictionary.synset(name)
        if synset:
            dictionary.similarity(synset, dictionary.synset("entity") or synset)
    for adjective in ("black", "white"):
        dictionary.antonyms(adjective)


def zipped(folder: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.iterdir():
            archive.write(path, f"wordnet/{path.name}")
    return out.getvalue()


def dictionary_files(folder: Path) -> list[Input]:
    (princeton := folder / "dict").mkdir()
    (lmf := folder / "lmf").mkdir()
    wordnet_dict.write(princeton)
    words.write_wordnet(lmf)
    [xml] = (path for path in lmf.rglob("*") if path.is_file())
    parts = [Input(f"dict/{p.name}", p.read_bytes(), nouns) for p in sorted(princeton.iterdir())]
    zip_file = Input("nltk/corpora/wordnet.zip", zipped(princeton), lambda path: nouns(path.parent))
    return [*parts, zip_file, Input(f"lmf/{xml.name}", xml.read_bytes(), nouns)]


def test_every_file_of_a_dictionary_has_its_name_here(tmp_path):
    assert {file.name for file in dictionary_files(tmp_path)} == {*NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [SOME, pytest.param(MANY, marks=pytest.mark.exhaustive)])
def test_changed_files_are_read_or_refused_by_name(tmp_path, name, count):
    files = {file.name: file for file in dictionary_files(tmp_path)}
    counts = outcomes(files[name], tmp_path / name, count)
    assert sum(counts.values()) == count
    assert {*counts} <= {"read", "named"}
    assert counts["named"]
