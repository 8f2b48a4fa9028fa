"""A later collection's vectors: taken from an earlier one where they can be, and never others."""

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import save_model
from tests import kernels
from tests.entries import resolved
from tests.models import loaded, model_of

from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.vectors import contents_of
from isotope.encode import cache, shard
from isotope.models import encoders
from isotope.models.encoders import ShapeBatches
from isotope.models.hash import HashEncoder
from isotope.models.open_clip import ClipEncoder, create_custom
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.crawl import PIXELS

HASH: dict[str, object] = {"kind": "hash", "dim": 16}
N, CHANGED = 40, (3, 17, 30)
BATCH = 8
WORDS = ("boats sail over the river while two dogs run along", "an old stone bridge in winter")


@pytest.fixture(scope="module")
def clip(tmp_path_factory) -> dict[str, Any]:
    """A small transformer of open_clip, with weights of its own in a file."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    save_model(create_custom("tiny-clip"), str(path))
    return {"model": {"kind": "trained", "config": "tiny-clip"}, "weights": path}


@pytest.fixture(params=["hash", "clip"])
def spec(request) -> dict[str, Any]:
    if request.param == "hash":
        return {"model": HASH, "weights": None}
    return request.getfixturevalue("clip")


def said(n: int, edition: int) -> str:
    draw = np.random.default_rng([n, edition])
    return " ".join(draw.choice(" ".join(WORDS).split(), draw.integers(1, 30)))


def picture(n: int, edition: int) -> bytes:
    out = io.BytesIO()
    draw = np.random.default_rng([n, edition])
    Image.fromarray(draw.integers(0, 256, (9, 5 + n % 4, 3), np.uint8)).save(
        out, "WEBP", quality=50
    )
    return out.getvalue()


def edition(folder: Path, number: int) -> dict[str, Path]:
    """Write a collection; in the second one some contents differ, one is gone, half have moved."""
    folder.mkdir()
    of = {n: number if n in CHANGED else 0 for n in range(N)}
    kept = [n for n in of if number == 0 or n != 5]
    ids = {n: f"{n if number == 0 or n < 20 else n + 1:04d}" for n in kept}
    texts = [{"text_id": ids[n], "page_title": said(n, of[n])} for n in kept]
    lists = {f: [""] for f in CAPTION_FIELDS[1:]} | {"language": ["en"]}
    images = [{"image_id": ids[n], CAPTION_FIELDS[0]: [said(n, of[n])], **lists} for n in kept]
    pixels = [{"image_id": ids[n], "webp": picture(n, of[n])} for n in kept]
    made = {"texts": TEXTS, "images": IMAGES, "pixels": PIXELS}
    for (name, schema), rows in zip(made.items(), (texts, images, pixels), strict=True):
        blank = dict.fromkeys(schema.names)
        store.write_rows([blank | row for row in rows], folder / f"{name}.parquet", schema)
    return {name: folder / f"{name}.parquet" for name in made}


@pytest.fixture
def editions(tmp_path) -> list[dict[str, Path]]:
    return [edition(tmp_path / f"edition-{n}", n) for n in range(2)]


def run(
    side: str, of: dict[str, Path], name: str, earlier: tuple[Path, ...] = (), **given: Any
) -> Path:
    """Encode a side of an edition, of its images by pixels or captions; return the vectors."""
    vectors = of["texts"].parent / f"{name}-{side}.npy"
    files = shard.ShardFiles(vectors, vectors.with_suffix(".ids.parquet"), earlier)
    options: dict[str, Any] = {"batch": BATCH, **given, "model": model_of(given["model"])}
    encoding = cache.Encoding(**options)
    if side == "texts":
        shard.encode_texts(of["texts"], encoding, files)
        return vectors
    if side == "captions":
        shard.encode_captions(of["images"], "en", encoding, files)
    else:
        shard.encode_images(of["images"], [of["pixels"]], encoding, files)
    return vectors


def files(vectors: Path) -> list[bytes]:
    return [vectors.read_bytes(), contents_of(vectors).read_bytes()]


@pytest.fixture
def encoded(monkeypatch) -> list[int]:
    """How many items each call of an encoder was given, besides those that make up the key."""
    calls: list[int] = []
    add = ShapeBatches.add

    def counted(self: ShapeBatches, places: Any, item: Any, shape: int = 0) -> None:
        calls.append(len(places))
        add(self, places, item, shape)

    monkeypatch.setattr(ShapeBatches, "add", counted)
    return calls


@pytest.mark.parametrize("side", ["texts", "pixels", "captions"])
@pytest.mark.parametrize("precision", ["float32", pytest.param("float16", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", kernels.KINDS)
def test_what_is_reused_gives_the_bytes_of_a_cold_build(  # noqa: PLR0913, PLR0917
    side, precision, spec, kind, editions, encoded, caplog
):
    """Where a place in a batch changes bytes, nothing of the model is reused, and it is said."""
    first, second = editions
    given = spec | {"precision": precision}
    with kernels.processor(kind):
        earlier = run(side, first, "first", **given)
        cold = files(run(side, second, "cold", **given))
        encoded.clear()
        warm = files(run(side, second, "warm", (earlier,), **given))
    assert warm == cold
    places = kernels.PLACES in caplog.text
    assert sum(encoded) == (N - 1 if places else len(CHANGED))
    # The towers of words differ, that of pictures is of convolutions, and a hash is of its item.
    assert places or kind == kernels.ALIKE or spec["model"] == HASH or side == "pixels"


def test_the_log_says_how_many_vectors_were_reused(editions, caplog):
    first, second = editions
    given: dict[str, Any] = {"model": HASH, "weights": None}
    earlier = run("texts", first, "first", **given)
    with caplog.at_level("INFO"):
        run("texts", second, "warm", (earlier,), **given)
    assert f"{N - 1 - len(CHANGED)} of {N - 1} vectors reused" in caplog.text


def test_contents_are_digests_of_what_the_model_was_given(editions):
    first, _ = editions
    given: dict[str, Any] = {"model": HASH, "weights": None}
    texts, pixels = (
        pl.read_parquet(contents_of(run(side, first, "cold", **given)))
        for side in ("texts", "pixels")
    )
    told = [hashlib.sha256(said(n, 0).encode()).hexdigest() for n in range(N)]
    assert texts["content"].to_list() == told
    seen = [hashlib.sha256(picture(n, 0)).hexdigest() for n in range(N)]
    assert pixels["content"].to_list() == seen
    assert texts["id"].to_list() == [f"{n:04d}" for n in range(N)]
    assert texts["model"].n_unique() == pixels["model"].n_unique() == 1
    assert texts["model"][0] != pixels["model"][0]


@pytest.mark.parametrize("other", ["batch", "precision", "weights", "package", "answer"])
def test_what_may_change_a_vector_changes_the_key(other, clip, monkeypatch, tmp_path):
    encoder: Any = loaded(clip["model"], weights=clip["weights"])
    how = cache.Encoding(model_of(clip["model"]), clip["weights"], BATCH)
    before = cache.text_key(encoder, how)
    assert before == cache.text_key(encoder, how)
    if other == "batch":
        how = how._replace(batch=BATCH + 1)
    elif other == "precision":
        how = how._replace(precision="float16")
    elif other == "weights":
        (tmp_path / "other").write_bytes(clip["weights"].read_bytes() + b" ")
        how = how._replace(weights=tmp_path / "other")
    elif other == "package":
        monkeypatch.setattr(cache, "version", lambda _: "another")
    else:
        encoder._model.positional_embedding.data += 1e-3
    assert cache.text_key(encoder, how) != before


def test_which_fields_are_read_is_no_part_of_the_key():
    keys = [
        cache.text_key(HashEncoder(8), cache.Encoding(model_of(spec), None, BATCH))
        for spec in (HASH, {**HASH, "fields": ["page_title"]})
    ]
    assert keys[0] == keys[1]


class Neighbourly(HashEncoder):
    """An encoder whose vectors tell where in a batch a text stood."""

    def encode_texts(self, texts):
        return super().encode_texts(texts) + np.arange(len(texts), dtype=np.float32)[:, None]


def test_vectors_that_depend_on_their_place_are_never_reused(
    editions, encoded, monkeypatch, caplog
):
    monkeypatch.setattr(encoders, "load", lambda *_, **__: Neighbourly(8))
    first, _ = editions
    given: dict[str, Any] = {"model": HASH, "weights": None}
    earlier = run("texts", first, "first", **given)
    assert kernels.PLACES in caplog.text
    encoded.clear()
    run("texts", first, "again", (earlier,), **given)
    assert sum(encoded) == N


def test_vectors_of_another_key_are_not_taken(editions, encoded):
    first, _ = editions
    earlier = run("texts", first, "first", model=HASH, weights=None)
    encoded.clear()
    run("texts", first, "again", (earlier,), model={**HASH, "dim": 15}, weights=None)
    assert sum(encoded) == N


def test_contents_and_vectors_that_do_not_belong_together_are_refused(editions):
    first, second = editions
    given: dict[str, Any] = {"model": HASH, "weights": None}
    one, two = (run("texts", e, "cold", **given) for e in (first, second))
    contents_of(two).replace(contents_of(one))
    with pytest.raises(CorruptFile, match="39 ids"):
        run("texts", second, "warm", (one,), **given)


@pytest.fixture(scope="module")
def visions() -> dict[str, Any]:
    """Encoders with random weights: a residual network, and two layers of a vision transformer.

    Two layers have the shapes of all twelve, and a sixth of their cost.
    """
    torch.manual_seed(0)
    tiny = create_custom("tiny-clip")
    made = {"tiny-clip": ClipEncoder("tiny-clip", tiny)}
    name = "ViT-S-32-alt"
    model: Any = open_clip.create_model(name, pretrained=None)
    for tower in (model.visual.transformer, model.transformer):
        tower.resblocks = tower.resblocks[:2]
    made[name] = ClipEncoder(name, model)
    return made


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tiny-clip", kernels.ALIKE),
        ("tiny-clip", kernels.DIFFERENT),
        ("ViT-S-32-alt", kernels.ALIKE),
    ],
)
def test_a_vector_does_not_tell_what_was_encoded_beside_it(name, kind, visions):
    """Nor more of its place in the batch than rounding."""
    encoder, size = visions[name], 4
    texts = [said(n, 0) for n in range(11)]
    pictures = [Image.open(io.BytesIO(picture(n, 0))).convert("RGB") for n in range(11)]
    sides = ((texts, encoder.encode_texts), (pictures, encoder.encode_images))

    def block(items: list[Any], work: Any, chosen: Iterable[int]) -> np.ndarray:
        made = np.zeros((11, encoder.dim), np.float32)
        waiting = ShapeBatches(made, work, size)
        for place in chosen:
            waiting.add([place], items[place])
        waiting.finish()
        return made

    @settings(max_examples=4)
    @given(order=st.permutations(range(11)), some=st.integers(1, 11))
    def in_any_company(order: list[int], some: int) -> None:
        chosen = order[:some]
        for side, alone in zip(sides, by_place, strict=True):
            found = block(*side, chosen)[chosen]
            expected = [alone[n][at % size] for at, n in enumerate(chosen)]
            assert found.tobytes() == np.stack(expected).tobytes()

    with kernels.processor(kind):
        # A batch of one item alone has its vector in each place.
        by_place = [[work([item] * size) for item in items] for items, work in sides]
        in_any_company()
    for vectors in (rows for side in by_place for rows in side):
        kernels.assert_same_but_for_rounding(vectors, vectors[[0] * size])


def test_only_texts_of_one_shape_share_a_batch():
    seen: list[list[str]] = []

    def work(texts: list[str]) -> np.ndarray:
        seen.append(texts)
        return np.array([[len(t)] for t in texts], np.float32)

    block = np.zeros((5, 1), np.float32)
    waiting = ShapeBatches(block, work, 2)
    for place, text in enumerate(["a", "bbb", "c", "ddd", "e"]):
        waiting.add([place], text, len(text))
    waiting.finish()
    assert seen == [["a", "c"], ["bbb", "ddd"], ["e", "e"]]
    assert block.ravel().tolist() == [1, 3, 1, 3, 1]


@pytest.mark.parametrize("after", [{"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "b"}])
def test_a_circle_of_earlier_collections_is_refused(after):
    collect = {name: {"kind": "wikipedia", "source": "toy"} for name in "abc"}
    with pytest.raises(BadParams, match=r"encode\.after\.a: a circle"):
        resolved(collect=collect, encode={"after": after})


@pytest.mark.parametrize(
    ("after", "named"),
    [({"toy": "toy"}, "encode.after.toy"), ({"toi": "toy"}, "encode.after")],
)
def test_an_earlier_collection_is_another_one_that_is_collected(after, named):
    assert resolved().encode.after == {}
    with pytest.raises(BadParams) as caught:
        resolved(encode={"after": after})
    assert caught.value.where == f"params {named}"
