"""Closures kept between runs are those that would be found."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from isotope.core import provenance, store, syntax
from isotope.core.resources import PACKAGE
from isotope.plan import closures
from isotope.plan.closures import Closures, library_digest

ROOT = "search.bm25:search_bm25"


@pytest.fixture
def place(tmp_path) -> Path:
    """A file of an earlier run."""
    file = tmp_path / "kept/closures.json"
    first = Closures(file)
    first.files_of(ROOT)
    first.keep()
    return file


@pytest.fixture
def searches(monkeypatch) -> list[tuple[str, ...]]:
    """The closures that were found and not read."""
    asked = list[tuple[str, ...]]()
    found = provenance.closure

    def closure(*roots: str) -> list[str]:
        asked.append(roots)
        return found(*roots)

    monkeypatch.setattr(closures.provenance, "closure", closure)
    return asked


def test_a_later_run_reads_what_an_earlier_one_found(place, searches):
    assert Closures(place).files_of(ROOT) == provenance.closure(ROOT)
    assert searches == [(ROOT,)]  # this line's own


def test_what_was_not_asked_before_is_found_and_kept_beside_the_rest(place, searches):
    later = Closures(place)
    later.files_of("score.score:score_collection")
    later.keep()
    again = Closures(place)
    again.files_of(ROOT)
    again.files_of("score.score:score_collection")
    assert searches == [("score.score:score_collection",)]


@pytest.fixture
def writes(monkeypatch) -> list[Path]:
    """The files that were written."""
    made, aside = list[Path](), store.aside

    def counted(path: Path):
        made.append(path)
        return aside(path)

    monkeypatch.setattr(closures.store, "aside", counted)
    return made


def test_a_plan_writes_all_closures_at_once(tmp_path, writes):
    file = tmp_path / "closures.json"
    first = Closures(file)
    roots = [ROOT, "score.score:score_collection", "index.bm25:index_bm25"]
    for root in roots:
        first.files_of(root)
    assert writes == []
    first.keep()
    first.files_of(ROOT)
    first.keep()
    assert writes == [file]
    assert {*json.loads(file.read_text())["closures"]} == {*roots}


def test_what_is_asked_after_a_plan_has_read_its_rules_is_kept_at_its_exit(tmp_path):
    asked = "from isotope.plan.closures import Closures; found = Closures();"
    asked += (
        f"found.files_of({ROOT!r}); found.keep(); found.files_of('score.score:score_collection');"
    )
    for how in ("", "import os; os.chdir('/')", "raise ValueError"):
        (tmp_path / ".isotope/closures.json").unlink(missing_ok=True)
        subprocess.run([sys.executable, "-c", f"{asked}\n{how}"], cwd=tmp_path, check=False)
        content = json.loads((tmp_path / ".isotope/closures.json").read_text())
        assert len(content["closures"]) == 2, how


def test_a_library_that_differs_in_one_byte_has_them_found_anew(place, searches, monkeypatch):
    monkeypatch.setattr(closures, "library_digest", lambda *_: "0" * 32)
    Closures(place).files_of(ROOT)
    assert searches == [(ROOT,)]


def test_the_digest_of_a_library_is_of_names_and_bytes_and_not_of_times(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    (tmp_path / "__pycache__").mkdir()
    first = library_digest(tmp_path)
    (tmp_path / "__pycache__/a.pyc").write_bytes(b"compiled")
    (tmp_path / "a.py").touch()
    assert library_digest(tmp_path) == first
    (tmp_path / "a.py").write_bytes(b"x = 2\n")
    assert (second := library_digest(tmp_path)) != first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert library_digest(tmp_path) not in (first, second)


@pytest.mark.parametrize("content", [b"", b"[", b"[]", b"{}", b"\xff", b'{"closures": 1}'])
def test_a_file_that_is_no_record_of_closures_is_written_anew(place, searches, content):
    place.write_bytes(content)
    anew = Closures(place)
    assert anew.files_of(ROOT) == provenance.closure(ROOT)
    anew.keep()
    assert Closures(place).files_of(ROOT) == provenance.closure(ROOT)
    assert searches == [(ROOT,)] * 3  # two are these lines' own


def test_a_closure_that_was_changed_in_its_file_is_found_anew(place, searches):
    content = json.loads(place.read_text())
    content["closures"][ROOT].pop()
    place.write_text(json.dumps(content))
    assert Closures(place).files_of(ROOT) == provenance.closure(ROOT)
    assert searches[0] == (ROOT,)


def test_a_place_that_cannot_be_written_costs_time_only(tmp_path):
    (tmp_path / "file").write_text("")
    barred = Closures(tmp_path / "file/closures.json")
    assert barred.files_of(ROOT) == provenance.closure(ROOT)
    barred.keep()


def test_an_unknown_root_is_refused_as_where_nothing_is_kept(place):
    with pytest.raises(KeyError):
        Closures(place).files_of("search.bm25:no_such_function")


def test_a_digest_is_of_the_code_and_not_of_where_it_lies(tmp_path, monkeypatch):
    """Of a copy of the package elsewhere it is the same; an edited query has another."""
    root = "crawl.ledger:list_urls"
    here = Closures(tmp_path / "here.json").digest(root)
    elsewhere = tmp_path / "isotope"
    shutil.copytree(PACKAGE, elsewhere)
    for edit, is_same in ((lambda _: None, True), (lambda p: p.write_text("SELECT 1"), False)):
        edit(elsewhere / "sql/crawl/urls.sql")
        monkeypatch.setattr(syntax, "PACKAGE", elsewhere)
        closures.file_digest.cache_clear()
        assert (Closures(tmp_path / "there.json").digest(root) == here) == is_same
    monkeypatch.undo()
    closures.file_digest.cache_clear()
