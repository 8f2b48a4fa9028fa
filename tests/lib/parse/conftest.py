"""Real data that several files of tests read."""

from pathlib import Path

import pytest

from isotope.parse.dump import parse_dump

TABLES = ("sections", "links", "outline", "rejected", "infoboxes", "pictures", "counts")


@pytest.fixture(scope="session")
def raycharles(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tables of the real dump of one topic."""
    folder = tmp_path_factory.mktemp("raycharles")
    tables = {name: folder / name for name in TABLES}
    parse_dump(
        sorted((shared / "snapshots/raycharles/dump").glob("*.bz2")),
        out=tables["sections"],
        links=tables["links"],
        outline=tables["outline"],
        rejected=tables["rejected"],
        infoboxes=tables["infoboxes"],
        pictures=tables["pictures"],
        counts=tables["counts"],
        workers=1,
    )
    return tables
