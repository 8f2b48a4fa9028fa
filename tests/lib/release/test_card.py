"""The data card says what is true of the collection, and Hugging Face's own packages read it."""

import json
import logging
from hashlib import sha256
from typing import Any

import datasets
import mlcroissant
import polars as pl
import pytest
import yaml
from huggingface_hub import DatasetCard
from tests import releases

from isotope.release import croissant
from isotope.release.about import describe, read_about
from isotope.release.card import card

pytestmark = pytest.mark.filterwarnings("ignore")


def header(release):
    return yaml.safe_load((release / "README.md").read_text().split("---\n")[1])


def test_datasets_loads_every_configuration_by_the_front_matter(released, hub_cache):
    path = str(released)
    assert datasets.get_dataset_config_names(path) == ["texts", "images", "qrels", "attributions"]
    loaded = {
        name: datasets.load_dataset(path, name) for name in ("texts", "images", "attributions")
    }
    assert {split: len(rows) for split, rows in loaded["texts"].items()} == {
        **{"train": 1, "validation": 2, "test": 5, "other": 1}
    }
    row = loaded["images"]["test"][0]
    assert row["image"].size == releases.PICTURE_SIZE
    assert row["language"] == ["en", "de"]
    assert len(loaded["attributions"]["images"]) == 9
    qrels = datasets.load_dataset(path, "qrels", split="validation")
    assert qrels["rel"][:] == [1, 1]
    assert datasets.load_dataset(path).keys() == loaded["texts"].keys()


def test_the_hub_reads_the_front_matter(released):
    data: Any = DatasetCard.load(released / "README.md").data
    assert data.license == "cc-by-sa-4.0"
    assert data.language == ["en", "de"]
    assert data.size_categories == ["n<1K"]
    assert data.task_categories == ["text-retrieval", "image-to-text", "text-to-image"]


def test_statistics_are_counted_from_the_files(released):
    counts = json.loads((released / "about.json").read_text())["statistics"]
    assert counts["texts"]["test"] == {
        **{"texts": 5, "mean_words": 8.0, "median_words": 8, "p95_words": 8}
    }
    assert counts["images"]["test"] == {"images": 5, "pictures": 5, "captioned": 5}
    assert counts["qrels"]["validation"] == {"pairs": 2, "texts": 2, "images": 2}
    assert counts["grades"] == {"1": 8}
    assert counts["text_languages"] == {"en": 8, "de": 1}
    assert counts["caption_languages"] == {"de": 9, "en": 9}
    page = (released / "README.md").read_text()
    assert "| test | 5 | 8.0, 8 | 5 | 5 | 5 | 5 | 5 | 5 |" in page
    assert "Snapshots: 20240501." in page
    assert "`0123456789abcdef`" in page
    assert "| source | `dump/pairs-20240501.tsv` | `abababababababab` |" in page


@pytest.mark.parametrize(
    ("kind", "about", "licence", "said"),
    [
        ("wikipedia", {}, "cc-by-sa-4.0", "Texts: CC-BY-SA-4.0 ("),
        ("kind-of-a-user", {}, "unknown", "Nobody has stated a licence"),
        ("kind-of-a-user", {"licence": "CC-BY-4.0"}, "cc-by-4.0", "Texts: CC-BY-4.0."),
        ("wikipedia", {"licence": "Ask us"}, "other", "Texts: Ask us."),
    ],
)
def test_the_licence_is_what_params_say_or_the_kind_or_unknown(
    released, kind, about, licence, said
):
    counted = read_about(released)
    own = {**counted, **releases.facts("toy", kind, **about)._asdict()}
    text, described = card(released, own), croissant.described(own, released)
    assert yaml.safe_load(text.split("---\n")[1])["license"] == licence
    assert said in text
    assert ("creativecommons.org/licenses/by-sa" in described["license"]) == (
        kind == "wikipedia" and not about
    )
    for word in ("Wikipedia", "AToMiC"):
        assert (word in text) == (word in json.dumps(described)) == (kind == "wikipedia")


def test_licences_of_columns_are_counted_and_travel_with_texts_and_images(tmp_path):
    every = dict.fromkeys(range(1, 10), "CC0-1.0")
    release = releases.build(
        tmp_path,
        "c",
        kind="kind-of-a-user",
        runs=False,
        text_licences=every,
        image_licences={4: "CC BY 2.0"},
    )
    assert header(release)["license"] == "cc0-1.0"
    assert "| CC BY 2.0 | 1 |" in (release / "README.md").read_text()
    images = pl.read_parquet(release / "attributions.parquet")
    assert dict(images.select("image_id", "licence").iter_rows())["i4"] == "CC BY 2.0"
    assert pl.read_parquet(release / "licences.parquet")["licence"].to_list() == ["CC0-1.0"] * 9


@pytest.mark.parametrize(
    ("rows", "licence"),
    [({}, "unknown"), ({"MIT": 3}, "MIT"), ({"MIT": 3, "unknown": 1}, "several")],
)
def test_the_licence_of_all_rows_is_that_of_the_texts(rows, licence):
    of = releases.facts("toy", "kind-of-a-user")
    columns = {"licence": rows} if rows else {}
    said = describe(of, [], collection="toy", language="en", captions="en", columns=columns)
    assert (said["licence"], said["languages"]) == (licence, ["en"])


def test_croissant_has_every_file_with_its_digest(released):
    described = json.loads((released / "croissant.json").read_text())
    files = {f["@id"]: f for f in described["distribution"] if f["@type"] == "cr:FileObject"}
    there = {p.relative_to(released).as_posix(): p for p in released.rglob("*") if p.is_file()}
    assert set(files) == set(there) - {"croissant.json", "manifest.json"}
    for name, entry in files.items():
        assert entry["sha256"] == sha256(there[name].read_bytes()).hexdigest()
        assert entry["contentSize"] == f"{there[name].stat().st_size} B"


def test_mlcroissant_reads_what_is_said_for_responsible_use(released, caplog):
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(str(released / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set()
    assert "kind wikipedia" in str(dataset.metadata.data_collection)
    assert "not that a person judged it" in str(dataset.metadata.data_limitations)


def test_a_release_without_pictures_is_described_and_loaded_as_well(tmp_path, hub_cache, caplog):
    release = releases.build(tmp_path, "words", pictures=[], runs=False)
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(str(release / "croissant.json"))
    assert len(list(dataset.records("images"))) == 9
    loaded = datasets.load_dataset(str(release), "images", split="test")
    assert loaded["image"][:] == [None] * 5
    assert "| test | 5 | 8.0, 8 | 5 | 0 | 5 | 5 | 5 | 5 |" in (release / "README.md").read_text()
