"""Encoding a collection: which rows, in which order, with which vectors."""

import io
import logging
import uuid
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.models import loaded, model_of

from isotope.core import store
from isotope.core.errors import (
    BadParams,
    CorruptFile,
    MissingColumn,
    MissingFile,
    TruncatedFile,
    UnknownModel,
)
from isotope.core.schemas import FIVE_FIELDS
from isotope.encode import multimodal, shard
from isotope.encode.cache import Encoding
from isotope.models import encoders
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.crawl import PIXELS

HASH = {"kind": "hash", "dim": 16}
FIELDS = dict.fromkeys(FIVE_FIELDS, "")


def write(path, schema, rows):
    blank = dict.fromkeys(schema.names)
    store.write_rows([blank | row for row in rows], path, schema)
    return path


def image_id(n):
    return str(uuid.uuid3(uuid.NAMESPACE_URL, f"http://x/{n}.png"))


def webp(n):
    out = io.BytesIO()
    Image.new("RGB", (3 + n, 4), (20 * n, 0, 90)).save(out, "WEBP", lossless=True)
    return out.getvalue()


@pytest.fixture
def texts(tmp_path):
    rows = [FIELDS | {"text_id": f"t{n}", "page_title": f"page {n}"} for n in (3, 0, 4, 1, 2, 6, 5)]
    return write(tmp_path / "texts.parquet", TEXTS, rows)


@pytest.fixture
def images(tmp_path):
    rows = [{"image_id": image_id(n)} for n in range(7)]
    return write(tmp_path / "images.parquet", IMAGES, rows)


@pytest.fixture
def pixels(tmp_path):
    rows = sorted(({"image_id": image_id(n), "webp": webp(n)} for n in range(9)), key=by_id)
    some = [rows[:4], rows[4:]]
    return [write(tmp_path / f"shard-0000{i}.parquet", PIXELS, part) for i, part in enumerate(some)]


def by_id(row):
    return row["image_id"]


@pytest.fixture
def run(tmp_path):
    """Encode with defaults; return the ids and vectors of all shards."""

    def encoded(function, shards=1, **given):
        files = [(tmp_path / f"{i}.npy", tmp_path / f"{i}.parquet") for i in range(shards)]
        for i, (vectors, ids) in enumerate(files):
            options: dict[str, Any] = {
                "model": HASH,
                "weights": None,
                "batch": 2,
                "shard": i,
                "shards": shards,
            }
            options |= {k: given[k] for k in options.keys() & given.keys()}
            options["model"] = model_of(options["model"])
            own = {k: v for k, v in given.items() if k not in options}
            function(**own, encoding=Encoding(**options), files=shard.ShardFiles(vectors, ids))
        return shard.load_vectors(*zip(*files, strict=True))

    return encoded


def test_texts_are_encoded_in_order_of_their_id(run, texts):
    found = run(shard.encode_texts, texts=texts)
    assert found.ids.to_list() == [f"t{n}" for n in range(7)]
    expected = loaded(HASH).encode_texts([f"page {n}" for n in range(7)])
    np.testing.assert_array_equal(found.blocks[0], expected)
    assert found.dim == 16


def test_pictures_that_are_smaller_than_the_model_reads_are_counted(
    run, images, pixels, monkeypatch, caplog
):
    """Their shorter sides are 3, 4, 4, 4, 4, 4 and 4 px."""
    for side_px, told in ((3, None), (4, "1 of 7"), (5, "7 of 7")):
        monkeypatch.setattr(type(loaded(HASH)), "side_px", side_px, raising=False)
        caplog.clear()
        with caplog.at_level("INFO"):
            run(shard.encode_images, images=images, pixels=pixels)
        line = f"{told} pictures were enlarged to the {side_px} px that the model reads"
        level = logging.WARNING if side_px == 5 else logging.INFO
        found = [one[1:] for one in caplog.record_tuples if "enlarged" in one[2]]
        assert found == ([(level, line)] if told else [])


def test_the_five_fields_are_in_the_papers_order():
    """AToMiC, footnote 14: [title (P), title (S), hierarchy, context (S), context (P)]."""
    titles, contexts = ("page_title", "section_title"), ("section", "page")
    fields = (*titles, "hierarchy", *(f"context_{of}_description" for of in contexts))
    assert fields == FIVE_FIELDS


def test_a_text_is_its_five_fields_in_the_papers_order_without_the_empty_ones(run, tmp_path):
    row = {
        "text_id": "t",
        "context_page_description": "five ",
        "context_section_description": "four",
        "hierarchy": None,
        "section_title": "  ",
        "page_title": "one",
    }
    path = write(tmp_path / "texts.parquet", TEXTS, [row])
    seen = []

    class Spy:
        dim = 1

        def encode_texts(self, texts):
            seen.append(texts[0])
            return np.ones((len(texts), 1), np.float32)

        def shapes(self, texts):
            return [0] * len(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoders, "load", lambda *_args, **_options: Spy())
        run(shard.encode_texts, texts=path)
        run(shard.encode_texts, texts=path, fields=["context_section_description", "page_title"])
    assert seen == ["", "one four five", "", "four one"]


@pytest.mark.parametrize("shards", [2, 3, 9])
def test_shards_of_texts_give_the_rows_of_one(run, texts, shards):
    whole = run(shard.encode_texts, texts=texts)
    one = np.array(whole.blocks[0])
    parts = run(shard.encode_texts, shards, texts=texts)
    assert parts.ids.to_list() == whole.ids.to_list()
    np.testing.assert_array_equal(np.concatenate(parts.blocks), one)


@pytest.mark.parametrize("shards", [1, 3, 8])
def test_every_image_gets_the_vector_of_its_own_pixels(run, images, pixels, shards):
    found = run(shard.encode_images, shards, images=images, pixels=pixels)
    expected = {
        image_id(n): loaded(HASH).encode_images([Image.open(io.BytesIO(webp(n)))])[0]
        for n in range(7)
    }
    assert found.ids.to_list() == sorted(expected)
    rows = np.concatenate(found.blocks)
    np.testing.assert_array_equal(rows, [expected[i] for i in found.ids])


def test_vectors_are_opened_by_mmap_and_normalised(run, images, pixels):
    block = run(shard.encode_images, images=images, pixels=pixels).blocks[0]
    assert isinstance(block, np.memmap)
    np.testing.assert_allclose(np.linalg.norm(block, axis=1), 1, atol=1e-6)


def test_encoding_twice_gives_the_same_bytes(run, texts, tmp_path):
    run(shard.encode_texts, texts=texts)
    first = [(tmp_path / name).read_bytes() for name in ("0.npy", "0.parquet")]
    run(shard.encode_texts, texts=texts, batch=5)
    assert [(tmp_path / name).read_bytes() for name in ("0.npy", "0.parquet")] == first


def test_a_picture_that_does_not_decode_is_named_and_leaves_no_vectors(run, images, pixels):
    rows = pl.read_parquet(pixels[0]).to_dicts()
    rows[1]["webp"] = b"RIFF"
    write(pixels[0], PIXELS, rows)
    with pytest.raises(CorruptFile, match=rows[1]["image_id"]):
        run(shard.encode_images, images=images, pixels=pixels)
    assert not list(pixels[0].parent.glob("*.npy*"))


def test_an_image_without_pixels_is_named(run, images, pixels):
    with pytest.raises(MissingFile, match=r"image .*crawl"):
        run(shard.encode_images, images=images, pixels=pixels[1:])


def test_the_order_of_the_pixels_does_not_matter(run, images, pixels):
    expected = run(shard.encode_images, images=images, pixels=pixels).blocks[0].copy()
    rows = pl.read_parquet(pixels[1])
    write(pixels[1], PIXELS, rows.reverse().to_dicts())
    found = run(shard.encode_images, images=images, pixels=pixels[::-1])
    assert np.array_equal(found.blocks[0], expected)


def test_images_may_share_a_picture(run, images, pixels):
    rows = pl.read_parquet(images).with_columns(picture_id=pl.lit(image_id(3)))
    rows.write_parquet(images)
    vectors = run(shard.encode_images, images=images, pixels=pixels)
    [picture] = [Image.open(io.BytesIO(webp(3))).convert("RGB")]
    assert np.array_equal(
        vectors.blocks[0],
        np.repeat(loaded(HASH).encode_images([picture]), 7, axis=0),
    )


def test_a_text_without_a_picture_has_a_black_one(run, texts, pixels):
    shown = pl.Series("picture_id", [None, image_id(8), None, image_id(2), None, image_id(2), None])
    pl.read_parquet(texts).sort("text_id").with_columns(shown).write_parquet(texts)
    vectors = run(multimodal.encode_pictures, texts=texts, pixels=pixels, shards=2)
    block, dark = np.concatenate(vectors.blocks), Image.new("RGB", (224, 224))
    seen = [Image.open(io.BytesIO(webp(n))).convert("RGB") for n in (8, 2)]
    black, eighth, second = loaded(HASH).encode_images([dark, *seen])
    expected = [black, eighth, black, second, black, second, black]
    assert np.array_equal(block, expected)


def test_an_image_without_a_question_is_like_nothing(run, images):
    rows = pl.read_parquet(images).sort("image_id")
    asked = pl.Series("question", ["which bird?", None, "", "which dish?", None, None, "who?"])
    rows.with_columns(asked).write_parquet(images)
    vectors = run(multimodal.encode_questions, images=images)
    said = loaded(HASH).encode_texts(["which bird?", "which dish?", "who?"])
    assert np.array_equal(vectors.blocks[0][[0, 3, 6]], said)
    assert not vectors.blocks[0][[1, 2, 4, 5]].any()


def test_a_collection_without_questions_is_named(run, images):
    with pytest.raises(MissingColumn, match="'question'"):
        run(multimodal.encode_questions, images=images)


def test_bad_input_gets_a_named_error(run, texts, tmp_path):
    with pytest.raises(MissingFile, match="collect"):
        run(shard.encode_texts, texts=tmp_path / "none.parquet")
    with pytest.raises(MissingColumn, match="'title'"):
        run(shard.encode_texts, texts=texts, fields=["title"])
    with pytest.raises(UnknownModel):
        run(shard.encode_texts, texts=texts, model={"kind": "dates"})
    with pytest.raises(BadParams, match="batch 0"):
        run(shard.encode_texts, texts=texts, batch=0)
    with pytest.raises(BadParams, match="shard 3 of 3"):
        run(shard.encode_texts, texts=texts, shard=3, shards=3)


def test_a_truncated_block_of_vectors_is_named(run, texts, tmp_path):
    run(shard.encode_texts, texts=texts)
    path = tmp_path / "0.npy"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(TruncatedFile, match=r"0\.npy"):
        shard.load_vectors([path], [tmp_path / "0.parquet"])


def test_vectors_and_ids_that_do_not_belong_together_are_refused(run, texts, tmp_path):
    run(shard.encode_texts, 2, texts=texts)
    with pytest.raises(CorruptFile, match="3 ids"):
        shard.load_vectors([tmp_path / "0.npy"], [tmp_path / "1.parquet"])


def test_missing_shards_of_vectors_are_named(run, texts, tmp_path):
    run(shard.encode_texts, texts=texts)
    none = tmp_path / "none"
    for vectors, ids in (([], []), ([none], [none]), ([tmp_path / "0.npy"], [none])):
        with pytest.raises(MissingFile, match="encode phase"):
            shard.load_vectors(vectors, ids)


def test_a_block_that_is_no_float32_matrix_is_refused(run, texts, tmp_path):
    run(shard.encode_texts, texts=texts)
    np.save(tmp_path / "0.npy", np.zeros((7, 16)))
    with pytest.raises(CorruptFile, match="float64"):
        shard.load_vectors([tmp_path / "0.npy"], [tmp_path / "0.parquet"])


def test_ids_that_are_cut_short_are_named(run, texts, tmp_path):
    run(shard.encode_texts, texts=texts)
    path = tmp_path / "0.parquet"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(TruncatedFile, match=r"0\.parquet"):
        shard.load_vectors([tmp_path / "0.npy"], [path])
