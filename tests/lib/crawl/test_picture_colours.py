"""Pictures come upright and with their colours: 16 bits are scaled, EXIF's turn is followed."""

import io
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps

from isotope.intake.convert import answer, decoded, to_webp
from isotope.intake.formats import ends_as_webp, judge

LIMITS = {"max_pixels": 64_000_000, "keep_webp": True}


def pixels(webp: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(webp)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def encoded(image: np.ndarray, suffix: str) -> bytes:
    return cv2.imencode(suffix, image)[1].tobytes()


def became(data: bytes) -> tuple[dict, np.ndarray]:
    row, webp = answer(data, None, LIMITS)
    assert row["status"] == "success", row
    return row, pixels(webp)


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_sixteen_bits_are_scaled_to_eight(suffix, channels):
    image = np.full((16, 16, channels), 32_767, np.uint16)
    image[:8] = 16_384
    if channels == 4:
        image[..., 3] = 65_535
    row, got = became(encoded(image, suffix))
    assert row["trait"] == "deep"
    assert abs(got[:6].mean() - 64) < 1
    assert abs(got[10:].mean() - 127) < 1


@pytest.mark.parametrize(
    ("value", "eight"), [(0, 0), (256, 1), (257, 1), (4_095, 16), (32_768, 128), (65_535, 255)]
)
def test_a_sample_of_sixteen_bits_is_the_nearest_of_eight(value, eight):
    data = encoded(np.full((8, 8), value, np.uint16), ".png")
    assert abs(pixels(to_webp(data)[0]).mean() - eight) <= 1


def test_grey_with_transparency_in_sixteen_bits_lies_on_white():
    grey = np.zeros((4, 4, 4), np.uint16)
    grey[..., :3], grey[..., 3] = 20_000, 32_768
    _, got = became(encoded(grey, ".png"))
    # Half of 78 and half of 255.
    assert abs(got.mean() - 166) < 2


def test_floats_from_0_to_1_are_scaled_and_others_have_no_range():
    row, got = became(encoded(np.full((8, 8), 0.5, np.float32), ".tiff"))
    assert (row["trait"], round(got.mean())) == ("deep", 128)
    row, _ = answer(encoded(np.full((8, 8), 700.0, np.float32), ".tiff"), None, LIMITS)
    assert row["status"] == "not_an_image"
    assert "white is not known" in row["error"]


def marked() -> Image.Image:
    """A picture in which each corner has another colour."""
    image = Image.new("RGB", (48, 32), "white")
    for box, colour in (((0, 0, 16, 16), "red"), ((32, 0, 48, 16), "lime")):
        image.paste(colour, box)
    image.paste("blue", (0, 16, 16, 32))
    return image


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("turn", range(1, 9))
def test_a_picture_stands_as_its_exif_says(form, turn):
    exif = Image.Exif()
    exif[0x0112] = turn
    out = io.BytesIO()
    more = {"lossless": True} if form == "WEBP" else {"quality": 100} if form == "JPEG" else {}
    marked().save(out, form, exif=exif, **more)
    row, got = became(out.getvalue())
    with Image.open(io.BytesIO(out.getvalue())) as image:
        right = np.asarray(ImageOps.exif_transpose(image).convert("RGB")).astype(int)
    assert got.shape == right.shape
    assert (row["height"], row["width"]) == right.shape[:2]
    assert np.abs(got - right).mean() < 12
    if form != "TIFF":
        assert row["trait"] == (None if turn == 1 else "turned")


def test_exif_behind_the_pixels_of_a_png_counts_as_well():
    exif = Image.Exif()
    exif[0x0112] = 6
    out = io.BytesIO()
    marked().save(out, "PNG")
    whole, chunk = out.getvalue(), exif.tobytes().removeprefix(b"Exif\x00\x00")
    late = len(chunk).to_bytes(4, "big") + b"eXIf" + chunk
    late += (zlib.crc32(b"eXIf" + chunk)).to_bytes(4, "big")
    assert judge(whole[:-12] + late + whole[-12:], None, 10**6).orientation == 6


def test_webp_that_ends_where_its_pixels_end_stays_as_it_is():
    out = io.BytesIO()
    marked().save(out, "WEBP")
    data = out.getvalue()
    assert ends_as_webp(data)
    assert answer(data, None, LIMITS)[1] == data


@pytest.mark.parametrize(
    "more",
    [b"<script>alert(1)</script>", b"\x00", b"XMP \x04\x00\x00\x00abcd", b"junk\x00\x00\x00\x00"],
)
def test_webp_with_something_behind_or_beside_its_pixels_is_encoded_anew(more):
    out = io.BytesIO()
    marked().save(out, "WEBP")
    data = out.getvalue() + more
    within = data[:4] + (len(data) - 8).to_bytes(4, "little") + data[8:]
    for each in (data, within):
        row, webp = answer(each, None, LIMITS)
        if row["status"] == "success":
            assert webp not in (each, data)
            assert b"<script>" not in webp
            assert ends_as_webp(webp)
        else:
            assert row["status"] in {"not_an_image", "polyglot"}


def test_transparency_of_large_pictures_is_mixed_as_that_of_small_ones():
    """Strips are no seams: the pixels are those of the picture mixed as a whole."""
    image = np.random.default_rng(0).integers(0, 256, (1_500, 1_000, 4), np.uint8)
    alpha = image[..., 3:]
    whole = np.rint((alpha / 255 * image[..., :3] + 255 - alpha).clip(0, 255)).astype(np.uint8)
    assert (decoded(encoded(image, ".png"))[0] == whole).all()


CASES = (
    ("grey16.png", 127),
    ("grey16.tif", 127),
    ("colour16.png", None),
    ("dark12bit_in16.png", None),
)


@pytest.mark.parametrize(("name", "mean"), CASES)
def test_the_reported_pictures_of_sixteen_bits_are_not_white(shared, name, mean):
    row, got = became((Path(shared) / "cases/input/16bit" / name).read_bytes())
    assert row["trait"] == "deep"
    if mean is not None:
        assert abs(got.mean() - mean) <= 1
    if name == "colour16.png":
        assert [round(c) for c in got.mean(axis=(0, 1))] == pytest.approx([127, 63, 31], abs=2)


def test_the_reported_photograph_stands(shared):
    row, _ = became((Path(shared) / "cases/input/exif/phone_orientation6.jpg").read_bytes())
    assert (row["width"], row["height"], row["trait"]) == (32, 64, "turned")


def test_a_truncated_gif_has_a_row(shared):
    row, _ = answer((Path(shared) / "cases/input/truncated-gif/cut.gif").read_bytes(), None, LIMITS)
    assert row["status"] in {"success", "not_an_image"}
