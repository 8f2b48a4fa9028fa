"""BM25's indexes in shards: the same answers and digests, and nothing indexed twice."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.bm25.format import open_index
from isotope.bm25.search import search
from isotope.bm25.words import analyzer
from isotope.core import lucene, store
from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.store import Part, write_slice
from isotope.index import bm25, engines
from isotope.index.bm25 import index_bm25, index_bm25_gather, index_bm25_shard, index_digests
from isotope.index.engines import SideDocuments
from isotope.schemas.collect import IMAGES, TEXTS

SPLITS = ["validation", "test"]
SETTINGS = ("small", "base", "large")
READS: dict[str, Any] = {
    "language": "de",
    "texts_language": "en",
    "fields": ["page_title", "section_title"],
}
Collection = dict[str, Path]


def collect(folder: Path, count: int = 9, word: str = "Häuser") -> Collection:
    """As many texts and images, in German; most are in a judged split."""
    folder.mkdir()
    splits = [("train", "validation", "test", "test", "other")[n % 5] for n in range(count)]
    texts = [
        dict.fromkeys(FIVE_FIELDS, "")
        | {"text_id": f"t{n:02}", "page_title": f"Stars {n % 4}", "section_title": f"{word} {n}"}
        | {"split": split, "language": "en", "category": []}
        for n, split in enumerate(splits)
    ]
    images = [
        {"image_id": f"i{n:02}", "image_url": f"https://x.org/{n}.png", "split": split}
        | {"language": ["de", "en"], "caption_reference_description": [f"{word} {n % 4}", "no"]}
        | {"caption_alt_text_description": ["", ""]}
        | {"caption_attribution_description": ["", ""]}
        for n, split in enumerate(splits)
    ]
    paths = {side: folder / f"{side}.parquet" for side in ("texts", "images")}
    store.write_rows(texts, paths["texts"], TEXTS)
    store.write_rows(images, paths["images"], IMAGES)
    return paths


def at(place: Path, settings: Sequence[str] = SETTINGS) -> list[Path]:
    return [place / setting / "bm25" for setting in settings]


def in_shards(
    collection: Collection, place: Path, n: int, settings: Sequence[str], earlier=(), **engine: Any
) -> list[Path]:
    """Index in n shards, as the rules do, and return the folders."""
    digests = place / "digests.json"
    grid: dict[str, Any] = {"settings": settings, "splits": SPLITS}
    index_digests(**collection, **READS, digests=digests, **grid, earlier=earlier, **engine)
    pieces = [at(place / f"{i:05d}-of-{n:05d}", settings) for i in range(n)]
    for i, own in enumerate(pieces):
        shard: Part = (i, n)
        places: dict[str, Any] = {"digests": digests, "folders": own, "splits": SPLITS}
        index_bm25_shard(**collection, **READS, **places, threads=1, part=shard, **engine)
    by_setting = [piece for folders in zip(*pieces, strict=True) for piece in folders]
    folders = at(place / "whole", settings)
    languages = {key: READS[key] for key in ("language", "texts_language")}
    places: dict[str, Any] = {"digests": digests, "folders": folders, "splits": SPLITS}
    index_bm25_gather(pieces=by_setting, **places, **languages, earlier=earlier, **engine)
    return folders


def at_once(
    collection: Collection, place: Path, settings: Sequence[str], earlier=(), **engine: Any
) -> list[Path]:
    folders = at(place, settings)
    how: dict[str, Any] = {**READS, "splits": SPLITS, "threads": 1, "earlier": earlier, **engine}
    index_bm25(**collection, folders=folders, **how)
    return folders


def found_by_native(index: Path, queries: list[tuple[str, str]], language: str) -> pl.DataFrame:
    opened = open_index(index, analyzer=analyzer(language))
    return pl.concat(search(opened, queries, k1=0.9, b=0.4, hits=9, threads=1))


def found_by_lucene(index: Path, queries: list[tuple[str, str]], language: str) -> pl.DataFrame:
    model = lucene.Bm25Parameters(0.9, 0.4, language=language)
    return lucene.search(index, queries, model, hits=9, threads=1)


def test_shards_and_engines_answer_as_one_index_in_the_language_of_each_side(tmp_path):
    collection = collect(tmp_path / "collection")
    made = {
        (engine, n): (
            in_shards(collection, tmp_path / f"{engine}-{n}", n, ["base"], engine=engine)
            if n > 1
            else at_once(collection, tmp_path / engine, ["base"], engine=engine)
        )[0]
        for engine in ("native", "lucene")
        for n in (1, 2)
    }
    search_by = {"native": found_by_native, "lucene": found_by_lucene}
    asked = {"texts": ("en", "star"), "images": ("de", "Haus")}
    for side, (language, word) in asked.items():
        queries = [("q", word), ("p", f"{word} 3")]
        found = [
            search_by[engine](folder / "all" / side, queries, language)
            for (engine, _), folder in made.items()
        ]
        assert found[0]["query_id"].value_counts(sort=True).rows() == [("q", 8), ("p", 8)]
        assert all(found[0].equals(other) for other in found)
        own, sharded, other, _ = (digest(folder, side) for folder in made.values())
        assert own == sharded != other


def digest(folder: Path, side: str) -> str:
    return (folder / "all" / f"{side}.sha256").read_text()


class Listing:
    """An engine whose indexes are lists of their documents, and the places that it has built."""

    def __init__(self) -> None:
        self.built: list[Path] = []

    def analysis(self, language: str) -> str:
        return language

    def build(self, sides: Iterable[SideDocuments], *, threads: int) -> None:
        assert threads == 1
        for side in sides:
            words = pl.concat([pl.DataFrame(schema=WORDS), *side.frames])
            for place, splits in side.places.items():
                rows = words.filter(pl.col("split").is_in(splits)).select("id", "contents").rows()
                if rows:
                    place.mkdir(parents=True)
                    (place / "documents").write_text(json.dumps([side.language, rows]))
                    self.built.append(place)

    def merge(self, parts: Sequence[Path], index: Path, language: str) -> None:
        told = [json.loads((p / "documents").read_text()) for p in parts if p.is_dir()]
        assert {own for own, _ in told} == {language}
        index.mkdir(parents=True)
        rows = [row for _, rows in told for row in rows]
        (index / "documents").write_text(json.dumps([language, rows]))


WORDS = {"id": pl.String(), "split": pl.String(), "contents": pl.String()}


@pytest.fixture
def written(monkeypatch) -> list[Path]:
    """The places of the indexes that were built, which are lists of their documents."""
    engine = Listing()
    monkeypatch.setitem(engines.ENGINES, "native", engine)
    monkeypatch.setattr(bm25, "_ROWS", 4)
    return engine.built


def left(folders: Sequence[Path]) -> dict[str, str]:
    """What lies in the folders, by setting, pool and name."""
    return {
        f"{folder.parts[-2]}/{path.relative_to(folder)}": path.read_text() if path.is_file() else ""
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("n", [1, 3, 16])
def test_every_pool_has_the_same_documents_and_digest_by_any_number_of_shards(n, tmp_path, written):
    collection = collect(tmp_path / "collection")
    once = left(at_once(collection, tmp_path / "once", SETTINGS))
    assert len([name for name in once if name.endswith(".sha256")]) == 8
    assert left(in_shards(collection, tmp_path / "sharded", n, SETTINGS)) == once
    assert not list(tmp_path.rglob(".*"))


def test_a_pool_without_documents_has_a_folder_and_no_index(tmp_path, written):
    collection = collect(tmp_path / "collection", count=2)
    once = left(at_once(collection, tmp_path / "once", SETTINGS))
    assert once["small/test"] == ""
    assert "small/test/texts" not in once
    assert left(in_shards(collection, tmp_path / "sharded", 3, SETTINGS)) == once


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (3, 3)])
def test_what_did_not_change_is_copied_and_no_shard_indexes_it(before, after, tmp_path, written):
    """The texts are those of the earlier collection, the images are not."""
    places = [tmp_path / name for name in ("earlier", "later")]
    first, second = (
        collect(tmp_path / f"{n}", word=word) for n, word in enumerate(("Häuser", "Haus"))
    )
    second["texts"] = first["texts"]

    def made(collection: Collection, n: int, place: Path, earlier=()) -> list[Path]:
        if n == 1:
            return at_once(collection, place, SETTINGS, earlier)
        return in_shards(collection, place, n, SETTINGS, earlier)

    earlier = made(first, before, places[0])
    written.clear()
    later = made(second, after, places[1], earlier)
    assert {path.name for path in written} == {"images"}
    assert left(later) == left(at_once(second, tmp_path / "cold", SETTINGS))


def test_a_shard_that_fails_leaves_no_folder(tmp_path, written, monkeypatch):
    collection = collect(tmp_path / "collection")
    digests = tmp_path / "d.json"
    index_digests(**collection, **READS, digests=digests, settings=SETTINGS, splits=SPLITS)

    def fail(*_given, **_named) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engines.ENGINES["native"], "build", fail)
    folders = at(tmp_path / "shard")
    places: dict[str, Any] = {"digests": digests, "folders": folders, "splits": SPLITS}
    with pytest.raises(KeyboardInterrupt):
        index_bm25_shard(**collection, **READS, **places, threads=1, part=(0, 2))
    assert not [path for path in (tmp_path / "shard").rglob("*") if path not in parents(folders)]


def parents(folders: Sequence[Path]) -> set[Path]:
    return {folder.parent for folder in folders}


@given(st.integers(0, 40), st.integers(1, 20))
def test_the_slices_of_a_table_are_its_rows_in_their_order(tmp_path_factory, rows, n):
    folder = tmp_path_factory.mktemp("slices")
    table = pl.DataFrame({"id": range(rows), "words": [["a"] * (k % 3) for k in range(rows)]})
    table = table.cast({"id": pl.Int64, "words": pl.List(pl.String)})
    table.write_parquet(folder / "t", row_group_size=7)
    for i in range(n):
        write_slice(folder / "t", (i, n), folder / f"{i}")
    assert pl.concat([pl.read_parquet(folder / f"{i}") for i in range(n)]).equals(table)
    with pytest.raises(BadParams, match="count shards from 0"):
        write_slice(folder / "t", (n, n), folder / "none")
