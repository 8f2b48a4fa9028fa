"""No saved grade is lost, doubled or torn by a kill, a full disk or a second server."""

import errno
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core.errors import BadParams, CorruptFile, DiskFull
from isotope_judge import ledger as module
from isotope_judge.ledger import (
    PAIRS,
    GradedPair,
    Ledger,
    Line,
    current_lines,
    grades_file,
    serialize,
)

WAIT_S = 60
A, B = (GradedPair("t2m", "t1", d) for d in "ab")


@pytest.fixture
def ledger(tmp_path) -> Ledger[GradedPair, int]:
    return Ledger(tmp_path / "ann.jsonl", "ann", PAIRS)


def reopened(ledger: Ledger[GradedPair, int]) -> Ledger[GradedPair, int]:
    return Ledger(ledger.path, "ann", PAIRS)


def line_of(pair: GradedPair, grade: int) -> bytes:
    return serialize(Line(pair, grade, "ann"), PAIRS) + b"\n"


def test_a_grade_is_a_line_on_the_disk_before_the_answer_comes(tmp_path, monkeypatch):
    synced: list[int] = []

    def sync(descriptor: int) -> None:
        about = os.fstat(descriptor)
        if stat.S_ISREG(about.st_mode):
            synced.append(about.st_size)

    monkeypatch.setattr(module.os, "fsync", sync)
    ledger = Ledger(tmp_path / "toy/ann.jsonl", "ann", PAIRS)
    assert not ledger.path.exists()
    assert not ledger.database.exists()
    assert ledger.give(A, 2, expected=None) == 2
    (line,) = ledger.path.read_bytes().splitlines(keepends=True)
    assert synced[-1] == len(line)
    assert json.loads(line).items() >= {**A._asdict(), "grade": 2, "assessor": "ann"}.items()


def test_a_later_grade_supersedes_and_null_takes_back(ledger):
    for pair, grade, expected in ((A, 2, None), (B, 1, None), (A, 0, 2), (B, None, 1)):
        assert ledger.give(pair, grade, expected=expected) == grade
    assert len(ledger.path.read_bytes().splitlines()) == 4
    assert ledger.grades == reopened(ledger).grades == {A: 0}
    assert [w for w, _ in current_lines(ledger.path, PAIRS)] == [f"{ledger.path}:3"]


STEPS = st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 9), st.booleans())


@settings(deadline=None, max_examples=30)
@given(st.lists(STEPS, max_size=8))
def test_two_ledgers_on_one_file_hold_what_was_given_last(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("ledger") / "ann.jsonl"
    pages, expected = [Ledger(path, "ann", PAIRS), Ledger(path, "ann", PAIRS)], {}
    for doc, grade, page in steps:
        pair = GradedPair("t2m", "t1", doc)
        pages[page].refresh()
        pages[page].give(pair, grade, expected=pages[page].grades.get(pair))
        expected[pair] = grade
    last = {pair: grade for pair, grade in expected.items() if grade is not None}
    for page in pages:
        page.refresh()
        assert page.grades == last


def test_a_page_that_has_not_seen_a_grade_does_not_overwrite_it(tmp_path):
    first, second = (Ledger(tmp_path / "ann.jsonl", "ann", PAIRS) for _ in range(2))
    assert first.give(A, 2, expected=None) == 2
    assert second.give(A, 0, expected=None) == 2
    assert second.give(A, 0, expected=2) == 0
    # The same grade sent again, as after a lost answer, is no second line.
    assert second.give(A, 0, expected=2) == 0
    assert len((tmp_path / "ann.jsonl").read_bytes().splitlines()) == 2


MANY = """
import sys
from pathlib import Path
from isotope_judge.ledger import PAIRS, Ledger, GradedPair
ledger = Ledger(Path(sys.argv[1]), "ann", PAIRS)
for n in range(50):
    ledger.give(GradedPair("t2m", sys.argv[2], str(n)), n % 3, expected=None)
"""


def test_two_processes_lose_nothing_of_each_other(ledger):
    command = [sys.executable, "-c", MANY, str(ledger.path)]
    both = [subprocess.Popen([*command, query]) for query in ("t1", "t2")]
    assert [process.wait(WAIT_S) for process in both] == [0, 0]
    assert len(reopened(ledger).grades) == 100
    assert len(ledger.path.read_bytes().splitlines()) == 100


# The process kills itself where a grade is half written, written, committed, and in its place.
KILLED = """
import os, signal, sys
from pathlib import Path
from isotope_judge import ledger as module
kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write, replace, sync = module._write, Path.replace, module._sync
def half(path, lines):
    path.write_bytes(b"".join(lines)[:-20])
    kill()
def whole(path, lines):
    write(path, lines)
    kill()
def committed(*_):
    kill()
def placed(*_):
    kill()
name, point = {"half": (module, "_write"), "whole": (module, "_write"),
    "committed": (Path, "replace"), "placed": (module, "_sync")}[sys.argv[2]]
ledger = module.Ledger(Path(sys.argv[1]), "ann", module.PAIRS)
setattr(name, point, globals()[sys.argv[2]])
ledger.give(module.GradedPair("t2m", "t1", "b"), 1, expected=None)
"""


@pytest.mark.parametrize(
    ("point", "is_saved"),
    [("half", False), ("whole", False), ("committed", True), ("placed", True)],
)
def test_a_kill_leaves_a_grade_whole_or_not_at_all(ledger, point, is_saved):
    ledger.give(A, 2, expected=None)
    before = ledger.path.read_bytes()
    command = [sys.executable, "-c", KILLED, str(ledger.path), point]
    killed = subprocess.run(command, timeout=WAIT_S, check=False)
    assert killed.returncode == -signal.SIGKILL
    again = reopened(ledger)
    assert again.grades == ({A: 2, B: 1} if is_saved else {A: 2})
    assert ledger.path.read_bytes().startswith(before)
    assert {line.item: line.grade for _, line in current_lines(ledger.path, PAIRS)} == again.grades
    assert again.give(B, 1, expected=again.grades.get(B)) == 1
    assert len(ledger.path.read_bytes().splitlines()) == 2
    assert {p.name for p in ledger.path.parent.iterdir()} == {"ann.jsonl", "ann.sqlite"}


def test_a_file_without_a_database_is_imported_and_its_lines_stay_as_they_are(tmp_path):
    """As `isotope judge` wrote it before it had a database, and as git brings it."""
    path = tmp_path / "ann.jsonl"
    old = (
        b'{"task": "t2m", "query_id": "t1", "doc_id": "a", "grade": 2, "assessor": "ann", '
        b'"at": "2024-05-01T10:00:00+00:00"}\n'
    )
    path.write_bytes(old)
    ledger = Ledger(path, "ann", PAIRS)
    assert (ledger.grades, path.read_bytes()) == ({A: 2}, old)
    ledger.give(B, 0, expected=None)
    assert path.read_bytes().startswith(old)
    assert len(path.read_bytes().splitlines()) == 2


def test_a_file_that_was_changed_from_outside_replaces_the_database(ledger):
    ledger.give(A, 2, expected=None)
    ledger.path.write_bytes(line_of(B, 1))
    assert ledger.give(A, 0, expected=2) is None
    assert ledger.grades == reopened(ledger).grades == {B: 1}
    ledger.path.write_bytes(ledger.path.read_bytes() + line_of(A, 0))
    assert reopened(ledger).grades == {A: 0, B: 1}
    ledger.path.unlink()
    assert reopened(ledger).grades == {}


def test_a_database_that_is_gone_or_broken_is_made_anew(ledger):
    ledger.give(A, 2, expected=None)
    ledger.database.unlink()
    assert reopened(ledger).grades == {A: 2}
    ledger.database.write_bytes(b"no database, but as long as the header of one is " * 9)
    with pytest.raises(CorruptFile, match=r"ann\.sqlite: not a database.*made anew from .*jsonl"):
        reopened(ledger)


@pytest.mark.parametrize("left", [1, 20, -2])
def test_a_line_torn_by_a_kill_is_put_aside_and_named(ledger, caplog, left):
    """As an earlier version or a copy that was cut off can leave it."""
    ledger.give(A, 2, expected=None)
    content = ledger.path.read_bytes()
    torn = line_of(B, 1)[:left]
    ledger.path.write_bytes(content + torn)
    assert [line.item for _, line in current_lines(ledger.path, PAIRS)] == [A]
    assert "torn" in caplog.text
    caplog.clear()
    again = reopened(ledger)
    assert (again.grades, ledger.path.read_bytes()) == ({A: 2}, content)
    aside = ledger.path.with_suffix(".torn")
    assert aside.read_bytes() == torn + b"\n"
    assert str(aside) in caplog.text
    assert again.give(B, 1, expected=None) == 1
    assert reopened(ledger).grades == {A: 2, B: 1}


def test_a_line_that_lacks_only_its_newline_is_a_grade(ledger):
    ledger.give(A, 2, expected=None)
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content[:-1])
    assert [line.grade for _, line in current_lines(ledger.path, PAIRS)] == [2]
    assert reopened(ledger).grades == {A: 2}
    assert ledger.path.read_bytes() == content


def test_a_full_disk_leaves_the_file_as_it_was(ledger, monkeypatch):
    ledger.give(A, 2, expected=None)
    before = ledger.path.read_bytes()

    def cut(path: Path, lines: list[bytes]) -> None:
        path.write_bytes(b"".join(lines)[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module, "_write", cut)
        with pytest.raises(DiskFull):
            ledger.give(B, 1, expected=None)
    assert (ledger.path.read_bytes(), ledger.grades) == (before, {A: 2})
    connect = sqlite3.connect

    def small(*arguments: object, **options: object) -> sqlite3.Connection:
        con = connect(*arguments, **options)  # type: ignore[arg-type]
        con.execute("PRAGMA max_page_count = 1")
        return con

    with monkeypatch.context() as patched:
        patched.setattr(module.sqlite3, "connect", small)
        with pytest.raises(DiskFull, match=r"ann\.sqlite"):
            ledger.give(GradedPair("t2m", "t1", "x" * 20_000), 1, expected=None)
    assert ledger.path.read_bytes() == before
    assert ledger.give(B, 1, expected=None) == 1
    assert reopened(ledger).grades == {A: 2, B: 1}


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[1]",
        b"\xff",
        b'{"task": "t2m", "query_id": "q", "doc_id": 1, "grade": 1, "assessor": "ann"}',
        b'{"task": "t2m", "query_id": "q", "doc_id": "d", "grade": 10, "assessor": "ann"}',
        b'{"task": "t2m", "query_id": "q", "doc_id": "d", "grade": true, "assessor": "ann"}',
        b'{"task": "t2m", "query_id": "q", "doc_id": "d", "grade": 1, "assessor": ""}',
    ],
)
def test_a_line_within_the_file_that_is_no_grade_is_named(ledger, line):
    ledger.give(A, 2, expected=None)
    ledger.path.write_bytes(ledger.path.read_bytes() + line + b"\n")
    readers = (lambda: list(current_lines(ledger.path, PAIRS)), lambda: reopened(ledger))
    for read in readers:
        with pytest.raises(CorruptFile) as caught:
            read()
        assert caught.value.where == f"{ledger.path}:2"


def test_a_grade_by_somebody_else_is_no_line_of_ones_file(ledger):
    ledger.give(A, 2, expected=None)
    with pytest.raises(CorruptFile, match="'ann' among those of 'bob'"):
        Ledger(ledger.path, "bob", PAIRS)


@pytest.mark.parametrize("name", ["", "../ann", "a/b", ".ann", "a.csv", "an n", "x" * 65, "é"])
def test_a_name_that_could_leave_the_folder_is_refused(tmp_path, name):
    with pytest.raises(BadParams, match="--assessor"):
        grades_file(tmp_path, name)


def test_the_database_of_a_project_is_kept_out_of_what_people_commit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Ledger(Path("judgements/toy/ann.jsonl"), "ann", PAIRS).give(A, 2, expected=None)
    assert [p.name for p in Path("judgements/toy").iterdir()] == ["ann.jsonl"]
    with closing(sqlite3.connect(".isotope/judgements/toy/ann.sqlite")) as con:
        ((line,),) = con.execute("SELECT line FROM lines")
    assert line + b"\n" == Path("judgements/toy/ann.jsonl").read_bytes()
