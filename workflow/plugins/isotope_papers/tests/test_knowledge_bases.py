"""Knowledge bases become collections, their pictures crawled, also those that have moved."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.decoding import InProcess
from tests.pairs import built, draw

from isotope.crawl import shard
from isotope.params import files
from isotope_papers.resources import PACKAGE

ROOT = Path(__file__).parents[4]
OVERLAY = PACKAGE / "params/kb.yaml"
UPLOADS = "wikipedia/commons/a/ab"
BASE = f"https://upload.wikimedia.org/{UPLOADS}"
PAGE: dict[str, Any] = {
    "title": "Red Lighthouse",
    "section_titles": ["Red Lighthouse", "History", "Keepers"],
    "section_texts": ["A lighthouse.", "It was built.", "They kept it."],
    "image_urls": [f"{BASE}/{name}.jpg" for name in ("Here", "Renamed", "Deleted", "Lost")],
    "image_reference_descriptions": ["The tower", "", "An old view", "A plan"],
    "image_section_indices": [0, 1, 1, 2],
    "url": "https://en.wikipedia.org/wiki/Red_Lighthouse",
}


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "Decoders", InProcess)


def crawl_of(name: str, served: Path) -> dict[str, Any]:
    """The overlay's own crawl, with a folder that stands in for all hosts."""
    crawl = yaml.safe_load((OVERLAY).read_text())["crawl"][name]
    quick = {"serve": str(served), "shards": 1, "timeout_s": 5, "wait_s": 0.01}
    return crawl | quick


def entry_of(name: str, data: Path) -> dict[str, Any]:
    entry = yaml.safe_load((OVERLAY).read_text())["collect"][name]
    return {**entry, "data": str(data)}


def test_pictures_of_encyclopedic_vqa_come_from_where_they_are_now(tmp_path):
    served = tmp_path / "served"
    draw(served / UPLOADS, ["Here.jpg"])
    draw(served / "wiki/Special:Redirect/file", ["Renamed.jpg"])
    draw(served / f"web/20200801id_/https:/upload.wikimedia.org/{UPLOADS}", ["Deleted.jpg"])
    data = tmp_path / "encyclopedic_kb_wiki.zip"
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("encyclopedic_kb_wiki.json", json.dumps({PAGE["url"]: PAGE}))
    crawl = crawl_of("encyclopedic-vqa", served)
    collection = built(tmp_path, entry_of("encyclopedic-vqa", data), crawl)
    assert collection.table("texts").select(
        "page_title", "section_title", "context_section_description", "page_url", "split"
    ).rows() == [
        ("Red Lighthouse", None, "A lighthouse.", PAGE["url"], "test"),
        ("Red Lighthouse", "History", "It was built.", PAGE["url"], "test"),
    ]
    names = collection.table("images")["image_url"].str.split("/").list.last()
    assert sorted(names) == ["Deleted.jpg", "Here.jpg", "Renamed.jpg"]
    captions = (
        collection.table("images").sort("image_url")["caption_reference_description"].to_list()
    )
    assert captions == [["An old view"], ["The tower"], []]
    assert collection.reasons() == {"not_found": 1}
    places = pl.read_parquet(tmp_path / "ledger.parquet")["fetched_from"].to_list()
    hosts = [path and path.split("/")[2] for path in places]
    assert hosts == ["web.archive.org", None, None, "commons.wikimedia.org"]


def test_an_entity_of_infoseek_has_the_picture_of_its_infobox(tmp_path):
    draw(tmp_path / "served" / UPLOADS, ["Here.jpg"])
    entities = [
        {"wikidata_id": "Q1", "wikipedia_title": "Red Lighthouse", "wikipedia_summary": "A tower."}
        | {"wikipedia_image_url": f"{BASE}/Here.jpg"},
        {"wikidata_id": "Q2", "wikipedia_title": "Bare", "wikipedia_summary": "Nothing."}
        | {"wikipedia_image_url": None},
    ]
    data = tmp_path / "Wiki6M_ver_1_0.jsonl.gz"
    data.write_bytes(gzip.compress("\n".join(map(json.dumps, entities)).encode()))
    crawl = crawl_of("infoseek", tmp_path / "served")
    collection = built(tmp_path, entry_of("infoseek", data), crawl)
    texts = collection.table("texts").select("text_id", "page_title", "split").rows()
    assert texts == [("Q1", "Red Lighthouse", "test"), ("Q2", "Bare", "other")]
    assert collection.table("qrels")["text_id"].to_list() == ["Q1"]


def test_the_page_tells_how_to_request_only_what_atomic_lacks(tmp_path):
    blocks = (PACKAGE / "docs/kb.md").read_text().split("```yaml\n")
    overlay = tmp_path / "lacking.yaml"
    overlay.write_text(blocks[1].partition("```")[0])
    params = files.load([OVERLAY, overlay], root=ROOT)
    assert params.crawl["encyclopedic-vqa"].after == "atomic"
    assert params.crawl["encyclopedic-vqa"].ask_again is False
