"""Pages that public bug reports describe: each of them shows one picture, and its words."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest

from isotope.core.uploads import STORE, upload_url
from isotope.parse.dump import parse_dump

NAMES = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")


@pytest.fixture(scope="module")
def reported(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The tables of the snapshot of the reports, and the folder of its pictures."""
    case, folder = shared / "cases/input/snapshot", tmp_path_factory.mktemp("cases")
    tables: dict[str, Any] = {name: folder / name for name in NAMES}
    parse_dump(sorted((case / "dump").glob("*.xml")), workers=1, **tables)
    return {**tables, "images": case / "images"}


def test_every_article_has_its_picture_with_a_caption(reported):
    articles = pl.read_parquet(reported["out"])["page_id"].unique()
    pictures = pl.read_parquet(reported["pictures"])
    assert len(articles) == 11
    assert sorted(pictures["page_id"]) == sorted(articles)
    assert pictures.filter(caption="").is_empty()


def test_every_picture_has_the_address_at_which_the_snapshot_has_it(reported):
    files = pl.read_parquet(reported["pictures"])["file"]
    paths = {unquote(upload_url(name).removeprefix(f"{STORE}/")) for name in files}
    there = reported["images"].rglob("*.png")
    assert paths == {path.relative_to(reported["images"]).as_posix() for path in there}
