"""A damaged index and a full disk are named errors, and nothing half-written is left."""

import json
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import entries
from tests.disks import small_disk

from isotope.bm25.postings import merge
from isotope.core import store
from isotope.core.errors import CorruptFile, DiskFull, MissingFile
from isotope.core.runs import read_run
from isotope.core.schemas import FIVE_FIELDS
from isotope.index.bm25 import index_bm25
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.search.bm25 import search_bm25

COUNT = 600


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> dict[str, Path]:
    """Texts and images that share a number, each with words of its own."""
    folder = tmp_path_factory.mktemp("tables")
    words = [" ".join(f"w{n * k % 3001}" for k in range(40)) for n in range(COUNT)]
    none = [""]
    rows = {
        "texts": [
            dict.fromkeys(FIVE_FIELDS, "")
            | {"text_id": f"t{n:03}", "page_title": f"number {n} {said}"}
            | {"split": "test", "language": "en", "category": []}
            for n, said in enumerate(words)
        ],
        "images": [
            {"image_id": f"i{n:03}", "image_url": f"{n}", "split": "test", "language": ["en"]}
            | {"caption_reference_description": [f"number {n}"]}
            | {"caption_alt_text_description": none, "caption_attribution_description": none}
            for n in range(COUNT)
        ],
        "qrels": [
            {"text_id": f"t{n:03}", "image_id": f"i{n:03}", "relevance": 1, "split": "test"}
            for n in range(5)
        ],
    }
    schemas = {"texts": TEXTS, "images": IMAGES, "qrels": QRELS}
    for name, own in rows.items():
        store.write_rows(own, folder / f"{name}.parquet", schemas[name])
    return {name: folder / f"{name}.parquet" for name in rows}


def index(tables: dict[str, Path], place: Path, **how: Any) -> None:
    """Index both sides at a place."""
    own: dict[str, Any] = {side: tables[side] for side in ("texts", "images")}
    language = how.pop("language", "en")
    index_bm25(**own, folders=[place], splits=["test"], threads=1, language=language, **how)


def search(tables: dict[str, Path], place: Path, runs: list[Path]) -> None:
    """Answer for the runs from the index at a place."""
    spec = entries.system_of("bm25")
    limits: dict[str, Any] = {"language": "en", "depth": 5, "threads": 1}
    search_bm25(**tables, indexes=[place], runs=runs, spec=spec, **limits)


@pytest.fixture(scope="module")
def indexed(tables, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("index") / "small/bm25"
    index(tables, place)
    return place


def runs(folder: Path) -> list[Path]:
    return [folder / "runs/small/test" / task / "bm25.parquet" for task in ("t2m", "m2t")]


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def change(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


@pytest.mark.parametrize("damage", [short, change, Path.unlink])
@pytest.mark.parametrize("name", ["postings", "terms.arrow"])
def test_a_search_of_a_damaged_index_names_the_file_and_writes_no_run(
    name, damage: Callable[[Path], None], tables, indexed, tmp_path
):
    place = tmp_path / "index/small/bm25"
    shutil.copytree(indexed, place)
    damage(place / "test/images" / name)
    with pytest.raises((CorruptFile, MissingFile), match=rf"images/{name}: .*build the index"):
        search(tables, place, runs(tmp_path)[:1])
    assert not files(tmp_path / "runs")


def test_a_search_of_an_index_of_another_analyzer_or_version_is_refused(tables, indexed, tmp_path):
    german = tmp_path / "german/small/bm25"
    index(tables, german, language="de")
    with pytest.raises(CorruptFile, match="analyzer 'de'; expected 2, 'default'; build the index"):
        search(tables, german, runs(tmp_path))
    newer = tmp_path / "newer/small/bm25"
    shutil.copytree(indexed, newer)
    described = newer / "test/images/index.json"
    described.write_text(json.dumps(json.loads(described.read_text()) | {"version": 9}))
    with pytest.raises(CorruptFile, match=r"images/index.json: version 9.*build the index"):
        search(tables, newer, runs(tmp_path)[:1])
    assert not files(tmp_path / "runs")


def test_an_index_of_lucene_is_refused_with_what_to_do(tables, tmp_path):
    place = tmp_path / "small/bm25"
    index(tables, place, engine="lucene")
    with pytest.raises(MissingFile, match=r"index.json: not there; build the index again"):
        search(tables, place, runs(tmp_path))
    assert not files(tmp_path / "runs")


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(params=["Linux", "macOS"])
def system(request, monkeypatch):
    """How a file takes room."""
    if request.param == "macOS":
        monkeypatch.delattr("os.posix_fallocate", raising=False)


# The words that wait for Java, postings, and a few bytes at the end.
@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("size", [60_000, 30_000, 9_000])
def test_a_full_disk_while_indexing_is_named_and_leaves_nothing(size, tables, indexed, tmp_path):
    place = tmp_path / "small/bm25"
    with no_file_above(size), pytest.raises(DiskFull, match="free space or raise the limit"):
        index(tables, place)
    assert not files(tmp_path)
    index(tables, place)
    assert list(files(place).values()) == list(files(indexed).values())


# Texts take 100 KB, and their counts 200 KB besides.
@pytest.mark.parametrize("kib", [100, 250])
def test_a_full_disk_that_java_meets_is_named_too(kib, tables, tmp_path):
    with small_disk(tmp_path / "disk", kib):
        with pytest.raises(DiskFull):
            index(tables, tmp_path / "disk/small/bm25")
        assert not files(tmp_path / "disk")


def test_a_full_disk_while_merging_leaves_nothing(indexed, tmp_path):
    part = indexed / "test/images"
    with no_file_above(3_000), pytest.raises(DiskFull):
        merge([part], tmp_path / "merged", analyzer="default")
    assert not files(tmp_path)


def test_a_full_disk_while_searching_is_named_and_leaves_no_run(tables, indexed, tmp_path):
    with no_file_above(500), pytest.raises(DiskFull):
        search(tables, indexed, runs(tmp_path))
    assert not files(tmp_path)
    search(tables, indexed, runs(tmp_path))
    first = read_run(runs(tmp_path)[0]).filter(pl.col("rank") == 1)
    assert first["doc_id"].to_list() == [f"i{n:03}" for n in range(5)]
