"""Late-interaction models: tiny random checkpoints of the real classes, against their libraries."""

import json
import shutil
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from sentence_transformers import MultiVectorEncoder
from tests import kernels
from tests.late_models import DIM, FAMILIES, save_colbert, save_late
from tests.models import model_of
from transformers import BertConfig, BertModel

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, UnknownModel
from isotope.core.exact import decoded
from isotope.core.multivectors import MultiVectors, write_items, written
from isotope.models import late
from isotope.search.late import MaxSim

TEXTS = ["two red balls at the left", "a boat", "", "a green hill : " * 12]


@pytest.fixture(scope="module", autouse=True)
def _short():  # pyright: ignore[reportUnusedFunction]
    """Texts of vision models are cut at so few tokens that these reach the cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late, "_TOKENS", 24)
        yield


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    return place, *save_late(place, request.param)


@pytest.fixture(scope="module")
def colbert(tmp_path_factory):
    return save_colbert(tmp_path_factory.mktemp("colbert"))


@pytest.fixture(scope="module")
def pictures():
    sizes = ((28, 28), (70, 40), (40, 80), (28, 28))
    return [Image.effect_noise(size, 90).convert("RGB") for size in sizes]


def load(place, **more) -> Any:
    return late.load(model_of({"kind": "late", "name": str(place), **more}), device="cpu")


def vectors_of(encoder, items):
    return [encoder.encode([item])[0] for item in items]


def expected(model, inputs):
    with torch.inference_mode():
        out = model(**inputs).embeddings[0]
    return out[inputs["attention_mask"][0].bool()].numpy()


def test_texts_and_pictures_equal_the_library_called_directly(family, pictures):
    place, model, processor = family
    encoder = load(place)
    assert encoder.dim == DIM
    for text in TEXTS[:3]:
        own = vectors_of(encoder, [encoder.text(text)])[0]
        np.testing.assert_allclose(
            own, expected(model, processor.process_queries(text=[text])), atol=1e-5
        )
    for picture in pictures:
        own = vectors_of(encoder, [encoder.picture(picture)])[0]
        np.testing.assert_allclose(
            own, expected(model, processor.process_images(images=[picture])), atol=1e-5
        )
        np.testing.assert_allclose(np.linalg.norm(own, axis=1), 1, atol=1e-5)


def test_scores_equal_the_processors_own(family, pictures, tmp_path):
    """`score_retrieval` of one passage at a time: it would pad others with zeros."""
    place, _, processor = family
    encoder = load(place)
    texts = vectors_of(encoder, map(encoder.text, TEXTS))
    images = vectors_of(encoder, map(encoder.picture, pictures))
    tensors = [[torch.from_numpy(own) for own in side] for side in (texts, images)]
    judged = processor.score_retrieval(*tensors, batch_size=1).numpy()
    sides: list[MultiVectors] = []
    for name, items in (("t", texts), ("m", images)):
        with written(tmp_path / f"{name}.npy", DIM) as out:
            spans = [out.add(item) for item in items]
        ids = [f"{name}{n}" for n in range(len(items))]
        write_items(ids, spans, [None] * len(ids), tmp_path / f"{name}.parquet")
        sides.append(MultiVectors([tmp_path / f"{name}.npy"], [tmp_path / f"{name}.parquet"]))
    scores, rows = decoded(
        MaxSim(sides[0], sides[1], 16).best_of_all(np.arange(4), np.arange(4), 4)
    )
    own = np.empty((4, 4))
    np.put_along_axis(own, rows, scores, axis=1)
    limit = 0.005 * np.array([len(text) for text in texts])[:, None]
    assert (np.abs(own - judged) <= limit).all()
    assert np.ptp(judged) > 0.1


@pytest.mark.parametrize("kind", kernels.KINDS)
def test_neighbours_change_no_byte_of_an_item_and_its_place_no_more_than_rounding(
    family, pictures, kind
):
    with kernels.processor(kind):
        encoder = load(family[0])
        for one, other in (
            [encoder.text(t) for t in ("a boat", "two hill")],
            [encoder.picture(p) for p in pictures[::3]],
        ):
            assert one.shape == other.shape
            alone = encoder.encode([one] * 4)
            for place, batch in ((0, [one, other, other, other]), (3, [other, other, other, one])):
                found = encoder.encode(batch)[place]
                assert found.tobytes() == alone[place].tobytes()
                kernels.assert_same_but_for_rounding(found, alone[0])
            differs = alone[0].tobytes() != alone[3].tobytes()
            assert differs or kind == kernels.ALIKE


def test_a_long_text_is_cut_at_the_limit_and_keeps_what_the_model_adds(family):
    place, _, _ = family
    encoder = load(place)
    words = "two red balls a boat at the left " * 9
    cut, whole = encoder.text(words), encoder.text(" ".join(words.split()[:24]))
    assert cut.inputs["input_ids"].tolist() == whole.inputs["input_ids"].tolist()


def test_lengths_are_powers_of_two(family):
    place, _, _ = family
    encoder = load(place)
    assert {encoder.text(text).inputs["input_ids"].shape[1] for text in TEXTS} <= {16, 32, 64}


def test_a_colbert_equals_its_library(colbert):
    encoder = load(colbert, images="captions")
    library = MultiVectorEncoder(str(colbert), device="cpu")
    for query, of in ((True, library.encode_query), (False, library.encode_document)):
        own = vectors_of(encoder, [encoder.text(text, query=query) for text in TEXTS])
        for text, vectors in zip(TEXTS, own, strict=True):
            np.testing.assert_allclose(vectors, of([text])[0], atol=1e-6)
    assert encoder.has_queries
    assert len(own[0]) != len(vectors_of(encoder, [encoder.text(TEXTS[0], query=True)])[0])


def test_a_colbert_reads_no_pictures(colbert, pictures):
    with pytest.raises(BadParams, match="images: captions"):
        load(colbert)
    with pytest.raises(BadParams, match="images: captions"):
        load(colbert, images="captions").picture(pictures[0])


def test_a_document_of_passed_over_tokens_alone_has_one_vector_of_zeros(colbert, monkeypatch):
    encoder = load(colbert, images="captions")
    monkeypatch.setattr(encoder._model, "encode_document", lambda *_, **__: [torch.zeros(0, DIM)])
    assert encoder.encode([encoder.text(":")])[0].tolist() == [[0.0] * DIM]


def test_another_architecture_is_refused_with_those_that_can_be(tmp_path):
    sizes: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 8}
    BertModel(BertConfig(num_attention_heads=1, vocab_size=9, **sizes)).save_pretrained(tmp_path)
    with pytest.raises(UnknownModel, match=r"'bert'; use one of colpali, colqwen2, colmodernvbert"):
        load(tmp_path)


def test_a_sentence_encoder_is_no_colbert(colbert, tmp_path):
    shutil.copytree(colbert, tmp_path, dirs_exist_ok=True)
    (tmp_path / "config_sentence_transformers.json").write_text(
        '{"model_type": "SentenceTransformer"}'
    )
    with pytest.raises(UnknownModel, match="PyLate"):
        load(tmp_path, images="captions")


def test_a_module_that_a_checkpoint_brings_is_refused(colbert, tmp_path):
    shutil.copytree(colbert, tmp_path, dirs_exist_ok=True)
    listed = json.loads((tmp_path / "modules.json").read_text())
    listed.append({"idx": 2, "name": "2", "path": "", "type": "evil.Own"})
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(UnknownModel, match="Own"):
        load(tmp_path, images="captions")


def test_pickled_weights_are_never_read(family, colbert, tmp_path):
    place, model, _ = family
    shutil.copytree(place, tmp_path / "vision")
    (tmp_path / "vision" / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "vision" / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        load(tmp_path / "vision")
    shutil.copytree(colbert, tmp_path / "text")
    dense = tmp_path / "text" / "1_Dense"
    (dense / "model.safetensors").rename(dense / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        load(tmp_path / "text", images="captions")


def test_weights_that_lack_a_part_are_refused_instead_of_filled_at_random(
    family, colbert, tmp_path
):
    place, model, _ = family
    shutil.copytree(place, tmp_path / "vision")
    state = {k: v for k, v in model.state_dict().items() if "embedding_proj" not in k}
    model.save_pretrained(tmp_path / "vision", state_dict=state)
    with pytest.raises(CorruptFile, match=r"weights missing, embedding_proj"):
        load(tmp_path / "vision")
    shutil.copytree(colbert, tmp_path / "text")
    bert = BertModel.from_pretrained(colbert)
    state = {k: v for k, v in bert.state_dict().items() if "layer.1." not in k}
    bert.save_pretrained(tmp_path / "text", state_dict=state)
    with pytest.raises(CorruptFile, match=r"weights missing, .*layer\.1\."):
        load(tmp_path / "text", images="captions")


def test_a_folder_without_files_is_named(tmp_path):
    with pytest.raises(FetchFailed, match="not loaded"):
        load(tmp_path / "nothing")
