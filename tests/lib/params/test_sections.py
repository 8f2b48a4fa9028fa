"""What a section says of its keys."""

import json
import re
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from isotope.cli import schema
from isotope.cli.reference import rewrite
from isotope.params.sections import Rare, Section

ROOT = Path(__file__).parents[3]
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


FILE = yaml.safe_load((ROOT / schema.FILE).read_text("utf-8"))


def test_the_file_has_every_class_with_the_keys_of_its_bases():
    whole = schema.schema()["$defs"]
    for name, rule in whole.items():
        keys = FILE["$defs"][name]["properties"]
        assert keys == json.loads(json.dumps(rule["properties"])), name


def test_an_editor_takes_the_keys_of_a_base_and_no_others():
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    validator = Draft202012Validator(FILE)
    assert [*validator.iter_errors(params)] == []
    model = {"kind": "hash", "dim": 64, "fields": ["page_title"]}
    assert [*validator.iter_errors({**params, "models": {"m": model}})] == []
    stranger = {**params, "models": {"m": {**model, "stranger": 1}}}
    assert [*validator.iter_errors(stranger)]
