"""A key that has become a constant is read for one version more, and no other value of it is."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from isotope.core.errors import BadParams
from isotope.params import removed, resolve
from isotope.params.removed import Constant, Derived
from isotope.params.root import params_class
from isotope.params.sections import Section

CONFIG: dict[str, Any] = yaml.safe_load((Path(__file__).parents[3] / "params.yaml").read_text())


def sections(base: type[Section] = Section) -> Iterator[type[Section]]:
    for below in base.__subclasses__():
        yield below
        yield from sections(below)


# With it the classes of all kinds and plug-ins are there.
params_class()
ROWS = {
    f"{section.__name__}.{key}": (section, key) for section in sections() for key in section.removed
}
EVERY_ROW = pytest.mark.parametrize(("section", "key"), ROWS.values(), ids=ROWS.keys())


def constants(section: type[Section], key: str) -> dict[str, Constant]:
    row = section.removed[key]
    if isinstance(row, Derived):
        return {}
    return {"": row} if isinstance(row, Constant) else {**row}


def said_of(section: type[Section], key: str, value: object) -> ErrorDetails:
    with pytest.raises(ValidationError) as refused:
        section.of_plain({key: value})
    return refused.value.errors()[0]


def values(section: type[Section], key: str) -> Any:
    row = section.removed[key]
    if isinstance(row, Derived):
        return "whatever it was"
    if isinstance(row, Constant):
        return row.value
    return {name: constant.value for name, constant in row.items()}


@EVERY_ROW
def test_a_row_is_of_no_key_that_there_is_and_its_constant_is_there_with_a_reason(section, key):
    assert key not in {field.alias or name for name, field in section.model_fields.items()}
    for constant in constants(section, key).values():
        # What YAML has, and not what only looks like it.
        assert yaml.safe_load(yaml.safe_dump(constant.value)) == constant.value
        assert len(constant.reason.split()) > 2


@EVERY_ROW
def test_a_key_with_the_constants_value_may_go(section, key):
    error = said_of(section, key, values(section, key))
    assert error["type"] == "removed"
    assert removed.that_may_go([error], {}) == [(key,)]


@EVERY_ROW
def test_any_other_value_is_refused_with_the_constant_and_its_reason(section, key):
    for name, constant in constants(section, key).items():
        other = "another"
        told = said_of(section, key, {name: other} if name else other).get("ctx", {})
        assert told["key"] == (f"{key}.{name}" if name else key)
        assert str(constant.value).replace("'", "") in told["remedy"].replace("'", "")
        assert constant.reason in told["remedy"]


def with_values(**values: object) -> dict[str, Any]:
    return {**copy.deepcopy(CONFIG), "tabulate": {**CONFIG["tabulate"], **values}}


def test_params_with_a_removed_key_are_those_without_it_and_a_line_names_it(capsys):
    config = with_values(tail={"styles": 0.01}, monthly_views={"head": 5000.0})
    assert resolve.resolve(config) == resolve.resolve(CONFIG)
    lines = capsys.readouterr().err.splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == [
        "params tabulate.monthly_views",
        "params tabulate.tail",
    ]
    assert config["tabulate"]["tail"] == {"styles": 0.01}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"tail": {"styles": 0.5}}, r"tabulate\.tail\.styles: no such key .*0\.5.*always 0\.01"),
        ({"tail": {"style": 0.5}}, r"tabulate\.tail: no such key .*; leave it out"),
        ({"tail": None}, r"tabulate\.tail: no such key .*; leave it out"),
        ({"tail": {"styles": 0.01}, "alfa": 1}, r"tabulate\.alfa: no such key .*'alpha'"),
    ],
)
def test_what_is_wrong_beside_a_removed_key_or_with_it_is_named(values, found):
    with pytest.raises(BadParams, match=found):
        resolve.resolve(with_values(**values))
