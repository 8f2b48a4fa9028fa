"""A release, and a cache for what reads it."""

from pathlib import Path

import pytest
from tests import releases


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Path:
    """The release of a small collection."""
    return releases.build(tmp_path_factory.mktemp("released"))


@pytest.fixture
def hub_cache(tmp_path, monkeypatch) -> Path:
    """A cache of `datasets` for this test alone."""
    import datasets  # noqa: PLC0415
    from datasets import config  # noqa: PLC0415

    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
    return tmp_path / "cache"
