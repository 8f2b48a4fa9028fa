"""Encoding for late interaction: which vectors of which items, whatever the shards."""

import io
import uuid
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests import kernels
from tests.late_models import DIM, save_colbert, save_late
from tests.models import model_of

from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.core.multivectors import MultiVectors, codes_of, pooled, quantised
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.vectors import load_vectors
from isotope.encode.late import encode_late_shard
from isotope.models import late
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.crawl import PIXELS

WORDS = ["two", "red", "balls", "a", "boat", "at", "the", "left", "of", "green", "hill"]
N = 7
BATCH = 2


def text(n):
    return " ".join(WORDS[: n + 1] * (1 + n % 3))


def webp(n):
    out = io.BytesIO()
    size = (28 + 7 * (n % 2), 28 + 14 * (n % 3), 3)
    pixels = np.random.default_rng(n).integers(0, 256, size, np.uint8)
    Image.fromarray(pixels).save(out, "WEBP", lossless=True)
    return out.getvalue()


@pytest.fixture(scope="module", autouse=True)
def _short():  # pyright: ignore[reportUnusedFunction]
    """Texts of vision models are cut at so few tokens that these reach the cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late, "_TOKENS", 12)
        yield


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tables")
    ids = sorted(str(uuid.uuid3(uuid.NAMESPACE_URL, str(n))) for n in range(N))
    rows = [dict.fromkeys((*TEXTS.names, *FIVE_FIELDS)) for _ in ids]
    rows = [r | {"text_id": f"t{n}", "page_title": text(n)} for n, r in enumerate(rows)]
    rows[3]["page_title"] = ""
    store.write_rows(rows, folder / "texts.parquet", TEXTS)
    captions = [None if n == 2 else [text(n), "a boat"] for n in range(N)]
    images = [
        dict.fromkeys(IMAGES.names)
        | {"image_id": ident, "language": ["en", "en"] if own else []}
        | {"caption_reference_description": own or []}
        | {"caption_alt_text_description": [""] * 2 * bool(own)}
        | {"caption_attribution_description": [""] * 2 * bool(own)}
        for ident, own in zip(ids, captions, strict=True)
    ]
    store.write_rows(images, folder / "images.parquet", IMAGES)
    # The same picture twice, under two ids.
    drawn = [{"image_id": i, "webp": webp(0 if n == 6 else n)} for n, i in enumerate(ids)]
    store.write_rows([dict.fromkeys(PIXELS.names) | r for r in drawn], folder / "p.parquet", PIXELS)
    return {"folder": folder, "ids": ids, "captions": captions}


@pytest.fixture(scope="module")
def vision(tmp_path_factory):
    place = tmp_path_factory.mktemp("colqwen2")
    save_late(place, "colqwen2")
    return {"kind": "late", "name": str(place), "images": "pixels"}


@pytest.fixture(scope="module")
def colbert(tmp_path_factory):
    place = save_colbert(tmp_path_factory.mktemp("colbert"))
    return {"kind": "late", "name": str(place), "images": "captions"}


def encoded(tables, folder, model, shards=1):
    """Return the readers, and the pooled vectors, of both sides."""
    kinds = {"vectors": ".npy", "ids": ".ids.parquet", "tokens": ".tokens.npy"}
    kinds["items"] = ".tokens.parquet"
    places = [
        {
            f"{s}_{k}": folder / f"{s}-{n}{end}"
            for s in ("text", "image")
            for k, end in kinds.items()
        }
        for n in range(shards)
    ]
    for n, outputs in enumerate(places):
        encode_late_shard(
            texts=tables["folder"] / "texts.parquet",
            images=tables["folder"] / "images.parquet",
            pixels=[tables["folder"] / "p.parquet"],
            model=model_of(model),
            language="en",
            shard=n,
            shards=shards,
            batch=BATCH,
            precision="float32",
            outputs=outputs,
        )
    read = {
        s: MultiVectors(*([p[f"{s}_{k}"] for p in places] for k in ("tokens", "items")))
        for s in ("text", "image")
    }
    pool = {
        s: load_vectors(*([p[f"{s}_{k}"] for p in places] for k in ("vectors", "ids")))
        for s in ("text", "image")
    }
    return read, pool


def assert_stored(records, vectors):
    """The records hold the vectors: no code is more than a step off, which rounding can tip."""
    found, expected = codes_of(records), codes_of(quantised(np.ascontiguousarray(vectors)))
    assert found.codes.shape == expected.codes.shape
    kernels.assert_same_but_for_rounding(found.scales, expected.scales)
    assert np.abs(found.codes - expected.codes).max(initial=0) <= 1
    assert (found.codes != expected.codes).mean() < 0.01


def alone(encoder, item):
    return encoder.encode([item] * BATCH)[0]


def test_every_text_and_picture_has_the_models_vectors(tables, vision, tmp_path):
    read, pool = encoded(tables, tmp_path, vision)
    encoder = late.load(model_of(vision), device="cpu")
    assert pool["text"].ids.to_list() == [f"t{n}" for n in range(N)]
    assert pool["image"].ids.to_list() == tables["ids"]
    for n in range(N):
        vectors = alone(encoder, encoder.text("" if n == 3 else text(n)))
        assert_stored(read["text"].take(np.array([n])), vectors)
        kernels.assert_same_but_for_rounding(pool["text"].blocks[0][n], pooled(vectors))
        picture = Image.open(io.BytesIO(webp(0 if n == 6 else n))).convert("RGB")
        vectors = alone(encoder, encoder.picture(picture))
        assert_stored(read["image"].take(np.array([n])), vectors)


@pytest.mark.parametrize("kind", kernels.KINDS)
def test_shards_change_an_item_no_more_than_rounding(tables, vision, colbert, tmp_path, kind):
    for model in (vision, colbert):
        folders = [tmp_path / f"{model['images']}-{shards}" for shards in (1, 3)]
        with kernels.processor(kind):
            (one, whole), (three, parts) = (
                encoded(tables, folder, model, shards)
                for folder, shards in zip(folders, (1, 3), strict=True)
            )
        for side in ("text", "image"):
            rows = np.arange(N)
            for queries in (False, True):
                vectors = codes_of(one[side].take(rows, queries=queries)).vectors()
                assert_stored(three[side].take(rows, queries=queries), vectors)
            kernels.assert_same_but_for_rounding(
                np.vstack(parts[side].blocks), whole[side].blocks[0]
            )


def test_the_same_shard_twice_has_the_same_files(tables, vision, tmp_path):
    for name in ("one", "two"):
        encoded(tables, tmp_path / name, vision)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_captions_stand_for_an_image_as_lines_of_one_text(tables, colbert, tmp_path):
    read, _ = encoded(tables, tmp_path, colbert)
    encoder = late.load(model_of(colbert), device="cpu")
    for n, own in enumerate(tables["captions"]):
        words = "\n".join(own or [])
        for query in (False, True):
            vectors = alone(encoder, encoder.text(words, query=query))
            assert_stored(read["image"].take(np.array([n]), queries=query), vectors)


def test_a_colberts_queries_differ_from_its_documents(tables, colbert, tmp_path):
    read, _ = encoded(tables, tmp_path, colbert)
    counts = [read["text"].counts(np.arange(N), queries=q).tolist() for q in (False, True)]
    assert counts[1] == [8] * N != counts[0]


def test_the_pooled_vector_is_near_that_of_the_stored_vectors(tables, vision, tmp_path):
    read, pool = encoded(tables, tmp_path, vision)
    for n in range(N):
        own = pooled(codes_of(read["image"].take(np.array([n]))).vectors())
        np.testing.assert_allclose(own, pool["image"].blocks[0][n], atol=0.01)
    assert read["image"].dim == DIM


def test_an_image_without_a_picture_is_named(tables, vision, tmp_path):
    drawn = pl.read_parquet(tables["folder"] / "p.parquet").head(N - 1)
    place = {**tables, "folder": tmp_path}
    for name in ("texts", "images"):
        (tmp_path / f"{name}.parquet").symlink_to(tables["folder"] / f"{name}.parquet")
    store.write(drawn.to_arrow(), tmp_path / "p.parquet", PIXELS)
    with pytest.raises(MissingFile, match=tables["ids"][-1]):
        encoded(place, tmp_path / "out", vision)
    assert not [*(tmp_path / "out").glob("image*")]


def test_pixels_are_refused_for_a_model_that_reads_texts(tables, colbert, tmp_path):
    with pytest.raises(BadParams, match="images: captions"):
        encoded(tables, tmp_path, {**colbert, "images": "pixels"})
