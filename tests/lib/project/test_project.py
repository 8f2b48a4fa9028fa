"""WIT's texts find their sections: by BM25 alone, or by their titles first."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from isotope.core import lucene, sql, store
from isotope.core.errors import EmptyTable
from isotope.core.lucene import merge_indexes
from isotope.core.store import gather
from isotope.params import phases, sections
from isotope.parse import tables as parse_tables
from isotope.parse.tables import ASSOCIATIONS, WIT_COLUMNS
from isotope.project import match
from isotope.project.tables import MEMBERS, PROJECTION

# AToMiC, section 4.2: BM25 with (k1, b) = (0.9, 0.4).
SPEC = {"k1": 0.9, "b": 0.4}


def section(page: int, number: int, title: str, hierarchy: str, words: str) -> dict:
    return {
        "text_id": f"projected-{page:08d}-{number:03d}",
        "page_id": page,
        "page_title": f"Page {page}",
        "section": number,
        "section_title": title,
        "hierarchy": hierarchy,
        "context_page_description": f"lead of page {page}",
        "context_section_description": words,
        "language": "en",
        "category": [],
    }


SECTIONS = [
    section(1, 0, "Introduction", "Page 1", "lead of page 1"),
    section(1, 1, "Plates", "Page 1 / North / Plates", "three red balls"),
    section(1, 2, "Plates", "Page 1 / South / Plates", "one blue star"),
    section(2, 0, "Introduction", "Page 2", "lead of page 2"),
    section(2, 1, "Renamed since", "Page 2 / Renamed since", "a green boat under a yellow moon"),
]
TEXTS = [
    ("Page 1", "", "Page 1", "lead of page 1"),
    ("Page 1", "Plates", "Page 1 / South / Plates", "three red balls"),
    ("Page 2", "Old name", "Page 2 / Old name", "a green boat under a yellow moon"),
    ("Zzyzx", "Qqq", "Zzyzx / Qqq", "xyzzy"),
]


def test_what_params_leave_out_is_the_papers_bm25(root):
    for section in (sections.system_kind({"kind": "bm25"}), phases.Project):
        assert {key: section.defaults()[key] for key in SPEC} == SPEC
    full = yaml.safe_load((root / "params/enwiki.yaml").read_text())
    assert full["project"]["enwiki-20221101"] == {"mode": "bm25", **SPEC}


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
    match.index_sections(paths["sections"], folder / "lucene", threads=1, memory_mb=512)
    return paths


def projected(source, folder: Path, mode: str) -> list[tuple]:
    """Return (text_id, method, has a score) for each of TEXTS."""
    index = source["sections"].parent / "lucene"
    wit = {k: source[k] for k in ("associations", "members")}
    match.write_queries(**wit, queries=folder / "queries.parquet")
    pieces = [folder / f"{n}.parquet" for n in range(3)]
    for n, piece in enumerate(pieces):
        match.project(
            folder / "queries.parquet",
            source["sections"],
            index,
            {**SPEC, "mode": mode},
            piece,
            threads=1,
            part=(n, 3),
        )
    gather(pieces, folder / "p.parquet", PROJECTION)
    found = pl.read_parquet(folder / "p.parquet")
    names = pl.read_parquet(source["members"]).sort("row").head(4)
    joined = names.join(found, on="source_text_id", maintain_order="left")
    return [(t, m, s is not None) for t, m, s in joined.select("text_id", "method", "score").rows()]


def test_rows_with_the_same_text_share_one_source_text(source):
    members = pl.read_parquet(source["members"]).sort("row")["source_text_id"]
    assert members[0] == members[4]
    assert members.n_unique() == 4


def test_mode_bm25_asks_the_index_for_every_text(source, tmp_path):
    assert projected(source, tmp_path, "bm25") == [
        ("projected-00000001-000", "bm25", True),
        ("projected-00000001-001", "bm25", True),
        ("projected-00000002-001", "bm25", True),
        (None, "none", False),
    ]


def test_mode_exact_then_bm25_trusts_titles_and_asks_for_the_rest(source, tmp_path):
    assert projected(source, tmp_path, "exact-then-bm25") == [
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


def test_sections_indexed_in_shards_answer_as_those_indexed_at_once(source, tmp_path):
    """Five sections in seven shards: some have none."""
    pieces = [tmp_path / f"{n}/lucene" for n in range(7)]
    for n, piece in enumerate(pieces):
        match.index_sections(source["sections"], piece, threads=1, memory_mb=512, part=(n, 7))
    assert [len(list(piece.glob("segments_*"))) for piece in pieces] == [0, 1, 1, 0, 1, 1, 1]
    merge_indexes(pieces, tmp_path / "merged", memory_mb=512)
    queries, model = [(words, words) for *_, words in TEXTS], lucene.Bm25(0.9, 0.4, memory_mb=512)
    once, merged = (
        lucene.search(index, queries, model, hits=5, threads=1)
        for index in (source["sections"].parent / "lucene", tmp_path / "merged")
    )
    assert once.height > len(SECTIONS)
    assert once.equals(merged)


def test_a_dump_without_sections_is_an_error_in_shards_too(tmp_path):
    store.write_rows([], tmp_path / "sections", parse_tables.SECTIONS)
    given: dict[str, Any] = {"threads": 1, "memory_mb": 512}
    with pytest.raises(EmptyTable, match="no documents to index"):
        match.index_sections(tmp_path / "sections", tmp_path / "lucene", **given)
    match.index_sections(tmp_path / "sections", tmp_path / "piece", **given, part=(0, 2))
    with pytest.raises(EmptyTable, match="no documents to index"):
        merge_indexes([tmp_path / "piece"], tmp_path / "lucene")
    assert not (tmp_path / "lucene").exists()
