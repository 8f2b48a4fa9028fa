"""On whole snapshots the texts find the same sections by either engine."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.bm25 import nearest
from isotope.bm25.nearest import find_nearest
from isotope.bm25.postings import open_index, write_index
from isotope.bm25.search import search
from isotope.core import lucene
from isotope.params.project import Project
from isotope.parse.dump import parse_dump
from isotope.parse.wit import parse_wit
from isotope.project import match
from isotope_toy import snapshot as toy

LIMITS: dict[str, Any] = {"threads": 2, "memory_mb": 512}
K1, B = 0.9, 0.4


def parsed(snapshot: Path, folder: Path) -> dict[str, Path]:
    """Associations and sections of a snapshot, and its texts as queries."""
    names = ("sections", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    tables = {name: folder / name for name in (*names, "associations", "members", "queries")}
    dump: dict[str, Any] = {name if name != "sections" else "out": tables[name] for name in names}
    parse_dump(sorted(snapshot.glob("dump/*.xml.bz2")), **dump, workers=1)
    wit = sorted(snapshot.glob("wit/*"))
    parse_wit(wit, out=tables["associations"], rejected=folder / "wit-rejected")
    projected = {name: tables[name] for name in ("associations", "members", "queries")}
    match.prepare_queries(**projected, language="en")
    return tables


@pytest.fixture(scope="module", params=["toy", "raycharles"])
def tables(request, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "toy":
        toy.generate(folder / "toy", draw=False)
        return parsed(folder / "toy", folder)
    return parsed(request.getfixturevalue("shared") / "snapshots/raycharles", folder)


def test_both_engines_give_one_projection(tables, tmp_path):
    written = {}
    for engine in (match.NATIVE, match.LUCENE):
        written[engine] = tmp_path / engine / "projection.parquet"
        match.project_source(
            associations=tables["associations"],
            sections=tables["sections"],
            members=tmp_path / engine / "members.parquet",
            projection=written[engine],
            spec=Project(mode="bm25", k1=K1, b=B, engine=engine),
            language="en",
            threads=2,
        )
        left = sorted(path.name for path in (tmp_path / engine).iterdir())
        assert left == ["members.parquet", "projection.parquet"]
    ours, theirs = (pl.read_parquet(path) for path in written.values())
    assert theirs["method"].unique().to_list() == ["bm25"]
    assert ours.equals(theirs)


def test_bm25_finds_every_lead_that_titles_name_and_nearly_every_section(tables, tmp_path):
    """AToMiC's mode, held against the titles, which name one section of most texts.

    Sections are indexed in WIT's form: in that of the published texts a lead's own words weigh no
    more than its siblings' context, and half of the real leads went to one of them.
    """
    named = match.exact_matches(tables["queries"], tables["sections"], "exact-then-bm25")
    match.index_sections(tables["sections"], tmp_path / "index", **LIMITS)
    spec = Project(mode="bm25", k1=K1, b=B)
    out = tmp_path / "projection.parquet"
    match.project(tables["queries"], tables["sections"], tmp_path / "index", spec, out, threads=1)
    both = pl.read_parquet(out).join(named, on="source_text_id", suffix="_named").drop_nulls()
    same = pl.col("text_id") == pl.col("text_id_named")
    leads = both.filter(pl.col("text_id_named").str.ends_with("-000"))
    assert leads.height > 20
    assert leads.filter(~same).is_empty()
    assert both.filter(same).height > 0.98 * both.height


def test_both_engines_give_one_run(tables, tmp_path):
    sections = pl.read_parquet(tables["sections"]).sort("text_id")
    documents = sections.select(
        "text_id", pl.concat_str("page_title", "context_section_description", separator=" ")
    ).rows()
    words = pl.col("caption_reference_description").fill_null(pl.col("page_title"))
    captions = pl.read_parquet(tables["associations"]).select(words).to_series()
    queries = [(f"q{n:05}", text) for n, text in enumerate(captions)]
    write_index(documents, tmp_path / "own", analyzer="default", **LIMITS)
    index = open_index(tmp_path / "own", analyzer="default")
    ours = pl.concat(search(index, queries, k1=K1, b=B, hits=1_000, **LIMITS))
    lucene.build_index(documents, tmp_path / "lucene", threads=2)
    asked = lucene.Bm25Parameters(K1, B)
    theirs = lucene.search(tmp_path / "lucene", queries, asked, hits=1_000, threads=2)
    assert theirs["query_id"].n_unique() > 20
    assert ours.equals(theirs)


def test_the_best_section_of_every_text_is_that_of_exhaustive_search(tables, tmp_path):
    match.index_sections(tables["sections"], tmp_path / "index", **LIMITS)
    index = open_index(tmp_path / "index", analyzer="default")
    # Whole sections ask too: each finds itself, or one of the same words.
    leads = pl.read_parquet(tables["sections"]).select(
        "text_id", pl.concat_str("page_title", "context_section_description", separator=" ")
    )
    texts = [*match.iter_texts(tables["queries"], frozenset()), *leads.iter_rows()]
    best = find_nearest(index, texts, k1=K1, b=B, **LIMITS)
    exhaustive = pl.concat(search(index, texts, k1=K1, b=B, hits=1, **LIMITS))
    assert best.height > 1_000
    assert best.equals(exhaustive)


def test_a_killed_projection_leaves_words_only_where_the_next_one_clears(
    tables, tmp_path, monkeypatch
):
    places = []

    def note(_texts, beside, **_):
        places.append(beside.parent)
        raise KeyboardInterrupt

    monkeypatch.setattr(nearest, "counted", note)
    spec = Project(mode="bm25", k1=K1, b=B)
    match.index_sections(tables["sections"], tmp_path / "index", threads=2, engine=match.NATIVE)
    out = tmp_path / "projection.parquet"
    with pytest.raises(KeyboardInterrupt):
        match.project(
            tables["queries"], tables["sections"], tmp_path / "index", spec, out, threads=2
        )
    assert [folder.name for folder in places] == [".projection.parquet.scratch"]
