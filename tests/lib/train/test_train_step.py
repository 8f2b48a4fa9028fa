"""A batch in parts, on several processes or after a kill teaches what the whole batch does."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import open_clip
import pytest
import torch
from tests import forkserver
from tests.models import train_of
from torch import nn

from isotope.core.errors import BadParams
from isotope.core.progress import logged
from isotope.models import open_clip as models_clip
from isotope.models.kinds._training import Resources
from isotope.models.kinds.clip2clip import Clip2Clip
from isotope.models.multimodal import create
from isotope.models.open_clip import standardised
from isotope.train import step
from isotope.train.clip import ClipBatches, ClipStepper, Tokens, tower_of
from isotope.train.data import Split
from isotope.train.loop import deterministic
from isotope.train.multimodal import MultimodalStepper
from isotope.train.step import Batch, Ranks, joined

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
ALONE = Ranks()
Gradients = dict[str, torch.Tensor]


@pytest.fixture(autouse=True)
def quick_clip(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "quick-clip.json").write_text(json.dumps(TINY))
    monkeypatch.setattr(models_clip, "CONFIGS", folder)


def clip(config: str = "quick-clip") -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if config == "quick-clip":
            return models_clip.create_custom(config)
        path = Path(models_clip.__file__).parent / f"{config}.json"
        open_clip.add_model_config(path)
        return open_clip.create_model(config)


def pairs(n: int, side: int = 16, context: int = 32) -> Batch:
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(1, 40_000, (n, context), generator=generator)
    tokens[:, -1] = 49_407
    return torch.rand((n, 3, side, side), generator=generator), tokens


Tune = Literal["both", "text", "vision"]


def means(**given: object) -> Resources:
    return Resources.of_spec(given)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch) -> str:
    """Where the models of a test are trained."""
    monkeypatch.setattr("isotope.train.clip.pick_device", lambda _: request.param)
    return request.param


def taught(model: nn.Module, batch: Batch, tune: Tune = "both", **given: object) -> Gradients:
    stepper = ClipStepper(model, train_of(tune=tune), means(**given), ALONE, 1)
    stepper.gradients(batch)
    return gradients(model)


def gradients(model: nn.Module) -> Gradients:
    return {n: p.grad.cpu().clone() for n, p in model.named_parameters() if p.grad is not None}


def by_hand(model: Any, batch: Batch) -> Gradients:
    """The textbook way: one graph, one loss, one backward."""
    images = model.encode_image(standardised(batch[0], model), normalize=True)
    texts = model.encode_text(batch[1], normalize=True)
    logits = model.logit_scale.exp() * images @ texts.T
    own = torch.arange(len(logits))
    loss = (
        nn.functional.cross_entropy(logits, own) + nn.functional.cross_entropy(logits.T, own)
    ) / 2
    loss.backward()
    return gradients(model)


def assert_close(ours: Gradients, theirs: Gradients) -> None:
    """Within 1e-5, or that share of the tensor's largest gradient where it is above 1."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        atol = 1e-5 * max(1.0, float(value.abs().max()))
        torch.testing.assert_close(ours[name], value, rtol=0, atol=atol, msg=name)
    assert max(float(g.abs().max()) for g in theirs.values()) > 1e-3, "gradients that say something"


@pytest.mark.parametrize("micro_batch", [None, 1, 7, 100])
@pytest.mark.usefixtures("device")
def test_gradients_of_a_cached_batch_are_those_of_the_whole(micro_batch):
    batch = pairs(24)
    with deterministic(0, 2):
        ours = taught(clip(), batch, micro_batch=micro_batch)
        assert_close(ours, by_hand(clip(), batch))


def test_a_batch_of_1024_is_learned_in_micro_batches_of_64():
    batch = pairs(1024)
    assert_close(taught(clip(), batch, micro_batch=64), by_hand(clip(), batch))


def test_caching_holds_no_more_activations_than_a_micro_batch_needs():
    def kept(micro_batch: int | None) -> int:
        most = held = 0

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal most, held
            held += tensor.numel()
            most = max(most, held)
            return tensor

        model = clip()
        original = model.encode_image

        def encode(*args: object, **kwargs: object) -> torch.Tensor:
            nonlocal held
            held = 0
            return original(*args, **kwargs)

        model.encode_image = encode
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            taught(model, pairs(64), micro_batch=micro_batch)
        return most

    assert kept(4) < kept(None) / 3


def test_batch_statistics_stay_as_they_came_where_a_batch_is_cached():
    batch, model = pairs(8, side=64, context=77), clip("tiny-clip")
    before = {n: b.clone() for n, b in model.named_buffers()}
    cached = taught(model, batch, micro_batch=2)
    assert all(torch.equal(b, before[n]) for n, b in model.named_buffers())
    assert_close(cached, by_hand(clip("tiny-clip").eval(), batch))


@pytest.mark.usefixtures("device")
def test_dropout_leaves_out_the_same_in_both_passes():
    model = clip()
    model.visual.ln_pre = nn.Dropout(0.5)
    batch = pairs(8)
    torch.manual_seed(3)
    stepper = ClipStepper(model, train_of(), means(micro_batch=4), ALONE, 1)
    seen: list[torch.Tensor] = []
    model.visual.ln_pre.register_forward_hook(lambda _m, _i, out: seen.append(out.detach().clone()))
    stepper.gradients(batch)
    first, again = seen[:2], seen[2:]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal((seen[0] == 0), (seen[1] == 0))


@pytest.mark.parametrize("micro_batch", [None, 4])
@pytest.mark.parametrize("tune", ["text", "vision"])
def test_the_other_tower_is_frozen_to_the_bit_and_this_one_learns(tune, micro_batch):
    model, batch = clip(), pairs(8)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    stepper = ClipStepper(model, train_of(tune=tune), means(micro_batch=micro_batch), ALONE, 9)
    for _ in range(2):
        stepper.step(batch)
    changed = {n for n, p in model.named_parameters() if not torch.equal(p, before[n])}
    assert "logit_scale" in changed
    assert {tower_of(n) for n in changed - {"logit_scale"}} == {tune}
    assert all(
        p.grad is None for n, p in model.named_parameters() if n not in ("logit_scale", *changed)
    )
    frozen = model.visual if tune == "text" else model.transformer
    assert not any(module.training for module in frozen.modules())


@pytest.mark.parametrize("tune", ["text", "vision"])
def test_one_towers_gradients_are_those_that_it_has_beside_the_other(tune):
    batch = pairs(12)
    own = {n for n, _ in clip().named_parameters() if n == "logit_scale" or tower_of(n) == tune}
    whole = {n: g for n, g in by_hand(clip(), batch).items() if n in own}
    assert_close(taught(clip(), batch, tune, micro_batch=5), whole)


@pytest.fixture
def precision(monkeypatch) -> Callable[[str], None]:
    """Sets the precision of products, whatever the device has."""

    def use(name: str) -> None:
        monkeypatch.setattr(step, "is_half", lambda _: name == "bf16")

    return use


@pytest.mark.usefixtures("device")
def test_half_precision_is_near_and_keeps_full_precision_weights(precision):
    batch, model = pairs(16), clip()
    precision("bf16")
    half = taught(model, batch, micro_batch=8)
    precision("fp32")
    full = taught(clip(), batch)
    off = max(float((half[n] - g).abs().max()) for n, g in full.items())
    largest = max(float(g.abs().max()) for g in full.values())
    assert 0 < off < 0.1 * largest
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def real(device: str) -> tuple[Any, Batch]:
    """On a GPU ViT-B-32 as it is published but for its weights; on the processor a small one."""
    if device == "cpu":
        return clip(), pairs(8)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return models_clip.create("ViT-B-32", None), pairs(64, side=224, context=77)


def weights_of(model: nn.Module) -> Gradients:
    return {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}


@pytest.mark.parametrize(("of_products", "means"), [("bf16", {}), ("fp32", {"micro_batch": 24})])
def test_a_training_goes_on_from_its_checkpoint_to_the_same_bits(
    tmp_path, device, precision, of_products, means
):
    """Two steps, a checkpoint, another process's model and two steps are four steps."""
    recipe = train_of()
    precision(of_products)

    def stepper() -> tuple[ClipStepper, Batch]:
        model, batch = real(device)
        return ClipStepper(model, recipe, Resources.of_spec(means), ALONE, 9), batch

    ends = []
    for stopped in (False, False, True):
        with deterministic(0, 2):
            trained, batch = stepper()
            for n in range(4):
                if stopped and n == 2:
                    torch.save(trained.state(), tmp_path / "state.pt")
                    trained, batch = stepper()
                    state = torch.load(tmp_path / "state.pt", "cpu", weights_only=True)
                    trained.restore(state)
                trained.step(batch)
        ends.append(weights_of(trained.model))
    for other in ends[1:]:
        assert all(torch.equal(value, other[name]) for name, value in ends[0].items())
    before = weights_of(real(device)[0])
    assert any(not torch.equal(value, before[name]) for name, value in ends[0].items())


def test_the_loss_of_one_batch_falls_in_half_precision(device, precision):
    model, batch = real(device)
    precision("bf16")
    recipe = train_of(learning_rate=1e-4 if device == "cuda" else 1e-2)
    with deterministic(0, 2):
        stepper = ClipStepper(model, recipe, means(), ALONE, 30)
        losses = [stepper.step(batch) for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]


def test_an_operation_without_a_deterministic_way_is_refused_by_name():
    """torch's own: two of the values put into one place, of which either may stay."""
    places = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(BadParams, match=r"models: train: put_.*CUDA_VISIBLE_DEVICES"):  # noqa: SIM117
        with deterministic(0, 1):
            torch.zeros(3).put_(places, torch.tensor([1.0, 2.0]))
    assert not torch.are_deterministic_algorithms_enabled()
    with pytest.raises(RuntimeError, match="shape"), deterministic(0, 1):
        torch.zeros(3).reshape(2)


@pytest.mark.gpu
def test_a_batch_that_a_gpu_does_not_hold_is_a_named_error_with_a_remedy(tmp_path, precision):
    precision("fp32")
    model, batch = real("cuda")
    stepper = ClipStepper(model, train_of(), means(), ALONE, 9)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 2**28) / total)
    try:
        with pytest.raises(SystemExit), logged(tmp_path / "log", "train_model"):
            stepper.step(batch)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert "GpuFull: train_model: CUDA out of memory" in (tmp_path / "log").read_text()
    assert "micro_batch" in (tmp_path / "log").read_text()
    stepper.step(tuple(side[:8] for side in batch))


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(BadParams, match="2 processes, 1 GPUs; use 1 or fewer"), joined():
        pass


def split_of(n: int) -> Split:
    block = np.random.default_rng(0).integers(0, 255, (n, 16, 16, 3)).astype(np.uint8)
    views = [([f"t{i}"], [(f"page {i}", "", "red ball " * i)]) for i in range(n)]
    return Split([f"i{i}" for i in range(n)], views, [[f"caption {i}"] for i in range(n)], block)


@pytest.mark.parametrize("world", [2, 3, 5])
def test_ranks_rows_together_are_the_batch(world):
    tokens, split, recipe = Tokens(open_clip.SimpleTokenizer()), split_of(22), train_of(batch=7)
    whole = list(ClipBatches(split, tokens, recipe).epoch())
    parts = [
        list(ClipBatches(split, tokens, recipe, Ranks(r, world)).epoch()) for r in range(world)
    ]
    for n, batch in enumerate(whole):
        for side in (0, 1):
            assert torch.equal(torch.cat([part[n][side] for part in parts]), batch[side])


def test_batches_go_on_in_the_middle_of_an_epoch_as_if_never_stopped():
    tokens, split, recipe = Tokens(open_clip.SimpleTokenizer()), split_of(20), train_of(batch=4)
    straight = ClipBatches(split, tokens, recipe)
    expected = [b for _ in range(2) for b in straight.epoch()]
    stopped = ClipBatches(split, tokens, recipe)
    seen = [batch for batch, _ in zip(stopped.epoch(), range(3), strict=False)]
    later = ClipBatches(split, tokens, train_of(batch=4, seed=99))
    later.restore(stopped.state())
    rest = [b for _ in range(2) for b in later.epoch()]
    assert len(seen) == 3
    for ours, theirs in zip(rest, expected[-len(rest) :], strict=True):
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


WORKER = """
import json, sys
from copy import deepcopy
from collections.abc import Callable
from pathlib import Path
import torch
from isotope.models import open_clip as models_clip
from isotope.models.multimodal import create
from isotope.models.kinds._training import Resources
from isotope.models.kinds.clip2clip import Clip2Clip
from isotope.models.kinds.trained import Train
from isotope.train.clip import ClipStepper
from isotope.train.multimodal import MultimodalStepper
from isotope.train.step import joined

folder = Path(sys.argv[1])
recipe = Train(batch=64, learning_rate=1e-3)
models_clip.CONFIGS = folder
torch.manual_seed(0)
model = models_clip.create_custom("quick-clip")
batch = torch.load(folder / "batch.pt", weights_only=True)
state = deepcopy(model.state_dict())
with joined() as ranks:
    rows = ranks.rows(len(batch[0]))
    for micro_batch in json.loads(sys.argv[2]):
        model.load_state_dict(state)
        model.zero_grad()
        stepper = ClipStepper(model, recipe, Resources(micro_batch=micro_batch), ranks, 1)
        loss = stepper.gradients([side[rows] for side in batch])
        grads = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
        torch.save([loss, grads], folder / f"rank{ranks.rank}-{micro_batch}.pt")
    model.load_state_dict(state)
    pair = create("clip2clip", model)
    stepper = MultimodalStepper(pair, Clip2Clip.usual, Resources(), ranks, 1)
    loss = stepper.gradients([side[rows] for side in [*batch, *(side.flip(0) for side in batch)]])
    grads = {n: p.grad for n, p in pair.named_parameters() if p.grad is not None}
    torch.save([loss, grads], folder / f"rank{ranks.rank}-multimodal.pt")
"""
MICRO_BATCHES = (None, 3)


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory) -> Path:
    """What two processes make of 13 pairs, in one part and in parts."""
    folder = tmp_path_factory.mktemp("ranks")
    torch.save(list(pairs(13)), folder / "batch.pt")
    (folder / "quick-clip.json").write_text(json.dumps(TINY))
    (folder / "worker.py").write_text(WORKER)
    torchrun(str(folder / "worker.py"), str(folder), json.dumps(MICRO_BATCHES))
    return folder


def test_two_processes_have_the_loss_and_gradients_of_one_with_words_on_pictures(two_processes):
    batch, model = pairs(13), create("clip2clip", clip())
    stepper = MultimodalStepper(model, Clip2Clip.usual, Resources(), ALONE, 1)
    loss = stepper.gradients((*batch, *(side.flip(0) for side in batch)))
    for rank in range(2):
        theirs = torch.load(two_processes / f"rank{rank}-multimodal.pt", weights_only=True)
        assert theirs[0] == pytest.approx(loss, abs=1e-6)
        assert_close(theirs[1], gradients(model))


@pytest.mark.parametrize("micro_batch", MICRO_BATCHES)
def test_two_processes_have_the_loss_and_gradients_of_one(two_processes, micro_batch):
    model = clip()
    stepper = ClipStepper(model, train_of(), Resources(), ALONE, 1)
    loss = stepper.gradients(pairs(13))
    for rank in range(2):
        theirs = torch.load(two_processes / f"rank{rank}-{micro_batch}.pt", weights_only=True)
        assert theirs[0] == pytest.approx(loss, abs=1e-6)
        assert_close(theirs[1], gradients(model))


def torchrun(*arguments: str) -> None:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *arguments]
    # A GPU that one process alone can have is not theirs.
    hidden = {"CUDA_VISIBLE_DEVICES": "", "PYTHON_EXEC": str(forkserver.stand_in("python"))}
    told = {**os.environ, **hidden}
    done = forkserver.run(["python", *command], cwd=Path.cwd(), env=told, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
