"""Parts of pictures: what is broken beside the pixels costs nothing, and documents are whole."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps

from isotope.intake import resize
from isotope.intake.convert import answer
from isotope.intake.formats import ends_as_webp
from isotope.intake.parts import only_pixels, other_document
from isotope.intake.pictures import PictureDecoders

LIMITS = {"max_pixels": 64_000_000}


def scene(mode: str = "RGB") -> Image.Image:
    """A picture with another shade in each direction and channel."""
    ramp = Image.linear_gradient("L").resize((40, 30))
    turned = ramp.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return Image.merge("RGB", [ramp, turned, ramp.rotate(180)]).convert(mode)


def saved(form: str, image: Image.Image | None = None, **more: Any) -> bytes:
    out = io.BytesIO()
    (image or scene()).save(out, form, **more)
    return out.getvalue()


def animated(form: str, **more: Any) -> bytes:
    frames = [Image.new("RGB", (24, 24), colour) for colour in ("red", "lime", "blue")]
    return saved(form, frames[0], save_all=True, append_images=frames[1:], **more)


def pixels(webp: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(webp)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def by_pillow(data: bytes) -> np.ndarray:
    """Return a picture as another decoder shows it: upright, on white, its first frame."""
    with Image.open(io.BytesIO(data)) as image:
        whole = ImageOps.exif_transpose(image).convert("RGBA")
        white = Image.new("RGBA", whole.size, "white")
        return np.asarray(Image.alpha_composite(white, whole).convert("RGB")).astype(int)


def converted(data: bytes, **limits: Any) -> tuple[dict[str, Any], np.ndarray]:
    row, webp = answer(data, None, LIMITS | limits)
    assert row["status"] == "success", row
    assert ends_as_webp(webp)
    return row, pixels(webp)


def chunk(name: bytes, body: bytes, *, broken: bool = False) -> bytes:
    return (
        struct.pack(">I", len(body))
        + name
        + body
        + struct.pack(">I", zlib.crc32(name + body) ^ broken)
    )


def with_chunk(name: bytes, body: bytes, *, broken: bool) -> bytes:
    """Return a PNG with a chunk before its pixels."""
    whole = saved("PNG")
    return whole[:33] + chunk(name, body, broken=broken) + whole[33:]


def with_segment(marker: int, content: bytes, **more: Any) -> bytes:
    """Return a JPEG with a segment before all others."""
    whole = saved("JPEG", quality=95, **more)
    return whole[:2] + struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content + whole[2:]


BESIDE = [
    *((b"tEXt", b"a\0b"), (b"zTXt", b"a\0\0junk"), (b"iTXt", b"a\0\1\0\0\0junk")),
    *((b"pHYs", bytes(9)), (b"gAMA", b"\0\0\xb1\x8f"), (b"cHRM", bytes(32)), (b"tIME", bytes(7))),
    *((b"iCCP", b"x\0\0junk"), (b"iCCP", b"x\0\0" + zlib.compress(b"junk")), (b"sRGB", b"\0")),
    *((b"eXIf", b"junk"), (b"bKGD", bytes(6)), (b"abCd", b"zz")),
]


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize(("name", "body"), BESIDE)
def test_a_damaged_chunk_beside_the_pixels_of_a_png_costs_nothing(name, body, broken):
    data = with_chunk(name, body, broken=broken)
    row, webp = answer(data, None, LIMITS)
    assert row["status"] == "success"
    assert webp == answer(saved("PNG"), None, LIMITS)[1]
    assert ("mended" in (row["trait"] or "")) is broken


def test_a_png_without_its_end_has_all_of_its_pixels():
    row, got = converted(saved("PNG")[:-12])
    assert row["trait"] == "mended"
    assert np.abs(got - by_pillow(saved("PNG"))).mean() < 4


def test_transparency_counts_if_it_is_sound_and_not_if_it_is_damaged():
    whole = saved("PNG", scene("P"), transparency=0)
    at = whole.index(b"tRNS") - 4
    size = 12 + struct.unpack(">I", whole[at : at + 4])[0]
    broken = whole[: at + size - 1] + bytes([whole[at + size - 1] ^ 1]) + whole[at + size :]
    text = chunk(b"tEXt", b"a\0b", broken=True)
    sound = whole[:33] + text + whole[33:]
    assert np.array_equal(converted(sound)[1], converted(whole)[1])
    opaque = whole[:at] + whole[at + size :]
    assert np.array_equal(converted(broken)[1], converted(opaque)[1])


def test_exif_behind_a_damaged_chunk_still_turns_the_picture():
    exif = Image.Exif()
    exif[0x0112] = 6
    whole = saved("PNG", exif=exif)
    row, got = converted(whole[:33] + chunk(b"tIME", bytes(7), broken=True) + whole[33:])
    assert row["trait"] == "turned mended"
    assert got.shape[:2] == (40, 30)


SEGMENTS = {
    "EXIF that is none": (0xE1, b"Exif\0\0" + b"\xff" * 20),
    "EXIF that leads beyond it": (0xE1, b"Exif\0\0II*\0\xff\xff\xff\x7f" + b"\x01\0" * 6),
    "a profile that is none": (0xE2, b"ICC_PROFILE\0\x01\x01" + b"\xff" * 20),
    "a part of a profile": (0xE2, b"ICC_PROFILE\0\x09\x00" + b"\xff" * 20),
    "no list of pictures": (0xE2, b"MPF\0" + b"\xff" * 20),
    "XMP that is none": (0xE1, b"http://ns.adobe.com/xap/1.0/\0" + b"\xff" * 20),
    "Adobe's mark cut off": (0xEE, b"Adobe\0"),
    "no resources of Photoshop": (0xED, b"Photoshop 3.0\0" + b"8BIM" + b"\xff" * 8),
    "a comment": (0xFE, b"\xff\xd8\xff"),
}


@pytest.mark.parametrize("name", SEGMENTS)
def test_a_damaged_segment_beside_the_pixels_of_a_jpeg_costs_nothing(name):
    row, webp = answer(with_segment(*SEGMENTS[name]), None, LIMITS)
    assert row["status"] == "success"
    assert webp == answer(saved("JPEG", quality=95), None, LIMITS)[1]


def test_every_animated_gif_that_ends_after_its_first_frame_shows_that():
    whole = animated("GIF")
    frame = only_pixels(whole, "gif")
    assert frame is not None
    assert np.array_equal(by_pillow(frame), by_pillow(whole))
    first, shown = len(frame) - 1, pixels(answer(whole, None, LIMITS)[1])
    for end in range(first, len(whole)):
        row, got = converted(whole[:end])
        assert "mended" in row["trait"]
        assert np.array_equal(got, shown)
    assert answer(whole[: first - 8], None, LIMITS)[0]["status"] == "not_an_image"


def test_the_reported_gif_shows_its_first_frame(shared):
    data = (Path(shared) / "cases/input/truncated-gif/cut.gif").read_bytes()
    row, got = converted(data)
    assert "mended" in row["trait"]
    with Image.open(io.BytesIO(data)) as image:
        assert np.abs(got - np.asarray(image.convert("RGB")).astype(int)).mean() < 6


def animation(frames: int, *sizes: tuple[int, int, int, int]) -> bytes:
    """Return a PNG that calls itself an animation, with frames of these sizes and places."""
    first = chunk(b"acTL", struct.pack(">II", frames, 0))
    rest = [struct.pack(">I4IHHBB", 0, *size, 1, 10, 0, 0) for size in sizes]
    whole = saved("PNG")
    return whole[:33] + first + b"".join(chunk(b"fcTL", r) for r in rest) + whole[33:]


@pytest.mark.parametrize(
    "data",
    [
        animation(2),
        animation(0),
        animation(2, (0, 0, 0, 0)),
        animation(2, (10, 10, 0, 0)),
        animation(2, (400, 300, 0, 0)),
        animation(2, (40, 30, 5, 5)),
        animation(2**31 - 1, (40, 30, 0, 0)),
    ],
)
def test_a_png_that_calls_itself_an_animation_shows_its_picture(data):
    assert answer(data, None, LIMITS)[1] == answer(saved("PNG"), None, LIMITS)[1]


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_an_animation_that_ends_within_a_later_frame_shows_its_first(form):
    whole = animated(form, lossless=True) if form == "WEBP" else animated(form)
    _, got = converted(whole[: len(whole) * 2 // 3])
    assert np.array_equal(got, pixels(answer(whole, None, LIMITS)[1]))


@pytest.mark.parametrize("name", [b"EXIF", b"XMP ", b"ICCP", b"junk"])
def test_a_webp_is_its_pixels_whatever_chunk_is_cut_off_behind_them(name):
    whole = saved("WEBP", lossless=True)
    more = name + struct.pack("<I", 400) + b"short"
    data = b"RIFF" + struct.pack("<I", len(whole) - 8 + len(more) + 395) + whole[8:] + more
    _, got = converted(data)
    assert np.array_equal(got, pixels(answer(whole, None, LIMITS)[1]))


def cut_png() -> bytes:
    """A PNG whose data of pixels end early, in a chunk that is sound."""
    noise = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
    whole = saved("PNG", Image.fromarray(noise))
    at = whole.index(b"IDAT")
    size = struct.unpack(">I", whole[at - 4 : at])[0]
    return whole[: at - 4] + chunk(b"IDAT", whole[at + 4 : at + 4 + size // 2]) + whole[-12:]


def damaged_data() -> bytes:
    whole = saved("PNG")
    return whole[:60] + bytes([whole[60] ^ 255]) + whole[61:]


BROKEN: dict[str, Callable[[], bytes]] = {
    "PNG, half of its file": lambda: saved("PNG")[: len(saved("PNG")) // 2],
    "PNG, half of its pixels": cut_png,
    "PNG, damaged pixels": damaged_data,
    "PNG, damaged header": lambda: saved("PNG")[:29] + bytes(4) + saved("PNG")[33:],
    "JPEG": lambda: saved("JPEG")[: len(saved("JPEG")) * 2 // 3],
    "GIF": lambda: saved("GIF", scene("P"))[: len(saved("GIF", scene("P"))) // 2],
    "WebP": lambda: saved("WEBP")[: len(saved("WEBP")) // 2],
    "TIFF": lambda: saved("TIFF")[:2000],
    "BMP": lambda: saved("BMP")[:2000],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_picture_whose_pixels_are_cut_off_or_damaged_is_none(name):
    assert answer(BROKEN[name](), None, LIMITS)[0]["status"] == "not_an_image"


def interlaced(image: Image.Image) -> bytes:
    """Write a PNG in the seven passes of Adam7 (PNG, third edition, 8.2)."""
    rgb = np.asarray(image.convert("RGB"))
    steps = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2)]
    rows = [
        b"\0" + row.tobytes()
        for x, y, right, down in [*steps, (0, 1, 1, 2)]
        for row in rgb[y::down, x::right]
        if row.size
    ]
    head = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 1)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows)))
    return b"\x89PNG\r\n\x1a\n" + data + chunk(b"IEND", b"")


def deep_grey_alpha() -> bytes:
    """A PNG of 16-bit grey with alpha: grey 20,000, half transparent."""
    row = b"\0" + struct.pack(">HH", 20_000, 32_768) * 8
    head = struct.pack(">IIBBBBB", 8, 8, 16, 4, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * 8))
    return b"\x89PNG\r\n\x1a\n" + data + chunk(b"IEND", b"")


FORMS: dict[str, Callable[[], bytes]] = {
    "JPEG, grey": lambda: saved("JPEG", scene("L"), quality=95),
    "JPEG, progressive": lambda: saved("JPEG", progressive=True, quality=95),
    "JPEG, CMYK": lambda: saved("JPEG", scene("CMYK"), quality=95),
    "PNG, palette and transparency": lambda: saved("PNG", scene("P"), transparency=0),
    "PNG, grey and alpha": lambda: saved("PNG", scene("LA")),
    "PNG, 1 bit": lambda: saved("PNG", scene("1")),
    "PNG, interlaced": lambda: interlaced(scene()),
    "GIF, transparency": lambda: saved("GIF", scene("P"), transparency=3),
    "TIFF, 1 bit": lambda: saved("TIFF", scene("1"), compression="group4"),
    "TIFF, palette": lambda: saved("TIFF", scene("P")),
    "TIFF, deflate": lambda: saved("TIFF", compression="tiff_deflate"),
    "JPEG 2000": lambda: saved("JPEG2000"),
    "MPO": lambda: saved("MPO", save_all=True, append_images=[scene()], quality=95),
    "APNG": lambda: animated("PNG"),
    "GIF, animated": lambda: animated("GIF"),
    "WebP, animated": lambda: animated("WEBP", lossless=True),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_picture_looks_as_another_decoder_shows_it(name):
    data = FORMS[name]()
    _, got = converted(data)
    wanted = by_pillow(data)
    assert got.shape == wanted.shape
    # WebP of quality 100 halves the resolution of colours; inks have no one look.
    assert np.abs(got - wanted).mean() < (25 if "CMYK" in name else 8)


def test_grey_of_sixteen_bits_with_alpha_lies_on_white():
    row, got = converted(deep_grey_alpha())
    assert row["trait"] == "deep"
    # Half of 20,000 / 257 = 78, and half of 255.
    assert abs(got.mean() - 166) <= 2


def archive(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, b"b" * 9)
    return out.getvalue()


PDF = b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\nstartxref\n9\n%%EOF"
PAGE = b"<html><body onload=alert(1)></body></html>"
# An end of a central directory, as four bytes and eighteen more may be in any picture's data.
NO_ARCHIVE = b"PK\5\6" + bytes(18)
PICTURES: dict[str, Callable[[], bytes]] = {
    "png": lambda: saved("PNG"),
    "jpeg": lambda: saved("JPEG", quality=95),
    "gif": lambda: saved("GIF", scene("P")),
    "webp": lambda: saved("WEBP"),
}


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize(
    ("more", "what"),
    [
        (archive("a"), "a ZIP archive"),
        (PDF, "a PDF document"),
        (PAGE, "a page or a script"),
        (b"<script>alert(1)</script>", "a page or a script"),
        (b"<?php system($_GET[0]); ?>", "a page or a script"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "a page or a script"),
    ],
)
def test_a_document_behind_a_picture_is_seen_however_long_the_picture_is(kind, more, what):
    for data in (PICTURES[kind](), saved(kind, scene().resize((400, 300)))):
        assert other_document(data + more, kind) == what
        assert answer(data + more, None, LIMITS)[0]["status"] == "polyglot"


@pytest.mark.parametrize("body", [PDF, PAGE, b"<script >alert(1)</script >", b"<?php phpinfo();"])
def test_a_document_within_a_pictures_text_is_seen(body):
    png = with_chunk(b"tEXt", b"Comment\0" + body, broken=False)
    for data in (png, with_segment(0xFE, body)):
        assert answer(data, None, LIMITS)[0]["status"] == "polyglot"


@pytest.mark.parametrize(
    "body",
    [
        b"made from a %PDF-1.4 file",
        b"source: <svg> or <html>, see <script> in it",
        b"<htmlish></htmlish> and <scripted/>",
        b"PK\x03\x04 is how an archive begins",
        NO_ARCHIVE,
        NO_ARCHIVE[:10] + b"\1\0" + bytes(10),
    ],
)
def test_a_few_bytes_of_another_format_make_no_document(body):
    png = with_chunk(b"tEXt", b"Comment\0" + body, broken=False)
    for data in (png, with_segment(0xFE, body), saved("GIF", scene("P")) + body):
        assert answer(data, None, LIMITS)[0]["status"] == "success"


def test_an_archive_without_members_is_none():
    assert other_document(saved("PNG") + archive(), "png") is None
    assert other_document(saved("PNG") + archive("a", "b"), "png") == "a ZIP archive"


def test_no_damaged_archive_behind_a_picture_is_a_fault():
    whole, chance = saved("PNG") + archive("a", "b"), random.Random(0)
    # The directory of a file on many disks, which Python's library refuses even to look at.
    disks = b"PK\6\7" + bytes(12) + b"\2\0\0\0" + b"PK\5\6" + b"\xff" * 16 + bytes(2)
    assert answer(saved("PNG") + disks, None, LIMITS)[0]["status"] == "success"
    for _ in range(2_000):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(saved("PNG")), len(data))] = chance.randrange(256)
        assert other_document(bytes(data), "png") in (None, "a ZIP archive")


@pytest.mark.parametrize("kind", PICTURES)
def test_no_damaged_picture_is_a_fault_of_what_looks_for_its_parts(kind):
    whole, chance = PICTURES[kind](), random.Random(kind)
    for _ in range(1_000):
        data = bytearray(whole[: chance.randrange(12, len(whole) + 1)])
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        pixels_alone = only_pixels(bytes(data), kind)
        assert pixels_alone is None or len(pixels_alone) <= len(data) + 12
        assert other_document(bytes(data), kind) in (None, "a page or a script")


def theirs(data: bytes, side_px: int | None) -> bytes:
    """Return what img2dataset makes of a file."""
    file: Any = io.BytesIO(data)
    return resize._resizer(side_px or 16_383)(file)[0]


@pytest.mark.parametrize("side_px", [None, 16])
def test_on_request_img2dataset_alone_decides_what_a_picture_becomes(side_px):
    exif = Image.Exif()
    exif[0x0112] = 6
    deep = cv2.imencode(".png", np.full((30, 40, 3), 32_767, np.uint16))[1].tobytes()
    lying = saved("JPEG", exif=exif, quality=95)
    limits = {"side_px": side_px, "as_img2dataset": True}
    for data, size in (
        (deep, (40, 30)),
        (lying, (40, 30)),
        (saved("PNG", scene("RGBA")), (40, 30)),
    ):
        row, webp = answer(data, None, LIMITS | limits)
        assert row["status"] == "success"
        assert webp == theirs(data, side_px)
        assert (row["width"], row["height"]) == size
        assert row["trait"] is None
    assert converted(deep, **limits)[1].min() >= 254
    broken = answer(with_chunk(b"tIME", bytes(7), broken=True), None, LIMITS | limits)
    assert broken[0]["status"] == "not_an_image"


def test_decoders_are_told_that_img2dataset_decides():
    deep = cv2.imencode(".png", np.full((30, 40), 32_767, np.uint16))[1].tobytes()
    limits = LIMITS | {"decode_s": 10, "decode_mb": 700, "as_img2dataset": True}
    with PictureDecoders(limits) as decoders:
        _, webp = decoders.convert(deep, "a.png")
    assert pixels(webp).min() >= 254
