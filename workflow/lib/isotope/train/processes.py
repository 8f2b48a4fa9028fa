"""Several processes train one model: each embeds its rows, all of them see the whole batch.

Every rank computes the loss of the whole batch, so the gradient of its own vectors is complete, and
summing the towers' gradients over ranks gives that of one process.
"""

import datetime
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import distributed

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
