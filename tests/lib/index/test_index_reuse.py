"""An index is copied where its documents and their analysis are the same, else built."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.core import lucene
from isotope.index.bm25 import build_or_copy, documents_digest

WORDS = {"a": "boats sail", "b": "", "c": None}


@pytest.fixture
def built(monkeypatch) -> list[Path]:
    """The indexes that were built, by a stand-in that writes down what it was given."""
    made: list[Path] = []

    def build(pairs, index: Path, **given) -> int:
        index.mkdir(parents=True)
        (index / "documents").write_text(repr([*pairs, given["language"]]))
        made.append(index)
        return len(WORDS)

    monkeypatch.setattr(lucene, "build_index", build)
    return made


def documents(**changed: str) -> pl.DataFrame:
    told = {**WORDS, **changed}
    return pl.DataFrame({"id": list(told), "split": "test", "contents": list(told.values())})


@pytest.mark.parametrize(
    ("changed", "language", "copied"),
    [({}, "en", True), ({}, "de", False), ({"a": "boats"}, "en", False), ({"d": ""}, "en", False)],
)
def test_only_the_same_documents_and_language_are_copied(
    changed, language, copied, built, tmp_path
):
    first, second, cold = (tmp_path / name / "texts" for name in ("first", "second", "cold"))
    assert not build_or_copy(documents(), first, None, language="en", threads=1)
    how: dict[str, Any] = {"language": language, "threads": 1}
    assert build_or_copy(documents(**changed), second, first, **how) == copied
    assert built == [first] if copied else [first, second]
    build_or_copy(documents(**changed), cold, None, **how)
    for name in ("texts/documents", "texts.sha256"):
        one, other = (folder.parent / name for folder in (second, cold))
        assert one.read_bytes() == other.read_bytes()


def test_an_index_whose_documents_are_not_told_is_built_again(built, tmp_path):
    for name in ("first", "second"):
        build_or_copy(documents(), tmp_path / name, None, language="en", threads=1)
    (tmp_path / "first.sha256").unlink()
    assert not build_or_copy(
        documents(), tmp_path / "third", tmp_path / "first", language="en", threads=1
    )
    assert len(built) == 3


def test_where_words_end_is_part_of_the_digest():
    one, other = (
        pl.DataFrame({"id": ids, "contents": words})
        for ids, words in ((["a", "b"], ["x y", "z"]), (["a", "b"], ["x", "y z"]))
    )
    assert documents_digest(one, "en") != documents_digest(other, "en")
