"""One line in params.yaml adds a snapshot."""

from typing import Any

import pytest
from tests.entries import resolved

from isotope.core.errors import BadParams
from isotope.params.resolve import expand

SPEC = {
    "build": ["wiki-{snapshot}", "other"],
    "acquire": {
        "wiki-{snapshot}": {"files": {"dump": ["http://x/{snapshot}/wiki-{snapshot}.xml.bz2"]}},
        "other": {"files": {"dump": ["http://x/{snapshot}.xml", "y"]}},
    },
}


def test_keys_and_items_stand_once_for_each_snapshot():
    found = expand(SPEC, ["20230101", "20230201"])
    assert found["build"] == ["wiki-20230101", "wiki-20230201", "other"]
    assert list(found["acquire"]) == ["wiki-20230101", "wiki-20230201", "other"]
    (url,) = found["acquire"]["wiki-20230201"]["files"]["dump"]
    assert url == "http://x/20230201/wiki-20230201.xml.bz2"
    assert found["acquire"]["other"]["files"]["dump"] == [
        "http://x/20230101.xml",
        "http://x/20230201.xml",
        "y",
    ]
    assert expand({"build": ["x"]}, []) == {"build": ["x"]}


@pytest.mark.parametrize(
    ("spec", "snapshots", "said"),
    [
        (SPEC, [], r"params build: 'wiki-\{snapshot\}' without snapshots"),
        ({"a": {"b-{snapshot}": 1}}, [], r"params a: .*b-\{snapshot\}.* without snapshots"),
        ({"root": "{snapshot}"}, ["a"], r"params root: '\{snapshot\}' has no snapshot"),
    ],
)
def test_a_snapshot_that_nothing_names_is_refused(spec, snapshots, said):
    with pytest.raises(BadParams, match=said):
        expand(spec, snapshots)


@pytest.mark.parametrize("names", [["a", "a"], [2023, "2023"]])
def test_a_snapshot_that_is_named_twice_is_refused(names):
    with pytest.raises(BadParams, match=r"params snapshots: .*twice"):
        resolved(snapshots=names)


def crawled(**more: Any) -> dict[str, Any]:
    """Three snapshots of a collection, whose sources are downloaded."""
    made = {"kind": "wikipedia", "source": "mini-{snapshot}", "language": "en"}
    sources = {"mini-{snapshot}": {"generate": {"pages": 10}}, "other": {"generate": {"pages": 10}}}
    params = {
        "snapshots": ["a", "b", "c"],
        "build": ["wiki-{snapshot}"],
        "acquire": sources,
        "project": {name: {"mode": "bm25"} for name in sources},
        "collect": {"wiki-{snapshot}": made},
        "crawl": {"mini-{snapshot}": {"shards": 1}, "other": {"shards": 1}},
        "tabulate": {"diff": []},
    }
    return {**params, **more}


def in_two_languages() -> dict[str, Any]:
    """Two snapshots of a union of two editions, which alone is built."""
    entry = {"kind": "wikipedia", "source": "de-{snapshot}", "language": "de"}
    union = {"kind": "union", "of": ["wiki-{snapshot}", "de-{snapshot}"]}
    params = crawled(build=["both-{snapshot}"], snapshots=["a", "b"])
    params["collect"] |= {"de-{snapshot}": entry, "both-{snapshot}": union}
    for phase, source in (("acquire", "other"), ("project", "other"), ("crawl", "other")):
        params[phase]["de-{snapshot}"] = params[phase][source]
    return params


def diff(**more: Any) -> list[list[str]]:
    return resolved(**crawled(tabulate=more)).tabulate.diff


def after(**params: Any) -> dict[str, str]:
    """The sources that go on from another one, beside that of the default params."""
    crawl = resolved(**params).crawl
    return {name: entry.after for name, entry in crawl.items() if entry.after not in (None, "toy")}


def test_each_snapshot_is_compared_with_the_one_before_and_others_as_told():
    pairs = [["wiki-a", "wiki-b"], ["wiki-b", "wiki-c"]]
    assert diff(diff=[]) == pairs
    assert diff(diff=[["wiki-a", "wiki-c"]]) == [["wiki-a", "wiki-c"], *pairs]
    assert diff(diff=[["wiki-b", "wiki-c"]]) == [pairs[1], pairs[0]]


def test_each_snapshots_collection_goes_on_from_the_one_before_unless_told_otherwise():
    later = {"wiki-b": "wiki-a", "wiki-c": "wiki-b"}
    assert resolved(**crawled()).encode.after == later
    assert resolved(**crawled(encode={"after": {}})).encode.after == {}


def test_collections_of_several_languages_are_not_compared_but_encoded_after_each_other():
    params = resolved(**in_two_languages())
    assert getattr(params.collect["both-b"], "of", None) == ["wiki-b", "de-b"]
    assert params.tabulate.diff == []
    assert params.encode.after == {"both-b": "both-a"}


def test_a_crawl_goes_on_from_that_of_the_snapshot_before_unless_it_says_otherwise():
    assert after(**crawled()) == {"mini-b": "mini-a", "mini-c": "mini-b"}
    own: dict[str, dict[str, Any]] = {
        "mini-a": {"shards": 1},
        "mini-b": {"shards": 1, "after": "other"},
        "mini-c": {"shards": 1, "after": None},
        "other": {"shards": 1},
    }
    assert after(**crawled(crawl=own)) == {"mini-b": "other"}
    off = {"mini-{snapshot}": {"shards": 1, "after": None}}
    assert after(**crawled(crawl=off)) == {}


def test_each_language_of_a_union_goes_on_from_its_own_snapshot_before():
    assert after(**in_two_languages()) == {"mini-b": "mini-a", "de-b": "de-a"}


def test_a_crawl_goes_on_from_none_that_is_not_built_or_not_of_its_kind():
    assert after(**crawled(build=["wiki-c"])) == {}
    along = {"mini-{snapshot}": {"shards": 1, "pictures": {"part": "dump"}}}
    files = {name: {"files": {"dump": ["x"]}} for name in ("mini-{snapshot}", "other")}
    assert after(**crawled(crawl=along, acquire=files)) == {}
    widths = {"mini-a": 250, "mini-b": 500, "mini-c": 500}
    wider = {name: {"shards": 1, "width": width} for name, width in widths.items()}
    assert after(**crawled(crawl=wider)) == {"mini-c": "mini-b"}


def test_a_crawl_does_not_go_on_from_itself():
    itself = {"mini-{snapshot}": {"shards": 1, "after": "mini-{snapshot}"}}
    with pytest.raises(BadParams, match=r"crawl\.mini-a\.after: unknown name 'mini-a'"):
        resolved(**crawled(crawl=itself))
