"""What a section says of its keys."""

import re

from isotope.cli import schema
from isotope.cli.reference import rewrite
from isotope.params.sections import Rare, Section

KEYS = re.compile(r"^\| `([^`]+)`", re.MULTILINE)


class Described(Section):
    """A section with a key."""

    below: int = 1
    """A text that goes on
    in a second line."""


def test_the_text_below_a_key_is_its_description_in_one_line():
    told = Described.model_json_schema()["properties"]["below"]
    assert told["description"] == "A text that goes on in a second line."


class Ordered(Section):
    """A section in which keys that few set stand among others."""

    inner: Rare[Described] = Described()
    """Few set what stands in it."""
    last: int = 2
    """Many set it."""


def test_keys_that_few_experiments_set_come_last_in_the_schema():
    rules = Ordered.model_json_schema()["properties"]
    assert [(key, "x-rarely-set" in rule) for key, rule in rules.items()] == [
        ("last", False),
        ("inner", True),
    ]


def test_keys_that_few_experiments_set_have_a_table_of_their_own_with_what_stands_in_them(
    monkeypatch, tmp_path
):
    rule = Ordered.model_json_schema()
    definitions = rule.pop("$defs")
    params = {"properties": {"top": rule}, "required": [], "$defs": definitions}
    monkeypatch.setattr(schema, "schema", lambda: params)
    page = rewrite("<!-- parameters top -->\n<!-- /parameters -->", tmp_path)
    usual, rare = page.split("Few experiments set these:")
    assert KEYS.findall(usual) == ["top", "top.last"]
    assert KEYS.findall(rare) == ["top.inner", "top.inner.below"]
