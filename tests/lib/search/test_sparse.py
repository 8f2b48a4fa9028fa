"""Learned sparse retrieval from a collection to its runs."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.models import model_of
from tests.sparse_models import save_inference_free, save_splade

from isotope.bm25.format import open_index
from isotope.bm25.impacts import ANALYZER
from isotope.core import store
from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.grid import RunKey
from isotope.core.runs import read_run
from isotope.core.schemas import FIVE_FIELDS
from isotope.encode.sparse import encode_sparse_shard
from isotope.index.sparse import index_sparse
from isotope.models.sparse import SparseEncoder
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.encode import SPARSE
from isotope.search.sparse import search_sparse
from isotope.search.systems import gather_runs

WORDS = "two red balls a boat at the left of green hill dog cat runs sea ship".split()  # noqa: SIM905
N, DEPTH, EMPTY = 14, 6, 4
SPLITS = ["validation"] * 3 + ["test"] * 8 + ["other"] * 3
KINDS = {"splade": save_splade, "inference-free": save_inference_free}


def words(n, seed):
    return " ".join(np.random.default_rng([n, seed]).choice(WORDS, 1 + n % 7))


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("collection")
    texts, images, qrels = [], [], []
    for n, split in enumerate(SPLITS):
        row = dict.fromkeys((*TEXTS.names, *FIVE_FIELDS)) | {"split": split}
        title = None if n == EMPTY else words(n, 0)
        texts.append(row | {"text_id": f"t{n:02d}", "page_title": title})
        captions = [] if n == EMPTY else [words(n, 1), words(n, 2)]
        row = dict.fromkeys(IMAGES.names) | {"split": split, "image_id": f"m{n:02d}"}
        row |= {"language": ["en"] * len(captions), "caption_reference_description": captions}
        nothing = [""] * len(captions)
        row |= {"caption_alt_text_description": nothing}
        images.append(row | {"caption_attribution_description": nothing})
        if split != "other":
            pair = {"text_id": f"t{n:02d}", "image_id": f"m{n:02d}"}
            qrels.append({**pair, "relevance": 1, "split": split})
    paths = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    store.write_rows(texts, paths["texts"], TEXTS)
    store.write_rows(images, paths["images"], IMAGES)
    store.write_rows(qrels, paths["qrels"], QRELS)
    return paths


@pytest.fixture(scope="module", params=KINDS)
def model(request, tmp_path_factory) -> dict[str, Any]:
    place = KINDS[request.param](tmp_path_factory.mktemp(request.param))
    return {"kind": "sparse", "name": str(place), "revision": None}


def encoded(tables, model, folder, shards=1, batch=4):
    files: dict[str, list[Path]] = {"texts": [], "images": []}
    for shard in range(shards):
        outputs = {s: folder / s / f"shard-{shard}.terms.parquet" for s in files}
        for side, path in outputs.items():
            files[side].append(path)
        encode_sparse_shard(
            texts=tables["texts"],
            images=tables["images"],
            model=model_of(model),
            language="en",
            shard=shard,
            shards=shards,
            batch=batch,
            outputs={"text_terms": outputs["texts"], "image_terms": outputs["images"]},
        )
    return files


def indexed(tables, files, folder):
    folders = [folder / setting / "splade" for setting in ("small", "large")]
    index_sparse(
        texts=tables["texts"],
        images=tables["images"],
        text_terms=files["texts"],
        image_terms=files["images"],
        folders=folders,
        splits=["train", "validation", "test"],
    )
    return folders


def runs_in(folder, *parts):
    cells = [
        (s, q, t) for s in ("small", "large") for q in ("train", "test") for t in ("t2m", "m2t")
    ]
    return [Path(folder, *parts, *cell, "splade.parquet") for cell in cells]


@pytest.fixture(scope="module")
def searched(tables, model, tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("searched")
    files = encoded(tables, model, folder / "encode")
    folders = indexed(tables, files, folder / "index")
    search(tables, files, folders, runs := runs_in(folder / "runs"))
    return {"files": files, "folders": folders, "runs": runs, "model": model}


def search(tables, files, folders, runs):
    search_sparse(
        qrels=tables["qrels"], encoded=files, indexes=folders, runs=runs, depth=DEPTH, threads=2
    )


def vectors(encoder, texts, *, query=False):
    """The impacts of texts, [n, words], as of queries or of documents."""
    out = np.zeros((len(texts), len(encoder.terms)), np.int64)
    for row, text in zip(out, texts, strict=True):
        [(terms, own)] = encoder.queries([text]) if query else encoder.documents([text])
        row[terms] = own
    return out


def contents(side):
    if side == "texts":
        return [words(n, 0) if n != EMPTY else "" for n in range(N)]
    return [f"{words(n, 1)}\n{words(n, 2)}" if n != EMPTY else "" for n in range(N)]


def test_runs_are_those_of_the_inner_product_of_the_impacts(searched):
    model = searched["model"]
    encoder = SparseEncoder(model["name"], None, device="cpu")
    for path in searched["runs"]:
        cell, run = RunKey.from_path(path), read_run(path)
        asking = [n for n, split in enumerate(SPLITS) if split == cell.split]
        pool = [
            n for n, split in enumerate(SPLITS) if cell.setting == "large" or split == cell.split
        ]
        queries = vectors(encoder, contents(cell.query_side), query=True)
        scores = queries @ vectors(encoder, contents(cell.document_side)).T
        expected = []
        for query in asking:
            best = sorted(pool, key=lambda d: (-scores[query, d], -d))[:DEPTH]
            expected += [(query, d, scores[query, d] / 1e4) for d in best if scores[query, d]]
        found = run.select("query_id", "doc_id", "score").rows()
        assert [(int(q[1:]), int(d[1:]), s) for q, d, s in found] == expected
    assert any(read_run(path).height for path in searched["runs"])


def test_a_split_without_texts_has_an_empty_run(searched):
    empty = [path for path in searched["runs"] if "small/train" in str(path)]
    assert [read_run(path).height for path in empty] == [0, 0]


def test_an_empty_text_is_there_with_what_the_model_makes_of_it(searched):
    table = pl.concat(pl.read_parquet(path) for path in searched["files"]["texts"])
    row = table.row(by_predicate=pl.col("id") == f"t{EMPTY:02d}", named=True)
    model = searched["model"]
    encoder = SparseEncoder(model["name"], None, device="cpu")
    [(terms, own)] = encoder.documents([""])
    assert row["terms"] == [encoder.terms[n] for n in terms]
    assert row["impacts"] == own.tolist()
    if encoder.has_queries:
        assert row["query_terms"] == row["query_impacts"] == []


def test_neither_shards_nor_slices_change_a_byte_of_a_run(searched, tables, tmp_path):
    files = encoded(tables, searched["model"], tmp_path / "encode", shards=3)
    folders = indexed(tables, files, tmp_path / "index")
    pieces = [runs_in(tmp_path / "pieces", f"0000{n}-of-00002") for n in range(2)]
    for piece in pieces:
        search(tables, files, folders, piece)
    gathered = runs_in(tmp_path / "gathered")
    gather_runs(pieces=[path for piece in pieces for path in piece], runs=gathered)
    for path, other in zip(searched["runs"], gathered, strict=True):
        assert read_run(path).equals(read_run(other))


def test_an_encoding_made_twice_has_the_same_bytes(searched, tables, tmp_path):
    again = encoded(tables, searched["model"], tmp_path)
    for side, [path] in again.items():
        assert path.read_bytes() == searched["files"][side][0].read_bytes()
        assert pl.read_parquet(path).to_arrow().schema.names == SPARSE.names


def test_a_pool_has_an_index_of_its_own(searched):
    small, large = searched["folders"]
    counts = [
        open_index(f / "texts", analyzer=ANALYZER).documents
        for f in (small / "test", large / "all")
    ]
    assert counts == [SPLITS.count("test"), N]
    assert not (small / "train" / "texts").exists()


def test_a_damaged_index_is_named_and_no_run_is_written(searched, tables, tmp_path):
    folders = indexed(tables, searched["files"], tmp_path / "index")
    (folders[0] / "test" / "images" / "postings").write_bytes(b"short")
    runs = [path for path in runs_in(tmp_path) if "small/test/t2m" in str(path)]
    with pytest.raises(CorruptFile, match="postings"):
        search(tables, searched["files"], folders, runs)
    assert not runs[0].exists()


def test_a_missing_shard_of_terms_is_named(searched, tables, tmp_path):
    files = {**searched["files"], "texts": [tmp_path / "shard-0.terms.parquet"]}
    with pytest.raises(MissingFile, match=r"shard-0\.terms\.parquet: no such shard"):
        search(tables, files, searched["folders"], [runs_in(tmp_path)[2]])


def test_a_cut_shard_of_terms_is_named(searched, tables, tmp_path):
    [path] = searched["files"]["texts"]
    cut = tmp_path / "cut.terms.parquet"
    cut.write_bytes(path.read_bytes()[:-9])
    files = {**searched["files"], "texts": [cut]}
    with pytest.raises(TruncatedFile, match=r"cut\.terms\.parquet"):
        indexed(tables, files, tmp_path / "index")
