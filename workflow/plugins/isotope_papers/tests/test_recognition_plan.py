"""What a collection of labels reads: its own source, and the snapshot that they are linked to."""

from typing import Any

from tests.plans import plan_of

PARAMS: dict[str, Any] = {
    "acquire": {name: {"files": {"dump": ["a"]}} for name in ("enwiki", "labels")},
    "crawl": {
        "enwiki": {"shards": 2, "of": ["associations", "infoboxes"], "mirror": "http://m"},
        "labels": {"shards": 1, "pictures": {"part": "pictures", "base": "http://l/"}},
    },
    "collect": {
        "oven": {
            "kind": "oven-labels",
            "source": "labels",
            "language": "en",
            "recognition": {
                "knowledge": "enwiki",
                "questions": [{"category": "bird", "question": "Which bird is it?"}],
                "unseen_share": 0.5,
                "unseen_categories": [],
                "seed": 0,
            },
        },
    },
    "build": ["oven"],
    "tabulate": {"system": "bm25", "alpha": 0.05, "tokenizers": {}},
}
PLAN = plan_of(**PARAMS)
SOURCES, COLLECTIONS = PLAN.sources, PLAN.collections


def test_labels_are_linked_to_the_snapshot_that_their_collection_names():
    assert [*filter(SOURCES.recognition, PARAMS["acquire"])] == ["labels"]
    assert SOURCES.recognition("labels").knowledge == "enwiki"
    assert COLLECTIONS["oven"].knowledge == ["enwiki"]


def test_pictures_of_a_collection_are_those_of_its_source_and_of_its_knowledge():
    shards = ["data/crawl/labels/shard-00000.parquet"]
    enwiki = [f"data/crawl/enwiki/shard-0000{n}.parquet" for n in range(2)]
    assert COLLECTIONS["oven"].pixels == [*shards, *enwiki]
    assert COLLECTIONS["oven"].pictures == shards
    ledgers = [f"data/crawl/{s}/ledger.parquet" for s in ("enwiki", "labels")]
    assert COLLECTIONS["oven"].ledgers == ledgers


def test_a_collection_of_labels_reads_its_manifest_and_the_ledger_of_its_snapshot():
    labelled = COLLECTIONS["oven"].relations
    assert labelled["manifest"] == "data/acquire/labels/manifest.json"
    assert labelled["urls"] == "data/crawl/labels/urls.parquet"
    assert labelled["knowledge_ledger"] == "data/crawl/enwiki/ledger.parquet"
