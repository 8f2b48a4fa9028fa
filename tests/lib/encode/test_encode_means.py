"""Several sentences, one vector: the mean of what the model makes of each.

Lymperaiou et al., COLING 2022, section 3.2: "independently embed each corpus sentence ... and then
calculate the average of all vectors"; a query is embedded as it is, "or by averaging over
representations when q_i comprises from more than one sentences".
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.models import loaded, model_of

from isotope.core import store
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles, encode_texts
from isotope.models.encoders import lines, means
from isotope.schemas import collect as collect_tables

HASH: dict[str, object] = {"kind": "hash", "dim": 32, "images": "captions"}
TEXTS = {
    "a": "A dog runs.\n\n  Two dogs play. \nDogs on grass.",
    "b": "One cat sleeps.",
    "c": "",
    "d": "A boat.\nA red boat.",
}


@pytest.fixture
def texts(tmp_path) -> Path:
    blank = dict.fromkeys(collect_tables.TEXTS.names)
    rows = [{**blank, "text_id": i, "context_section_description": t} for i, t in TEXTS.items()]
    store.write_rows(rows, tmp_path / "texts.parquet", collect_tables.TEXTS)
    return tmp_path / "texts.parquet"


def encoded(texts: Path, spec: dict[str, object], batch: int = 2) -> dict[str, np.ndarray]:
    out = texts.parent
    encode_texts(
        texts, Encoding(model_of(spec), None, batch), ShardFiles(out / "t.npy", out / "i.parquet")
    )
    ids = pl.read_parquet(out / "i.parquet").to_series().to_list()
    return dict(zip(ids, np.load(out / "t.npy"), strict=True))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_a_query_of_several_sentences_is_the_mean_of_their_vectors(texts):
    encoder = loaded(HASH)
    found = encoded(texts, HASH | {"texts": "lines"})
    for name, text in TEXTS.items():
        expected = unit(encoder.encode_texts(lines(text)).astype(np.float64).sum(axis=0))
        np.testing.assert_allclose(found[name], expected, atol=1e-6)


def test_a_text_is_read_as_a_whole_unless_the_model_says_otherwise(texts):
    whole, by_line = encoded(texts, HASH), encoded(texts, HASH | {"texts": "lines"})
    joined = loaded(HASH).encode_texts([TEXTS["a"]])[0]
    np.testing.assert_allclose(whole["a"], joined, atol=1e-6)
    assert not np.allclose(whole["a"], by_line["a"], atol=1e-3)
    np.testing.assert_allclose(whole["b"], by_line["b"], atol=1e-6)


def test_the_number_of_sentences_at_a_time_changes_nothing(texts):
    spec = HASH | {"texts": "lines"}
    few, many = encoded(texts, spec, 1), encoded(texts, spec, 64)
    assert all(np.array_equal(few[name], many[name]) for name in TEXTS)


class Long:
    """A model whose vectors have lengths: a sentence of n letters has one of length n."""

    dim = 2

    def encode_sentences(self, texts: list[str]) -> np.ndarray:
        rows = [(len(t), 0) if t.startswith("a") else (0, len(t)) for t in texts]
        return np.array(rows, np.float32)

    def encode_texts(self, texts: list[str]) -> np.ndarray:
        rows = self.encode_sentences(texts)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_images(self, images: list[Any]) -> np.ndarray:
        raise NotImplementedError

    def shapes(self, texts: list[str]) -> list[int]:
        return [len(text) for text in texts]


def test_vectors_are_averaged_as_the_model_leaves_them_not_as_directions():
    """The average is of v_j itself: paraphrase models do not normalise what they make."""
    found = means([["aaa", "bbbb"], ["b"]], Long(), 2)
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 1]], atol=1e-6)
