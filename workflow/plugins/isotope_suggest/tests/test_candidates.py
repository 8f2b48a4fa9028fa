"""Candidates of all sources: those of search, of the collection only, and the same after a kill."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import entries
from workflow.plugins.isotope_suggest.tests.aligned_pages import Pages, Section

from isotope.core.errors import BadParams, CorruptFile, MissingFile
from isotope.core.runs import read_run
from isotope.index.bm25 import index_bm25
from isotope.index.dense import index_dense
from isotope.search.bm25 import search_bm25
from isotope.search.systems import search_dense
from isotope_suggest import candidates
from isotope_suggest.candidates import Words, find_candidates, union_of
from isotope_suggest.schemas import CANDIDATES

DEPTH = 5
PICTURES = [f"Lamp{n}" for n in range(12)]
VECTORS = ("text_vectors", "text_ids", "image_vectors", "image_ids")
WORDS: Any = entries.system_of("bm25", fields=["page_title", "section_title"], prepare="none")
ASKED = {
    **{"depth": DEPTH, "minimum_need": 0.5},
    "words": Words(k1=WORDS.k1, b=WORDS.b, fields=WORDS.fields, prepare="none", captions="en"),
}


@pytest.fixture(scope="module")
def given_tables(tmp_path_factory) -> dict[str, Any]:
    """Twelve pages with a judged section each, an index of their captions, and vectors."""
    folder = tmp_path_factory.mktemp("collection")
    pages = {
        f"{name} by Picture": [
            Section("", links=[f"{other} by Picture" for other in PICTURES[n : n + 3]]),
            Section(f"A {name} of lamp{n % 3}", hidden=[name]),
        ]
        for n, name in enumerate(PICTURES)
    }
    spoken = {f"en:{title}": [f"de:{title}"] for title in pages}
    wit = [("de", f"{name} by Picture", "", name) for name in PICTURES[:6]]
    inputs = Pages({"en": pages}, spoken, wit).write(folder)
    tables: dict[str, Any] = {n: getattr(inputs, n) for n in ("texts", "images", "qrels")}
    index = folder / "large" / "bm25"
    sides = {side: tables[side] for side in ("texts", "images")}
    index_bm25(**sides, folders=[index], splits=["validation"], language="en", threads=1)
    vectors: dict[str, Any] = {}
    for side, table_name in (("text", "texts"), ("image", "images")):
        ids = pl.read_parquet(tables[table_name])[f"{side}_id"]
        block = np.random.default_rng(0).normal(size=(len(ids), 8)).astype(np.float32)
        block[::2] = block[0]  # ties
        vectors[f"{side}_vectors"], vectors[f"{side}_ids"] = [], []
        for n, rows in enumerate(np.array_split(np.arange(len(ids)), 2)):
            path = folder / table_name / f"shard-{n}.npy"
            path.parent.mkdir(exist_ok=True)
            np.save(path, block[rows])
            named = path.with_suffix(".ids.parquet")
            ids[rows].alias("id").to_frame().write_parquet(named)
            vectors[f"{side}_vectors"].append(path)
            vectors[f"{side}_ids"].append(named)
    more = {n: getattr(inputs, n) for n in ("sections", "outlines", "placed", "associations")}
    options = {"manifests": [], "redirects": inputs.redirects, "index": [index]}
    origins = Pages({"en": {}}).origins
    return {**tables, **more, **vectors, **options, **ASKED, "origins": origins}


def candidates_of(out: Path, given_tables: dict[str, Any], **changes: Any) -> pl.DataFrame:
    """What `find_candidates` writes."""
    arguments: dict[str, Any] = {"threads": 1, **given_tables, **changes}
    find_candidates(**arguments, out=out)
    assert [p.name for p in out.parent.iterdir() if p.name.startswith(".")] == []
    return pl.read_parquet(out)


def run_of(frame: pl.DataFrame, source: str, queries: pl.Series) -> list[tuple[Any, ...]]:
    """The rows of a source for some sections as those of a run, by rank."""
    rows = frame.filter(pl.col("text_id").is_in(queries.implode())).drop_nulls(source)
    ordered = rows.sort("text_id", f"{source}_rank")
    return ordered.select("text_id", "image_id", f"{source}_rank", source).rows()


def in_single_precision(run: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a run, scores as candidates have them."""
    single = pl.col("score").cast(pl.Float32)
    return run.select("query_id", "doc_id", "rank", single).rows()


def test_bm25_and_vectors_name_what_search_finds(tmp_path, given_tables):
    frame = candidates_of(tmp_path / "candidates.parquet", given_tables)
    assert frame.schema == pl.DataFrame(CANDIDATES.empty_table()).schema
    runs = [tmp_path / "large" / "validation" / "t2m" / f"{n}.parquet" for n in ("bm25", "dense")]
    tables = {n: given_tables[n] for n in ("texts", "images", "qrels")}
    options: dict[str, Any] = {"depth": DEPTH, "indexes": given_tables["index"]}
    search_bm25(**tables, runs=runs[:1], spec=WORDS, language="en", threads=1, **options)
    rows = tmp_path / "large" / "clip"
    ids = {n: given_tables[n] for n in ("text_ids", "image_ids")}
    sides = {side: tables[side] for side in ("texts", "images")}
    index_dense(**sides, **ids, folders=[rows], splits=["validation"])
    encoded = {f"{s}s{k}": given_tables[f"{s}{v}"] for s in ("text", "image")
               for k, v in (("", "_vectors"), ("_ids", "_ids"))}  # fmt: skip
    options = {"depth": DEPTH, "indexes": [rows], "memory_mb": 16}
    search_dense(qrels=tables["qrels"], encoded=encoded, runs=runs[1:], **options)
    for source, path in zip(("bm25", "dense"), runs, strict=True):
        run = read_run(path)
        assert run["query_id"].n_unique() == len(PICTURES)
        assert run_of(frame, source, run["query_id"].unique()) == in_single_precision(run)


def test_every_candidate_is_a_picture_of_the_collection_and_named_by_some_source(
    tmp_path, given_tables
):
    frame = candidates_of(tmp_path / "candidates.parquet", given_tables)
    images = pl.read_parquet(given_tables["images"])["image_id"]
    assert frame["image_id"].is_in(images.implode()).all()
    sources = ("bm25", "dense", "alignment", "links")
    assert frame.filter(pl.all_horizontal(pl.col(s).is_null() for s in sources)).is_empty()
    assert all(frame[s].drop_nulls().len() for s in sources)
    assert frame.select("text_id", "image_id").equals(
        frame.select("text_id", "image_id").unique().sort("text_id", "image_id")
    )
    for share in ("alignment", "links"):
        assert frame[share].drop_nulls().is_between(0, 1, closed="right").all()
        lists = frame.select(is_there=pl.col(share).is_not_null(), on=f"{share}_on")
        assert (lists["is_there"] == lists["on"].is_not_null()).all()


def test_a_lead_finds_the_pictures_of_its_links_and_of_its_counterpart(tmp_path, given_tables):
    frame = candidates_of(tmp_path / "candidates.parquet", given_tables)
    lead = frame.filter(pl.col("text_id") == "1-0")
    # Its page has the hidden Lamp0; it links to itself, Lamp1's page and Lamp2's.
    links = lead.drop_nulls("links").select("image_id", "links", "links_on").rows()
    assert links == [
        ("lamp1", 0.5, ["Lamp1 by Picture"]),
        ("lamp2", 0.5, ["Lamp2 by Picture"]),
    ]
    alignment = lead.drop_nulls("alignment").select("image_id", "alignment", "alignment_on").rows()
    assert alignment == [("lamp0", 1.0, ["de: Lamp0 by Picture"])]


def test_neither_blocks_nor_threads_change_a_byte(tmp_path, given_tables, monkeypatch):
    candidates_of(tmp_path / "a.parquet", given_tables)
    monkeypatch.setattr(candidates, "BLOCK", 5)
    monkeypatch.setattr(candidates, "_PIECE", 2)
    candidates_of(tmp_path / "b.parquet", given_tables, threads=2)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_run_that_was_killed_goes_on_with_the_next_block(tmp_path, given_tables, monkeypatch):
    complete = candidates_of(tmp_path / "whole.parquet", given_tables)
    monkeypatch.setattr(candidates, "BLOCK", 8)
    out, asked = tmp_path / "candidates.parquet", list[str]()
    search = candidates.search_counted

    def kill_at(block: int) -> None:
        def searching(index: Any, ids: pl.Series, *args: Any, **options: Any) -> Any:
            if len(asked) == block:
                raise KeyboardInterrupt
            asked.append(ids[0])
            return search(index, ids, *args, **options)

        monkeypatch.setattr(candidates, "search_counted", searching)

    kill_at(1)
    with pytest.raises(KeyboardInterrupt):
        find_candidates(**given_tables, threads=1, out=out)
    assert not out.exists()
    kill_at(100)
    monkeypatch.setattr(candidates, "write_relations", None)  # aligned sections are not made again
    assert candidates_of(out, given_tables).equals(complete)
    # 24 sections: the first block was searched before the interrupt, the others after it.
    assert len(asked) == len(set(asked)) == 3


def test_what_other_inputs_left_is_not_used(tmp_path, given_tables, monkeypatch):
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    out = tmp_path / "candidates.parquet"
    with monkeypatch.context() as patch:
        patch.setattr(candidates, "top_k", interrupt)
        with pytest.raises(KeyboardInterrupt):
            find_candidates(**given_tables, threads=1, out=out)
    assert candidates_of(out, given_tables, depth=1)["bm25_rank"].max() == 1


def test_without_vectors_or_an_index_their_columns_are_null(tmp_path, given_tables, caplog):
    caplog.set_level(logging.WARNING, logger="isotope")
    frame = candidates_of(tmp_path / "a.parquet", given_tables, **{name: [] for name in VECTORS})
    assert frame["dense"].is_null().all()
    assert not frame["bm25"].is_null().all()
    assert "no vectors" in caplog.text
    assert "no index" not in caplog.text
    frame = candidates_of(tmp_path / "b.parquet", given_tables, index=[])
    assert frame["bm25"].is_null().all()
    assert "no index of BM25" in caplog.text
    assert not frame["dense"].is_null().all()


def test_an_index_of_lucene_answers_the_same(tmp_path, given_tables):
    sides = {side: given_tables[side] for side in ("texts", "images")}
    where: dict[str, Any] = {
        "folders": [tmp_path / "large" / "bm25"],
        "splits": ["validation"],
        "threads": 1,
    }
    index_bm25(**sides, **where, language="en", engine="lucene")
    frame = candidates_of(tmp_path / "a.parquet", given_tables, index=where["folders"])
    assert frame.equals(candidates_of(tmp_path / "b.parquet", given_tables))


@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        (
            {name: [] for name in ("index", *VECTORS)},
            BadParams,
            "neither an index of BM25 nor vectors",
        ),
        ({"index": [Path("nowhere")]}, MissingFile, "nowhere"),
        ({"image_vectors": [Path("nowhere.npy")] * 2}, MissingFile, "nowhere.npy"),
        ({"text_vectors": [], "text_ids": []}, MissingFile, "run the encode phase"),
        ({"outlines": [Path("nowhere.parquet")]}, MissingFile, "nowhere.parquet"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing(tmp_path, given_tables, changes, error, reason):
    out = tmp_path / "candidates.parquet"
    with pytest.raises(error, match=reason):
        find_candidates(**{**given_tables, **changes}, threads=1, out=out)
    assert not [*tmp_path.iterdir()]


def test_a_section_without_a_vector_is_named(tmp_path, given_tables):
    tables = {**given_tables, **{n: given_tables[n][:1] for n in ("text_vectors", "text_ids")}}
    with pytest.raises(CorruptFile, match=r"12 sections have no vector, the first is 10-0"):
        find_candidates(**tables, threads=1, out=tmp_path / "c.parquet")


def test_vectors_of_another_collection_are_refused(tmp_path, given_tables):
    fewer = tmp_path / "images.parquet"
    pl.read_parquet(given_tables["images"]).filter(pl.col("image_id") != "lamp3").write_parquet(
        fewer
    )
    tables = {**given_tables, "images": fewer}
    with pytest.raises(CorruptFile, match="vectors of 1 other items, the first is lamp3"):
        find_candidates(**tables, threads=1, out=tmp_path / "c.parquet")


def test_an_index_that_does_not_say_what_it_is_is_refused(tmp_path, given_tables):
    (tmp_path / "index.json").write_text("{")
    tables: dict[str, Any] = {**given_tables, "index": [tmp_path]}
    with pytest.raises(CorruptFile, match=r"index\.json: no JSON"):
        find_candidates(**tables, threads=1, out=tmp_path / "c.parquet")


PAIRS = st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")))


@given(st.lists(PAIRS, min_size=2, max_size=4))
def test_the_union_has_each_pair_once_and_what_each_source_says_of_it(named):
    columns = ("bm25", "dense", "alignment", "links")
    tables = [
        pl.LazyFrame(
            [(*pair, float(n)) for pair in sorted(pairs)],
            schema={"text_id": pl.String, "image_id": pl.String, columns[n]: pl.Float32},
            orient="row",
        )
        for n, pairs in enumerate(named)
    ]
    rows = union_of(tables)
    assert rows.select("text_id", "image_id").rows() == sorted(set[Any]().union(*named))
    for n, pairs in enumerate(named):
        source_rows = rows.drop_nulls(columns[n])
        assert source_rows.select("text_id", "image_id").rows() == sorted(pairs)
        assert (source_rows[columns[n]] == n).all()
