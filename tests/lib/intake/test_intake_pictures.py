"""Changed pictures of every format: each has an outcome, and what is kept is WebP to its end."""

import asyncio
import io
import json
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image
from tests import chaos
from tests.lib.intake.test_archives import changed

from isotope.core.errors import ToolFailed
from isotope.intake import convert
from isotope.intake.formats import ends_as_webp
from isotope.intake.pictures import PictureDecoders

LIMITS = {"max_pixels": 4_000_000, "decode_s": 10, "decode_mb": 700}
STATUSES = {
    *("success", "not_an_image", "too_many_pixels", "polyglot", "svg", "pdf"),
    *("decode_timeout", "decoder_died"),
}


def saved(form: str, mode: str = "RGB", **more: object) -> bytes:
    image = Image.linear_gradient("L").resize((40, 30)).convert(mode)
    out = io.BytesIO()
    image.save(out, form, **more)
    return out.getvalue()


def animated(form: str) -> bytes:
    frames = [Image.new("RGB", (24, 24), colour) for colour in ("red", "green", "blue")]
    out = io.BytesIO()
    frames[0].save(out, form, save_all=True, append_images=frames[1:])
    return out.getvalue()


def deep(suffix: str, channels: int) -> bytes:
    image = np.arange(30 * 40 * channels, dtype=np.uint16).reshape(30, 40, channels) * 18
    return cv2.imencode(suffix, image)[1].tobytes()


def formats() -> dict[str, bytes]:
    exif = Image.Exif()
    exif[0x0112] = 6
    return {
        "jpeg": saved("JPEG"),
        "jpeg, turned": saved("JPEG", exif=exif),
        "jpeg, progressive": saved("JPEG", progressive=True),
        "jpeg, cmyk": saved("JPEG", "CMYK"),
        **{f"png, {mode}": saved("PNG", mode) for mode in ("RGB", "RGBA", "LA", "P", "1")},
        "png, turned": saved("PNG", exif=exif),
        "png, animated": animated("PNG"),
        "png, 16 bits": deep(".png", 3),
        "png, 16 bits and alpha": deep(".png", 4),
        "gif": saved("GIF", "P"),
        "gif, animated": animated("GIF"),
        "webp": saved("WEBP"),
        "webp, alpha": saved("WEBP", "RGBA", lossless=True),
        "webp, turned": saved("WEBP", exif=exif),
        "webp, animated": animated("WEBP"),
        "tiff": saved("TIFF"),
        "tiff, packed": saved("TIFF", compression="tiff_lzw"),
        "tiff, 16 bits": deep(".tiff", 3),
        "bmp": saved("BMP"),
    }


def outcomes(seeds: range) -> Counter[str]:
    """Convert a changed picture for each seed; count what became of them."""
    kinds, told = formats(), Counter[str]()
    names = [*kinds]
    for keep in (False, True):
        own = [seed for seed in seeds if seed // len(names) % 2 == keep]
        reads = ((str(n), partial(changed, kinds[names[n % len(names)]], n)) for n in own)
        with PictureDecoders(LIMITS | {"keep_webp": keep}) as decoders:
            for _, _, (row, webp) in decoders.convert_all(reads):
                told[row["status"]] += 1
                assert (row["status"] == "success") == ends_as_webp(webp)
    return told


def test_every_format_is_read_as_it_is():
    for name, data in formats().items():
        row, webp = convert.answer(data, None, LIMITS)
        assert row["status"] == "success", name
        assert ends_as_webp(webp), name


def test_changed_pictures_have_an_outcome_each():
    told = outcomes(range(600))
    assert sum(told.values()) == 600
    assert {*told} <= STATUSES
    assert min(told["success"], told["not_an_image"]) > 50


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_changed_pictures_have_an_outcome_each(part):
    told = outcomes(range(part * 10_000, (part + 1) * 10_000))
    assert sum(told.values()) == 10_000
    assert {*told} <= STATUSES


def test_every_cut_of_an_animated_picture_has_an_outcome():
    for form in ("GIF", "PNG", "WEBP"):
        whole = animated(form)
        for end in range(0, len(whole), 3):
            assert convert.answer(whole[:end], None, LIMITS)[0]["status"] in STATUSES


def test_a_poison_among_pictures_is_a_row_and_the_others_are_kept():
    good, bomb = saved("PNG"), chaos.png(5_000, 5_000, rows=1)
    reads = [("a", lambda: good), ("bomb", lambda: bomb), ("cut", lambda: good[:60])]
    with PictureDecoders(LIMITS) as decoders:
        told = decoders.convert_all([*reads, ("b", lambda: good)])
        rows = {name: row["status"] for name, _, (row, _) in told}
    assert rows == {
        **{"a": "success", "bomb": "too_many_pixels", "cut": "not_an_image"},
        "b": "success",
    }


def test_a_fault_of_our_own_ends_the_job_and_names_the_picture(monkeypatch):
    """A decoder whose own code fails says so; the fault is no row that hides it."""
    script = (
        "import sys; from isotope.intake import decode, worker\n"
        "worker.answer = lambda *_: 1 / 0\n"
        "import json, signal; decode.main(json.loads(sys.argv[1]))\n"
    )
    start = "isotope.intake.decoders.asyncio.create_subprocess_exec"
    real = asyncio.create_subprocess_exec

    async def faulty(program: str, *arguments: str, **more: Any) -> object:
        return await real(program, "-c", script, arguments[-1], **more)

    monkeypatch.setattr(start, faulty)
    with (
        PictureDecoders(LIMITS) as decoders,
        pytest.raises(ToolFailed, match=r"(?s)x\.png: .*ZeroDivision"),
    ):
        decoders.convert(saved("PNG"), "x.png")


MEASURED = """
import json, sys
from isotope.intake import resize
from isotope.intake.convert import answer, to_webp
from isotope.intake.limits import Refused
try:
    to_webp(b"")
except Refused:
    pass
side_px = json.loads(sys.argv[2])
if side_px:
    resize.load(side_px)
def most(key):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1]) / 1000
before = most("VmSize")
limits = {"max_pixels": 64_000_000, "side_px": side_px}
row, _ = answer(open(sys.argv[1], "rb").read(), None, limits)
print(json.dumps({"status": row["status"], "mb": most("VmPeak") - before}))
"""


def peak(path: Path, side_px: int | None = None) -> dict[str, Any]:
    """Return what a fresh process needs to convert a picture, in MB of addresses."""
    if sys.platform != "linux":
        pytest.skip("only Linux says how many addresses a process had at most")
    line = [sys.executable, "-c", MEASURED, str(path), json.dumps(side_px)]
    return json.loads(subprocess.run(line, capture_output=True, check=True).stdout)


def large(folder: Path, megapixels: int, kind: str = "alpha") -> Path:
    """Write a PNG of so many megapixels, smooth as photographs are."""
    side, deep = int((megapixels * 1e6) ** 0.5), kind == "deep"
    row = np.linspace(0, 65_535 if deep else 255, side).astype(np.uint16 if deep else np.uint8)
    image = np.empty((side, side, 3 if kind == "colours" else 4), row.dtype)
    image[...] = row[:, None, None]
    image[..., 0] = row[None, :]
    path = folder / f"{kind}-{megapixels}.png"
    cv2.imwrite(str(path), image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return path


def test_twenty_megapixels_with_transparency_take_less_than_the_default_limit(tmp_path):
    told = peak(large(tmp_path, 20))
    assert told["status"] == "success"
    assert told["mb"] < 700


@pytest.mark.long
@pytest.mark.parametrize("side_px", [None, 256])
@pytest.mark.parametrize("kind", ["colours", "alpha", "deep"])
def test_the_largest_picture_stays_within_the_default_memory(tmp_path, kind, side_px):
    told = peak(large(tmp_path, 63, kind), side_px)
    assert told["status"] == "success"
    assert told["mb"] < 1_500
