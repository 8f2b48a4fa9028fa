"""A key of the params plans its readers: each leaf edited, each two of a kind swapped.

What a leaf plans is recorded, as somebody has read it; the record itself keeps to the road.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

import pytest
from tests import readers
from tests.readers import Leaf, Rules

from isotope.core import plugins

# The top-level keys that name a phase, in the order of the road; plug-ins hang beside it.
ROAD = (
    *("acquire", "parse", "crawl", "project", "collect", "models", "encode", "systems", "search"),
    *("score", "tabulate", "release"),
)
PHASE_OF = {"models": "train", "systems": "index"}
# What earlier phases know of later keys: the language that a source is collected in, the pools that
# are searched, and what is known of pages, or of the snapshot after, when pictures are suggested.
EARLIER = ("collect.", "search.splits.", "tabulate.facts.", "tabulate.diff.")
# Keys that change no job that is there: what stands for them, when files are compared, where they
# are sent, and what a study is about, which people have not begun.
NO_READER = (
    *("name", "root", "demo", "digests.", "remote"),
    *(f"explain.failures.toy.study.{what}" for what in ("classes", "alt", "support", "conf")),
    # Written out what they are by default: the only system of its kind, and what `auto` comes to.
    *("suggest.bm25", "suggest.dense", "tabulate.popularity"),
)
MOST_SHARDS = 1_000
RECORDED = readers.recorded()


@pytest.fixture(scope="module")
def rules(tmp_path_factory) -> Iterator[Rules]:
    with readers.loaded(tmp_path_factory.mktemp("readers")) as loaded:
        yield loaded


@pytest.fixture(scope="module")
def leaves(rules) -> list[Leaf]:
    return readers.leaves(rules.params)


def test_every_leaf_plans_something_but_what_is_known_to_plan_nothing():
    assert {key for key, jobs in RECORDED.items() if not jobs} == {
        key for key in RECORDED if key.startswith(NO_READER)
    }


def test_no_leaf_plans_every_job():
    jobs = {job for planned in RECORDED.values() for job in planned}
    assert len(jobs) > 40
    assert max(map(len, RECORDED.values())) < len(jobs) / 2


def test_a_leaf_plans_no_phase_before_that_of_its_key():
    wrong = {}
    for key, jobs in RECORDED.items():
        top = key.partition(".")[0]
        if top in ROAD and not key.startswith(EARLIER):
            before = {PHASE_OF.get(name, name) for name in ROAD[: ROAD.index(top)]}
            early = [job for job in jobs if plugins.phase_of(job.split()[0]) in before]
            wrong |= {key: early} if early else {}
    assert wrong == {}


def test_the_record_has_every_leaf_of_the_default_params(leaves):
    assert [str(leaf) for leaf in leaves] == [*RECORDED] or {*map(str, leaves)} == {*RECORDED}


def test_the_first_leaf_of_each_section_plans_its_readers(rules, leaves):
    first = {leaf.path[0]: leaf for leaf in reversed(leaves)}
    assert len(first) > 15
    assert {str(leaf): rules.planned({leaf.path: leaf.other}) for leaf in first.values()} == {
        str(leaf): RECORDED[str(leaf)] for leaf in first.values()
    }


def test_two_swapped_keys_of_bm25_plan_what_reads_them(rules, leaves):
    k1, b = (leaf for leaf in leaves if str(leaf) in ("systems.bm25.k1", "systems.bm25.b"))
    assert rules.planned({k1.path: b.value, b.path: k1.value}) == RECORDED[str(k1)]


@pytest.mark.long
def test_every_leaf_plans_its_readers_and_nothing_else(rules, leaves):
    planned = {str(leaf): rules.planned({leaf.path: leaf.other}) for leaf in leaves}
    assert planned == RECORDED


def alike(leaves: list[Leaf]) -> Iterator[tuple[Leaf, Leaf]]:
    """Yield every two leaves of one section and type whose values differ.

    Of entries of one class, as crawls are, the first alone. A crawl of a hundred million shards, as
    many as a picture may have pixels, is no plan.
    """
    groups = defaultdict[object, list[Leaf]](list)
    for leaf in leaves:
        if leaf.path[1:2] != ("toy-later",):
            groups[leaf.path[:-1], leaf.type].append(leaf)
    for group in groups.values():
        for one, other in combinations(group, 2):
            of_shards = "shards" in (one.path[-1], other.path[-1])
            is_plan = not of_shards or max(one.value, other.value) <= MOST_SHARDS
            if one.value != other.value and is_plan:
                yield one, other


@pytest.mark.long
def test_two_like_leaves_that_are_swapped_plan_the_readers_of_both(rules, leaves):
    wrong, pairs = {}, list(alike(leaves))
    assert len(pairs) > 300
    for one, other in pairs:
        planned = {*rules.planned({one.path: other.value, other.path: one.value})}
        of_both = {*RECORDED[str(one)], *RECORDED[str(other)]}
        # Items of a list in another order may be the same to a reader; some reader sees it.
        in_list = isinstance(one.path[-1], int)
        is_some = planned <= of_both and bool(planned) == bool(of_both)
        is_right = is_some if in_list else planned == of_both
        wrong |= {} if is_right else {f"{one}, {other}": (planned ^ of_both)}
    assert wrong == {}
