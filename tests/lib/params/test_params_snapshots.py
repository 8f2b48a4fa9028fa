"""One line in params.yaml adds a snapshot."""

from typing import Any

import pytest

from isotope.core.errors import BadParams
from isotope.params.resolve import expand

SPEC = {
    "snapshots": [20230101, "20230201"],
    "build": ["wiki-{snapshot}", "other"],
    "acquire": {
        "wiki-{snapshot}": {"files": {"dump": ["http://x/{snapshot}/wiki-{snapshot}.xml.bz2"]}},
        "other": {"files": {"dump": ["http://x/{snapshot}.xml", "y"]}},
    },
}


def test_keys_and_items_stand_once_for_each_snapshot():
    found = expand(SPEC)
    assert found["build"] == ["wiki-20230101", "wiki-20230201", "other"]
    assert list(found["acquire"]) == ["wiki-20230101", "wiki-20230201", "other"]
    (url,) = found["acquire"]["wiki-20230201"]["files"]["dump"]
    assert url == "http://x/20230201/wiki-20230201.xml.bz2"
    assert found["acquire"]["other"]["files"]["dump"] == [
        "http://x/20230101.xml",
        "http://x/20230201.xml",
        "y",
    ]


def test_collections_of_several_languages_are_not_compared_but_encoded_after_each_other():
    union = {"kind": "union", "of": ["wiki-{snapshot}", "other"]}
    three = {**SPEC, "build": ["both-{snapshot}"], "collect": {"both-{snapshot}": union}}
    found = expand(three)
    assert found["collect"]["both-20230201"]["of"] == ["wiki-20230201", "other"]
    assert found["tabulate"]["since"] == []
    assert found["encode"]["after"] == {"both-20230201": "both-20230101"}


def test_each_snapshot_is_compared_with_the_one_before_and_others_as_told():
    three = {**SPEC, "snapshots": ["a", "b", "c"]}
    pairs = [["wiki-a", "wiki-b"], ["wiki-b", "wiki-c"]]
    assert expand(three)["tabulate"]["since"] == pairs
    told = {**three, "tabulate": {"since": [["wiki-a", "wiki-c"]]}}
    assert expand(told)["tabulate"]["since"] == [["wiki-a", "wiki-c"], *pairs]
    told = {**three, "tabulate": {"since": [["wiki-b", "wiki-c"]]}}
    assert expand(told)["tabulate"]["since"] == [pairs[1], pairs[0]]
    assert expand({"build": ["x"]}) == {"build": ["x"]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"snapshots": []}, "without snapshots"),
        ({"snapshots": ["a", "a"]}, "one twice"),
        ({"root": "{snapshot}"}, "params root: '{snapshot}' has no snapshot"),
    ],
)
def test_a_snapshot_that_nothing_names_is_refused(changed, said):
    with pytest.raises(BadParams, match=said):
        expand({**SPEC, **changed})


def crawled(**more: Any) -> dict[str, Any]:
    """Three snapshots of a collection, whose sources are downloaded."""
    made = {"kind": "wikipedia", "source": "mini-{snapshot}", "language": "en"}
    return {
        "snapshots": ["a", "b", "c"],
        "build": ["wiki-{snapshot}"],
        "collect": {"wiki-{snapshot}": made},
        "crawl": {"mini-{snapshot}": {"shards": 1}, "other": {"shards": 1}},
        **more,
    }


def after(params: dict[str, Any]) -> dict[str, Any]:
    """Of expanded params the sources that go on from another one."""
    crawl = expand(params)["crawl"]
    return {name: entry["after"] for name, entry in crawl.items() if entry.get("after")}


def test_a_crawl_goes_on_from_that_of_the_snapshot_before_unless_it_says_otherwise():
    assert after(crawled()) == {"mini-b": "mini-a", "mini-c": "mini-b"}
    own: dict[str, dict[str, Any]] = {
        "mini-a": {},
        "mini-b": {"after": "other"},
        "mini-c": {"after": None},
        "other": {},
    }
    own["mini-a"]["shards"] = 1
    assert after(crawled(crawl=own)) == {"mini-b": "other"}
    off = {"mini-{snapshot}": {"shards": 1, "after": None}}
    assert after(crawled(crawl=off)) == {}


def test_each_language_of_a_union_goes_on_from_its_own_snapshot_before():
    entry = {"kind": "wikipedia", "source": "de-{snapshot}", "language": "de"}
    union = {"kind": "union", "of": ["wiki-{snapshot}", "de-{snapshot}"]}
    params = crawled(build=["both-{snapshot}"], snapshots=["a", "b"])
    params["collect"] |= {"de-{snapshot}": entry, "both-{snapshot}": union}
    params["crawl"] |= {"de-{snapshot}": {"shards": 1}}
    assert after(params) == {"mini-b": "mini-a", "de-b": "de-a"}


def test_a_crawl_goes_on_from_none_that_is_not_built_or_not_of_its_kind():
    assert after(crawled(build=["wiki-c"])) == {}
    along = {"mini-{snapshot}": {"shards": 1, "pictures": {"part": "dump"}}}
    assert after(crawled(crawl=along)) == {}
    wider = {"mini-a": {"width": 250}, "mini-b": {"width": 500}, "mini-c": {"width": 500}}
    assert after(crawled(crawl=wider)) == {"mini-c": "mini-b"}


def test_a_crawl_that_would_go_on_from_itself_is_told_of_the_default():
    itself = {"mini-{snapshot}": {"shards": 1, "after": "mini-{snapshot}"}}
    with pytest.raises(BadParams, match=r"crawl\.mini-a\.after: .*leave it out.*snapshot before"):
        expand(crawled(crawl=itself))
