"""One line in params.yaml adds a snapshot."""

import pytest

from isotope.errors import BadParams
from isotope.params_snapshots import expand

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
