"""Images by their captions: whose captions, which mean, and what is not said."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.models import loaded, model_of

from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.vectors import load_vectors
from isotope.encode import shard as encode_captions
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles
from isotope.schemas.collect import IMAGES

HASH: dict[str, object] = {"kind": "hash", "dim": 24, "images": "captions"}
SAID = {
    "a": [("en", "a red boat", "boat", ""), ("de", "ein Boot", "", "")],
    "b": [("en", "two dogs", "", "by Ann"), ("en", "dogs run", "", "")],
    "c": [("de", "nur deutsch", "", "")],
    "d": [],
    "e": [("en", "last one", "", "")],
}


@pytest.fixture
def images(tmp_path):
    blank = dict.fromkeys(IMAGES.names)
    rows = [
        {
            **blank,
            "image_id": image,
            "language": [s[0] for s in said],
            **{f: [s[n] for s in said] for n, f in enumerate(CAPTION_FIELDS, 1)},
        }
        for image, said in reversed(SAID.items())
    ]
    store.write_rows(rows, tmp_path / "images.parquet", IMAGES)
    return tmp_path / "images.parquet"


def encoded(images: Path, spec: dict[str, object] = HASH, shards: int = 1, **given) -> pl.DataFrame:
    """The vector of each image."""
    folder = images.parent
    vectors = [folder / f"{n}.npy" for n in range(shards)]
    ids = [folder / f"{n}.ids.parquet" for n in range(shards)]
    for n in range(shards):
        language, batch = given.get("language", "en"), given.get("batch", 2)
        encoding = Encoding(model_of(spec), None, batch, shard=n, shards=shards)
        sources = encode_captions.ImageSources([], language)
        encode_captions.encode_image_shard(
            images, sources, encoding, ShardFiles(vectors[n], ids[n])
        )
    found = load_vectors(vectors, ids)
    return pl.DataFrame({"id": found.ids, "vector": np.concatenate(found.blocks)})


def mean_of(*captions: str) -> np.ndarray:
    rows = loaded(HASH).encode_texts(list(captions)).astype(np.float64).sum(axis=0)
    return rows / np.linalg.norm(rows)


def test_an_image_is_the_mean_of_its_captions_in_the_language(images):
    found = dict(encoded(images).iter_rows())
    expected = {
        "a": mean_of("a red boat", "boat"),
        "b": mean_of("two dogs", "dogs run", "by Ann"),
        "e": mean_of("last one"),
    }
    assert list(found) == list("abcde")
    for image, vector in expected.items():
        np.testing.assert_allclose(found[image], vector, atol=1e-6)
    german = dict(encoded(images, language="de").iter_rows())
    np.testing.assert_allclose(german["c"], mean_of("nur deutsch"), atol=1e-6)


def test_an_image_without_a_caption_is_an_empty_text_and_counted(images, caplog):
    with caplog.at_level("INFO"):
        found = dict(encoded(images).iter_rows())
    for image in "cd":
        np.testing.assert_allclose(found[image], mean_of(""), atol=1e-6)
    assert "2 of 5 images have no caption in en" in caplog.text


@pytest.mark.parametrize(("shards", "at_a_time"), [(2, 4_096), (1, 2), (3, 1)])
def test_neither_shards_nor_pieces_change_a_vector(shards, at_a_time, images, monkeypatch):
    whole = encoded(images)
    monkeypatch.setattr(encode_captions, "_IMAGES_PER_READ", at_a_time)
    pieces = encoded(images, shards=shards)
    assert pieces["id"].to_list() == whole["id"].to_list()
    np.testing.assert_array_equal(pieces["vector"].to_numpy(), whole["vector"].to_numpy())


def test_a_model_that_sees_pixels_asks_for_them(images):
    with pytest.raises(MissingFile, match="none of its pixels"):
        encoded(images, {"kind": "hash", "dim": 8})


def test_an_empty_batch_is_refused(images):
    with pytest.raises(BadParams, match="batch 0"):
        encoded(images, batch=0)
