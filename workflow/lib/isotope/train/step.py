"""One step of contrastive training, in as little memory as a micro-batch needs.

Gao et al., Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup (GradCache,
RepL4NLP 2021): embed all micro-batches without a graph, take the loss over the whole batch and its
gradient at the vectors, then embed each micro-batch again and push its part of that gradient back.
"""

import datetime
import math
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import open_clip
import torch
from torch import distributed

from isotope.core.errors import BadParams
from isotope.models.open_clip import pick_device, standardised
from isotope.params.recipes import Means, Recipe
from isotope.train.clip import Batch

# A rank waits this long for another, which may be measuring or writing a checkpoint.
_PATIENCE = datetime.timedelta(hours=2)


@dataclass(frozen=True)
class Ranks:
    """This process among those that share a batch; `alone` by default."""

    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Whether this rank measures and writes."""
        return self.rank == 0

    def rows(self, n: int) -> slice:
        """Return this rank's rows of a batch of n: contiguous, all n covered, in order."""
        return slice(n * self.rank // self.world, n * (self.rank + 1) // self.world)

    def count(self, own: torch.Tensor) -> int:
        """Return the rows of the whole batch, given this rank's."""
        rows = torch.tensor(len(own), device=own.device)
        if self.world > 1:
            distributed.all_reduce(rows)
        return int(rows)

    def gather(self, own: torch.Tensor, n: int) -> torch.Tensor:
        """Return the vectors [n, dim] of the whole batch from each rank's rows, without graph."""
        if self.world == 1:
            return own.detach().clone()
        whole = torch.zeros((n, own.shape[1]), dtype=own.dtype, device=own.device)
        whole[self.rows(n)] = own.detach()
        # A sum of disjoint rows is exact, and unlike all_gather takes parts of unequal size.
        distributed.all_reduce(whole)
        return whole

    def sum_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replace the gradients of all ranks by their sum, in one message."""
        if self.world == 1:
            return
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
        flat = torch.cat([grad.flatten() for grad in grads])
        distributed.all_reduce(flat)
        parts = flat.split([grad.numel() for grad in grads])
        for parameter, grad, part in zip(parameters, grads, parts, strict=True):
            parameter.grad = part.view_as(grad)

    def wait(self) -> None:
        """Wait until every rank has come here."""
        if self.world > 1:
            distributed.barrier()

    def agree(self, *, yes: bool) -> bool:
        """Return the first rank's answer on all of them; clocks differ."""
        if self.world == 1:
            return yes
        answer = [yes]
        distributed.broadcast_object_list(answer)
        return answer[0]


@contextmanager
def joined() -> Generator[Ranks]:
    """Join the processes that torchrun started, if it did: NCCL on GPUs, else gloo."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Ranks()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield Ranks(distributed.get_rank(), world)
    finally:
        distributed.destroy_process_group()


_SHARED = frozenset({"logit_scale", "logit_bias"})


def freeze(model: Any, tune: str) -> None:  # noqa: ANN401
    """Let only the tower `tune` (`text`, `vision` or `both`) and the temperature learn.

    Locked-image tuning and its mirror: Zhai et al., LiT (CVPR 2022), section 3.
    """
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in _SHARED or tune in ("both", tower_of(name)))


def tower_of(name: str) -> str:
    """Return the tower that a parameter or module of an open_clip model belongs to."""
    return "vision" if name.partition(".")[0] == "visual" else "text"


def learning(model: Any, tune: str, *, whole_batch: bool) -> None:  # noqa: ANN401
    """Put the tower that learns in training mode and the other in evaluation mode.

    Batch statistics of a part are not those of the whole, so where a batch is computed in parts
    BatchNorm keeps the statistics it came with.
    """
    for name, module in model.named_modules():
        mode = tune in ("both", tower_of(name))
        norm = isinstance(module, torch.nn.modules.batchnorm._BatchNorm)  # pyright: ignore[reportPrivateUsage]
        module.training = mode and (whole_batch or not norm)


_BETAS = (0.9, 0.98)
_MAX_NORM = 1.0
Vectors = list[torch.Tensor]
Share = Callable[[int], float]
# The paper clips the temperature so that logits are never scaled by more than 100.
_MAX_LOG_SCALE = math.log(100)


class Stepper:
    """Model, optimizer and schedule, moved together one batch at a time."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        recipe: Any,  # noqa: ANN401
        means: Means,
        ranks: Ranks,
        total: int,
    ) -> None:
        """Prepare `total` steps of `recipe`; the model moves to the GPU when there is one."""
        self._device = torch.device(pick_device("auto"))
        self._model: Any = model.to(self._device)
        self._means, self._ranks, self._tune = means, ranks, recipe.tune
        self._half = _half(means.precision, self._device)
        self._loss = open_clip.ClipLoss()
        self.optimizer, share = self._optimizer(recipe, total)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, share)

    def step(self, batch: Batch) -> float:
        """Learn from this rank's rows of a batch; return the loss of the whole batch.

        Raises:
            BadParams: a loss that is no number.
        """
        self.optimizer.zero_grad()
        loss = self.gradients(batch)
        self._clip()
        self.optimizer.step()
        self.schedule.step()
        with torch.no_grad():
            self._model.logit_scale.clamp_(0, _MAX_LOG_SCALE)
        return _demand_number(loss)

    def gradients(self, batch: Batch) -> float:
        """Set the gradients of the whole batch's loss, given this rank's rows; return the loss."""
        pieces = self._pieces(batch)
        whole = len(pieces) == 1
        learning(self._model, self._tune, whole_batch=whole and self._ranks.world == 1)
        states: list[torch.Tensor] = []
        vectors: list[Vectors] = []
        for piece in pieces:
            states.append(_random_state(self._device))
            with torch.set_grad_enabled(whole):
                vectors.append(self._embed(piece))
        sides = vectors[0] if whole else [torch.cat(parts) for parts in zip(*vectors, strict=True)]
        loss, grads = self._loss_at(sides)
        if whole:
            _push(sides, grads)
        else:
            self._replay(pieces, states, grads)
        self._ranks.sum_gradients([p for p in self._learning() if p is not self._model.logit_scale])
        return loss

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to take the next step as if nothing had come between."""
        return {
            "model": self._model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": _random_state(self._device),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to what `state` returned for the same model and recipe."""
        self._model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        _set_random_state(self._device, state["random"])

    def _optimizer(self, recipe: Any, total: int) -> tuple[torch.optim.Optimizer, Share]:  # noqa: ANN401
        """Choose what learns, by which optimizer, and the share of its rate after each step."""
        freeze(self._model, recipe.tune)
        warmup = round(recipe.warmup * total)
        return _adamw(self._model, recipe), lambda done: rate(done, warmup, total)

    def _clip(self) -> None:
        torch.nn.utils.clip_grad_norm_(self._learning(), _MAX_NORM)

    def _pieces(self, batch: Batch) -> list[Batch]:
        size = self._means.micro_batch or len(batch[0])
        parts = (tensor.to(self._device).split(size) for tensor in batch)
        return list(zip(*parts, strict=True))

    def _embed(self, piece: Batch) -> Vectors:
        """Return the vectors of both sides, with a graph for the towers that learn."""
        pictures, tokens = piece
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._half):
            with torch.set_grad_enabled(torch.is_grad_enabled() and self._tune != "text"):
                given = standardised(pictures, self._model)
                of_pictures = self._model.encode_image(given, normalize=True)
            with torch.set_grad_enabled(torch.is_grad_enabled() and self._tune != "vision"):
                of_texts = self._model.encode_text(tokens, normalize=True)
        return [of_pictures.float(), of_texts.float()]

    def _loss_at(self, own: Vectors) -> tuple[float, Vectors]:
        """Return the whole batch's loss, and its gradient at this rank's vectors."""
        n = self._ranks.count(own[0])
        leaves = [self._ranks.gather(side, n).requires_grad_() for side in own]
        loss = self._loss(*leaves, self._model.logit_scale.exp())
        loss.backward()
        mine = self._ranks.rows(n)
        return loss.item(), [_gradient(leaf)[mine] for leaf in leaves]

    def _replay(self, pieces: list[Batch], states: list[torch.Tensor], grads: Vectors) -> None:
        after = _random_state(self._device)
        parts = zip(*(grad.split(len(pieces[0][0])) for grad in grads), strict=True)
        for piece, state, part in zip(pieces, states, parts, strict=True):
            # Dropout must leave out in the second pass what it left out in the first.
            _set_random_state(self._device, state)
            _push(self._embed(piece), part)
        _set_random_state(self._device, after)

    def _learning(self) -> list[torch.nn.Parameter]:
        return [p for p in self._model.parameters() if p.grad is not None]


def _push(vectors: Sequence[torch.Tensor], grads: Sequence[torch.Tensor]) -> None:
    pairs = [(v, g) for v, g in zip(vectors, grads, strict=True) if v.requires_grad]
    torch.autograd.backward([v for v, _ in pairs], [g for _, g in pairs])


def _gradient(leaf: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def _random_state(device: torch.device) -> torch.Tensor:
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def _set_random_state(device: torch.device, state: torch.Tensor) -> None:
    if device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    else:
        torch.set_rng_state(state)


def _half(precision: str, device: torch.device) -> bool:
    if precision == "auto":
        return device.type == "cuda" and torch.cuda.is_bf16_supported()
    return precision == "bf16"


def _adamw(model: torch.nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=_BETAS, fused=True)


def rate(done: int, warmup: int, total: int) -> float:
    """Return the share of the learning rate after `done` steps: a line up, half a cosine down."""
    if done < warmup:
        return (done + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (done - warmup) / max(total - warmup, 1)))


def _demand_number(loss: float) -> float:
    if not math.isfinite(loss):
        raise BadParams("models: train", f"the loss became {loss}", "lower learning_rate")
    return loss
