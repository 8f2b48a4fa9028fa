"""The catalog's views, and every query that its documentation shows."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.doc_answers import examples

from isotope.core import plugins, sql, store
from isotope.core.errors import Locked
from isotope.core.schemas import RUN
from isotope.schemas.collect import FILTERS, IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER, PIXELS
from isotope.schemas.parse import ASSOCIATIONS, INLINKS, REJECTED, SECTIONS
from isotope.schemas.project import PROJECTION
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.schemas.tabulate import INTERVALS, SUBSETS, TEMPORAL, TOKENS, TOPS
from isotope.tabulate import catalog

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/queries.md"
QUERIES = [*examples().items()]
QREL = {"text_id": "t1", "image_id": "i1", "relevance": 1, "split": "test"}
CELL = {"collection": "toy", "setting": "small", "split": "test", "task": "t2m"}


def lay(root: Path) -> None:
    """Write one row or two of every table at its place under `root`."""
    text = {"text_id": "t1", "page_title": "Cats", "section_title": "Naps", "split": "test"}
    section = {"text_id": "t1", "page_title": "Cats", "section": 0}
    image = {"image_id": "i1", "image_url": "http://h/a.png", "language": ["en"], "split": "test"}
    rows = {
        "data/collect/toy/texts": ([text], TEXTS),
        "data/collect/toy/images": ([image], IMAGES),
        "data/collect/toy/qrels": ([QREL], QRELS),
        "data/collect/toy/filters": ([], FILTERS),
        "data/crawl/src/ledger": ([{"image_url": "http://h/a.png"}], LEDGER),
        "data/crawl/src/shard-00000": ([{"image_id": "i1", "webp": b"x"}], PIXELS),
        "data/project/src/projection": (
            [{"source_text_id": "s1", "text_id": "t1", "method": "bm25"}],
            PROJECTION,
        ),
        "data/parse/src/sections": ([section], SECTIONS),
        "data/parse/src/associations": ([{"language": "en"}], ASSOCIATIONS),
        "results/search/toy/small/test/t2m/ViT-B.32": (
            [{"query_id": "t1", "doc_id": "i1", "rank": 1, "score": 2.5}],
            RUN,
        ),
        "data/parse/src/sections.rejected": (
            [{"reason": "redirect", "detail": "Cat", "raw": "Cats"}],
            REJECTED,
        ),
        "data/parse/src/inlinks": ([{"page_id": 1, "inlinks": 2}], INLINKS),
        "results/score/toy/scores": ([CELL | {"measure": "MAP", "value": 0.5}], SCORES),
        "results/tables/toy/tokens": ([{"tokens": 80}], TOKENS),
        "results/tables/toy/tops": ([{"query_id": "t1"}], TOPS),
        "results/tables/toy/intervals": ([{"kind": "all"}], INTERVALS),
        "results/tables/toy/subsets": ([{"documents": 100}], SUBSETS),
        "results/tables/toy/since/old/temporal": ([{"stratum": "new"}], TEMPORAL),
        "results/score/toy": (
            [CELL | {"system": "bm25", "query_id": "t1", "measure": "MRR@10", "value": 1.0}],
            SCORES,
        ),
        "results/score/toy.significance": (
            [CELL | {"system": "bm25", "other": "rrf", "measure": "MRR@10", "p_bonferroni": 0.01}],
            SIGNIFICANCE,
        ),
    }
    for stem, (table, schema) in rows.items():
        store.write_rows(table, root / f"{stem}.parquet", schema)
    curve = root / "data/train/toy/clip/curve.csv"
    curve.parent.mkdir(parents=True)
    trials = root / "results/search/toy/tuning/rrf.csv"
    trials.parent.mkdir(parents=True)
    told = "collection,system,setting,task,split,measure,parameters,value,chosen\n"
    trials.write_text(f'{told}toy,rrf,small,t2m,validation,MRR@10,"{{""k"": 60}}",0.5,true\n')
    curve.write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n1,10,2.5,0.1,0.2\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A root with a catalog of one-row tables, only read."""
    root = tmp_path_factory.mktemp("catalog")
    lay(root)
    catalog.build(root / "results/catalog.duckdb", root)
    return root


@pytest.fixture
def con(place, monkeypatch):
    """The catalog, opened in its own root."""
    monkeypatch.chdir(place)
    with duckdb.connect("results/catalog.duckdb", read_only=True) as opened:
        yield opened


@pytest.mark.parametrize(("question", "query"), QUERIES, ids=[q for q, _ in QUERIES])
def test_every_documented_query_runs(con, question, query):
    assert con.sql(query).columns, question


SHOWN = {*re.findall(r"\w+", " ".join(query for _, query in QUERIES))}


def test_the_page_documents_a_dozen_queries_and_every_view():
    assert PAGE.read_text().count("```sql") >= 12
    assert {*catalog.VIEWS} <= SHOWN
    assert all(f"| `{view}` |" in PAGE.read_text() for view in catalog.VIEWS)


@pytest.mark.parametrize("plugin", [p for p in plugins.registered().values() if p.views])
def test_the_page_of_a_plug_in_documents_every_view_of_its_own_in_a_query(plugin):
    page = (ROOT / "workflow/plugins" / plugin.package / "docs/queries.md").read_text()
    own = {*plugin.load(plugin.views)}
    assert own <= SHOWN
    assert [view for view in own if f"| `{view}` |" not in page] == []


def test_every_view_has_one_sql_file():
    assert {p.stem for p in (sql.SQL / "catalog").glob("*.sql")} == set(catalog.VIEWS)


def test_a_run_knows_its_cell_from_its_path_even_with_a_dot_in_its_name(con):
    row = con.sql("SELECT * EXCLUDE (rank, score) FROM runs").fetchall()
    assert row == [("toy", "small", "test", "t2m", "ViT-B.32", "t1", "i1")]


def test_the_significance_table_beside_the_scores_is_not_read_as_scores(con):
    assert con.sql("SELECT system, value FROM scores").fetchall() == [("bm25", 1.0)]
    assert con.sql("SELECT other FROM significance").fetchall() == [("rrf",)]


def test_pixels_say_where_the_bytes_lie_and_do_not_carry_them(con):
    view = con.sql("FROM pixels")
    assert "webp" not in view.columns
    assert con.sql("SELECT shard FROM pixels").fetchall() == [
        ("data/crawl/src/shard-00000.parquet",)
    ]


def test_the_trials_of_a_fusion_keep_their_parameters_and_the_choice(con):
    rows = con.sql("SELECT system, parameters, value, chosen FROM tuning").fetchall()
    assert rows == [("rrf", '{"k": 60}', 0.5, True)]


def test_what_is_lost_says_on_what_its_systems_were_built(con):
    rows = con.sql("SELECT collection, built_on, stratum FROM temporal").fetchall()
    assert rows == [("toy", "old", "new")]


def test_a_rejected_record_says_which_table_lacks_it(con):
    rows = con.sql("SELECT source, missing_from, reason FROM rejected").fetchall()
    assert rows == [("src", "sections", "redirect")]


def test_graded_scores_are_not_read_as_scores(con):
    assert con.sql("SELECT DISTINCT measure FROM scores").fetchall() == [("MRR@10",)]


def test_a_file_that_appears_later_is_seen_without_building_again(place, tmp_path, monkeypatch):
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    store.write_rows([QREL], tmp_path / "data/collect/other/qrels.parquet", QRELS)
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("results/catalog.duckdb", read_only=True) as con:
        found = con.sql("SELECT collection FROM qrels ORDER BY 1").fetchall()
    assert found == [("other",), ("toy",)]


@pytest.mark.parametrize("working", ["/", ".", "results", "data/collect"])
@pytest.mark.parametrize("moved", ["", "moved", "its {copy} [1]*"])
def test_the_catalog_opens_from_any_folder_and_after_a_move(
    place, tmp_path, monkeypatch, working, moved
):
    root = tmp_path / "it's a copy [1]"
    shutil.copytree(place, root)
    catalog.build(root / "results/catalog.duckdb", root)
    if moved:
        root = root.rename(tmp_path / moved)
    monkeypatch.chdir(root / working)
    with duckdb.connect(root / "results/catalog.duckdb", read_only=True) as con:
        [(found,)] = con.execute("SELECT count(*) FROM texts").fetchall()
    assert found == 1


@pytest.mark.parametrize("name", ["catalog.duckdb", "another name.duckdb"])
def test_files_are_those_of_the_catalog_and_not_of_the_same_names_in_the_working_directory(
    place, tmp_path, monkeypatch, name
):
    """In the working directory lies another project, whose tables have twice the rows."""
    root, other = tmp_path / "a", tmp_path / "b"
    shutil.copytree(place, root)
    owners = {"collections": ["toy"], "sources": ["toy"]}
    catalog.build(root / "results/catalog.duckdb", root, owners=owners)
    (root / "results/catalog.duckdb").rename(root / "results" / name)
    for path in root.glob("data/**/*.parquet"):
        table, out = pq.read_table(path), other / path.relative_to(root)
        out.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.concat_tables([table, table]), out)
    monkeypatch.chdir(other)
    with sql.opened(root / "results" / name) as con:
        assert con.execute("SELECT count(*) FROM texts").fetchall() == [(1,)]
    with duckdb.connect() as con:
        catalog.define(con, ["texts"], root, owners=owners)
        assert con.execute("SELECT count(*) FROM texts").fetchall() == [(1,)]


def test_the_catalog_attached_to_another_database_finds_files_from_their_folder(place, monkeypatch):
    monkeypatch.chdir(place)
    with duckdb.connect() as con:
        con.execute("ATTACH 'results/catalog.duckdb' AS own (READ_ONLY)")
        assert con.execute("SELECT count(*) FROM own.texts").fetchall() == [(1,)]


def test_a_catalog_that_another_program_writes_to_is_called_locked(place, tmp_path):
    shutil.copytree(place, tmp_path / "own")
    file = tmp_path / "own/results/catalog.duckdb"
    program = f"import duckdb, sys; c = duckdb.connect({str(file)!r}); print(1, flush=True)"
    program += "; sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"1\n"
        found = rf"another program has it open.*PID {other.pid}"
        with pytest.raises(Locked, match=found), sql.opened(file):
            pass
        other.communicate()
    with sql.opened(file) as con:
        assert con.execute("SELECT 1").fetchall() == [(1,)]


def test_views_without_files_are_empty_and_have_the_columns_of_full_ones(con, tmp_path):
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    catalog.build(empty / "catalog.duckdb", empty)
    with duckdb.connect(empty / "catalog.duckdb", read_only=True) as bare:
        for view in catalog.VIEWS:
            full, none = con.sql(f"FROM {view}"), bare.sql(f"FROM {view}")
            assert (none.columns, none.types) == (full.columns, full.types), view
            assert none.fetchall() == []


def test_scores_alone_are_not_looked_for_in_a_significance_table(tmp_path):
    store.write_rows([], tmp_path / "results/score/c.significance.parquet", SIGNIFICANCE)
    catalog.build(tmp_path / "catalog.duckdb", tmp_path)
    with duckdb.connect(tmp_path / "catalog.duckdb", read_only=True) as con:
        assert con.sql("SELECT value FROM scores").fetchall() == []


def test_building_again_replaces_the_catalog_and_leaves_nothing_beside_it(tmp_path):
    out = tmp_path / "results/catalog.duckdb"
    catalog.build(out, tmp_path)
    catalog.build(out, tmp_path)
    assert [p.name for p in out.parent.iterdir()] == ["catalog.duckdb"]
