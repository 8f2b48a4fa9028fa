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
from isotope.encode.shard import ShardFiles, encode_texts
from isotope.index.bm25 import index_bm25
from isotope.models.hash import HashEncoder
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.search.bm25 import search_bm25
from isotope_explain.perturb import Settings, perturb_texts
from isotope_explain.ranks import PerturbedQueries, Tower, perturbed_bm25, perturbed_dense
from isotope_explain.schemas import INTACT
from isotope_toy import words

CAPTIONS = [
    "A large red ball",
    "A small blue cup",
    "One white house",
    "The green tree",
    "No colour",
]
FIELDS = ["context_section_description"]


class Setup(NamedTuple):
    folder: Path
    asked: PerturbedQueries
    perturbed: pl.DataFrame


@pytest.fixture(scope="module")
def setup(tmp_path_factory) -> Setup:
    folder = tmp_path_factory.mktemp("perturbed")
    words.write_wordnet(folder / "wordnet")
    numbered = list(enumerate(CAPTIONS))
    texts = [
        {"text_id": f"t{n}", "context_section_description": caption, "split": "validation"}
        for n, caption in numbered
    ]
    none = [""]
    images = [
        {
            "image_id": f"i{n}",
            "image_url": f"i{n}",
            "language": ["en"],
            "caption_reference_description": [
                caption.lower(),
                *(["A purple box"] if not n else []),
            ],
            "caption_alt_text_description": none,
            "caption_attribution_description": none,
            "split": "validation",
        }
        for n, caption in numbered
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
    asked = PerturbedQueries(folder / "perturbed.parquet", folder / "qrels.parquet", run)
    return Setup(folder, asked, pl.read_parquet(folder / "perturbed.parquet"))


def test_each_kind_perturbs_the_queries_that_it_can(setup):
    counts = setup.perturbed.group_by("perturbation").len().sort("perturbation")
    assert dict(counts.iter_rows()) == {"antonym": 3, "colour-all": 4, "colour-in": 4, "size": 2}
    assert setup.perturbed["text_id"].to_list() == sorted(setup.perturbed["text_id"])
    first = setup.perturbed.row(0, named=True)
    assert (first["query_id"], first["changes"]) == ("t0", ["large > small"])
    assert first["perturbed"] == first["context_section_description"] == "A small red ball"


def test_colour_in_brings_in_what_queries_and_captions_mention(setup):
    """Section 5.1: "colors only mentioned in the dataset", of query-corpus pairs (section 3)."""
    colour_changes = setup.perturbed.filter(perturbation="colour-in").explode("changes")
    after = {change.partition(" > ")[2] for change in colour_changes["changes"]}
    assert after <= {"red", "blue", "white", "green", "purple"}
    draws: set[str] = set()
    for seed in range(20):
        perturb_texts(
            *(setup.folder / f"{name}.parquet" for name in ("texts", "images", "qrels")),
            split="validation",
            wordnet=str(setup.folder / "wordnet"),
            settings=Settings(seed),
            out=setup.folder / "seeded.parquet",
        )
        rows = pl.read_parquet(setup.folder / "seeded.parquet").filter(perturbation="colour-in")
        draws |= {change.partition(" > ")[2] for changes in rows["changes"] for change in changes}
    assert draws == {"red", "blue", "white", "green", "purple"}


def changed(ranks: Path) -> pl.DataFrame:
    """The ranks of perturbed queries, after those of every query as it is."""
    all_ranks = pl.read_parquet(ranks)
    intact = all_ranks.head(5)
    assert intact["query_id"].to_list() == [f"t{n}" for n in range(5)]
    assert set(intact["perturbation"]) == {INTACT}
    assert intact.select("rank", "rank_before").rows() == [(1, 1)] * 5
    return all_ranks.slice(5)


def test_ranks_of_a_dense_system_are_counted_over_the_pool(setup):
    encoder, folder = HashEncoder(64), setup.folder
    model = model_of({"kind": "hash", "dim": 64, "fields": FIELDS})
    images = encoder.encode_texts([caption.lower() for caption in CAPTIONS])
    np.save(folder / "images.npy", images)
    write_ids(pl.Series([f"i{n}" for n in range(5)]), folder / "images.ids.parquet")
    files = ShardFiles(folder / "texts.npy", folder / "texts.ids.parquet")
    encode_texts(folder / "texts.parquet", Encoding(model, None, 2), files, FIELDS)
    (folder / "index/validation").mkdir(parents=True)
    np.save(folder / "index/validation/images.npy", np.arange(5))
    encoded = {side: [folder / f"{side}.npy"] for side in ("texts", "images")}
    encoded |= {f"{side}_ids": [folder / f"{side}.ids.parquet"] for side in ("texts", "images")}
    tower = Tower(model, None, 2)
    perturbed_dense(setup.asked, encoded, folder / "index", tower, folder / "ranks.parquet")
    ranks = changed(folder / "ranks.parquet")
    asked = encoder.encode_texts(setup.perturbed["perturbed"].to_list())
    numbers = setup.perturbed["query_id"].str.slice(1).cast(pl.Int64).to_list()
    scores = asked @ images.T
    expected = [int((row > row[n]).sum()) + 1 for row, n in zip(scores, numbers, strict=True)]
    assert ranks["rank"].to_list() == expected
    assert ranks["rank_before"].to_list() == [1] * len(numbers)
    labels = ranks.select("setting", "split", "task", "system").unique().rows()
    assert labels == [("small", "validation", "t2m", "own")]


def test_ranks_of_bm25_are_those_of_a_search(setup):
    folder, index = setup.folder, setup.folder / "lucene/small/own"
    both = {side: folder / f"{side}.parquet" for side in ("texts", "images")}
    index_bm25(
        **both, folders=[index], splits=["validation"], language="en", fields=FIELDS, threads=1
    )
    qrels = {"qrels": folder / "qrels.parquet"}
    spec = entries.system_of("bm25", fields=FIELDS)
    runs: dict[str, Any] = {"indexes": [index], "runs": [setup.asked.run], "spec": spec}
    search_bm25(**both, **qrels, **runs, language="en", depth=5, threads=1)
    perturbed_bm25(setup.asked, index, spec, folder / "bm25.parquet", threads=1)
    ranks = changed(folder / "bm25.parquet")
    assert ranks["query_id"].to_list() == setup.perturbed["query_id"].to_list()
    assert ranks["rank_before"].to_list() == [1] * ranks.height
    opposite = ranks.filter(perturbation="antonym", query_id="t1")
    assert opposite["rank"].to_list() == [1]


def test_the_same_seed_gives_the_same_bytes(setup, tmp_path):
    for seed, same in ((0, True), (1, False)):
        perturb_texts(
            *(setup.folder / f"{name}.parquet" for name in ("texts", "images", "qrels")),
            split="validation",
            wordnet=str(setup.folder / "wordnet"),
            settings=Settings(seed),
            out=tmp_path / "perturbed.parquet",
        )
        content = (tmp_path / "perturbed.parquet").read_bytes()
        assert (content == setup.asked.perturbed.read_bytes()) == same
