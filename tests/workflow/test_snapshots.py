"""A wiki read from a ZIM file, pictures included, is the one read from its XML and its uploads."""

import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests import snapshots

from isotope import toy
from isotope.wikitext_infobox import upload_url

PAGES = 20
TABLES = ("texts", "images", "qrels", "filters")
SOURCES = ("from-xml", "from-zim")


def params(upstream: Path) -> dict[str, object]:
    files = {
        "from-xml": {"dump": ["toywiki.xml"], "images": ["uploads.parquet"]},
        "from-zim": {"dump": ["wikipedia_en_toy_maxi_2023-01.zim"]},
    }
    return {
        "build": list(SOURCES),
        "acquire": {
            name: {"files": {k: [str(upstream / f) for f in fs] for k, fs in parts.items()}}
            for name, parts in files.items()
        },
        "parse": {name: {"associations": "dump"} for name in SOURCES},
        "crawl": {
            "from-xml": {"pictures": {"part": "images"}, "shards": 2},
            "from-zim": {"pictures": {"part": "dump"}, "shards": 2},
        },
        "project": {n: {"mode": "exact-then-bm25", "k1": 0.9, "b": 0.4} for n in SOURCES},
        "collect": {n: {"kind": "wikipedia", "source": n, "language": "en"} for n in SOURCES},
        "tabulate": {"explain": {}, "facts": {}},
    }


@pytest.fixture(scope="module")
def collections(project, shell, tmp_path_factory) -> Path:
    """A project in which both were collected."""
    upstream, place = tmp_path_factory.mktemp("upstream"), project()
    toy.generate(upstream, pages=PAGES)
    pages = snapshots.pages_of(next((upstream / "dump").glob("*-multistream.xml.bz2")))
    images = {p.name.replace("_", " "): p.read_bytes() for p in upstream.glob("images/**/*.*g")}
    snapshots.write_export(pages, upstream / "toywiki.xml")
    zim = upstream / "wikipedia_en_toy_maxi_2023-01.zim"
    snapshots.write_zim(pages, zim, images=images, ids=True)
    urls = [upload_url(name) for name in images]
    table = pl.DataFrame({"image_url": urls, "image": list(images.values())})
    table.write_parquet(upstream / "uploads.parquet")
    (place / "overlay.yaml").write_text(yaml.safe_dump(params(upstream)))
    wanted = [f"data/collect/{name}/texts.parquet" for name in SOURCES]
    shell("snakemake", "--cores", "2", *wanted, "--configfile", "overlay.yaml", cwd=place)
    return place


@pytest.mark.parametrize("name", TABLES)
def test_a_zim_file_gives_the_collection_of_its_xml_and_images(name, collections):
    xml, zim = (collections / f"data/collect/{s}/{name}.parquet" for s in SOURCES)
    assert pl.read_parquet(xml).height
    assert xml.read_bytes() == zim.read_bytes()


def test_its_pictures_enter_the_crawls_shards_and_ledger_under_the_same_addresses(collections):
    ledgers = [
        pl.read_parquet(collections / f"data/crawl/{s}/ledger.parquet").drop("fetched_at")
        for s in SOURCES
    ]
    assert ledgers[0].equals(ledgers[1])
    associated = pl.read_parquet(collections / "data/parse/from-zim/associations.parquet")
    crawled = ledgers[1].filter(status="success")["image_url"]
    assert set(crawled) & set(associated["image_url"])
    assert len(crawled) > PAGES
    shards = sorted((collections / "data/crawl/from-zim").glob("shard-*.parquet"))
    assert pl.concat([pl.read_parquet(p) for p in shards]).height == len(crawled)


def test_both_count_the_same_pages(collections):
    told = [
        json.loads((collections / f"data/parse/{s}/sections.counts.json").read_text())
        for s in SOURCES
    ]
    assert told[0] == told[1]
    assert told[0]["articles"] == PAGES
