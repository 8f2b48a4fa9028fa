"""An index is copied where its documents, analysis and engine are the same, else built."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.bm25 import format as written
from isotope.core import lucene
from isotope.core.grid import SIDES
from isotope.core.schemas import CAPTION_FIELDS, FIVE_FIELDS
from isotope.index.bm25 import (
    IndexDigest,
    IndexDigests,
    Reads,
    index_bm25,
    read_digest,
    write_digest,
)

WORDS = {"a": "boats sail", "b": "", "c": None}
KEY = "large/all/texts"


def documents(**changed: str) -> pl.DataFrame:
    words = {**WORDS, **changed}
    return pl.DataFrame({"id": list(words), "split": "test", "contents": list(words.values())})


def copied(
    words: pl.DataFrame, earlier: Path, language: str = "en", engine: str = "native"
) -> bool:
    """Whether the index of some texts is a copy of the earlier one."""
    found = IndexDigests(Reads("fr", language), {"large": Path()}, ["test"], engine)
    found.add("texts", words)
    assert list(found.compared({})) == [KEY]
    return found.compared({"large": earlier})[KEY]["copied"]


@pytest.fixture
def earlier(tmp_path) -> Path:
    """The folder of an earlier index of `documents()`."""
    made = IndexDigests(Reads("fr", "en"), {"large": tmp_path}, ["test"], "native")
    made.add("texts", documents())
    made.path_of(KEY).mkdir()
    write_digest(made.path_of(KEY), made.compared({})[KEY]["sha256"])
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "other", "expected"),
    [
        ({}, {}, True),
        ({}, {"language": "de"}, False),
        ({}, {"engine": "lucene"}, False),
        ({"a": "boats"}, {}, False),
        ({"d": ""}, {}, False),
    ],
)
def test_only_the_same_documents_language_and_engine_are_copied(earlier, changed, other, expected):
    assert copied(documents(**changed), earlier, **other) == expected


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [(written, "VERSION", 9), (lucene, "jar", lambda: Path("anserini-9.jar"))],
)
def test_an_index_of_another_version_or_jar_is_built_again(
    earlier, monkeypatch, owner: Any, name, value
):
    assert copied(documents(), earlier)
    monkeypatch.setattr(owner, name, value)
    assert not copied(documents(), earlier)


def test_an_index_of_words_that_were_prepared_otherwise_is_built_again(tmp_path):
    """An older index has words that were not prepared: it is recognised by them."""
    fields = dict.fromkeys(FIVE_FIELDS, "boats (sail)")
    captions = {name: ["boats (sail)"] for name in CAPTION_FIELDS}
    texts, images = tmp_path / "texts.parquet", tmp_path / "images.parquet"
    pl.DataFrame([{"text_id": "t", "split": "test", **fields}]).write_parquet(texts)
    image = {"image_id": "i", "split": "test", "language": ["en"], **captions}
    pl.DataFrame([image]).write_parquet(images)

    def index(name: str, prepare: str, *earlier: str) -> dict[str, str]:
        folders = {each: tmp_path / each / "large/bm25" for each in (name, *earlier)}
        own: dict[str, Any] = {"splits": ["test"], "language": "en", "threads": 1}
        before = [folders[each] for each in earlier]
        tables = {"texts": texts, "images": images}
        index_bm25(**tables, folders=[folders[name]], prepare=prepare, earlier=before, **own)
        return {side: read_digest(folders[name] / "all" / side) for side in SIDES}

    old = index("old", "none")
    new = index("new", "atomic", "old")
    assert all(new[side] != old[side] for side in SIDES)
    assert all("sail" not in terms(tmp_path / f"new/large/bm25/all/{side}") for side in SIDES)
    assert index("same", "atomic", "new") == new


def terms(index: Path) -> list[str]:
    """The terms of an index."""
    return written.open_index(index, analyzer="default").terms["term"].to_list()


def test_an_index_without_its_digest_or_a_digest_without_its_index_is_built_again(earlier):
    (earlier / "all/texts").rmdir()
    assert read_digest(earlier / "all/texts") == ""
    assert not copied(documents(), earlier)
    (earlier / "all/texts").mkdir()
    assert copied(documents(), earlier)
    (earlier / "all/texts.sha256").unlink()
    assert not copied(documents(), earlier)


def test_where_words_end_is_part_of_the_digest():
    one, other = IndexDigest("en"), IndexDigest("en")
    for digest, ids, words in ((one, ["a", "b"], ["x y", "z"]), (other, ["a", "b"], ["x", "y z"])):
        digest.add(pl.DataFrame({"id": ids, "contents": words}))
    assert one.hexdigest() != other.hexdigest()
