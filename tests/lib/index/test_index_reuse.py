"""An index is copied where its documents and their analysis are the same, else built."""

from pathlib import Path

import polars as pl
import pytest

from isotope.index.bm25 import documents_digest, is_copied

WORDS = {"a": "boats sail", "b": "", "c": None}


def made(documents: pl.DataFrame, index: Path, earlier: Path | None, language: str = "en") -> bool:
    """Return whether an index was built; it holds what it is made of."""
    copied = is_copied(documents, index, earlier, language)
    if not copied:
        index.mkdir(parents=True)
        rows = documents.select("id", "contents").rows()
        (index / "documents").write_text(repr([*rows, language]))
    return not copied


def documents(**changed: str) -> pl.DataFrame:
    told = {**WORDS, **changed}
    return pl.DataFrame({"id": list(told), "split": "test", "contents": list(told.values())})


@pytest.mark.parametrize(
    ("changed", "language", "copied"),
    [({}, "en", True), ({}, "de", False), ({"a": "boats"}, "en", False), ({"d": ""}, "en", False)],
)
def test_only_the_same_documents_and_language_are_copied(changed, language, copied, tmp_path):
    first, second, cold = (tmp_path / name / "texts" for name in ("first", "second", "cold"))
    assert made(documents(), first, None)
    assert made(documents(**changed), second, first, language) != copied
    assert made(documents(**changed), cold, None, language)
    for name in ("texts/documents", "texts.sha256"):
        one, other = (folder.parent / name for folder in (second, cold))
        assert one.read_bytes() == other.read_bytes()


def test_an_index_whose_documents_are_not_told_is_built_again(tmp_path):
    assert all(made(documents(), tmp_path / name, None) for name in ("first", "second"))
    (tmp_path / "first.sha256").unlink()
    assert made(documents(), tmp_path / "third", tmp_path / "first")


def test_where_words_end_is_part_of_the_digest():
    one, other = (
        pl.DataFrame({"id": ids, "contents": words})
        for ids, words in ((["a", "b"], ["x y", "z"]), (["a", "b"], ["x", "y z"]))
    )
    assert documents_digest(one, "en") != documents_digest(other, "en")
