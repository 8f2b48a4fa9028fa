"""Learned sparse models: tiny random checkpoints of the real classes, against their libraries."""

import json
import shutil

import numpy as np
import pytest
import sentence_transformers
import torch
from tests import kernels
from tests.sparse_models import VOCABULARY, save_inference_free, save_masked, save_splade
from transformers import BertForMaskedLM

from isotope.core.errors import CorruptFile, FetchFailed, UnknownModel
from isotope.core.vectors import SCALE
from isotope.models.sparse import SparseEncoder, impacts

TEXTS = ["two red balls at the left", "a boat", "", "a green hill, a dog. " * 12]


def load(place, tokens=256):
    return SparseEncoder(str(place), None, tokens, device="cpu")


def library(place, texts, of):
    encoder = sentence_transformers.SparseEncoder(str(place), device="cpu")
    return getattr(encoder, of)(texts, convert_to_sparse_tensor=False).numpy()


@pytest.mark.parametrize("strategy", ["max", "sum"])
@pytest.mark.parametrize("activation", ["relu", "log1p_relu"])
def test_weights_equal_those_of_sentence_transformers(strategy, activation, tmp_path):
    place = save_splade(tmp_path, strategy, activation)
    own = np.vstack([load(place).weights([text]) for text in TEXTS])
    expected = np.vstack([library(place, [text], "encode") for text in TEXTS])
    np.testing.assert_allclose(own, expected, atol=1e-4)
    assert 0.05 < (own > 0).mean() < 0.95


def test_a_masked_language_model_alone_is_pooled_as_splade_v2(tmp_path):
    """The largest log(1 + relu(logit)) over the positions (SPLADE v2, section 3.2)."""
    place = save_masked(tmp_path)
    encoder = load(place)
    model = BertForMaskedLM.from_pretrained(place).eval()
    for text in TEXTS[:3]:
        ids = encoder._tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            expected = torch.log1p(torch.relu(model(**ids).logits))[0].amax(dim=0)
        np.testing.assert_allclose(encoder.weights([text])[0], expected, atol=1e-4)


def test_queries_without_inference_equal_those_of_sentence_transformers(tmp_path):
    place = save_inference_free(tmp_path)
    encoder = load(place)
    assert encoder.has_queries
    np.testing.assert_allclose(
        np.vstack([encoder.weights([text]) for text in TEXTS]),
        np.vstack([library(place, [text], "encode_document") for text in TEXTS]),
        atol=1e-4,
    )
    for text in TEXTS[:3]:
        terms, weights = encoder.queries([text])[0]
        expected = library(place, [text], "encode_query")[0]
        assert terms.tolist() == np.flatnonzero(np.rint(expected * SCALE)).tolist()
        np.testing.assert_array_equal(weights, np.rint(expected[terms] * SCALE))


def test_an_impact_is_a_hundred_times_the_weight_rounded():
    terms, own = impacts(np.array([0, 0.004, 0.006, 1.234, 0, 3.0], np.float32))
    assert (terms.tolist(), own.tolist()) == ([2, 3, 5], [1, 123, 300])


def test_the_terms_are_the_words_of_the_vocabulary(tmp_path):
    """The model's vocabulary is larger by two, as published ones are filled up."""
    size = len(VOCABULARY)
    assert load(save_masked(tmp_path)).terms == [*VOCABULARY, f"<{size}>", f"<{size + 1}>"]


def test_an_empty_text_has_finite_weights(tmp_path):
    own = load(save_splade(tmp_path)).weights([""])
    assert own.shape == (1, len(VOCABULARY) + 2)
    assert np.isfinite(own).all()


def test_a_text_without_a_known_token_has_no_query_terms(tmp_path):
    terms, own = load(save_inference_free(tmp_path)).queries([""])[0]
    assert len(terms) == len(own) == 0


@pytest.mark.parametrize("kind", kernels.KINDS)
def test_neighbours_change_no_weight_of_a_text_and_its_place_no_more_than_rounding(tmp_path, kind):
    with kernels.processor(kind):
        encoder = load(save_splade(tmp_path))
        alone = encoder.weights(["a boat"] * 4)
        for place in range(4):
            batch = ["two red balls"] * 4
            batch[place] = "a boat"
            found = encoder.weights(batch)[place]
            assert found.tobytes() == alone[place].tobytes()
            kernels.assert_same_but_for_rounding(found, alone[0])


def test_a_text_is_cut_at_the_limit(tmp_path):
    encoder = load(save_splade(tmp_path), tokens=8)
    words = ["two red balls a boat at", "two red balls a boat at the left of green"]
    assert encoder.shapes(words) == [8, 8]
    np.testing.assert_array_equal(*encoder.weights(words))


def test_long_texts_are_encoded_a_few_at_a_time():
    sizes = [SparseEncoder.batch(None, shape, 64) for shape in (16, 64, 512, 8192)]  # pyright: ignore
    assert sizes == [64, 64, 8, 1]


def test_another_module_is_refused(tmp_path):
    place = save_splade(tmp_path)
    listed = json.loads((place / "modules.json").read_text())
    listed.append({"idx": 2, "name": "2", "path": "2", "type": "evil.Own"})
    (place / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(UnknownModel, match="a module of kind 'Own'"):
        load(place)


def test_weights_that_lack_a_part_are_refused_instead_of_filled_at_random(tmp_path):
    place = save_masked(tmp_path)
    model = BertForMaskedLM.from_pretrained(place)
    state = {k: v for k, v in model.state_dict().items() if "layer.1." not in k}
    model.save_pretrained(place, state_dict=state)
    with pytest.raises(CorruptFile, match=r"weights missing, .*layer\.1\."):
        load(place)


def test_pickled_weights_are_never_read(tmp_path):
    place = save_masked(tmp_path)
    model = BertForMaskedLM.from_pretrained(place)
    (place / "model.safetensors").unlink()
    torch.save(model.state_dict(), place / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        load(place)


def test_a_file_without_static_weights_is_named(tmp_path):
    place = save_inference_free(tmp_path)
    shutil.copy(
        place / "document_0_MLMTransformer" / "model.safetensors",
        place / "query_0_SparseStaticEmbedding" / "model.safetensors",
    )
    with pytest.raises(CorruptFile, match="no tensor 'weight'"):
        load(place)
