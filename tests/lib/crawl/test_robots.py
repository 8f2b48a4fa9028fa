"""What X-Robots-Tag forbids: by the examples of Google's specification and by img2dataset."""

import ast
import importlib.util
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from isotope.crawl.robots import forbids

NOW = datetime(2026, 11, 26, tzinfo=UTC)
OURS = "isotope"
REFUSED = [
    ["noai"],
    ["NoImageAI"],
    ["noindex"],
    ["noimageindex"],
    ["none"],
    ["nofollow, noindex"],
    ["noarchive,nosnippet,noai"],
    ["max-snippet:0, noindex"],
    ["all, noindex"],
    ["*: noindex"],
    ["isotope: noindex"],
    ["isotope: nofollow, noai"],
    ["Isotope : none"],
    ["googlebot: nofollow, isotope: noindex"],
    ["googlebot: noindex", "noimageai"],
    ["nofollow", "isotope: noindex"],
    ["noindex, googlebot: nofollow"],
    ["unavailable_after: 25 Jun 2010 15:00:00 PST"],
    ["unavailable_after: Friday, 25-Jun-10 15:00:00 PST"],
    ["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noarchive"],
    ["unavailable_after: 25-Aug-2007 15:00:00 EST"],
    ["unavailable_after: 2026-11-25"],
    ["unavailable_after: 2026-11-26T01:00:00+02:00"],
    ["noarchive, unavailable_after: 2010-06-25T15:00:00Z"],
    ["isotope: unavailable_after: 2010-06-25"],
]
ALLOWED = [
    [],
    [""],
    ["all"],
    ["nofollow, noarchive, nosnippet, notranslate"],
    ["max-snippet:0, max-image-preview:none, max-video-preview:-1"],
    ["googlebot: noindex"],
    ["googlebot: noindex, nofollow"],
    ["BadBot: noindex, nofollow, googlebot: noimageindex"],
    ["isotopes: noindex"],
    ["unavailable_after: 2026-11-27"],
    ["unavailable_after: Thursday, 31-Dec-50 15:00:00 PST"],
    ["unavailable_after: soon"],
    ["googlebot: unavailable_after: 2010-06-25"],
    ["googlebot: max-snippet:0, noindex"],
    [":,,:noindex:"],
    ["unavailable_after: " + "9" * 400],
]


@pytest.mark.parametrize("agent", [OURS, "isotope/2.1 (me@example.org)"])
@pytest.mark.parametrize("tags", REFUSED)
def test_a_rule_for_all_or_for_us_is_respected_wherever_it_stands(tags, agent):
    assert forbids(tags, agent, NOW) is not None


@pytest.mark.parametrize("tags", ALLOWED)
def test_what_is_said_to_others_or_of_other_things_forbids_nothing(tags):
    assert forbids(tags, OURS, NOW) is None


def test_the_rule_that_forbids_is_named():
    assert forbids(["nofollow, NoAI"], OURS, NOW) == "noai"
    assert forbids(["unavailable_after: 2010-06-25"], OURS, NOW) == "unavailable_after: 2010-06-25"


def is_disallowed() -> Any:
    """Return img2dataset's own function, without what its module imports."""
    package = importlib.util.find_spec("img2dataset")
    assert package is not None
    assert package.submodule_search_locations
    source = Path(package.submodule_search_locations[0], "downloader.py").read_text()
    [function] = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "is_disallowed"
    ]
    space: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), "downloader.py", "exec"), space)
    return space["is_disallowed"]


def test_whatever_img2dataset_refuses_by_default_is_refused():
    theirs, refused = is_disallowed(), 0
    for tags in REFUSED + ALLOWED:
        headers = Message()
        for tag in tags:
            headers.add_header("X-Robots-Tag", tag)
        if theirs(headers, OURS, ["noai", "noimageai", "noindex", "noimageindex"]):
            refused += 1
            assert forbids(tags, OURS, NOW) is not None
    assert refused > 5
