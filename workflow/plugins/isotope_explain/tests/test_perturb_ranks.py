"""Perturbed queries are asked anew, and their ranks are those that a search would give."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from tests import entries
from tests.models import model_of

from isotope.core import store
from isotope.core.vectors import write_ids
from isotope.encode.cache import Encoding
from isotope.encode.shard import Files, encode_texts
from isotope.index.bm25 import index_bm25
from isotope.models.hash import HashEncoder
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.search.bm25 import search_bm25
from isotope_explain.perturb import Settings, perturb_texts
from isotope_explain.ranks import Queries, Tower, perturbed_bm25, perturbed_dense
from isotope_explain.schemas import INTACT
from isotope_toy import words

SAID = ["A large red ball", "A small blue cup", "One white house", "The green tree", "No colour"]
FIELDS = ["context_section_description"]


class Made(NamedTuple):
    folder: Path
    asked: Queries
    perturbed: pl.DataFrame


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("perturbed")
    words.write_wordnet(folder / "wordnet")
    numbered = list(enumerate(SAID))
    texts = [
        {"text_id": f"t{n}", "context_section_description": said, "split": "validation"}
        for n, said in numbered
    ]
    none = [""]
    images = [
        {
            "image_id": f"i{n}",
            "image_url": f"i{n}",
            "language": ["en"],
            "caption_reference_description": [said.lower(), *(["A purple box"] if not n else [])],
            "caption_alt_text_description": none,
            "caption_attribution_description": none,
            "split": "validation",
        }
        for n, said in numbered
    ]
    pairs = [{"text_id": f"t{n}", "image_id": f"i{n}", "relevance": 1} for n, _ in numbered]
    qrels = [{**pair, "split": "validation"} for pair in pairs]
    store.write_rows(texts, folder / "texts.parquet", TEXTS)
    store.write_rows(images, folder / "images.parquet", IMAGES)
    store.write_rows(qrels, folder / "qrels.parquet", QRELS)
    perturb_texts(
        *(folder / f"{name}.parquet" for name in ("texts", "images", "qrels")),
        split="validation",
        wordnet=str(folder / "wordnet"),
        settings=Settings(),
        out=folder / "perturbed.parquet",
    )
    run = folder / "small/validation/t2m/own.parquet"
    asked = Queries(folder / "perturbed.parquet", folder / "qrels.parquet", run)
    return Made(folder, asked, pl.read_parquet(folder / "perturbed.parquet"))


def test_each_kind_perturbs_the_queries_that_it_can(made):
    told = made.perturbed.group_by("perturbation").len().sort("perturbation")
    assert dict(told.iter_rows()) == {"antonym": 3, "colour-all": 4, "colour-in": 4, "size": 2}
    assert made.perturbed["text_id"].to_list() == sorted(made.perturbed["text_id"])
    first = made.perturbed.row(0, named=True)
    assert (first["query_id"], first["changes"]) == ("t0", ["large > small"])
    assert first["perturbed"] == first["context_section_description"] == "A small red ball"


def test_colour_in_brings_in_what_queries_and_captions_mention(made):
    """Section 5.1: "colors only mentioned in the dataset", of query-corpus pairs (section 3)."""
    told = made.perturbed.filter(perturbation="colour-in").explode("changes")
    after = {change.partition(" > ")[2] for change in told["changes"]}
    assert after <= {"red", "blue", "white", "green", "purple"}
    draws: set[str] = set()
    for seed in range(20):
        perturb_texts(
            *(made.folder / f"{name}.parquet" for name in ("texts", "images", "qrels")),
            split="validation",
            wordnet=str(made.folder / "wordnet"),
            settings=Settings(seed),
            out=made.folder / "seeded.parquet",
        )
        rows = pl.read_parquet(made.folder / "seeded.parquet").filter(perturbation="colour-in")
        draws |= {change.partition(" > ")[2] for own in rows["changes"] for change in own}
    assert draws == {"red", "blue", "white", "green", "purple"}


def changed(ranks: Path) -> pl.DataFrame:
    """The ranks of perturbed queries, after those of every query as it is."""
    every = pl.read_parquet(ranks)
    intact = every.head(5)
    assert intact["query_id"].to_list() == [f"t{n}" for n in range(5)]
    assert set(intact["perturbation"]) == {INTACT}
    assert intact.select("rank", "rank_before").rows() == [(1, 1)] * 5
    return every.slice(5)


def test_ranks_of_a_dense_system_are_counted_over_the_pool(made):
    encoder, folder = HashEncoder(64), made.folder
    model = model_of({"kind": "hash", "dim": 64, "fields": FIELDS})
    images = encoder.encode_texts([said.lower() for said in SAID])
    np.save(folder / "images.npy", images)
    write_ids(pl.Series([f"i{n}" for n in range(5)]), folder / "images.ids.parquet")
    files = Files(folder / "texts.npy", folder / "texts.ids.parquet")
    encode_texts(folder / "texts.parquet", Encoding(model, None, 2), files, FIELDS)
    (folder / "index/validation").mkdir(parents=True)
    np.save(folder / "index/validation/images.npy", np.arange(5))
    encoded = {side: [folder / f"{side}.npy"] for side in ("texts", "images")}
    encoded |= {f"{side}_ids": [folder / f"{side}.ids.parquet"] for side in ("texts", "images")}
    tower = Tower(model, None, 2)
    perturbed_dense(made.asked, encoded, folder / "index", tower, folder / "ranks.parquet")
    found = changed(folder / "ranks.parquet")
    asked = encoder.encode_texts(made.perturbed["perturbed"].to_list())
    own = made.perturbed["query_id"].str.slice(1).cast(pl.Int64).to_list()
    scores = asked @ images.T
    expected = [int((row > row[n]).sum()) + 1 for row, n in zip(scores, own, strict=True)]
    assert found["rank"].to_list() == expected
    assert found["rank_before"].to_list() == [1] * len(own)
    labels = found.select("setting", "split", "task", "system").unique().rows()
    assert labels == [("small", "validation", "t2m", "own")]


def test_ranks_of_bm25_are_those_of_a_search(made):
    folder, index = made.folder, made.folder / "lucene/small/own"
    both = {side: folder / f"{side}.parquet" for side in ("texts", "images")}
    index_bm25(
        **both, folders=[index], splits=["validation"], language="en", fields=FIELDS, threads=1
    )
    qrels = {"qrels": folder / "qrels.parquet"}
    spec = entries.system_of("bm25", fields=FIELDS)
    runs: dict[str, Any] = {"indexes": [index], "runs": [made.asked.run], "spec": spec}
    search_bm25(**both, **qrels, **runs, language="en", depth=5, threads=1)
    perturbed_bm25(made.asked, index, spec, folder / "bm25.parquet", threads=1)
    found = changed(folder / "bm25.parquet")
    assert found["query_id"].to_list() == made.perturbed["query_id"].to_list()
    assert found["rank_before"].to_list() == [1] * found.height
    opposite = found.filter(perturbation="antonym", query_id="t1")
    assert opposite["rank"].to_list() == [1]


def test_the_same_seed_gives_the_same_bytes(made, tmp_path):
    for seed, same in ((0, True), (1, False)):
        perturb_texts(
            *(made.folder / f"{name}.parquet" for name in ("texts", "images", "qrels")),
            split="validation",
            wordnet=str(made.folder / "wordnet"),
            settings=Settings(seed),
            out=tmp_path / "perturbed.parquet",
        )
        found = (tmp_path / "perturbed.parquet").read_bytes()
        assert (found == made.asked.perturbed.read_bytes()) == same
