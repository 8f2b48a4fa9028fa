"""Shards read slices that follow each other, and gathered they are the whole, byte for byte."""

import bz2
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import entries

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.grid import RunKey, query_ids
from isotope.core.store import gather, part_of
from isotope.parse import dump, wit
from isotope.parse.dump import gather_dump
from isotope.schemas.acquire import WIT_COLUMNS
from isotope.schemas.collect import QRELS
from isotope.schemas.parse import ASSOCIATIONS
from isotope.search import systems
from isotope.search.systems import gather_runs

HEAD = (
    '<mediawiki xml:lang="en"><siteinfo><base>https://en.wikipedia.org/wiki/Main</base></siteinfo>'
)
NAMES = ("sections", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
COUNTS = [1, 3, 16]


def page(number: int) -> str:
    text = "#REDIRECT [[Page 1]]" if number % 5 == 0 else f"Words {number}.\n== A ==\nMore [[B]]."
    revision = f"<revision><id>{number}</id><text>{text}</text></revision>"
    return f"<page><title>Page {number}</title><ns>0</ns><id>{number}</id>{revision}</page>"


def multistream(first: int, pages: int) -> bytes:
    groups = ["".join(map(page, range(n, n + 3))) for n in range(first, first + pages, 3)]
    return b"".join(bz2.compress(part.encode()) for part in [HEAD, *groups, "</mediawiki>"])


@given(st.lists(st.integers()), st.integers(1, 20))
def test_the_parts_are_the_whole_and_differ_by_one_at_most(items, n):
    parts = [part_of(items, (i, n)) for i in range(n)]
    assert [item for part in parts for item in part] == items
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("part", [(3, 3), (-1, 2), (0, 0)])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(BadParams, match="count shards from 0"):
        part_of([1], part)


def in_shards(folder: Path, work: Callable[[Path, tuple[int, int]], None], n: int) -> list[Path]:
    places = [folder / f"{i}-of-{n}" for i in range(n)]
    for i, place in enumerate(places):
        place.mkdir()
        work(place, (i, n))
    return places


def test_a_dump_in_shards_is_the_same_bytes_ordinals_of_rejects_included(tmp_path, monkeypatch):
    """Two multistream files and one that can only be read from its start."""
    monkeypatch.setattr("isotope.parse.xml_dump.SPAN_BYTES", 1)
    files = [tmp_path / name for name in ("1.xml.bz2", "2.xml", "3.xml.bz2")]
    files[0].write_bytes(multistream(1, 30))
    files[1].write_text(HEAD + "".join(map(page, range(31, 41))) + "</mediawiki>")
    files[2].write_bytes(multistream(41, 12))

    def work(place: Path, part: tuple[int, int]) -> None:
        out: dict[str, Any] = {name: place / name for name in NAMES if name != "sections"}
        dump.parse_dump(files, out=place / "sections", **out, workers=1, part=part)

    digests = []
    for n in COUNTS:
        places = in_shards(tmp_path, work, n)
        out = {name: tmp_path / f"{name}-{n}" for name in NAMES}
        gather_dump({name: [place / name for place in places] for name in NAMES}, out)
        digests.append([path.read_bytes() for path in out.values()])
    assert digests[0] == digests[1] == digests[2]
    rejected = pl.read_parquet(tmp_path / "rejected-16")
    # The rows of pages are their ordinals in their files, which begin with pages 1, 31 and 41.
    first = {"1.xml.bz2": 0, "2.xml": 30, "3.xml.bz2": 40}
    titles = [f"Page {first[f] + r}" for f, r in rejected.select("file", "row").rows()]
    assert titles == rejected["detail"].to_list() == [f"Page {n}" for n in range(5, 53, 5)]


def test_wit_in_shards_is_the_same_bytes(tmp_path):
    row = dict.fromkeys(WIT_COLUMNS, "") | {"language": "en", "page_url": "http://a"}
    files = [tmp_path / f"wit.train.{n}.tsv" for n in range(5)]
    for n, file in enumerate(files):
        rows = [row | {"image_url": f"http://b/{n}-{i}"} for i in range(n * 7)]
        lines = ["\t".join(WIT_COLUMNS), *("\t".join(r.values()) for r in rows)]
        file.write_text("\n".join(lines) + "\n")

    def work(place: Path, part: tuple[int, int]) -> None:
        wit.parse_wit(files, out=place / "good", rejected=place / "bad", part=part)

    found = []
    for n in COUNTS:
        places = in_shards(tmp_path, work, n)
        out = tmp_path / f"good-{n}"
        assert gather([place / "good" for place in places], out, ASSOCIATIONS) == 70
        found.append(out.read_bytes())
    assert found[0] == found[1] == found[2]


def run_path(folder: Path, n: int | None, system: str) -> list[Path]:
    parts = [""] if n is None else [f"{i:05d}-of-{n:05d}" for i in range(n)]
    return [
        folder / part / f"base/test/{t}/{system}.parquet" for part in parts for t in ("t2m", "m2t")
    ]


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> dict[str, Path]:
    """Nine judged texts with an image each."""
    folder = tmp_path_factory.mktemp("collection")
    paths = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    for side, key in (("texts", "text_id"), ("images", "image_id")):
        ids = [f"{side[0]}{n}" for n in range(9)]
        pl.DataFrame({key: ids, "split": ["test"] * 9}).write_parquet(paths[side])
    pairs = [
        {"text_id": f"t{n}", "image_id": f"i{n}", "relevance": 1, "split": "test"} for n in range(9)
    ]
    store.write_rows(pairs, paths["qrels"], QRELS)
    return paths


def test_a_cell_of_a_part_asks_with_its_queries_only(collection):
    place = Path("x/00001-of-00003/base/test/t2m/bm25.parquet")
    assert RunKey.from_path(place) == RunKey("base", "test", "t2m", part=(1, 3))
    assert query_ids(collection["qrels"], RunKey.from_path(place)) == ["t3", "t4", "t5"]
    apart = Path("x/00001-of-00003/unjudged/base/test/t2m/bm25.parquet")
    assert RunKey.from_path(apart) == RunKey("base", "test", "t2m", judged=False, part=(1, 3))
    assert RunKey.from_path(Path("x/base/test/t2m/bm25.parquet")) == RunKey("base", "test", "t2m")


def test_runs_and_fusions_in_shards_are_the_same_bytes(collection, tmp_path):
    make = np.random.default_rng(0)
    encoded: dict[str, list[Path]] = {}
    for side in ("texts", "images"):
        np.save(tmp_path / f"{side}.npy", make.normal(size=(9, 5)).astype(np.float32))
        ids = tmp_path / f"{side}.ids.parquet"
        pl.DataFrame({"id": [f"{side[0]}{n}" for n in range(9)]}).write_parquet(ids)
        encoded |= {side: [tmp_path / f"{side}.npy"], f"{side}_ids": [ids]}
        (tmp_path / "base/clip/all").mkdir(parents=True, exist_ok=True)
        np.save(tmp_path / f"base/clip/all/{side}.npy", np.arange(9))
    index = [tmp_path / "base/clip"]
    found = []
    for n in COUNTS:
        shards, whole = tmp_path / f"shards-{n}", tmp_path / f"whole-{n}"
        made = {s: (run_path(shards, n, s), run_path(whole, None, s)) for s in "abf"}
        shuffle = entries.system_of("random", seed=1)
        systems.search_random(**collection, runs=made["a"][0], depth=6, spec=shuffle)
        files: dict[str, Any] = {"qrels": collection["qrels"], "encoded": encoded, "indexes": index}
        systems.search_dense(**files, runs=made["b"][0], depth=6, memory_mb=16, device="cpu")
        for system in "ab":
            gather_runs(pieces=made[system][0], runs=made[system][1])
        spec = entries.system_of("rrf", of=["a", "b"], k=60)
        parts = [*made["a"][1], *made["b"][1]]
        systems.search_fused(parts=parts, runs=made["f"][1], spec=spec, depth=7)
        found.append([path.read_bytes() for _, out in made.values() for path in out])
    assert found[0] == found[1] == found[2]
