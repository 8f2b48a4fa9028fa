"""Judging pages for tests in a browser."""

from collections.abc import Callable, Iterator

import pytest
from starlette.applications import Starlette
from workflow.plugins.isotope_judge.tests.hosting import hosting


@pytest.fixture
def hosted() -> Iterator[Callable[[Starlette], str]]:
    """Serve an application on loopback until the test ends; return its address."""
    with hosting() as serve:
        yield serve
