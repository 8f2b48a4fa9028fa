"""A picture is stored at the size and with the bytes that img2dataset's resizer gives it."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from isotope.intake import convert, resize
from isotope.intake.convert import answer, to_webp
from isotope.intake.pictures import PictureDecoders

SIDE_PX = 256
LIMITS = {"max_pixels": 64_000_000, "side_px": SIDE_PX}
# Sizes of pictures that a notebook of AToMiC's authors shows: 256 pixels is the shorter side.
NOTEBOOK = [(256, 375), (256, 303), (256, 292), (352, 256), (387, 256), (462, 256)]
TURNED = Image.Exif()
TURNED[274] = 6


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    values = np.random.default_rng(7).integers(0, 256, (height, width, 4)).astype(np.uint8)
    picture = Image.fromarray(values)
    return picture.convert(mode) if mode in ("RGBA", "LA") else picture.convert("RGB").convert(mode)


def saved(form: str, mode: str = "RGB", size: tuple[int, int] = (517, 300), **options) -> bytes:
    out = io.BytesIO()
    noise(*size, mode).save(out, form, **options)
    return out.getvalue()


def shape(webp: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(webp)).size


@pytest.fixture(scope="module")
def resizer():
    """Of img2dataset, as its own documentation calls it, on the bytes of a file."""
    resize.load(SIDE_PX)
    resizer_of = sys.modules[resize.__name__]._resizer
    return resizer_of(SIDE_PX)


@pytest.mark.parametrize("size", [(517, 300), (301, 700), (256, 400), (257, 257), (100, 90)])
@pytest.mark.parametrize(
    ("form", "modes"),
    [
        ("PNG", ["L", "RGB", "RGBA", "LA", "P", "1"]),
        ("JPEG", ["L", "RGB", "CMYK"]),
        ("TIFF", ["L", "RGB", "RGBA"]),
        ("GIF", ["L", "RGB", "P"]),
        ("BMP", ["L", "RGB", "P"]),
        ("WEBP", ["RGB", "RGBA"]),
    ],
)
def test_a_picture_of_any_format_gets_the_bytes_and_size_of_img2dataset(form, modes, size, resizer):
    for mode in modes:
        data = saved(form, mode, size)
        webp, width, height, *original, error = resizer(io.BytesIO(data))
        assert error is None
        assert to_webp(data, side_px=SIDE_PX) == (webp, width, height), mode
        row, stored = answer(data, None, LIMITS)
        assert stored == webp
        assert [row["width"], row["height"]] == original
        assert (row["stored_width"], row["stored_height"]) == (width, height) == shape(webp)


def test_the_resizer_is_img2datasets_with_the_settings_of_atomics_authors(resizer):
    package = Path(sys.modules["cv2"].__file__ or "").parents[1] / "img2dataset"
    assert resizer.__call__.__code__.co_filename == str(package / "resizer.py")
    told = {key: value for key, value in vars(resizer).items() if isinstance(value, int | str)}
    assert resizer.resize_mode.name == "keep_ratio"
    assert (told["image_size"], told["resize_only_if_bigger"]) == (256, True)
    assert (told["encode_format"], resizer.encode_params[-1]) == ("webp", 100)


@pytest.mark.parametrize("size", NOTEBOOK)
def test_a_larger_picture_gets_the_size_that_the_authors_notebook_shows(size):
    assert min(size) == SIDE_PX
    for times in (2, 3):
        data = saved("JPEG", size=(times * size[0], times * size[1]))
        assert to_webp(data, side_px=SIDE_PX)[1:] == size


def test_a_picture_that_is_small_is_stored_as_without_a_side():
    data = saved("PNG", size=(255, 900))
    assert to_webp(data, side_px=SIDE_PX) == to_webp(data)


def test_a_turned_picture_is_measured_and_resized_upright():
    row, webp = answer(saved("JPEG", size=(600, 300), exif=TURNED), None, LIMITS)
    assert (row["width"], row["height"]) == (300, 600)
    assert shape(webp) == (256, 512)


def test_what_came_as_webp_stays_as_it_is_unless_it_is_larger():
    kept = LIMITS | {"keep_webp": True}
    small, large = saved("WEBP", size=(256, 300)), saved("WEBP", size=(300, 300))
    assert answer(small, None, kept)[1] == small
    row, webp = answer(large, None, kept)
    assert shape(webp) == (256, 256)
    assert (row["width"], row["stored_width"]) == (300, 256)


def test_a_picture_that_only_its_own_size_keeps_out_of_webp_is_stored_smaller():
    out = io.BytesIO()
    Image.new("L", (17_000, 600)).save(out, "PNG")
    assert answer(out.getvalue(), None, LIMITS | {"side_px": None})[0]["status"] == (
        "too_many_pixels"
    )
    row, webp = answer(out.getvalue(), None, LIMITS)
    assert row["status"] == "success"
    assert shape(webp) == (7_253, 256)
    out = io.BytesIO()
    Image.new("L", (17_000, 200)).save(out, "PNG")
    row, _ = answer(out.getvalue(), None, LIMITS)
    assert (row["status"], row["error"]) == ("too_many_pixels", "17000 x 200 pixels")


def test_a_picture_that_can_not_be_resized_says_why(monkeypatch):
    failing = (None, None, None, None, None, "the area\nis  strange")
    monkeypatch.setattr(resize, "_resizer", lambda _: lambda _: failing)
    row, webp = answer(saved("PNG"), None, LIMITS)
    assert (row["status"], row["error"]) == ("not_resized", "517 x 300 pixels: the area is strange")
    assert webp == b""


def test_a_resizer_without_memory_is_a_decoder_without_memory(monkeypatch):
    failing = (*[None] * 5, "Unable to allocate 12. GiB for an array")
    monkeypatch.setattr(resize, "_resizer", lambda _: lambda _: failing)
    assert answer(saved("PNG"), None, LIMITS)[0]["status"] == "decoder_died"


def test_a_decoding_process_resizes_within_its_limits():
    limits = LIMITS | {"decode_s": 20, "decode_mb": 300}
    with PictureDecoders(limits) as decoders:
        row, webp = decoders.convert(saved("PNG"), "a picture")
    assert row["status"] == "success"
    assert webp == to_webp(saved("PNG"), side_px=SIDE_PX)[0]


def test_neither_torch_nor_img2datasets_start_is_imported_for_it():
    """The whole package costs 2.7 s of a core and 746 MB."""
    program = (
        "import sys\nfrom isotope.intake import convert, resize\n"
        "assert 'albumentations' not in sys.modules, 'before there is a picture'\n"
        "resize.load(256)\nassert 'albumentations' in sys.modules\n"
        "print([m for m in ('torch', 'pandas', 'img2dataset', 'wandb') if m in sys.modules])"
    )
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "[]\n"


def test_full_size_needs_no_resizer(monkeypatch):
    monkeypatch.setattr(convert, "resized", lambda *_: pytest.fail("the resizer was called"))
    assert to_webp(saved("PNG"))[1:] == (517, 300)
