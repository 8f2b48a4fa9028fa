"""Closures kept between runs are those that would be found."""

import json
from pathlib import Path

import pytest

from isotope.core import provenance
from isotope.plan import closures
from isotope.plan.closures import Closures, library_digest

ROOT = "search.bm25:search_bm25"


@pytest.fixture
def place(tmp_path) -> Path:
    """A file of an earlier run."""
    file = tmp_path / "kept/closures.json"
    Closures(file).of(ROOT)
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
    assert Closures(place).of(ROOT) == provenance.closure(ROOT)
    assert searches == [(ROOT,)]  # this line's own


def test_what_was_not_asked_before_is_found_and_kept_beside_the_rest(place, searches):
    Closures(place).of("score.score:score_collection")
    again = Closures(place)
    again.of(ROOT)
    again.of("score.score:score_collection")
    assert searches == [("score.score:score_collection",)]


def test_a_library_that_differs_in_one_byte_has_them_found_anew(place, searches, monkeypatch):
    monkeypatch.setattr(closures, "library_digest", lambda _: "0" * 32)
    Closures(place).of(ROOT)
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
    assert Closures(place).of(ROOT) == Closures(place).of(ROOT)
    assert searches == [(ROOT,)]


def test_a_closure_that_was_changed_in_its_file_is_found_anew(place, searches):
    content = json.loads(place.read_text())
    content["closures"][ROOT].pop()
    place.write_text(json.dumps(content))
    assert Closures(place).of(ROOT) == provenance.closure(ROOT)
    assert searches[0] == (ROOT,)


def test_a_place_that_cannot_be_written_costs_time_only(tmp_path):
    (tmp_path / "file").write_text("")
    assert Closures(tmp_path / "file/closures.json").of(ROOT) == provenance.closure(ROOT)


def test_an_unknown_root_is_refused_as_where_nothing_is_kept(place):
    with pytest.raises(KeyError):
        Closures(place).of("search.bm25:no_such_function")
