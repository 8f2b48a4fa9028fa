"""Bulk sources of a crawl: what params may say of them, and what a run makes of it."""

import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from isotope.core.errors import BadParams
from isotope.params import files, resolve
from isotope.params.crawl import DECODING, OF_POLICY, ORIGIN, Crawl
from isotope.params.root import Params
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[3]
WHOLE, LATER = {"source": "whole", "part": "train"}, {"crawl": "toy-later"}


@pytest.fixture
def config() -> dict[str, Any]:
    """The default params, with a source that is there for its pictures."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    params["acquire"]["whole"] = {"files": {"train": ["published/*.parquet"]}}
    return params


def resolved(config: dict[str, Any], *bulk: dict[str, Any], **toy: Any) -> Params:
    own = copy.deepcopy(config)
    own["crawl"]["toy"] |= {"bulk": list(bulk), **toy}
    return resolve.resolve(own)


@pytest.mark.parametrize(
    ("bulk", "found"),
    [
        ({"source": "nothing", "part": "train"}, r"bulk\[0\]\.source: unknown name 'nothing'"),
        ({"source": "whole", "part": "test"}, r"bulk\[0\]\.part: unknown name 'test'.*train"),
        ({"crawl": "toy"}, r"bulk\[0\]\.crawl: unknown name 'toy'"),
        ({"crawl": "nothing"}, r"bulk\[0\]\.crawl: unknown name 'nothing'"),
        ({"source": "whole"}, r"bulk\[0\]: no key 'part'"),
        ({"part": "train"}, r"bulk\[0\]"),
        ({"folder": "a", "crawl": "toy-later"}, r"bulk\[0\].*exactly one"),
        ({"folder": "a", "licence": "rights"}, r"bulk\[0\]: no key 'source'"),
        ({"folder": "a", "adress": "url"}, r"bulk\[0\]\.adress: no such key.*'address'"),
        ({**WHOLE, "columns": ["url"]}, r"bulk\[0\]\.columns"),
        ({"folder": ""}, r"bulk\[0\]\.folder"),
    ],
)
def test_a_bulk_source_that_no_job_could_read_is_refused(config, bulk, found):
    with pytest.raises(BadParams, match=found):
        resolved(config, bulk)


def test_a_list_of_none_is_refused_and_so_is_one_source_twice(config):
    for bulk in ([], [WHOLE, WHOLE]):
        with pytest.raises(BadParams, match=r"crawl\.toy\.bulk"):
            resolved(config, *bulk)


def test_larger_pictures_are_asked_for_beside_bulk_sources_only(config):
    config["crawl"]["toy"]["refetch_smaller"] = True
    with pytest.raises(BadParams, match=r"crawl\.toy: no key 'bulk'"):
        resolve.resolve(config)


def test_crawls_that_wait_for_each_other_are_refused(config):
    """The crawl of the later edition goes on from that of the first."""
    assert config["crawl"]["toy-later"]["after"] == "toy"
    with pytest.raises(BadParams, match=r"crawl\.toy: a circle: toy > toy-later > toy"):
        resolved(config, LATER)


def test_pictures_that_came_along_need_no_bulk_source(config):
    config["acquire"]["toy"] = {"files": {"wit": ["a"], "images": ["b"]}}
    with pytest.raises(BadParams, match=r"bulk sources beside `pictures`"):
        resolved(config, WHOLE, pictures={"part": "images"})


def plan_of(params: Params) -> Plan:
    return Plan(params, {})


def test_each_source_waits_for_what_lists_its_files_and_for_those_before_it(config):
    config["crawl"]["toy-later"]["after"] = None
    plan = plan_of(resolved(config, WHOLE, LATER, {"folder": "mirror"}))
    jobs = [Wildcards(fromdict={"source": "toy", "bulk": f"{n:02d}"}) for n in range(3)]
    listed = [plan.sources.bulk_listed(job) for job in jobs]
    assert listed == [
        ["data/acquire/whole/manifest.json"],
        ["data/crawl/toy-later/ledger.parquet"],
        [],
    ]
    ledgers = [f"data/crawl/toy/bulk/{n:02d}/ledger.parquet" for n in range(3)]
    assert [plan.sources.bulk_ledgers(job) for job in jobs] == [ledgers[:n] for n in range(3)]
    assert plan.sources.bulk_ledgers(Wildcards(fromdict={"source": "toy"})) == ledgers
    assert plan.sources.bulk_spec(jobs[0]) == {
        **WHOLE,
        "address": "image_url",
        "base": "https://upload.wikimedia.org/",
    }


def test_what_is_acquired_for_its_pictures_has_to_be_there(config, tmp_path):
    config["crawl"]["toy-later"]["after"] = None
    params = resolved(config, WHOLE, LATER, {"folder": "mirror"})
    found = [str(error) for error in files.LocalFiles(params, tmp_path).missing()]
    assert any(
        "acquire.whole.files.train[0]: 'published/*.parquet' is not there" in f for f in found
    )
    assert any("crawl.toy.bulk[2].folder: 'mirror' is not there" in f for f in found)


def test_neither_the_list_nor_the_side_is_a_reason_to_crawl_anew_by_itself(config):
    """Snakemake compares plain values; the jobs of a bulk source compare their own item."""
    plan = plan_of(resolved(config, WHOLE))
    job = SimpleNamespace(source="toy", bulk="00", shard="00000")
    assert "bulk" not in plan.sources.crawl_spec(job)
    assert "side_px" not in plan.sources.bulk_spec(job)
    side = plan.sources.uncompared("side_px")(job)
    assert not isinstance(side, dict)
    assert {**side} == {"shards": plan.params.crawl["toy"].shards, "side_px": 256}
    before = plan_of(resolve.resolve(config)).sources
    assert plan.sources.crawl_spec(job) == before.crawl_spec(job)


def test_what_a_crawls_job_is_given_in_two_parts_is_the_entry_again(config):
    """A part may lack the key that another one needs: `ask_again` comes without `after`."""
    config["crawl"]["toy-later"] |= {"ask_again": False, "lost_share": 0.1}
    params = resolve.resolve(config)
    job = SimpleNamespace(source="toy-later", shard="00000")
    sources = plan_of(params).sources
    given = sources.crawl_spec, sources.uncompared(*OF_POLICY)
    parts = [Crawl.of_spec(part(job)) for part in given]
    assert parts[0].after is None
    assert parts[0].joined(parts[1]).values() == params.crawl["toy-later"].values()
    told = Crawl.of_spec(sources.crawl(*ORIGIN, *DECODING)(job))
    assert (told.lost_share, told.side_px, told.serve) == (0.1, 256, parts[0].serve)
