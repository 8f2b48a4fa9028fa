"""What pixels tell: colours, and a perceptual hash that outlives scaling and compression."""

import io

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.fft import dctn
from workflow.plugins.isotope_suggest.tests.suggest_pictures import drawing, drawn, photograph

from isotope.core.errors import CorruptFile
from isotope.intake.convert import to_webp
from isotope_suggest.looks import LOOKS, bits_apart, colours, look, looks_of, measured, phash

SCENES = [d.rgb for d in drawn(4, seed=7) if d.kind in ("photograph", "drawing", "map")]


def webp(rgb, quality=100):
    done, encoded = cv2.imencode(".webp", rgb[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality])
    assert done
    return encoded.tobytes()


def jpeg(rgb, quality):
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def hash_of(rgb) -> int:
    computed = phash(rgb)
    assert computed is not None
    return computed


def scipys(rgb):
    """Compute the hash of Zauner's thesis with Pillow's greys and scale and SciPy's transform."""
    grey = Image.fromarray(rgb).convert("L").resize((32, 32), Image.Resampling.BOX)
    low = np.asarray(dctn(np.asarray(grey, float), norm="ortho"))[1:9, 1:9].ravel()
    bits = low > np.median(low)
    return int("".join("1" if bit else "0" for bit in bits), 2)


@pytest.mark.parametrize("scene", SCENES)
def test_the_hash_is_that_of_an_independent_implementation(scene):
    # Both round greys of 32 x 32 to 8 bits, by other arithmetic: a coefficient next to the median
    # may fall on its other side, and then a second one does.
    assert bits_apart(hash_of(scene), scipys(scene)) <= 2


@settings(max_examples=25)
@given(st.sampled_from(SCENES), st.floats(0.4, 2.5), st.integers(40, 100))
def test_a_picture_keeps_its_hash_when_it_is_scaled_and_compressed(scene, scale, quality):
    height, width = scene.shape[:2]
    size = round(width * scale), round(height * scale)
    again = jpeg(cv2.resize(scene, size, interpolation=cv2.INTER_AREA), quality)
    assert bits_apart(hash_of(scene), hash_of(again)) <= 6


def test_other_pictures_have_other_hashes():
    rng = np.random.default_rng(3)
    hashes = [hash_of(photograph(rng)) for _ in range(12)] + [
        hash_of(drawing(rng)) for _ in range(12)
    ]
    apart = [bits_apart(a, b) for i, a in enumerate(hashes) for b in hashes[:i]]
    assert min(apart) > 6
    assert 28 < np.mean(apart) < 36


def test_a_picture_without_contrast_has_no_hash():
    assert phash(np.full((90, 120, 3), 77, np.uint8)) is None


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_bits_apart_are_counted_as_python_counts_them(first, second):
    assert bits_apart(first, second) == (first ^ second).bit_count()


def test_colours_are_counted_in_four_bits_a_channel():
    rgb = np.zeros((100, 100, 3), np.uint8)
    rgb[:50] = (255, 255, 255)
    rgb[50:75] = (0x1F, 0, 0)
    rgb[75:, :50] = (0x10, 0x0F, 0x0F)  # the same as the last in four bits
    rgb[99, 99] = (0, 0, 255)  # fewer than a thousandth
    counted = colours(rgb)
    assert (counted.colours, counted.largest, counted.white) == (3, 0.5, 0.5)
    assert counted.four_largest == 1
    shares = np.array([0.5, 0.375, 0.1249, 0.0001])
    assert counted.entropy == pytest.approx(-(shares * np.log2(shares)).sum())


def test_flat_areas_and_edges_are_shares_of_the_pixels():
    halves = np.zeros((100, 100, 3), np.uint8)
    halves[:, 50:] = 200
    traits = measured(halves)
    assert traits["edges"] == pytest.approx(0.01)
    assert traits["flat"] == pytest.approx(0.99)
    assert (traits["saturation"], traits["tones"]) == (0, 2)
    assert (traits["width"], traits["height"]) == (100, 100)


def test_looks_are_rows_in_the_order_of_the_pictures():
    table = looks_of([("b", webp(SCENES[0])), ("a", webp(SCENES[1]))])
    assert table.schema == LOOKS
    assert table["image_id"].to_pylist() == ["b", "a"]
    assert table["hash"][1].as_py() == look(webp(SCENES[1]), "a")["hash"]
    assert looks_of([]).schema == LOOKS


def test_what_is_transparent_counts_as_white():
    clear = Image.new("RGBA", (80, 60), (255, 0, 0, 0))
    clear.paste((0, 0, 0, 255), (0, 0, 40, 60))
    file = io.BytesIO()
    clear.save(file, "WEBP", lossless=True)
    traits = look(file.getvalue(), "a")
    assert traits["white"] == pytest.approx(0.5)
    assert traits["saturation"] == 0


def test_bytes_that_are_no_picture_are_named_with_their_image():
    with pytest.raises(CorruptFile, match="image x9: not a WebP picture"):
        looks_of([("x9", b"RIFF....WEBP and no more")])


def hashes(files):
    return np.array([look(to_webp(f.read_bytes())[0], f.name)["hash"] for f in files], np.uint64)


def test_two_uploads_of_one_real_cover_are_found_and_no_other_pictures_are_alike(shared):
    images = shared / "snapshots/raycharles/images"
    files = sorted(path for path in images.rglob("*.*") if path.is_file())
    some = hashes(files)
    pairs = {
        (files[i].name, files[j].name)
        for i, j in np.argwhere(bits_apart(some[:, None], some[None]) <= 6)
        if i < j
    }
    assert pairs == {("WhatdISay.jpg", "Whatdisaycharles.jpg")}


def test_no_two_real_photographs_are_alike(shared):
    files = sorted((shared / "collections/coco-mini/images").glob("*.jpg"))
    pixels = (np.asarray(Image.open(file).convert("RGB")) for file in files)
    some = np.array([hash_of(rgb) for rgb in pixels], np.uint64)
    apart = bits_apart(some[:, None], some[None])[np.triu_indices(len(some), 1)]
    assert len(some) == 159
    assert apart.min() > 12
    assert 31 < apart.mean() < 33
