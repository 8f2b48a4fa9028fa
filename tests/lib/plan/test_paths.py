"""What rules ask of the params about files, collections and sources."""

import json
from collections import UserDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.iocontainers import Wildcards
from tests.plans import plan_of

from isotope.params.crawl import OF_POLICY, ORIGIN, Crawl
from isotope.plan.paths import NEVER, any_of

PARAMS: dict[str, Any] = {
    "acquire": {
        name: {"files": {"dump": ["a"]}} for name in ("enwiki", "frwiki", "photos", "labels")
    },
    "parse": {"enwiki": {"splits": {"test": 0.1, "validation": 0.1}}},
    "crawl": {
        "enwiki": {"shards": 2, "of": ["associations", "infoboxes"], "mirror": "http://m"},
        "frwiki": {"shards": 1, "of": ["associations"], "after": "enwiki"},
        "labels": {"shards": 1, "pictures": {"part": "pictures", "base": "http://l/"}},
    },
    "collect": {
        "en": {"kind": "wikipedia", "source": "enwiki", "language": "en"},
        "fr": {"kind": "wikipedia", "source": "frwiki", "language": "fr", "captions": "en"},
        "both": {"kind": "union", "of": ["en", "fr"], "language": "mul"},
        "own": {"kind": "pairs", "form": "flickr", "source": "labels", "language": "en"},
    },
    "build": ["both", "own"],
    "tabulate": {
        "diff": [["en", "fr"], ["en", "own"]],
        "system": "bm25",
        "alpha": 0.05,
        "tokenizers": {},
    },
}
PLAN = plan_of(**PARAMS)
SOURCES, COLLECTIONS, PATHS = PLAN.sources, PLAN.collections, PLAN.paths


def of(**names: str) -> Wildcards:
    return Wildcards(fromdict=names)


def test_a_pair_counts_if_one_of_it_is_built_and_both_are_then_made():
    assert COLLECTIONS.pairs == [["en", "own"]]
    assert COLLECTIONS.all == ["both", "own", "en"]


def test_a_constraint_of_no_name_matches_nothing():
    assert any_of(["a.b", "c"]) == r"a\.b|c"
    assert any_of([]) == NEVER


def test_captions_are_in_the_language_of_the_texts_unless_params_say_so():
    assert COLLECTIONS["en"].captions == "en"
    assert COLLECTIONS["fr"].captions == "en"
    assert SOURCES.language("frwiki") == "fr"


def test_a_crawl_that_goes_on_from_another_comes_after_its_ledger():
    assert SOURCES.earlier_crawl(of(source="enwiki")) == []
    assert SOURCES.earlier_crawl(of(source="frwiki")) == ["data/crawl/enwiki/ledger.parquet"]


def test_another_earlier_crawl_is_not_compared_by_snakemake():
    """It compares what is plain; a crawl's own params are, without `after`."""
    spec = SOURCES.crawl_spec(of(source="frwiki"))
    assert (spec["shards"], spec["of"]) == (1, ["associations"])
    assert not {*spec} & {*OF_POLICY}
    policy = SOURCES.uncompared(*OF_POLICY)(of(source="frwiki"))
    assert {**policy} == {"shards": 1, "after": "enwiki"}
    with pytest.raises(TypeError):
        json.dumps(policy)
    origin = {"shards": 2, "mirror": "http://m"}
    assert SOURCES.crawl(*ORIGIN)(of(source="enwiki")) == origin


def test_a_crawl_that_is_done_was_recorded_with_keys_that_are_constants_now():
    """Snakemake compares the text: another order would crawl protected files anew."""
    text = (
        "{'of': ['associations'], 'user_agent': 'isotope', 'threads': 16, 'connections': 2, "
        "'rate_per_s': 10, 'burst': 10, 'megabits_per_s': 25, 'timeout_s': 20, 'attempts': 3, "
        "'wait_s': 2, 'patience_s': 3600, 'breaker_failures': 20, 'breaker_pause_s': 30, "
        "'breaker_openings': 5, 'redirects': 5, 'max_mib': 100, 'max_pixels': 64000000, "
        "'decoders': 1, 'decode_s': 60, 'decode_mb': 1500, 'shards': 1}"
    )
    spec = SOURCES.crawl_spec(of(source="frwiki"))
    assert repr(spec) == text
    # The job does without them.
    assert Crawl.of_spec(spec) == Crawl(shards=1)


def test_sources_with_pictures_of_their_own_are_not_downloaded():
    assert SOURCES.crawled("pictures") == "labels"
    assert SOURCES.crawled("requests", "bulk") == "enwiki|frwiki"


def test_pictures_of_a_collection_are_those_of_its_sources():
    shards = ["data/crawl/labels/shard-00000.parquet"]
    assert COLLECTIONS["own"].pixels == COLLECTIONS["own"].pictures == shards
    assert COLLECTIONS["own"].ledgers == ["data/crawl/labels/ledger.parquet"]
    assert SOURCES.shards("photos") == []


def test_a_crawl_has_pictures_and_a_ledger_of_each_shard():
    files = [*SOURCES.shards("enwiki"), *SOURCES.shards("enwiki", "ledger")]
    assert len(files) == len(set(files)) == 2 * 2
    assert {Path(file).parent for file in files} == {Path("data/crawl/enwiki")}


def test_a_collection_reads_its_members_its_manifest_or_its_snapshot():
    union = COLLECTIONS["both"].relations
    assert union["texts"] == [f"data/collect/{c}/texts.parquet" for c in ("en", "fr")]
    own = COLLECTIONS["own"].relations
    assert own["urls"] == "data/crawl/labels/urls.parquet"
    assert sorted(COLLECTIONS["en"].relations) == [
        *("associations", "ledger", "members", "projection", "sections", "urls")
    ]


def test_rules_that_read_from_outside_have_the_limits_of_the_params_where_there_are_any():
    def rule(call: object) -> SimpleNamespace:
        params = {"call": call}
        return SimpleNamespace(params=params, set_params=params.update)

    parsed, fetched = "parse.dump:parse_source", "crawl.shard:crawl_shard"
    copied = "crawl.pictures:crawl_pictures"
    rules = [rule(call) for call in (parsed, copied, "core.sql:query", any_of, fetched)]
    PATHS.limit(rules)
    assert all("intake" not in each.params for each in rules)
    plan_of(**PARAMS, intake={"scale": 2}).paths.limit(rules)
    told = [each.params.get("intake") for each in rules]
    assert told == [{"scale": 2}, {"scale": 2}, None, None, {"scale": 2}]
    # Snakemake passes over what is no plain value: nothing is fetched again for a limit.
    assert [type(each) for each in told if each] == [dict, dict, UserDict]
