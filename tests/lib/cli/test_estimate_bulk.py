"""The estimate of a crawl with bulk sources shows both roads: files to read, and requests."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import bulk_world

from isotope.cli import estimate, estimate_bulk
from isotope.cli.estimate import Machine
from isotope.params import files
from isotope.params.root import Params

ROOT = Path(__file__).parents[3]
HUB = "hf://datasets/wikimedia/wit_base/data/*.parquet"


def params(folder: Path, bulk: list[dict[str, Any]], **acquire: Any) -> Params:
    """Return the params of params/enwiki.yaml with bulk sources."""
    crawl = {"enwiki-20221101": {"bulk": bulk}}
    overlay = {"acquire": {k: {"files": v} for k, v in acquire.items()}, "crawl": crawl}
    (folder / "bulk.yaml").write_text(json.dumps(overlay))
    return files.load([ROOT / "params/enwiki.yaml", folder / "bulk.yaml"], root=ROOT)


def roads(own: Params, cores: int = 2) -> dict[str, estimate_bulk.Road]:
    found = estimate_bulk.roads(own, estimate.sizes(own), cores)
    return {road.road: road for road in found}


def test_what_is_on_the_hub_is_counted_by_what_its_page_says(tmp_path):
    own = params(tmp_path, [{"source": "wit-base", "part": "p"}], **{"wit-base": {"p": [HUB]}})
    found = roads(own)
    bulk, alone, rest = found["wit-base/p"], found["network alone"], found["network after bulk"]
    assert (bulk.files, round(bulk.gib or 0)) == (330, 287)
    assert alone.requests == estimate.sizes(own)["enwiki-20221101"].images
    # "More than six million images" (its page on the hub).
    assert bulk.pictures == 6_000_000
    assert rest.requests + bulk.pictures == alone.requests
    # 10 requests a second, and 25 Mbit/s of originals.
    assert alone.hours is not None
    assert alone.hours >= alone.requests / 10 / 3_600
    assert rest.hours == pytest.approx(alone.hours * rest.requests / alone.requests)
    acquired = estimate.costs(own, Machine(2, gpu=False))["acquire"]
    assert acquired.requests == 20 + 1 + 330
    assert acquired.fetched > 308e9


def test_rows_of_files_that_are_here_are_counted_and_decoders_share_them(tmp_path):
    world = bulk_world.make(tmp_path / "world", 200)
    [item] = world.bulk[:1]
    whole = sorted((world.root / "published/wit_base").iterdir())[:-1]
    own = params(tmp_path, [item], wit_base={"train": [str(path) for path in whole]})
    own["crawl"]["enwiki-20221101"]["decoders"] = 2
    found = roads(own)["wit_base/train"]
    assert found.pictures == pl.scan_parquet(whole).select(pl.len()).collect().item()
    assert found.hours == pytest.approx(
        found.pictures * estimate_bulk.PICTURE_S / 2 / 3_600  # pyright: ignore[reportOptionalOperand]
    )
    assert roads(own, cores=1)["wit_base/train"].hours == pytest.approx(2 * (found.hours or 0))


def test_what_can_not_be_told_is_a_question_mark(tmp_path):
    found = roads(params(tmp_path, [{"folder": str(tmp_path)}]))
    text = estimate_bulk.text([*found.values()])
    [line] = [line for line in text.splitlines() if "folder" in line]
    assert line.split().count("?") == 3
    assert "network after bulk" in text


def test_a_crawl_without_bulk_sources_has_one_road(tmp_path):
    assert roads(files.load([ROOT / "params/enwiki.yaml"], root=ROOT)) == {}
    assert estimate_bulk.text([]) == ""
