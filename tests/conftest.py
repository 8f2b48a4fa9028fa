"""Fixtures that several kinds of tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project; the test skips where it is absent."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"real data is absent: no folder {path}")
    return path
