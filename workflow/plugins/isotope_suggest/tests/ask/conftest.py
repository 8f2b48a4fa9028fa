"""A town whose live engine answers the tests of the page, and where its verdicts lie."""

from pathlib import Path

import pytest
from workflow.plugins.isotope_suggest.tests.ask.fake_engine import Town


@pytest.fixture
def town() -> Town:
    return Town()


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "judgements"
