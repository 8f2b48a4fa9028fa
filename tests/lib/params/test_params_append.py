"""A new snapshot is one line of params.yaml; nothing else of the file moves."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from isotope.cli.commands import main
from isotope.core.errors import BadParams, MissingFile
from isotope.params.files import append_snapshot


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1 # x\nsnapshots: []  # none\nb: 2\n", 'a: 1 # x\nsnapshots: ["c"]  # none\nb: 2\n'),
        ("snapshots: [a, 20230101]\n", 'snapshots: [a, 20230101, "c"]\n'),
        ("snapshots: [\n  a,\n  b  # last\n]\n", 'snapshots: [\n  a,\n  b, "c"  # last\n]\n'),
        ("snapshots:\n- a\n- b\nz: 1\n", 'snapshots:\n- a\n- b\n- "c"\nz: 1\n'),
        ("snapshots:\n  - 'a'  # old\n\n# z\n", "snapshots:\n  - 'a'  # old\n  - \"c\"\n\n# z\n"),
        ("snapshots:\n  - a", 'snapshots:\n  - a\n  - "c"'),
        ("snapshots: [a]\r\nb: {x: [1]}\r\n", 'snapshots: [a, "c"]\r\nb: {x: [1]}\r\n'),
    ],
)
def test_one_item_more_and_every_other_byte_as_it_was(before, after, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_bytes(before.encode())
    assert append_snapshot(file, "c")
    assert file.read_bytes().decode() == after
    assert not append_snapshot(file, "c")
    assert file.read_bytes().decode() == after


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]*", fullmatch=True)


@given(st.lists(NAMES, unique=True, min_size=1), st.booleans(), st.integers(0, 4))
def test_any_list_reads_back_with_one_more(tmp_path_factory, names, flow, indent):
    *old, new = names
    file = tmp_path_factory.mktemp("params") / "params.yaml"
    if flow or not old:
        listed = f" {json.dumps(old)}"
    else:
        listed = "".join(f"\n{' ' * indent}- {json.dumps(name)}" for name in old)
    file.write_text(f"a: [1]\nsnapshots:{listed}\nb: 2\n")
    append_snapshot(file, new)
    assert yaml.safe_load(file.read_text()) == {"a": [1], "snapshots": names, "b": 2}


@pytest.mark.parametrize(
    "text", ["build: [a]\n", "snapshots: {a: 1}\n", "snapshots:\n", "", "- a\n"]
)
def test_a_file_without_the_list_is_left_alone(text, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text(text)
    with pytest.raises(BadParams, match="no list `snapshots`"):
        append_snapshot(file, "c")
    assert file.read_text() == text
    with pytest.raises(MissingFile):
        append_snapshot(tmp_path / "none.yaml", "c")


def test_the_command_says_whether_it_was_new(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("snapshots: [a]\n")
    assert main(["snapshot", "20230201"]) == 0
    assert main(["snapshot", "20230201"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "20230201 is now a snapshot of params.yaml",
        "20230201 is already a snapshot of params.yaml",
    ]
