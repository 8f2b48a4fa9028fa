"""YAML of users: an error has its line, and a bomb does not go off."""

import pytest

from isotope.core.errors import BadParams
from isotope.intake.yaml import yaml_value
from isotope.params import files

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "p.yaml:3:", "not YAML"),
        ("a: 1\n\tb: 2\n", "p.yaml:2:", "not YAML"),
        (LAUGHS, "p.yaml:", "aliases that stand for more than 1,000,000 values"),
        ("a: &a [*a]\n", "p.yaml:1:", "an alias within itself"),
        ("[" * 2_000, "p.yaml", "too many levels"),
        ("a: 1\nb: " + "1" * 5_000 + "\n", "p.yaml:2:4", "no value"),
        ("a: 1\nb: 2001-99-99\n", "p.yaml:2:4", "no value"),
        ("a: !!python/object/apply:os.system [x]\n", "p.yaml:1:4", "not YAML"),
        ("a: *b\n", "p.yaml:1:4", "not YAML"),
        ("a: \x00\n", "p.yaml", "not YAML"),
    ],
)
def test_yaml_that_cannot_be_read_is_named_by_its_line(text, place, found):
    with pytest.raises(BadParams) as error:
        yaml_value(text, "p.yaml")
    assert error.value.where.startswith(place)
    assert found in error.value.problem


def test_aliases_that_are_few_are_what_they_stand_for():
    assert yaml_value("a: &a [1, 2]\nb: [*a, *a]\n", "p") == {"a": [1, 2], "b": [[1, 2]] * 2}
    assert yaml_value("", "p") is None


def test_an_overlay_with_an_error_is_named_with_its_line(tmp_path):
    (tmp_path / "params.yaml").write_text("build: [toy]\nsystems: {a: {kind: bm25}\n")
    with pytest.raises(BadParams, match=r"params.yaml:3:1: not YAML"):
        files.load(root=tmp_path)
