"""A little project with results, of which each test has its own, and a place without any."""

import random
from pathlib import Path

import pytest
from tests import transfers

from isotope.core import digests


@pytest.fixture
def project(tmp_path) -> Path:
    return transfers.results(tmp_path / "project")


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    place = tmp_path / "elsewhere"
    place.mkdir()
    return place


@pytest.fixture
def many(tmp_path) -> Path:
    """A project of many files."""
    project = transfers.results(tmp_path / "many")
    chance, folder = random.Random(1), project / "data/crawl/wiki"
    folder.mkdir(parents=True)
    for n in range(150):
        path = folder / f"shard-{n:05}.parquet"
        path.write_bytes(chance.randbytes(chance.randrange(20_000)))
        digests.write(path)
    return project
