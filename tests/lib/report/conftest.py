"""The project that the report is drawn from, and its site: built once a session, and only read."""

from pathlib import Path

import pytest
from tests.once import once
from tests.report_project import build, lay


@pytest.fixture(scope="session")
def report_root() -> Path:
    """A project's root with all that the site reads; `rrf` has its answers at ranks 1 to 8."""
    return once("report", _build)


@pytest.fixture(scope="session")
def report_site(report_root: Path) -> Path:
    """The folder of its site."""
    return report_root / "results/report"


def _build(root: Path) -> None:
    build(lay(root))
