"""A phase of one shard writes its tables; of several, pieces that are gathered."""

from pathlib import Path

import pytest
from snakemake.io import is_flagged
from snakemake.iocontainers import Wildcards

from isotope.plan.needs import Shards

ROOT = Path(__file__).parents[3]
COLLECT = {
    "toy": {"kind": "wikipedia", "source": "toy", "language": "en"},
    "coco": {"kind": "coco", "source": "coco", "language": "en"},
}


def plan(**shards: int) -> Shards:
    params = {
        "acquire": {"toy": {}, "coco": {}, "mixed": {}},
        "parse": {"toy": {"associations": "dump"}, "mixed": {"associations": "both"}},
        "collect": COLLECT,
        "crawl": {"toy": {"shards": 1}},
        "shards": {"parse": 1, "collect": 1, "index": 1, **shards},
    }
    return Shards(params, ROOT, {})


def test_parts_are_counted_from_0_and_say_how_many_there_are():
    assert plan(parse=2).parts("parse") == ["00000-of-00002", "00001-of-00002"]
    assert plan().part(Wildcards(fromdict={"part": "00001-of-00002"})) == [1, 2]
    assert plan().part(Wildcards(fromdict={"source": "toy"})) == [0, 1]


def test_one_shard_writes_the_tables_themselves():
    tables = plan().parse_outputs(Shards.WIT)
    assert tables["associations"] == "data/parse/{source}/associations.parquet"
    assert tables == plan(parse=3).parse_tables(Shards.WIT)
    assert not is_flagged(plan().piece("parse", "whole", "piece"), "temp")


def test_several_shards_write_pieces_that_go_once_they_are_gathered():
    pieces = plan(parse=3).parse_outputs(Shards.DUMP)
    assert pieces["counts"] == ".isotope/parse/{source}/{part}/sections.counts.json"
    assert all(is_flagged(piece, "temp") for piece in pieces.values())
    gathered = plan(parse=3).parse_piece_files(Shards.DUMP)
    assert gathered["links"][2] == ".isotope/parse/{source}/00002-of-00003/links.parquet"
    assert gathered.keys() == pieces.keys()


def test_sources_are_chosen_by_where_their_associations_come_from():
    assert plan().association_sources("wit") == "coco"
    assert plan().association_sources("dump", "both") == "toy|mixed"


def test_shards_of_wit_are_read_beside_the_snapshots_own_associations_only():
    pieces = plan(parse=2).wit_pieces("associations.parquet")
    assert pieces(Wildcards(fromdict={"source": "toy"})) == []
    assert pieces(Wildcards(fromdict={"source": "mixed"})) == [
        f".isotope/parse/mixed/0000{n}-of-00002/associations.parquet" for n in range(2)
    ]


def test_only_snapshots_are_collected_in_shards():
    assert plan(collect=4).sharded_collections(shards=True) == "toy"
    assert plan(collect=4).sharded_collections(shards=False) == "coco"
    assert plan().sharded_collections(shards=True) == Shards.NEVER


def test_halves_of_a_collection_read_what_they_need_and_exchange_pieces():
    toy = Wildcards(fromdict={"collection": "toy", "part": "00000-of-00002"})
    assert list(plan(collect=2).half_inputs("images")(toy)) == ["associations", "urls", "ledger"]
    left = {*Shards.TEXT_PIECES, *Shards.IMAGE_PIECES}
    assert {*Shards.EXCHANGED, *Shards.GATHERED} == left
    files = plan(collect=2).collect_piece_files(["qrels"])["qrels"]
    assert files[1] == ".isotope/collect/{collection}/00001-of-00002/qrels.parquet"
    assert set(plan().collect_outputs()) == {"texts", "images", "qrels", "filters", "rejected"}


@pytest.fixture
def editions():
    """An embedded encyclopedia and its later edition, a large one, and a real one."""
    pages = {"toy": 400, "toy-later": 400, "large": 10_001}
    params = {
        "build": ["toy"],
        "acquire": {
            **{name: {"generate": {"pages": n}} for name, n in pages.items()},
            "enwiki": {"wikipedia": {}},
        },
        "collect": {
            name: {"kind": "wikipedia", "source": name, "language": "en"}
            for name in [*pages, "enwiki"]
        },
    }
    return Shards(params, ROOT, {})


@pytest.mark.parametrize(
    ("wildcards", "threads"),
    [
        ({"source": "toy"}, 1),
        ({"collection": "toy", "system": "bm25"}, 1),
        ({"collection": "large"}, 8),
        ({"collection": "enwiki"}, 8),
        ({"collection": "no-such"}, 8),
        ({}, 8),
    ],
)
def test_jobs_of_a_small_encyclopedia_take_one_core_and_run_side_by_side(
    editions, wildcards, threads
):
    assert editions.threads(8)(Wildcards(fromdict=wildcards)) == threads


@pytest.mark.parametrize(
    ("wildcards", "priority"),
    [({"source": "toy"}, 1), ({"collection": "toy"}, 1), ({"source": "toy-later"}, 0), ({}, 1)],
)
def test_what_is_built_comes_before_what_is_only_compared_with_it(editions, wildcards, priority):
    assert editions.priority(Wildcards(fromdict=wildcards)) == priority
