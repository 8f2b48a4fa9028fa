"""WIT's texts find their sections: by BM25 alone, or by their titles first."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from isotope.core import sql, store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingFile
from isotope.core.store import gather
from isotope.params.project import Project
from isotope.project import match
from isotope.schemas import parse as parse_tables
from isotope.schemas.acquire import WIT_COLUMNS
from isotope.schemas.parse import ASSOCIATIONS
from isotope.schemas.project import MEMBERS, PROJECTION
from isotope.search.kinds.bm25 import Bm25

# AToMiC, section 4.2: BM25 with (k1, b) = (0.9, 0.4).
SPEC = {"k1": 0.9, "b": 0.4}
ENGINES = (match.NATIVE, match.LUCENE)
LIMITS: dict[str, Any] = {"threads": 1, "memory_mb": 512}


def section(page: int, number: int, title: str, hierarchy: str, words: str) -> dict:
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "page_title": f"Page {page}",
        "section": number,
        "section_title": title,
        "hierarchy": hierarchy,
        "context_page_description": f"lead of page {page}" if number else "",
        "context_section_description": words,
        "language": "en",
        "category": [],
    }


SECTIONS = [
    section(1, 0, "Introduction", "Introduction", "lead of page 1"),
    section(1, 1, "Plates", "North / Plates", "three red balls"),
    section(1, 2, "Plates", "South / Plates", "one blue star"),
    section(2, 0, "Introduction", "Introduction", "lead of page 2"),
    section(2, 1, "Renamed since", "Renamed since", "a green boat under a yellow moon"),
]
TEXTS = [
    ("Page 1", "", "Page 1", "lead of page 1"),
    ("Page 1", "Plates", "Page 1 / South / Plates", "three red balls"),
    ("Page 2", "Old name", "Page 2 / Old name", "a green boat under a yellow moon"),
    ("Zzyzx", "Qqq", "Zzyzx / Qqq", "xyzzy"),
]


def test_what_params_leave_out_is_the_papers_bm25(root):
    for section in (Bm25, Project):
        assert {key: section.defaults()[key] for key in SPEC} == SPEC
    full = yaml.safe_load((root / "params/enwiki.yaml").read_text())
    assert full["project"]["enwiki-20221101"] == {"mode": "bm25", **SPEC}
    assert Project.defaults()["engine"] == match.NATIVE


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("source")
    rows = []
    for n, (page, title, hierarchy, words) in enumerate([*TEXTS, TEXTS[0]]):
        blank = dict.fromkeys(WIT_COLUMNS, "")
        blank |= {"original_height": 1, "original_width": 1, "is_main_image": True}
        blank |= {"attribution_passes_lang_id": True, "page_changed_recently": True}
        blank |= {"language": "en", "page_title": page, "section_title": title}
        blank |= {"hierarchical_section_title": hierarchy, "context_section_description": words}
        rows.append(blank | {"image_url": f"u{n}", "split": "train", "file": "f", "row": n})
    paths = {n: folder / f"{n}.parquet" for n in ("associations", "sections", "members")}
    store.write_rows(rows, paths["associations"], ASSOCIATIONS)
    store.write_rows(SECTIONS, paths["sections"], parse_tables.SECTIONS)
    wit = {"associations": paths["associations"]}
    members = sql.SQL / "project/members.sql"
    sql.query(members, wit, {"language": "en"}, out=paths["members"], schema=MEMBERS)
    for engine in ENGINES:
        match.index_sections(paths["sections"], folder / engine, engine=engine, **LIMITS)
    return paths


def projected(source, folder: Path, mode: str, engine: str) -> list[tuple]:
    """Return (text_id, method, has a score) for each of TEXTS."""
    index = source["sections"].parent / engine
    wit = {k: source[k] for k in ("associations", "members")}
    match.write_queries(**wit, queries=folder / "queries.parquet")
    pieces = [folder / f"{n}.parquet" for n in range(3)]
    for n, piece in enumerate(pieces):
        match.project(
            folder / "queries.parquet",
            source["sections"],
            index,
            Project.of_plain({"mode": mode, "engine": engine}),
            piece,
            threads=1,
            part=(n, 3),
        )
    gather(pieces, folder / "p.parquet", PROJECTION)
    projection = pl.read_parquet(folder / "p.parquet")
    names = pl.read_parquet(source["members"]).sort("row").head(4)
    joined = names.join(projection, on="source_text_id", maintain_order="left")
    return [(t, m, s is not None) for t, m, s in joined.select("text_id", "method", "score").rows()]


def test_rows_with_the_same_text_share_one_source_text(source):
    members = pl.read_parquet(source["members"]).sort("row")["source_text_id"]
    assert members[0] == members[4]
    assert members.n_unique() == 4


def test_only_rows_of_wit_in_the_collections_language_are_members(source, tmp_path):
    english = pl.read_parquet(source["associations"])
    french = english.with_columns(language=pl.lit("fr"), row=pl.col("row") + 100)
    rows = pl.concat([english, french]).to_arrow()
    store.write(rows.cast(ASSOCIATIONS), tmp_path / "both.parquet", ASSOCIATIONS)
    members = tmp_path / "members.parquet"
    match.name_members(associations=tmp_path / "both.parquet", members=members, language="fr")
    assert pl.read_parquet(members)["row"].to_list() == french["row"].to_list()


@pytest.mark.parametrize("engine", ENGINES)
def test_mode_bm25_asks_the_index_for_every_text(source, tmp_path, engine):
    assert projected(source, tmp_path, "bm25", engine) == [
        ("projected-00000001-000", "bm25", True),
        ("projected-00000001-001", "bm25", True),
        ("projected-00000002-001", "bm25", True),
        (None, "none", False),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_mode_exact_then_bm25_trusts_titles_and_asks_for_the_rest(source, tmp_path, engine):
    assert projected(source, tmp_path, "exact-then-bm25", engine) == [
        ("projected-00000001-000", "exact", False),
        ("projected-00000001-002", "exact", False),
        ("projected-00000002-001", "bm25", True),
        (None, "none", False),
    ]


def test_a_source_without_texts_in_the_language_is_an_error(source, tmp_path):
    empty = tmp_path / "members.parquet"
    store.write_rows([], empty, MEMBERS)
    wit = {"associations": source["associations"], "members": empty}
    with pytest.raises(EmptyTable, match="no text in this language"):
        match.write_queries(**wit, queries=tmp_path / "queries.parquet")


def pieces_of(sections: Path, folder: Path, count: int, engine: str) -> list[Path]:
    """The indexes of all parts of the sections, which lie in no order."""
    shuffled, pieces = folder / "shuffled", [folder / f"{n}/index" for n in range(count)]
    pl.read_parquet(sections).reverse().write_parquet(shuffled)
    for n, piece in enumerate(pieces):
        match.index_sections(shuffled, piece, engine=engine, part=(n, count), **LIMITS)
    return pieces


@pytest.mark.parametrize("engine", ENGINES)
def test_sections_indexed_in_shards_answer_as_those_indexed_at_once(source, tmp_path, engine):
    """Five sections in seven shards: some have none."""
    pieces = pieces_of(source["sections"], tmp_path, 7, engine)
    assert [any(piece.iterdir()) for piece in pieces] == [0, 1, 1, 0, 1, 1, 1]
    match.gather_index(pieces, tmp_path / "merged", engine=engine)
    texts = [(words, words) for *_, words in TEXTS]
    once, merged = (
        match.best_sections(texts, index, Project(mode="bm25", engine=engine), **LIMITS)
        for index in (source["sections"].parent / engine, tmp_path / "merged")
    )
    assert once.height == len(TEXTS) - 1
    assert once.equals(merged)


def test_parts_of_many_sections_are_cut_by_some_of_their_ids(tmp_path, monkeypatch):
    monkeypatch.setattr(match, "_IDS_SORTED", 50)
    ids = [f"projected-{page:08d}-000" for page in (*range(500, 1000), *range(500))]
    pl.DataFrame({"text_id": ids}).write_parquet(tmp_path / "sections")
    ranges = [match.id_range(tmp_path / "sections", (n, 3)) for n in range(3)]
    assert [end for _, end in ranges] == [first for first, _ in ranges[1:]] + [None]
    sizes = [sum(first <= i and (end is None or i < end) for i in ids) for first, end in ranges]
    assert sum(sizes) == len(ids)
    assert max(sizes) - min(sizes) < len(ids) / 10
    with pytest.raises(BadParams, match="shard 3 of 3"):
        match.id_range(tmp_path / "sections", (3, 3))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dump_without_sections_is_an_error_in_shards_too(tmp_path, engine):
    store.write_rows([], tmp_path / "sections", parse_tables.SECTIONS)
    spec: dict[str, Any] = {"engine": engine, **LIMITS}
    with pytest.raises(EmptyTable, match="no documents to index"):
        match.index_sections(tmp_path / "sections", tmp_path / "index", **spec)
    match.index_sections(tmp_path / "sections", tmp_path / "piece", **spec, part=(0, 2))
    with pytest.raises(EmptyTable, match="no documents to index"):
        match.gather_index([tmp_path / "piece"], tmp_path / "index", engine=engine)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["piece", "sections"]


def test_sections_of_one_id_are_refused_and_nothing_is_left(tmp_path):
    store.write_rows([SECTIONS[0], SECTIONS[0]], tmp_path / "sections", parse_tables.SECTIONS)
    with pytest.raises(CorruptFile, match="'projected-00000001-000' does not follow"):
        match.index_sections(tmp_path / "sections", tmp_path / "index", **LIMITS)
    assert [path.name for path in tmp_path.iterdir()] == ["sections"]


KILLED = """
import os, signal, sys
from pathlib import Path
from isotope.project import match

def end(pairs, index, **_):
    (index / "half").mkdir(parents=True)
    os.kill(os.getpid(), signal.SIGKILL)

match.postings.write_index = end
match.index_sections(Path(sys.argv[1]), Path(sys.argv[2]), threads=1)
"""


def test_a_killed_job_leaves_nothing_under_the_name_of_the_index_and_the_next_one_goes_on(
    source, tmp_path
):
    index = tmp_path / "index"
    done = subprocess.run([sys.executable, "-c", KILLED, source["sections"], index], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == [".index.scratch"]
    match.index_sections(source["sections"], index, **LIMITS)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert (index / "index.json").is_file()


def test_an_index_of_another_language_or_engine_is_refused(source):
    spec, index = Project(mode="bm25"), source["sections"].parent
    with pytest.raises(CorruptFile, match=r"analyzer 'default'; expected .* 'de'"):
        match.best_sections([("a", "b")], index / match.NATIVE, spec, language="de", **LIMITS)
    with pytest.raises(MissingFile, match="build the index again"):
        match.best_sections([("a", "b")], index / match.LUCENE, spec, **LIMITS)
