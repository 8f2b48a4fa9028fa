"""What rules ask of the params about files, collections and sources."""

import json
from collections import UserDict
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import Wildcards

from isotope.plan.sources import Sources

ROOT = Path(__file__).parents[3]
PARAMS = {
    "acquire": {"enwiki": {}, "frwiki": {}, "photos": {"files": {}}, "labels": {}},
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
        "oven": {
            "kind": "oven-labels",
            "source": "labels",
            "language": "en",
            "recognition": {"knowledge": "enwiki", "tokenizer": "words"},
        },
    },
    "build": ["both", "oven"],
    "tabulate": {"since": [["en", "fr"], ["en", "oven"]]},
}
PLAN = Sources(PARAMS, ROOT, {})


def of(**names: str) -> Wildcards:
    return Wildcards(fromdict=names)


def test_a_pair_counts_if_one_of_it_is_built_and_both_are_then_made():
    assert PLAN.compared_pairs() == [["en", "oven"]]
    assert PLAN.collections() == ["both", "oven", "en"]


def test_sources_are_those_of_all_collections_or_of_snapshots_alone():
    assert PLAN.sources() == ["enwiki", "frwiki", "labels"]
    assert PLAN.sources(snapshots=True) == ["enwiki", "frwiki"]


def test_a_constraint_of_no_name_matches_nothing():
    assert PLAN.any_of(["a.b", "c"]) == r"a\.b|c"
    assert PLAN.any_of([]) == PLAN.NEVER


def test_captions_are_in_the_language_of_the_texts_unless_params_say_so():
    assert PLAN.caption_language(of(collection="en")) == "en"
    assert PLAN.caption_language(of(collection="fr")) == "en"
    assert PLAN.language_of_source(of(source="frwiki")) == "fr"


def test_code_and_queries_are_files_of_the_project():
    [ledger] = [p for p in PLAN.code("crawl.ledger:list_urls") if p.endswith("crawl/ledger.py")]
    assert Path(ledger).resolve() == ROOT / "workflow/lib/isotope/crawl/ledger.py"
    [urls] = PLAN.sql("crawl/urls.sql")
    assert Path(urls).resolve() == ROOT / "workflow/sql/crawl/urls.sql"


def test_a_crawl_lists_what_its_params_name_after_the_earlier_crawl():
    tables = [f"data/parse/enwiki/{t}.parquet" for t in ("associations", "infoboxes")]
    assert PLAN.listing_tables(of(source="enwiki")) == tables
    assert PLAN.earlier_crawl(of(source="enwiki")) == []
    assert PLAN.earlier_crawl(of(source="frwiki")) == ["data/crawl/enwiki/ledger.parquet"]


def test_another_earlier_crawl_is_not_compared_by_snakemake():
    """It compares what is plain; a crawl's own params are, without `after`."""
    assert PLAN.crawl_spec(of(source="frwiki")) == {"shards": 1, "of": ["associations"]}
    policy = PLAN.crawl_policy(of(source="frwiki"))
    assert policy["after"] == "enwiki"
    assert {*policy} == {"after", "outage_tries", "outage_hours", "lost_share", "side_px"}
    with pytest.raises(TypeError):
        json.dumps(policy)
    assert PLAN.crawl_origin(of(source="enwiki"))["mirror"] == "http://m"


def test_sources_with_pictures_of_their_own_are_not_downloaded():
    assert PLAN.crawl_sources(pictures=True) == "labels"
    assert PLAN.crawl_sources(pictures=False) == "enwiki|frwiki"


def test_pictures_of_a_collection_are_those_of_its_sources_and_of_its_knowledge():
    shards = ["data/crawl/labels/shard-00000.parquet"]
    enwiki = [f"data/crawl/enwiki/shard-0000{n}.parquet" for n in range(2)]
    assert PLAN.pixels(of(collection="oven")) == [*shards, *enwiki]
    assert PLAN.pictures_of("oven") == shards
    ledgers = [f"data/crawl/{s}/ledger.parquet" for s in ("enwiki", "labels")]
    assert PLAN.picture_ledgers(of(collection="oven")) == ledgers
    assert PLAN.picture_shards("photos", "x") == []


def test_a_crawl_has_pictures_and_a_ledger_of_each_shard():
    files = PLAN.crawl_shard_files("enwiki")
    assert len(files) == len(set(files)) == 2 * 2
    assert {Path(file).parent for file in files} == {Path("data/crawl/enwiki")}


def test_labels_are_linked_to_the_snapshot_that_their_collection_names():
    assert PLAN.recognition_sources() == ["labels"]
    assert PLAN.recognition(of(source="labels"))["tokenizer"] == "words"
    table = PLAN.knowledge_table("sections.parquet")(of(source="labels"))
    assert table == "data/parse/enwiki/sections.parquet"


def test_a_collection_reads_its_members_its_manifest_or_its_snapshot():
    union = PLAN.relations(of(collection="both"))
    assert union["texts"] == [f"data/collect/{c}/texts.parquet" for c in ("en", "fr")]
    labelled = PLAN.relations(of(collection="oven"))
    assert labelled["manifest"] == "data/acquire/labels/manifest.json"
    assert labelled["urls"] == "data/crawl/labels/urls.parquet"
    assert labelled["knowledge_ledger"] == "data/crawl/enwiki/ledger.parquet"
    assert PLAN.relation_names(of(collection="en")) == [
        *("associations", "ledger", "members", "projection", "sections", "urls")
    ]


def test_rules_that_read_from_outside_have_the_limits_of_the_params_where_there_are_any():
    def rule(call: object) -> SimpleNamespace:
        params = {"call": call}
        return SimpleNamespace(params=params, set_params=params.update)

    parsed, fetched = "parse.dump:parse_source", "crawl.shard:crawl_shard"
    rules = [rule(call) for call in (parsed, "core.sql:query", PLAN.any_of, fetched)]
    PLAN.limit(rules)
    assert all("intake" not in each.params for each in rules)
    Sources({**PARAMS, "intake": {"depth": 9}}, ROOT, {}).limit(rules)
    assert [each.params.get("intake") for each in rules] == [{"depth": 9}, None, None, {"depth": 9}]
    # Snakemake passes over what is no plain value: nothing is fetched again for a limit.
    assert [type(each.params.get("intake")) for each in rules[::3]] == [dict, UserDict]
