"""One step of contrastive training: the loss of a whole batch, in parts and by several processes.

The loss is InfoNCE both ways (Radford et al., Learning Transferable Visual Models From Natural
Language Supervision, 2021, section 2.3 and figure 3). A batch may take as little memory as a
micro-batch: Gao et al., Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup
(GradCache, RepL4NLP 2021), embed all micro-batches without a graph, take the loss over the whole
batch and its gradient at the vectors, then embed each micro-batch again and push its part of that
gradient back.

Several processes may train one model: each embeds its rows, all of them see the whole batch. Every
rank computes the loss of the whole batch, so the gradient of its own vectors is complete, and
summing the towers' gradients over ranks gives that of one process.
"""

import datetime
import math
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from isotope.core.errors import BadParams
from isotope.models.kinds._training import Resources

Batch = tuple[torch.Tensor, ...]
Vectors = list[torch.Tensor]
# The paper clips the temperature so that logits are never scaled by more than 100.
_MAX_LOG_SCALE = math.log(100)
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

    def count(self, rows_of_rank: torch.Tensor) -> int:
        """Return the rows of the whole batch, given this rank's."""
        rows = torch.tensor(len(rows_of_rank), device=rows_of_rank.device)
        if self.world > 1:
            distributed.all_reduce(rows)
        return int(rows)

    def gather(self, rows_of_rank: torch.Tensor, n: int) -> torch.Tensor:
        """Return the rows [n, ...] of the whole batch from each rank's, without graph."""
        if self.world == 1:
            return rows_of_rank.detach().clone()
        gathered = torch.zeros(
            (n, *rows_of_rank.shape[1:]), dtype=rows_of_rank.dtype, device=rows_of_rank.device
        )
        gathered[self.rows(n)] = rows_of_rank.detach()
        # A sum of disjoint rows is exact, and unlike all_gather takes parts of unequal size.
        distributed.all_reduce(gathered)
        return gathered

    def sum_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replace the gradients of all ranks by their sum, in one message."""
        if self.world == 1:
            return
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
        flat = torch.cat([grad.flatten() for grad in grads])
        distributed.all_reduce(flat)
        parts = flat.split([grad.numel() for grad in grads])
        for parameter, grad, part in zip(parameters, grads, parts, strict=True):
            # Not a view: the fused AdamW takes a gradient to lie in memory as its parameter does.
            parameter.grad = grad.copy_(part.view_as(grad))

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
    """Join the processes that torchrun started, if it did: NCCL on GPUs, else gloo.

    Raises:
        BadParams: more processes than GPUs, of which NCCL gives each one.
    """
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Ranks()
        return
    if torch.cuda.is_available():
        if world > (gpus := torch.cuda.device_count()):
            remedy = f"use {gpus} or fewer, or hide the GPUs with CUDA_VISIBLE_DEVICES="
            raise BadParams("models: train.processes", f"{world} processes, {gpus} GPUs", remedy)
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield Ranks(distributed.get_rank(), world)
    finally:
        distributed.destroy_process_group()


class Stepper:
    """Model, optimizer and schedule, moved together one batch at a time.

    A subclass says what is learned: it must have `embed` and `prepare`, and may have `learns`,
    `same` and `clip`. The model has a parameter `logit_scale`, the logarithm of the temperature.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        recipe: Any,  # noqa: ANN401
        resources: Resources,
        ranks: Ranks,
        total: int,
    ) -> None:
        """Prepare `total` steps of `recipe`, on the device where the model is."""
        self.model = model
        self.device = next(model.parameters()).device
        self.half = is_half(self.device)
        self._resources, self._ranks = resources, ranks
        self.optimizer, self.schedule = self.prepare(recipe, total)

    def prepare(self, recipe: Any, total: int) -> tuple[Optimizer, LRScheduler]:  # noqa: ANN401
        """Return the optimizer of what learns, and the schedule of its rate over `total` steps."""
        raise NotImplementedError

    def embed(self, piece: Batch) -> Vectors:
        """Return the float32 vectors [n, dim] of both sides of some rows of a batch."""
        raise NotImplementedError

    def learns(self, name: str) -> bool:
        """Return whether the module of this name learns."""
        return True

    def same(self, batch: Batch) -> torch.Tensor | None:
        """Return int64 [n], equal where rows have the same target, which are no negatives then."""
        return None

    def clip(self) -> None:
        """Change the gradients of a batch before the optimizer sees them."""

    def step(self, batch: Batch) -> float:
        """Learn from this rank's rows of a batch; return the loss of the whole batch.

        Raises:
            BadParams: a loss that is no number.
        """
        self.optimizer.zero_grad()
        loss = self.gradients(batch)
        self.clip()
        self.optimizer.step()
        self.schedule.step()
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, _MAX_LOG_SCALE)
        if not math.isfinite(loss):
            raise BadParams("models: train", f"the loss became {loss}", "lower learning_rate")
        return loss

    def gradients(self, batch: Batch) -> float:
        """Set the gradients of the whole batch's loss, given this rank's rows; return the loss."""
        batch = tuple(tensor.to(self.device) for tensor in batch)
        pieces = self._pieces(batch)
        is_one_piece = len(pieces) == 1
        self._set_modes(whole_batch=is_one_piece and self._ranks.world == 1)
        states: list[torch.Tensor] = []
        vectors: list[Vectors] = []
        for piece in pieces:
            states.append(_random_state(self.device))
            with torch.set_grad_enabled(is_one_piece):
                vectors.append(self.embed(piece))
        sides = (
            vectors[0]
            if is_one_piece
            else [torch.cat(parts) for parts in zip(*vectors, strict=True)]
        )
        loss, grads = self._loss_at(sides, self.same(batch))
        if is_one_piece:
            _push(sides, grads)
        else:
            self._replay(pieces, states, grads)
        self._ranks.sum_gradients([p for p in self.learned() if p is not self.model.logit_scale])
        return loss

    def learned(self) -> list[torch.nn.Parameter]:
        """Return the parameters that have a gradient."""
        return [p for p in self.model.parameters() if p.grad is not None]

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to take the next step as if nothing had come between."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": _random_state(self.device),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to what `state` returned for the same model and recipe."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        _set_random_state(self.device, state["random"])

    def _pieces(self, batch: Batch) -> list[Batch]:
        size = self._resources.micro_batch or len(batch[0])
        return list(zip(*(tensor.split(size) for tensor in batch), strict=True))

    def _set_modes(self, *, whole_batch: bool) -> None:
        """Put what learns in training mode and the rest in evaluation mode.

        Batch statistics of a part are not those of the whole, so where a batch is computed in parts
        BatchNorm keeps the statistics it came with.
        """
        for name, module in self.model.named_modules():
            norm = isinstance(module, torch.nn.modules.batchnorm._BatchNorm)  # pyright: ignore[reportPrivateUsage]
            module.training = self.learns(name) and (whole_batch or not norm)

    def _loss_at(self, vectors: Vectors, same: torch.Tensor | None) -> tuple[float, Vectors]:
        """Return the whole batch's loss, and its gradient at this rank's vectors."""
        n = self._ranks.count(vectors[0])
        leaves = [self._ranks.gather(side, n).requires_grad_() for side in vectors]
        targets = None if same is None else self._ranks.gather(same, n)
        loss = info_nce(leaves[0], leaves[1], self.model.logit_scale.exp(), targets)
        loss.backward()
        mine = self._ranks.rows(n)
        return loss.item(), [_gradient(leaf)[mine] for leaf in leaves]

    def _replay(self, pieces: list[Batch], states: list[torch.Tensor], grads: Vectors) -> None:
        after = _random_state(self.device)
        parts = zip(*(grad.split(len(pieces[0][0])) for grad in grads), strict=True)
        for piece, state, part in zip(pieces, states, parts, strict=True):
            # Dropout must leave out in the second pass what it left out in the first.
            _set_random_state(self.device, state)
            _push(self.embed(piece), part)
        _set_random_state(self.device, after)


def info_nce(
    left: torch.Tensor, right: torch.Tensor, scale: torch.Tensor, same: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the mean of both cross entropies of vectors [n, dim] that belong together row by row.

    Rows i and j with `same[i] == same[j]` (int64 [n]) are no negatives of each other.
    """
    logits = [scale * left @ right.T, scale * right @ left.T]
    if same is not None:
        other = torch.eye(len(same), dtype=torch.bool, device=same.device).logical_not()
        twins = (same[:, None] == same[None, :]) & other
        logits = [row_logits.masked_fill(twins, -math.inf) for row_logits in logits]
    targets = torch.arange(len(left), device=left.device)
    return (cross_entropy(logits[0], targets) + cross_entropy(logits[1], targets)) / 2


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


def is_half(device: torch.device) -> bool:
    """Tell whether the towers' products are in bf16: on a GPU that supports it.

    Weights, loss and optimizer stay in single precision; `docs/train.md` has the difference.
    """
    return device.type == "cuda" and torch.cuda.is_bf16_supported()
