"""Every kind of model on a GPU: near what the processor computes, and the same bits again.

bf16 has 8 bits of significand, so a product's error is a 512th of it at most. Errors of some dozen
layers leave a vector's direction within 2.6 degrees, whose cosine is .999 (`docs/encode.md`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image
from tests import tiny_families, tiny_rerankers
from tests.late_models import FAMILIES, save_colbert, save_late
from tests.models import loaded, model_of
from tests.sparse_models import save_masked, save_splade
from transformers import BertConfig, BertModel

from isotope.models import late, rerankers
from isotope.models.open_clip import ClipEncoder, create
from isotope.models.pairs import ScoredPair
from isotope.models.sparse import SparseEncoder

pytestmark = pytest.mark.gpu

GPU, CPU = "cuda", "cpu"
LEAST_COSINE = 0.999
# Rows of a hundred weights of words, of which each is one logit's: no sum evens its rounding out.
LEAST_OF_WEIGHTS = 0.995
LINE = "a dog runs over the green field two red balls boat left of hill cats sleep zebra"
TEXTS = [" ".join(LINE.split()[n::k]) for k in (1, 2, 3, 5) for n in (0, 1)]
# Reads the items of these numbers together: their vectors [dim] or [n, dim], in that order.
Read = Callable[[Sequence[int]], list[np.ndarray]]


def pictures() -> list[Image.Image]:
    """Coloured ramps with noise, of one shape: unlike each other, so that their vectors are."""
    found = []
    for n in range(len(TEXTS)):
        random = np.random.default_rng(n)
        base = np.full((56, 56, 3), random.integers(0, 256, 3), np.float64)
        base[:, :: n + 2] = random.integers(0, 256, 3)
        noisy = base + random.normal(0, 20, base.shape)
        found.append(Image.fromarray(noisy.clip(0, 255).astype(np.uint8)))
    return found


class Case(NamedTuple):
    """How a checkpoint is saved in a folder, and how it is read on a device."""

    save: Callable[[Path], object]
    read: Callable[[Path, str], Read]


def both_sides(encoder: Any, images: bool = True) -> Read:
    def read(some: Sequence[int]) -> list[np.ndarray]:
        rows = [*encoder.encode_texts([TEXTS[n] for n in some])]
        shown = pictures()
        return rows + ([*encoder.encode_images([shown[n] for n in some])] if images else [])

    return read


def real_clip(_: Path, device: str) -> Read:
    """ViT-B-32 as it is published but for its weights, which are random."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return both_sides(ClipEncoder("ViT-B-32", create("ViT-B-32", None), device))


def save_minilm(place: Path) -> None:
    """Save all-MiniLM-L6-v2's architecture (hidden 384, 6 layers of 12 heads), at random."""
    save_masked(place)
    sizes: dict[str, Any] = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
    config = BertConfig(vocab_size=30_522, num_attention_heads=12, initializer_range=0.1, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config, add_pooling_layer=False).save_pretrained(place)
    tiny_families.save_sentence_files(place, "mean_tokens")
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    tiny_families.write_json(place / "1_Pooling/config.json", pooling)


def sentence(place: Path, device: str) -> Read:
    spec = {"kind": "sentence", "name": str(place)}
    return both_sides(loaded(spec, device=device), images=False)


def family(place: Path, device: str) -> Read:
    return both_sides(loaded({"kind": "transformers", "name": str(place)}, device=device))


def interacting(place: Path, device: str, images: str = "pixels") -> Read:
    spec = {"kind": "late", "name": str(place), "images": images}
    encoder = late.load(model_of(spec), device=device)
    items = [encoder.text(text) for text in TEXTS]
    if images == "pixels":
        items += [encoder.picture(picture) for picture in pictures()]

    def read(some: Sequence[int]) -> list[np.ndarray]:
        numbers = range(len(items) // len(TEXTS))
        shown = [items[k * len(TEXTS) + n] for k in numbers for n in some]
        return [encoder.encode([item, item])[0] for item in shown]

    return read


def colbert(place: Path, device: str) -> Read:
    return interacting(place, device, "captions")


def sparse(place: Path, device: str) -> Read:
    encoder = SparseEncoder(str(place), None, 40, device)
    return lambda some: [*encoder.weights([TEXTS[n] for n in some])]


CASES = {
    "ViT-B-32": Case(lambda _: None, real_clip),
    "MiniLM": Case(save_minilm, sentence),
    "qwen3_vl": Case(tiny_families.save_qwen3_vl, family),
    "gme": Case(tiny_families.save_gme, family),
    "siglip2": Case(lambda place: tiny_families.save_siglip(place, naflex=False), family),
    "naflex": Case(lambda place: tiny_families.save_siglip(place, naflex=True), family),
    "jina_clip": Case(tiny_families.save_jina_clip, family),
    **{
        kind: Case(lambda place, kind=kind: save_late(place, kind), interacting)
        for kind in FAMILIES
    },
    "colbert": Case(save_colbert, colbert),
    "splade": Case(save_splade, sparse),
}
EVERY = range(len(TEXTS))


@pytest.fixture(scope="module", params=CASES)
def checkpoint(request, tmp_path_factory) -> tuple[Path, Case, str]:
    place, case = tmp_path_factory.mktemp("checkpoint"), CASES[request.param]
    case.save(place)
    return place, case, request.param


def cosines(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The cosine of each row of one with the same row of the other."""
    ours, theirs = np.atleast_2d(ours).astype(float), np.atleast_2d(theirs).astype(float)
    sizes = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return (ours * theirs).sum(axis=1) / np.where(sizes == 0, 1, sizes)


def test_vectors_on_a_gpu_are_near_those_of_the_processor(checkpoint, record_property):
    place, case, name = checkpoint
    ours, theirs = (case.read(place, device)(EVERY) for device in (GPU, CPU))
    assert [v.shape for v in ours] == [v.shape for v in theirs]
    least = min(cosines(a, b).min() for a, b in zip(ours, theirs, strict=True) if b.any())
    record_property("least_cosine", float(least))
    assert least > (LEAST_OF_WEIGHTS if name == "splade" else LEAST_COSINE)
    apart = max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))
    assert apart > 0, "a GPU was asked, which rounds otherwise"


def test_vectors_on_a_gpu_have_the_length_1(checkpoint):
    place, case, name = checkpoint
    if name == "splade":
        pytest.skip("weights of words have any length")
    for rows in case.read(place, GPU)(EVERY):
        lengths = np.linalg.norm(np.atleast_2d(rows).astype(float), axis=1)
        np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_a_gpu_gives_the_same_bits_again_wherever_an_item_is_in_its_batch(checkpoint):
    """`encode.cache` reuses vectors where this holds; elsewhere it says so and reuses none."""
    place, case, _ = checkpoint
    read = case.read(place, GPU)
    first, again = read(EVERY), read(EVERY)
    assert [v.tobytes() for v in first] == [v.tobytes() for v in again]
    turned = read([*reversed(EVERY)])
    sides = [turned[i : i + len(EVERY)][::-1] for i in range(0, len(turned), len(EVERY))]
    assert [v.tobytes() for side in sides for v in side] == [v.tobytes() for v in first]


def test_a_texts_nearest_neighbour_on_the_processor_is_itself_on_a_gpu(checkpoint):
    """Random weights make vectors alike, so a cosine alone might tell nothing."""
    place, case, name = checkpoint
    if name in (*FAMILIES, "colbert"):
        pytest.skip("a text has several vectors")
    ours, theirs = (np.stack(case.read(place, d)(EVERY)[: len(TEXTS)]) for d in (GPU, CPU))
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (ours, theirs)]
    assert (unit[0] @ unit[1].T).argmax(axis=1).tolist() == [*EVERY]


# Rerankers, detectors, and pictures with words.

PAIRS = [
    ScoredPair("a dog runs", "two red balls on the green field"),
    ScoredPair("the boat", "a dog"),
    ScoredPair("the left boat", "red"),
    ScoredPair("two dogs", "the green field " * 3),
]


@pytest.mark.parametrize("kind", tiny_rerankers.KINDS)
def test_a_reranker_scores_on_a_gpu_as_on_the_processor(tmp_path, kind):
    """A classifier computes in single precision, the others in bf16."""
    images = "pixels" if kind in ("qwen3-vl", "jina-m0") else "captions"
    place = tiny_rerankers.save(tmp_path, kind)
    entry = model_of({"kind": "reranker", "name": str(place), "images": images})
    asked = [*PAIRS]
    if images == "pixels":
        asked += [ScoredPair("a dog", tiny_rerankers.picture(100, 70, n)) for n in range(2)]
    found = []
    for device in (GPU, CPU):
        model = rerankers.load(entry, device=device)
        found.append(np.array([float(model.scores([r])[0]) for r in model.prepare(asked)]))
    spread = np.ptp(found[1])
    assert spread > 0
    exact = kind in ("bert", "xlm-roberta")
    assert np.abs(found[0] - found[1]).max() < (1e-4 if exact else 0.05 * spread + 0.02)
