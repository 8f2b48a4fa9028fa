"""What a library said of bytes is the same in every run."""

import io

import pytest
from PIL import Image, UnidentifiedImageError

from isotope.intake.formats import judge
from isotope.intake.limits import reason_of


def test_a_reason_has_no_place_in_memory():
    with pytest.raises(UnidentifiedImageError) as raised:
        Image.open(io.BytesIO(b"no picture"))
    assert reason_of(raised.value) == "cannot identify image file <_io.BytesIO object>"


def test_the_same_damaged_picture_has_the_same_reason_twice():
    kept = [io.BytesIO(), judge(b"\x89PNG\r\n\x1a\n", "image/png", 100)]
    assert judge(b"\x89PNG\r\n\x1a\n", "image/png", 100) == kept[1]
    assert "0x" not in str(kept[1])
