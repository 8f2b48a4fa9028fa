"""Room on the disk before a file is filled through memory, with the call of Linux and without."""

import os
import resource
from pathlib import Path

import pytest

from isotope.core.system import reserve


@pytest.fixture(params=["Linux", "macOS"], autouse=True)
def system(request, monkeypatch):
    if request.param == "macOS":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)


def test_a_file_has_zeros_and_room_from_where_it_is_asked_for(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"head")
    with path.open("r+b") as file:
        reserve(file, 4, 3_000_000)
    content = path.read_bytes()
    assert content == b"head" + bytes(2_999_996)
    # Blocks of 512 bytes, whatever those of the disk are.
    assert path.stat().st_blocks * 512 >= 3_000_000


def test_no_bytes_need_no_room(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"head")
    with path.open("r+b") as file:
        reserve(file, 4, 4)
    assert path.read_bytes() == b"head"


def test_a_file_without_room_is_an_error(tmp_path):
    path: Path = tmp_path / "file"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        with path.open("wb") as file, pytest.raises(OSError, match="too large"):
            reserve(file, 0, 3_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
