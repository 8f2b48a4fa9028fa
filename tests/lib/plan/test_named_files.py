"""Which files tell that what a param names has changed."""

from pathlib import Path

import pytest
from tests.models import model_of

from isotope.params.references import local_names
from isotope.plan.paths import named_files


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "facts/views.csv",
        "model/config.json",
        "model/1/head.safetensors",
        "model/.git/x",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("facts/views.csv", ["facts/views.csv"]),
        ("model", ["model/1/head.safetensors", "model/config.json"]),
        ("google/t5-base", []),
        ("https://example.org/views.csv", []),
        ("data/acquire/toy/views.csv", ["data/acquire/toy/manifest.json"]),
        ("./data/acquire/toy/wordnet", ["data/acquire/toy/manifest.json"]),
        ("data/acquire/other/views.csv", []),
    ],
)
def test_a_file_tells_itself_a_folder_its_files_and_a_source_its_manifest(place, named, found):
    assert named_files(named, ["toy"]) == found


def test_a_folder_that_bears_the_name_of_a_tokenizer_is_none(place):
    assert named_files("model", folders=False) == []


def test_an_absolute_path_into_a_source_is_told_by_its_manifest(place):
    named = str(place / "data/acquire/toy/views.csv")
    assert named_files(named, ["toy"]) == ["data/acquire/toy/manifest.json"]


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ({"kind": "open_clip", "name": "ViT-B-32", "pretrained": "w.bin"}, ["w.bin"]),
        ({"kind": "open_clip", "name": "ViT-B-32", "pretrained": None}, []),
        ({"kind": "transformers", "name": "models/blip"}, ["models/blip"]),
        ({"kind": "hash", "dim": 8}, []),
    ],
)
def test_a_model_names_its_weights_and_not_its_architecture(spec, named):
    assert local_names(model_of(spec)) == named
