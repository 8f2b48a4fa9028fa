"""Pictures that keep their shapes, and captions with the instruction of images: whole shards."""

import io
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests import kernels, tiny_families
from tests.models import loaded, model_of

from isotope.core import store
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.vectors import contents_of, load_vectors
from isotope.encode import shard
from isotope.encode.cache import Encoding
from isotope.models.families import encoder as family_encoder
from isotope.schemas.collect import IMAGES
from isotope.schemas.crawl import PIXELS

SIZES = ((40, 40), (64, 32), (48, 24), (32, 64), (50, 20), (40, 40), (33, 47), (64, 32), (40, 48))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(family_encoder, "BUDGET", 256)
    monkeypatch.setattr(shard, "_PICTURES_WAIT", 5)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("qwen3_vl")
    tiny_families.save_qwen3_vl(place)
    return str(place)


@pytest.fixture(scope="module")
def pictures() -> dict[str, bytes]:
    """WebP bytes by image id."""
    random, made = np.random.default_rng(2), {}
    for n, (width, height) in enumerate(SIZES):
        noise = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(noise).save(out, "WEBP", lossless=True)
        made[str(uuid.uuid3(uuid.NAMESPACE_URL, f"http://x/{n}"))] = out.getvalue()
    return dict(sorted(made.items()))


def written(place: Path, pictures: dict[str, bytes]) -> tuple[Path, Path]:
    place.mkdir()
    blank = dict.fromkeys(IMAGES.names)
    caption = {"language": ["en"], CAPTION_FIELDS[0]: ["A dog runs"]}
    caption |= {field: [""] for field in CAPTION_FIELDS[1:]}
    rows = [{**blank, "image_id": image, **caption} for image in pictures]
    store.write_rows(rows, place / "images.parquet", IMAGES)
    pixels = [
        {**dict.fromkeys(PIXELS.names), "image_id": i, "webp": w} for i, w in pictures.items()
    ]
    store.write_rows(pixels, place / "pixels.parquet", PIXELS)
    return place / "images.parquet", place / "pixels.parquet"


def encoded(
    place: Path,
    pictures: dict[str, bytes],
    spec: dict[str, Any],
    shards: int = 1,
    earlier: Any = (),
) -> dict[str, np.ndarray]:
    """Encode all shards; return each image's vector."""
    images, pixels = written(place, pictures)
    files = [(place / f"{n}.npy", place / f"{n}.ids.parquet") for n in range(shards)]
    for n, (vectors, ids) in enumerate(files):
        encoding = Encoding(model_of(spec), None, 3, shard=n, shards=shards)
        sources = shard.ImageSources([pixels], "en")
        shard.encode_image_shard(images, sources, encoding, shard.ShardFiles(vectors, ids, earlier))
    found = load_vectors(*zip(*files, strict=True))
    rows = np.concatenate(found.blocks)
    return dict(zip(found.ids, rows, strict=True))


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Assert that images have the vectors that are expected of them, but for rounding."""
    for image, row in found.items():
        kernels.assert_same_but_for_rounding(row, expected[image])


@pytest.mark.parametrize("kind", kernels.KINDS)
def test_pictures_of_many_shapes_have_the_same_vectors_in_any_number_of_shards(
    checkpoint, pictures, tmp_path, kind
):
    spec = {"kind": "transformers", "name": checkpoint}
    some = dict(list(pictures.items())[1::2])
    with kernels.processor(kind):
        whole = encoded(tmp_path / "whole", pictures, spec)
        again = encoded(tmp_path / "again", pictures, spec)
        thirds = encoded(tmp_path / "thirds", pictures, spec, shards=3)
        fewer = encoded(tmp_path / "some", some, spec)
    assert len({row.tobytes() for row in whole.values()}) == len(SIZES)
    assert all(row.tobytes() == again[image].tobytes() for image, row in whole.items())
    assert thirds.keys() == whole.keys()
    assert fewer.keys() == some.keys()
    assert_same(thirds, whole)
    assert_same(fewer, whole)


def test_a_later_collection_copies_the_vectors_of_pictures_that_an_earlier_one_has(
    checkpoint, pictures, tmp_path, caplog
):
    spec = {"kind": "transformers", "name": checkpoint}
    some = dict(list(pictures.items())[:5])
    before = encoded(tmp_path / "first", some, spec)
    first = tmp_path / "first/0.npy"
    assert contents_of(first).is_file()
    caplog.set_level("INFO")
    found = encoded(tmp_path / "second", pictures, spec, earlier=[first])
    if kernels.PLACES not in caplog.text:
        assert "5 of 9 vectors reused" in caplog.text
        assert all(found[image].tobytes() == row.tobytes() for image, row in before.items())
    assert_same(found, encoded(tmp_path / "fresh", pictures, spec))


def test_captions_have_the_instruction_of_images(checkpoint, pictures, tmp_path):
    spec = {"kind": "transformers", "name": checkpoint, "images": "captions"}
    told = {"texts": "Two cats.", "images": "Find the zebra."}
    one = dict(list(pictures.items())[:1])
    [row] = encoded(tmp_path / "told", one, {**spec, "instruction": told}).values()
    encoder = loaded({**spec, "instruction": {"texts": told["images"]}}, device="cpu")
    expected = encoder.encode_texts(["A dog runs"])[0]
    np.testing.assert_allclose(np.frombuffer(row, np.float32), expected, atol=1e-5)
    [plain] = encoded(
        tmp_path / "plain", one, {**spec, "instruction": {"texts": told["texts"]}}
    ).values()
    expected = loaded(spec, device="cpu").encode_texts(["A dog runs"])[0]
    np.testing.assert_allclose(np.frombuffer(plain, np.float32), expected, atol=1e-5)
