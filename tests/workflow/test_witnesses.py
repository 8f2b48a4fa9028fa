"""Every record that is "as the paper" was broken on purpose, and a test that it names noticed."""

import subprocess
import time
from pathlib import Path

import pytest
from tests import witnesses

RECORD = """
- {item: Table 1, paper: doubles, status: as the paper, code: [workflow/lib/double.py], tests: [%s]}
- {item: Table 2, paper: halves, status: differs, why: it does not, tests: []}
"""
BREAK = """
- item: Table 1
  breaks: Numbers are multiplied by three.
  edits: [{file: workflow/lib/double.py, from: 2 *, to: %s}]
"""
TESTS = """
import time

import pytest
from double import double


@pytest.mark.parametrize("n", [0, 1])
def test_a_number_is_doubled(n):
    assert double(n) == n + n


class TestNothing:
    def test_nothing_is_doubled(self):
        assert double(0) == 0


@pytest.fixture
def two():
    assert double(1) == 2
    return 2


def test_two_is_set_up(two):
    pass


def test_what_fails_anyway():
    assert double(1) == 5


@pytest.mark.skip
def test_what_is_skipped():
    assert double(1) == 2


@pytest.mark.parametrize("n", [1])
def test_what_takes_long(n):
    time.sleep(60)
"""
FILE = "tests/test_double.py"


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A project of one function, one record and six tests, which need no plugin of pytest."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    root = tmp_path / "small"
    for name, text in {
        "docs/fidelity/one.yaml": RECORD % f"{FILE}::test_a_number_is_doubled",
        "tests/broken/one.yaml": BREAK % "3 *",
        FILE: TESTS,
        "workflow/lib/double.py": "def double(n):\n    return 2 * n\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def row(root: Path) -> dict[str, str]:
    return witnesses.rows("one", root)["Table 1"]


@pytest.mark.parametrize("name", witnesses.names())
def test_each_record_that_is_as_the_paper_has_a_break_that_one_of_its_tests_noticed(name):
    listed, found = witnesses.breaks(name), witnesses.rows(name)
    rotten = [r for broken in listed for r in witnesses.rotten(broken)]
    assert not rotten, "\n".join(["the breaks have rotted", *rotten])
    stale = [b.item for b in listed if not witnesses.settled(b, found.get(b.item))]
    assert not stale, f"run `python tests/witnesses.py --record {name}`; not noticed yet: {stale}"
    assert list(found) == [broken.item for broken in listed]


def test_a_test_that_fails_on_the_break_alone_has_noticed_and_the_project_stays(small):
    names = ["test_a_number_is_doubled", "test_two_is_set_up"]
    saw, other = (
        [f"{FILE}::{name}" for name in names],
        f"{FILE}::TestNothing::test_nothing_is_doubled",
    )
    (small / "docs/fidelity/one.yaml").write_text(RECORD % ", ".join([*saw, other]))
    witnesses.main([], small)
    assert (row(small)["noticed"], row(small)["unnoticed"]) == (" ".join(saw), other)
    assert "2 * n" in (small / "workflow/lib/double.py").read_text()


@pytest.mark.parametrize("name", ["test_what_fails_anyway", "test_what_is_skipped"])
def test_a_test_that_fails_or_skips_without_the_break_has_not_noticed(small, name, capsys):
    (small / "docs/fidelity/one.yaml").write_text(RECORD % f"{FILE}::{name}")
    with pytest.raises(SystemExit, match="1"):
        witnesses.main([], small)
    assert "by no test that the record names:\none: Table 1" in capsys.readouterr().err
    assert not row(small)["noticed"]


@pytest.mark.parametrize("code", ["3 * * ", "triple *"])
def test_code_that_cannot_run_shows_nothing(small, code):
    (small / "tests/broken/one.yaml").write_text(BREAK % code)
    with pytest.raises(SystemExit, match="1"):
        witnesses.main([], small)
    assert not row(small)["noticed"]


def test_what_was_noticed_is_run_again_only_if_it_changed_or_on_demand(small, capsys):
    def told(*arguments: str) -> str:
        witnesses.main(arguments, small)
        return capsys.readouterr().out

    assert told().startswith("Table 1: noticed by 1 of 1")
    assert told() == told("--again", "--item", "Table 2") == ""
    assert "Table 1" in told("--again", "--record", "one", "--item", "Table")
    before = row(small)["digest"]
    replaced(small / "tests/broken/one.yaml", "3 *", "4 *")
    assert "Table 1" in told()
    assert row(small)["digest"] != before


def test_a_test_without_an_end_is_ended_with_what_it_started(small):
    began = time.monotonic()
    assert witnesses.outcomes(small, [f"{FILE}::test_what_takes_long"], limit_s=3) == {}
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("item: Table 1", "item: Table 2", "Table 2: no record that is as the paper"),
        ("item: Table 1", "item: Table 2", "Table 1: no break"),
        ("breaks:", "broken:", "Table 1: give item, breaks and edits"),
        ("from: 2 *, to: 3 *", "from: 2 *", "Table 1: give file, from and to of each edit"),
        ("to: 3 *", "to: 2 *", "with another text in `to`"),
        ("from: 2 *", "from: 2.0 *", "the breaks have rotted"),
        ("from: 2 *", "from: n", "has 3 times, instead of once"),
        ("lib/double.py", "lib/half.py", "lib/half.py has 0 times"),
    ],
)
def test_breaks_that_do_not_fit_are_named_before_anything_runs(small, old, new, told, capsys):
    replaced(small / "tests/broken/one.yaml", old, new)
    with pytest.raises(SystemExit, match="1"):
        witnesses.main([], small)
    assert told in capsys.readouterr().err
    assert witnesses.rows("one", small) == {}


def test_a_record_without_a_file_of_breaks_has_none(small):
    (small / "tests/broken/one.yaml").unlink()
    with pytest.raises(ValueError, match="Table 1: no break"):
        witnesses.breaks("one", small)


def test_two_breaks_of_one_record_are_refused(small):
    path = small / "tests/broken/one.yaml"
    path.write_text(path.read_text() * 2)
    with pytest.raises(ValueError, match="Table 1: two breaks"):
        witnesses.breaks("one", small)


def test_rows_of_records_that_are_gone_are_dropped_and_the_others_keep_their_order(small):
    one, gone = (dict.fromkeys(witnesses.COLUMNS, "1") | {"item": f"Table {n}"} for n in (1, 9))
    witnesses.write("one", {"Table 9": gone, "Table 1": one}, small)
    assert witnesses.rows("one", small) == {"Table 1": one}
