"""The reader of training: the same rows and weights on either road, in memory that stays small."""

import io
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from tests.models import model_of, train_of

from isotope.core import store
from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.pixels import squashed
from isotope.models import open_clip as models_clip
from isotope.schemas import collect as collect_tables
from isotope.schemas.crawl import PIXELS
from isotope.train import clip, data
from isotope.train.clip import ClipBatches, Tokens
from isotope.train.data import Decoded, Packed, TrainingSource, Workplace, packing, read_split
from isotope.train.step import Ranks, Stepper

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
RECIPE = {"epochs": 2, "batch": 6, "every": 1, "checkpoint_every": 2}


def webp(n: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20 + n % 7, 30), (n * 7 % 256, 255 - n % 256, 80)).save(out, "WEBP")
    return out.getvalue()


def lay(root: Path, count: int) -> TrainingSource:
    """Write a collection of `count` pictures, a quarter for validation, in two shards."""
    rows: dict[str, list] = {"texts": [], "images": [], "qrels": [], "pixels": []}
    for n in range(count):
        split = "validation" if n % 4 == 3 else "train"
        keys = {"text_id": f"t{n:05}", "image_id": f"i{n:05}"}
        words = {"page_title": f"Page {n}", "context_section_description": f"number {n} é " * 3}
        rows["texts"].append({"text_id": keys["text_id"], "split": split, **words})
        said = {"language": ["de", "en", "en"], "caption_alt_text_description": ["x", "", f"b{n}"]}
        said["caption_reference_description"] = ["y", f"a{n}", f"b{n}"]
        blank = {"caption_attribution_description": [""] * 3}
        rows["images"].append({"image_id": keys["image_id"], "split": split, **said, **blank})
        rows["qrels"].append({**keys, "relevance": 1, "split": split})
        rows["pixels"].append({"image_id": keys["image_id"], "webp": webp(n)})
    other = {"text_id": "t00000", "image_id": "i00001", "split": "train"}
    rows["qrels"] += [{**other, "relevance": 1}, {**other, "image_id": "i00002", "relevance": 0}]
    for name in ("texts", "images", "qrels"):
        put(root / f"{name}.parquet", rows[name], getattr(collect_tables, name.upper()))
    for n in range(2):
        put(root / f"shard-{n}.parquet", rows["pixels"][n::2], PIXELS)
    texts, images, qrels = (root / f"{name}.parquet" for name in ("texts", "images", "qrels"))
    return TrainingSource(
        texts, images, qrels, [root / "shard-0.parquet", root / "shard-1.parquet"], "en"
    )


def put(path: Path, rows: list, schema) -> None:
    blank = dict.fromkeys(schema.names)
    store.write_rows([blank | row for row in rows], path, schema)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> TrainingSource:
    return lay(tmp_path_factory.mktemp("collection"), 32)


@pytest.fixture(autouse=True)
def small_clip(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "reader-clip.json").write_text(json.dumps(TINY))
    monkeypatch.setattr(models_clip, "CONFIGS", folder)


@pytest.fixture
def webp_only(monkeypatch):
    """Pictures have no squares on disk."""
    monkeypatch.setattr(data, "SQUARES_GIB", 0)


def trained(source: TrainingSource, place: Path, **means) -> list[bytes]:
    place.mkdir(exist_ok=True)
    out = {"weights": place / "model.safetensors", "curve": place / "curve.csv"}
    entry = {"kind": "trained", "config": "reader-clip", "train": {**RECIPE, **means}}
    files = {name: getattr(source, name) for name in ("texts", "images", "qrels")}
    scratch = place / "scratch"
    others: dict[str, Any] = {**files, **out, "scratch": scratch}
    clip.train(pixels=source.pixels, model=model_of(entry), language="en", **others)
    assert not list((place / "scratch").iterdir()), "nothing is left behind"
    return [path.read_bytes() for path in out.values()]


def test_pictures_decoded_on_the_way_give_the_weights_that_squares_on_disk_give(
    source, tmp_path, request
):
    squares = trained(source, tmp_path / "squares")
    request.getfixturevalue("webp_only")
    assert trained(source, tmp_path / "webp") == squares


@pytest.mark.usefixtures("webp_only")
def test_a_training_that_decodes_resumes_to_the_same_bytes(source, tmp_path, monkeypatch):
    straight = trained(source, tmp_path / "straight")
    step, done = Stepper.step, []

    def counted(self, batch):
        done.append(1)
        if len(done) == 4:
            raise KeyboardInterrupt
        return step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Stepper, "step", counted)
        with pytest.raises(KeyboardInterrupt):
            trained(source, tmp_path / "stopped")
    assert trained(source, tmp_path / "stopped") == straight


def test_a_row_has_the_texts_and_the_captions_of_its_image(source, tmp_path):
    split = read_split(source, "train", squashed(16), Workplace(tmp_path))
    assert list(split.image_ids) == [f"i{n:05}" for n in range(32) if n % 4 != 3]
    assert [ids for ids, _ in split.views][:3] == [["t00000"], ["t00000", "t00001"], ["t00002"]]
    assert split.views[1][1][1] == ("Page 1", "", "", "number 1 é " * 3, "")
    assert split.captions[1] == ["a1", "b1"]


@pytest.mark.parametrize("world", [1, 3])
def test_both_roads_have_the_same_batches_whatever_the_ranks(source, tmp_path, world, request):
    (tmp_path / "squares").mkdir()
    (tmp_path / "webp").mkdir()
    tokens, recipe = Tokens(open_clip.SimpleTokenizer()), train_of(batch=7, seed=5)
    splits = [read_split(source, "train", squashed(16), Workplace(tmp_path / "squares"))]
    request.getfixturevalue("webp_only")
    decoding = Workplace(tmp_path / "webp", threads=2)
    splits.append(read_split(source, "train", squashed(16), decoding))
    assert isinstance(splits[1].pixels, Decoded)
    for rank in range(world):
        drawn = [ClipBatches(s, tokens, recipe, Ranks(rank, world)) for s in splits]
        for _ in range(2):
            for ours, theirs in zip(*(batches.epoch() for batches in drawn), strict=True):
                assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.usefixtures("webp_only")
def test_what_is_wanted_next_is_decoded_once(source, tmp_path, monkeypatch):
    split = read_split(source, "train", squashed(16), Workplace(tmp_path))
    seen: list[int] = []
    square = Decoded._square
    monkeypatch.setattr(Decoded, "_square", lambda self, i: seen.append(i) or square(self, i))
    first, second = np.array([4, 1]), np.array([2, 9])
    split.squares(first, second)
    block = split.squares(second)
    assert sorted(seen) == [1, 2, 4, 9]
    assert np.array_equal(block, split.pixels[second])


@pytest.mark.usefixtures("webp_only")
def test_a_picture_that_does_not_decode_is_named_when_it_is_wanted(source, tmp_path):
    rows = [row for shard in source.pixels for row in pq.read_table(shard).to_pylist()]
    bad = [{**row, "webp": b"no"} if row["image_id"] == "i00001" else row for row in rows]
    put(tmp_path / "shard.parquet", bad, PIXELS)
    wrong = replace(source, pixels=[tmp_path / "shard.parquet"])
    split = read_split(wrong, "train", squashed(16), Workplace(tmp_path))
    assert len(split.squares(np.array([0, 2]))) == 2
    with pytest.raises(CorruptFile, match="image i00001"):
        split.squares(np.array([0, 1]))


@pytest.mark.usefixtures("webp_only")
def test_a_picture_that_no_shard_holds_is_named_at_once(source, tmp_path):
    wrong = replace(source, pixels=source.pixels[:1])
    with pytest.raises(MissingFile, match="image i00001"):
        read_split(wrong, "train", squashed(16), Workplace(tmp_path))


def test_strings_are_read_by_number_in_whatever_order_they_came(tmp_path):
    with packing(tmp_path / "p", 4) as put_at:
        put_at(2, b"two")
        put_at(0, b"")
    packed = Packed(tmp_path / "p")
    assert (packed[0], packed[2], len(packed)) == (b"", b"two", 4)
    assert packed.absent().tolist() == [1, 3]
    with pytest.raises(IndexError):
        packed[4]


@pytest.mark.usefixtures("webp_only")
def test_a_picture_more_takes_little_of_the_memory_that_its_square_would(tmp_path):
    peaks = []
    for count in (120, 1200):
        folder = tmp_path / str(count)
        folder.mkdir()
        place = Workplace(folder)
        split = read_split(lay(folder, count), "train", squashed(64), place)
        recipe = train_of(batch=16, caption_rate=0.0)
        batches = ClipBatches(split, Tokens(open_clip.SimpleTokenizer()), recipe)
        next(batches.epoch())
        tracemalloc.start()
        for _, _ in zip(batches.epoch(), range(3), strict=False):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / (1200 - 120) < 64 * 64 * 3 / 30
