"""A phase of one shard writes its tables; of several, pieces that are gathered."""

import pytest
from snakemake.io import is_flagged
from snakemake.iocontainers import Wildcards
from tests.plans import plan_of

from isotope.plan.call import part_named
from isotope.plan.collections import collected
from isotope.plan.shards import ShardPlan, piece, pieces
from isotope.plan.sources import DUMP, WIT
from isotope.schemas.collect import EXCHANGED, GATHERED, IMAGE_PIECES, READ_BY, TEXT_PIECES


def of(**shards: int) -> ShardPlan:
    return plan_of(shards={"parse": 1, "collect": 1, **shards}).shards


def test_parts_are_counted_from_0_and_say_how_many_there_are():
    assert of(parse=2).parts("parse") == ["00000-of-00002", "00001-of-00002"]
    assert part_named({"part": "00001-of-00002"}) == (1, 2)
    assert part_named({"source": "toy"}) == (0, 1)


def test_one_shard_writes_the_tables_themselves():
    assert of().outputs("parse", WIT) == WIT
    whole = "data/project/{source}/projection.parquet"
    assert of(project=1).outputs("project", whole) == whole


def test_several_shards_write_pieces_that_go_once_they_are_gathered():
    outputs = of(parse=3).outputs("parse", DUMP)
    assert outputs["counts"] == ".isotope/parse/{source}/{part}/sections.counts.json"
    assert all(is_flagged(path, "temp") for path in outputs.values())
    gathered = of(parse=3).gathered("parse", DUMP)
    assert gathered["links"][2] == ".isotope/parse/{source}/00002-of-00003/links.parquet"
    assert gathered.keys() == outputs.keys()


def test_pieces_of_runs_stand_below_the_collection():
    run = "results/search/{collection}/unjudged/base/test/t2m/{system}.parquet"
    assert (
        piece(run) == ".isotope/search/{collection}/{part}/unjudged/base/test/t2m/{system}.parquet"
    )
    assert pieces([run]) == [piece(run)]


def test_every_file_is_in_the_slice_of_one_shard_whatever_their_order():
    files = [f"results/search/toy/base/test/t2m/{name}.parquet" for name in "cabed"]
    slices = [
        of().slice(Wildcards(fromdict={"part": part}), order)
        for part in of(score=2).parts("score")
        for order in (files, files[::-1])
    ]
    assert slices[0] == slices[1]
    assert slices[2] == slices[3]
    assert [*slices[0], *slices[2]] == sorted(files)


SOURCES = {
    "acquire": {name: {"files": {"wit": ["a"]}} for name in ("toy", "coco", "mixed")},
    "parse": {"toy": {"associations": "dump"}, "mixed": {"associations": "both"}},
}


def test_sources_are_chosen_by_where_their_associations_come_from():
    sources = plan_of(**SOURCES).sources
    assert sources.associated("wit") == "coco"
    assert sources.associated("dump", "both") == "toy|mixed"


def test_halves_of_a_collection_read_what_it_has_and_exchange_pieces():
    toy = {"kind": "wikipedia", "source": "toy", "language": "en"}
    params = {"collect": {"toy": toy}, "crawl": {"toy": {"shards": 1}}}
    relations = plan_of(**params).collections["toy"].relations
    assert {*READ_BY["texts"], *READ_BY["images"]} == {*relations} - {"rejected"}
    assert {*EXCHANGED, *GATHERED} == {*TEXT_PIECES, *IMAGE_PIECES}
    files = of(collect=2).gathered("collect", collected("qrels"))["qrels"]
    assert files[1] == ".isotope/collect/{collection}/00001-of-00002/qrels.parquet"


@pytest.fixture
def editions():
    """An embedded encyclopedia and its later edition, a large one, and a real one."""
    pages = {"toy": 400, "toy-later": 400, "large": 10_001}
    params = {
        "build": ["toy"],
        "acquire": {
            **{name: {"generate": {"pages": n}} for name, n in pages.items()},
            "enwiki": {"files": {"dump": ["a"]}},
        },
        "collect": {
            name: {"kind": "wikipedia", "source": name, "language": "en"}
            for name in [*pages, "enwiki"]
        },
    }
    return plan_of(**params).jobs


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
