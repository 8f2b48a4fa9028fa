"""One entry of kind pairs becomes a source, its crawl and a collection; what is wrong is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from snakemake.iocontainers import Wildcards

from isotope.core.errors import BadParams
from isotope.core.patterns import Stated
from isotope.params import files
from isotope.params.crawl import Pictures
from isotope.params.root import Params
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[3]
ENTRY = {
    "kind": "pairs",
    "data": "up/captions.csv",
    "pictures": "up/pictures",
    "columns": {"image": "file", "text": ["one", "two"]},
}


def load(folder: Path, changes: dict[str, Any], **more: Any) -> Params:
    """Return the params with a collection `mine` of ENTRY and `changes`; None drops a key."""
    entry = {k: v for k, v in {**ENTRY, **changes}.items() if v is not None}
    overlay = {"build": ["mine"], "collect": {"mine": entry}, **more}
    (folder / "mine.yaml").write_text(json.dumps(overlay))
    return files.load([folder / "mine.yaml"], root=ROOT)


def test_files_folders_and_lists_become_the_parts_of_a_source(tmp_path):
    splits = {"train": "up/train.txt", "test": "up/test.txt"}
    params = load(tmp_path, {"splits": splits, "pictures": ["up/pictures", "up/more.zip"]})
    assert params.acquire["mine"].files == {
        "data": ["up/captions.csv"],
        "pictures": ["up/pictures/**", "up/more.zip"],
        "split-train": ["up/train.txt"],
        "split-test": ["up/test.txt"],
    }
    assert params.crawl["mine"].pictures == Pictures(part="pictures")
    assert params.collect["mine"].source == "mine"


PATTERNS = {
    **{"up/data": "up/data/**", "up/v1.0/": "up/v1.0/**", "up/a.csv": "up/a.csv"},
    **{"up/*.tar": "up/*.tar", "https://example.org/a": "https://example.org/a"},
}


@pytest.mark.parametrize(("path", "pattern"), PATTERNS.items())
def test_a_path_without_suffix_is_a_folder(tmp_path, path, pattern):
    assert load(tmp_path, {"data": path}).acquire["mine"].stated()["data"] == [Stated(pattern)]


def test_a_folder_on_the_disk_is_one_whatever_its_name(tmp_path):
    (tmp_path / "set.json").mkdir()
    made = load(tmp_path, {"data": str(tmp_path / "set.json")})
    assert made.acquire["mine"].stated()["data"] == [Stated(f"{tmp_path}/set.json/**")]


def test_the_users_own_limits_of_the_crawl_and_endpoint_stay(tmp_path):
    crawl = {"mine": {"contact": "me@example.org", "rate_per_s": 1}}
    acquire = {"mine": {"endpoint": "http://127.0.0.1:9000"}}
    params = load(tmp_path, {"pictures": "urls"}, crawl=crawl, acquire=acquire)
    own = params.crawl["mine"]
    assert (own.of, own.shards, own.rate_per_s) == (["pairs"], 1, 1)
    assert own.contact == "me@example.org"
    assert params.acquire["mine"].endpoint == "http://127.0.0.1:9000"


def test_pictures_are_in_the_data_or_nowhere(tmp_path):
    within = load(tmp_path, {"pictures": None}).crawl["mine"].pictures
    assert within == Pictures(part="data")
    assert "mine" not in load(tmp_path, {"pictures": "none"}).crawl
    local = load(tmp_path, {"data": "ir_datasets:touche-image/2022-06-13", "pictures": None})
    assert local.acquire["mine"].files == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": None}, r"collect\.mine.*no key 'data'|collect\.mine: kind pairs without"),
        ({"data": 7}, r"collect\.mine\.data: 7"),
        ({"columns": {"imge": "file"}}, r"columns\.imge: no such key.*did you mean 'image'"),
        ({"source": "toy"}, r"collect\.mine\.source: 'toy'.*leave it out"),
        ({"keep": {"image": ["split"]}}, r"keep\.image: 'split' is a column of the collection"),
        ({"keep": {"text": ["ISO", "iso"]}}, r"keep\.text: 'ISO' and 'iso' differ by case alone"),
        ({"splits": {"validation": 0.6, "test": 0.6}}, r"splits: shares add up to 1\.2"),
        ({"splits": {"validation": 1.5}}, r"splits\.validation: 1\.5.*less than or equal to 1"),
        ({"splits": {"train": "a.txt", "test": 0.1}}, r"splits: both lists and shares"),
        ({"splits": {"seed": 3}}, r"splits: neither lists nor shares"),
        ({"texts": "frist"}, r"texts: 'frist'.*did you mean 'first'"),
        (
            {"splits": {"test": 0.1}, "columns": {"image": "a", "text": "b", "split": "c"}},
            r"both `splits` and `columns\.split`",
        ),
    ],
)
def test_what_is_wrong_with_an_entry_is_named(tmp_path, changes, message):
    with pytest.raises(BadParams, match=message):
        load(tmp_path, changes)


def test_keys_of_kind_pairs_are_refused_elsewhere(tmp_path):
    collect = {"toy": {"kind": "wikipedia", "source": "toy", "data": "a.csv"}}
    (tmp_path / "bad.yaml").write_text(json.dumps({"collect": collect}))
    with pytest.raises(BadParams, match=r"collect\.toy\.data.*kind pairs has it"):
        files.load([tmp_path / "bad.yaml"], root=ROOT)


def test_the_plan_has_the_tables_that_a_collection_of_kind_pairs_reads(tmp_path):
    plan = Plan(load(tmp_path, {"pictures": None}), {})
    assert plan.collections["mine"].entry.parsed == ("pairs", "pairs.rejected")
    source = Wildcards(fromdict={"source": "mine"})
    assert {*plan.sources.rows(source)} == {"data", "columns"}
    assert plan.sources.parts(source) == ["data"]
    # Another column is no reason to copy the pictures again.
    assert {*plan.sources.pictures(source)} == {"data"}
    assert plan.sources.way("mine") == "contents"
    assert plan.collections["mine"].origin == "own"
    assert "mine" not in plan.sources.crawled("pictures").split("|")


def test_urls_are_crawled_from_the_parsed_pairs(tmp_path):
    plan = Plan(load(tmp_path, {"pictures": "urls"}), {})
    assert plan.params.crawl["mine"].of == ["pairs"]
    assert plan.sources.way("mine") == "requests"


def test_a_collection_reads_what_parse_and_crawl_leave_of_its_own_source(tmp_path):
    plan = Plan(load(tmp_path, {}), {})
    assert plan.collections["mine"].relations == {
        "pairs": "data/parse/mine/pairs.parquet",
        "pairs_rejected": "data/parse/mine/pairs.rejected.parquet",
        "urls": "data/crawl/mine/urls.parquet",
        "ledger": "data/crawl/mine/ledger.parquet",
    }


SHARED = {
    "acquire": {"s": {"files": {"told": ["up/told.token"], "images": ["up/i.zip"]}}},
    "crawl": {"s": {"shards": 1, "pictures": {"part": "images"}}},
}
OF_SHARED = {"kind": "pairs", "source": "s", "form": "flickr"}


def test_collections_of_one_source_read_its_rows_once(tmp_path):
    lists = {"splits": {"test": "up/test.txt"}}
    more = {"kind": "pairs", "source": "s", "form": "flickr", "language": "de", **lists}
    overlay = {"collect": {"mine": {**more, "language": "en"}, "more": more}, "build": ["mine"]}
    (tmp_path / "mine.yaml").write_text(json.dumps(overlay | SHARED))
    plan = Plan(files.load([tmp_path / "mine.yaml"], root=ROOT), {})
    assert plan.params.acquire["s"].stated()["split-test"] == [Stated("up/test.txt")]
    source = Wildcards(fromdict={"source": "s"})
    assert plan.sources.rows(source) == {"form": "flickr", **lists}
    assert plan.sources.parts(source) == ["told"]
    of = [plan.collections[name].relations for name in ("mine", "more")]
    assert of[0] == of[1]
    assert plan.sources.with_rows() == "s"
    # Its tables and pages call things as those of other published sets do.
    assert plan.collections["mine"].origin == "published"
    assert of[0]["pairs"] == "data/parse/s/pairs.parquet"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pictures": "up/i.zip"}, r"mine\.pictures: .* shared; say it in crawl\.s, for all"),
        ({"form": "coco"}, r"mine: 'form' is another than in 'more', of the same source"),
        ({"source": "t"}, r"mine\.source: unknown name 't'"),
    ],
)
def test_what_collections_of_one_source_say_differently_is_named(tmp_path, changes, message):
    collect = {"mine": OF_SHARED | changes, "more": OF_SHARED}
    overlay = {"build": ["mine"], "collect": collect, **SHARED}
    (tmp_path / "mine.yaml").write_text(json.dumps(overlay))
    with pytest.raises(BadParams, match=message):
        files.load([tmp_path / "mine.yaml"], root=ROOT)
