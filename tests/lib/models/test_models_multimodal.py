"""CLIP2CLIP and CLIP Fusion as Hu et al. (OVEN, ICCV 2023) have them: shapes, sizes, gradients."""

import json
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from tests.oven_pairs import TINY
from torch import nn
from transformers.optimization import Adafactor

from isotope.core.errors import BadParams, CorruptFile
from isotope.models import open_clip as models_clip
from isotope.models.kinds._mix import MixKind, Schedule, WholeRecipe
from isotope.models.kinds._training import Resources
from isotope.models.kinds.clip2clip import Clip2Clip
from isotope.models.kinds.clip_fusion import ClipFusion
from isotope.models.multimodal import QUERY, SIDES, TARGET, create, load_multimodal, t5
from isotope.models.open_clip import cut_of
from isotope.train import step
from isotope.train.clip import begin_listed
from isotope.train.multimodal import MultimodalStepper, adafactor
from isotope.train.step import Batch, Ranks

KINDS: dict[str, type[MixKind]] = {"clip2clip": Clip2Clip, "clip_fusion": ClipFusion}
EITHER = pytest.mark.parametrize("kind", KINDS)
Gradients = dict[str, torch.Tensor]


@pytest.fixture(autouse=True)
def tiny_clip(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "oven-clip.json").write_text(json.dumps(TINY))
    monkeypatch.setattr(models_clip, "CONFIGS", folder)


def model_of(kind: str) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return create(kind, models_clip.create_custom("oven-clip"))


def pairs(n: int) -> Batch:
    generator = torch.Generator().manual_seed(1)
    sides = []
    for _ in SIDES:
        tokens = torch.randint(1, 40_000, (n, 16), generator=generator)
        tokens[:, 9] = 49_407
        tokens[:, 10:] = 0
        sides += [torch.rand((n, 3, 16, 16), generator=generator), tokens]
    return tuple(sides)


def stepper_of(model: Any, kind: str, **means: object) -> MultimodalStepper:
    schedule = KINDS[kind].usual
    return MultimodalStepper(model, schedule, Resources.of_spec(means), Ranks(), schedule.steps)


def gradients(model: nn.Module) -> Gradients:
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def by_hand(model: Any, batch: Batch) -> Gradients:
    """The textbook way: one graph, one loss, one backward."""
    queries = model.encode(QUERY, batch[0], batch[1])
    logits = model.logit_scale.exp() * queries @ model.encode(TARGET, batch[2], batch[3]).T
    own = torch.arange(len(logits))
    losses = [nn.functional.cross_entropy(each, own) for each in (logits, logits.T)]
    (sum(losses) / 2).backward()  # type: ignore[union-attr]
    return gradients(model)


def without_dropout(module: Any) -> None:
    if isinstance(module, nn.Dropout):
        module.p = 0.0
    elif isinstance(getattr(module, "dropout", None), float):
        module.dropout = 0.0


@EITHER
@pytest.mark.parametrize("micro_batch", [None, 1, 5])
def test_gradients_of_a_cached_batch_are_those_of_the_whole(kind, micro_batch):
    batch, model, whole = pairs(12), model_of(kind), model_of(kind)
    for module in [*model.modules(), *whole.modules()]:
        without_dropout(module)
    stepper_of(model, kind, micro_batch=micro_batch).gradients(batch)
    ours, theirs = gradients(model), by_hand(whole, batch)
    assert ours.keys() == theirs.keys() == {n for n, _ in whole.named_parameters()}
    for name, value in theirs.items():
        atol = 1e-5 * max(1.0, float(value.abs().max()))
        torch.testing.assert_close(ours[name], value, rtol=0, atol=atol, msg=name)


@EITHER
def test_every_parameter_of_both_copies_moves_and_they_part(kind):
    """Section 4.1: "We fine-tune all of their parameters"; 11.2: "fine-tune all parameters"."""
    model, batch = model_of(kind), pairs(12)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    for name, value in model.query.named_parameters():
        assert torch.equal(value, before[f"target.{name}"]), "both begin as the same CLIP"
    stepper = stepper_of(model, kind, micro_batch=4)
    for _ in range(3):
        stepper.step(batch)
    still = {n for n, p in model.named_parameters() if torch.equal(p, before[n])}
    assert not still
    own = dict(model.query.named_parameters())
    assert not any(torch.equal(p, own[n]) for n, p in model.target.named_parameters())
    assert model.logit_scale.item() != before["logit_scale"].item()


@EITHER
def test_half_precision_is_near_and_keeps_full_precision_weights(kind, monkeypatch):
    batch, half, full = pairs(12), model_of(kind), model_of(kind)
    for module in [*half.modules(), *full.modules()]:
        without_dropout(module)
    loss = stepper_of(full, kind).gradients(batch)
    monkeypatch.setattr(step, "is_half", lambda _: True)
    assert stepper_of(half, kind, micro_batch=5).gradients(batch) == pytest.approx(loss, rel=0.05)
    assert {p.dtype for p in half.parameters()} == {torch.float32}
    assert gradients(half).keys() == gradients(full).keys()


def test_clip2clip_adds_four_parameters_and_sums_four_weighed_cosines():
    """Section 4.1: "only a minimal set of new parameters (i.e., four)"."""
    clip, model = models_clip.create_custom("oven-clip"), model_of("clip2clip")
    size = sum(p.numel() for p in clip.parameters())
    assert sum(p.numel() for p in model.parameters()) == 2 * size - 1 + 4
    model.weigh([0.4, 0.3, 0.2, 0.1])
    batch = pairs(5)
    with torch.inference_mode():
        scores = model.encode(QUERY, *batch[:2]) @ model.encode(TARGET, *batch[2:]).T
        found = [model.see(QUERY, batch[0]), model.read(QUERY, batch[1])]
        found += [model.see(TARGET, batch[2]), model.read(TARGET, batch[3])]
    image, question, picture, name = (f.states[:, 0] for f in found)
    for vectors in (image, question, picture, name):
        torch.testing.assert_close(vectors.norm(dim=1), torch.ones(5))
    expected = 0.4 * image @ picture.T + 0.3 * image @ name.T
    torch.testing.assert_close(
        scores, expected + 0.2 * question @ picture.T + 0.1 * question @ name.T
    )


@pytest.mark.parametrize(("kind", "billions"), [("clip_fusion", 0.88), ("clip2clip", 0.86)])
def test_over_clips_vit_l_14_the_models_have_the_parameters_of_table_1(kind, billions):
    """Table 1, "# Params": CLIP Fusion 0.88B, CLIP2CLIP 0.86B; CLIP 0.42B, where it is cut."""
    with torch.device("meta"):
        clip: Any = open_clip.create_model("ViT-L-14", pretrained_text=False, device="meta")
        model = create(kind, clip)
    parameters = sum(p.numel() for p in model.parameters())
    assert round(parameters / 1e9, 2) == billions
    assert sum(p.numel() for p in clip.parameters()) // 10**7 == 42


def test_fusions_transformers_are_t5s_of_two_layers_with_12_heads_of_64_over_768():
    """Appendix 11.1."""
    with torch.device("meta"):
        stack = t5(768)
    assert len(stack.block) == 2
    for block in stack.block:
        attention, dense = block.layer[0].SelfAttention, block.layer[1].DenseReluDense
        for product in (attention.q, attention.k, attention.v):
            assert tuple(product.weight.shape) == (12 * 64, 768)
        assert (attention.n_heads, attention.key_value_proj_dim) == (12, 64)
        assert tuple(attention.o.weight.shape) == (768, 12 * 64)
        assert tuple(dense.wi.weight.shape) == (4 * 768, 768)
        assert all(p.ndim == 2 for n, p in block.named_parameters() if "norm" not in n), "no bias"
    first, second = (block.layer[0].SelfAttention for block in stack.block)
    assert tuple(first.relative_attention_bias.weight.shape) == (32, 12)
    assert not second.has_relative_attention_bias, "layers share the first one's, as in T5"


def test_fusion_reads_every_patch_and_every_word_and_nothing_after_the_end():
    model, batch = model_of("clip_fusion").eval(), pairs(2)
    seen, read = model.see(QUERY, batch[0]), model.read(QUERY, batch[1])
    assert tuple(seen.states.shape) == (2, 1 + 4, 16)
    assert seen.mask.all()
    assert read.mask.sum(dim=1).tolist() == [10, 10]
    with torch.inference_mode():
        torch.testing.assert_close(
            seen.states[:, 0], model.query.encode_image(standardised(model, batch[0]))
        )
        torch.testing.assert_close(read.states[:, 9], model.query.encode_text(batch[1]))
        rows = model.join(QUERY, seen, read)
        torch.testing.assert_close(rows.norm(dim=1), torch.ones(2))
        later = read._replace(states=torch.cat([read.states[:, :10], read.states[:, 10:] + 9], 1))
        torch.testing.assert_close(model.join(QUERY, seen, later), rows)
        moved = read._replace(states=read.states.roll(1, dims=1))
        assert not torch.allclose(model.join(QUERY, seen, moved), rows, atol=1e-4)


def standardised(model: Any, pictures: torch.Tensor) -> torch.Tensor:
    settings = model.query.visual.preprocess_cfg
    mean, std = (torch.tensor(settings[k]).view(3, 1, 1) for k in ("mean", "std"))
    return (pictures - mean) / std


def test_the_sides_of_fusion_share_no_parameter():
    """Section 4.1: they "use the same architecture, but do not share parameters"."""
    model = model_of("clip_fusion")
    one, other = model.fusers[QUERY].state_dict(), model.fusers[TARGET].state_dict()
    assert one.keys() == other.keys()
    products = [n for n in one if one[n].ndim == 2]
    assert not any(torch.equal(one[n], other[n]) for n in products), "each begins at random"


def rates(recipe: Schedule) -> list[float]:
    """What the optimizer of a training has at every step."""
    stepper = MultimodalStepper(nn.Linear(1, 1), recipe, Resources(), Ranks(), recipe.steps)
    found = []
    for _ in range(recipe.steps):
        found.append(stepper.optimizer.param_groups[0]["lr"])
        stepper.optimizer.step()
        stepper.schedule.step()
    return found


def test_fusions_rate_rises_for_1000_steps_to_a_thousandth_and_falls_to_1e_6_at_step_10000():
    """Appendix 11.1: 10K steps, .001, 1K of warm-up, square-root decay, final rate 1e-6."""
    found = rates(ClipFusion.usual)
    assert len(found) == 10_000
    assert found[0] == pytest.approx(0.001 / 1_000)
    assert found[499] == pytest.approx(0.001 / 2)
    assert found[999] == max(found) == pytest.approx(0.001)
    assert found[9_999] == min(found[999:]) == pytest.approx(1e-6)
    # Where a quarter of the steps is left, the square root is a half.
    assert found[999 + 6_750] == pytest.approx(1e-6 + (0.001 - 1e-6) / 2, rel=1e-6)
    assert found[999:] == sorted(found[999:], reverse=True)


def test_clip2clips_rate_falls_from_1e_4_to_1e_6_in_2000_steps():
    """Appendix 11.2; no warm-up is told of."""
    found = rates(Clip2Clip.usual)
    assert len(found) == 2_000
    assert found[0] == max(found) == pytest.approx(1e-4)
    assert found[-1] == min(found) == pytest.approx(1e-6)


def test_the_recipes_are_the_papers():
    """Appendices 11.1 and 11.2."""
    fusion, ways = ClipFusion.usual, Clip2Clip.usual
    assert WholeRecipe().batch == 4_096
    assert (fusion.steps, fusion.warmup, fusion.learning_rate) == (10_000, 0.1, 0.001)
    assert (ways.steps, ways.learning_rate, ways.final_learning_rate) == (2_000, 1e-4, 1e-6)


@EITHER
def test_a_training_steps_by_adafactor_from_the_rate_of_its_recipe(kind):
    """Appendix 11.1: "Adafactor with an initial learning rate of 0.001"; its own state tells."""
    stepper = stepper_of(model_of(kind), kind)
    assert isinstance(stepper.optimizer, Adafactor)
    assert stepper.optimizer.defaults["lr"] == {"clip2clip": 1e-4, "clip_fusion": 0.001}[kind]
    stepper.step(pairs(3))
    states = [stepper.optimizer.state[p] for p in stepper.model.parameters() if p.ndim == 2]
    assert all({"exp_avg_sq_row", "exp_avg_sq_col"} <= {*state} for state in states), "factored"


@pytest.mark.parametrize("shape", [(6, 4), (5,)])
def test_adafactor_takes_the_steps_of_its_paper(shape):
    """Shazeer & Stern, ICML 2018, algorithms 4 (matrices) and 5 (vectors), with 6's settings."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(shape, generator=generator)
    parameter = nn.Parameter(weight.clone())
    model = nn.Module()
    model.weight = parameter
    optimizer, expected = adafactor(model, Schedule(1, 0.01, 0)), weight.double()
    rows = columns = whole = torch.zeros(())
    for t in range(1, 6):
        gradient = torch.randn(shape, generator=generator)
        parameter.grad = gradient.clone()
        optimizer.step()
        beta, square = 1 - t**-0.8, gradient.double() ** 2 + 1e-30
        if len(shape) == 2:
            rows = beta * rows + (1 - beta) * square.sum(dim=1)
            columns = beta * columns + (1 - beta) * square.sum(dim=0)
            whole = torch.outer(rows, columns) / rows.sum()
        else:
            whole = beta * whole + (1 - beta) * square
        update = gradient.double() / whole.sqrt()
        update = update / max(1.0, float(update.square().mean().sqrt()))
        scale = max(1e-3, float(expected.square().mean().sqrt()))
        expected = expected - 0.01 * scale * update
        torch.testing.assert_close(parameter.detach().double(), expected, rtol=1e-4, atol=1e-6)


@EITHER
def test_a_shorter_training_warms_up_for_the_same_share_and_ends_at_the_same_rate(kind):
    recipe = WholeRecipe(steps=50, learning_rate=1e-2)
    schedule = KINDS[kind].of_spec({"kind": kind, "of": "clip", "train": recipe.spec()}).schedule
    assert rates(schedule)[round(50 * KINDS[kind].usual.warmup)] == pytest.approx(1e-2, rel=0.05)
    assert rates(schedule)[-1] == pytest.approx(1e-6)


@pytest.mark.parametrize("recipe", [{"layers": 3}, {"batch": 1}, {"steps": 0}])
def test_a_recipe_that_cannot_train_is_refused(recipe):
    with pytest.raises(BadParams):
        WholeRecipe.of_spec(recipe)


def test_weights_of_something_else_are_refused(tmp_path):
    (tmp_path / "w.safetensors").write_bytes(b"nothing")
    with pytest.raises(CorruptFile):
        load_multimodal(tmp_path / "w.safetensors")


@pytest.mark.parametrize("resize", ["squash", None])
def test_a_picture_is_resized_to_a_square_as_section_5_1_says_where_params_ask(resize):
    """Section 5.1: "We process all images in our dataset by resizing them to 224 x 224"."""
    with torch.random.fork_rng():
        clip = begin_listed("ViT-S-32-alt", None, resize).model
    picture = Image.fromarray(np.arange(60 * 40 * 3, dtype=np.uint8).reshape(40, 60, 3))
    square = np.asarray(cut_of(clip).cut(picture))
    assert square.shape == (224, 224, 3)
    whole = np.asarray(picture.resize((224, 224), Image.Resampling.BICUBIC))
    assert np.array_equal(square, whole) == (resize == "squash")
