"""The loop of contrastive training: epochs of steps, measured on validation, checkpointed."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from isotope.errors import BadParams
from isotope.progress import Progress, log
from isotope.train_batches import Batches
from isotope.train_checkpoint import Checkpoint
from isotope.train_data import Split
from isotope.train_measure import measure
from isotope.train_ranks import Ranks
from isotope.train_recipe import Means, Recipe
from isotope.train_step import Stepper


class Point(NamedTuple):
    """One row of the learning curve; `loss` is the mean over its epoch."""

    epoch: int
    step: int
    loss: float
    mrr10_t2m: float
    mrr10_m2t: float


@dataclass(frozen=True)
class Plan:
    """What training follows: the recipe, the means, the processes and the place to resume from."""

    recipe: Recipe
    means: Means
    ranks: Ranks
    checkpoint: Checkpoint


def fit(model: Any, batches: Batches, validation: Split, plan: Plan) -> list[Point]:  # noqa: ANN401
    """Train `model` in place; return a point of every few epochs and of the last.

    Raises:
        BadParams: a batch too small for the processes, or a loss that is no number.
    """
    if batches.size < plan.ranks.world:
        found = f"a batch of {batches.size} for {plan.ranks.world} processes"
        raise BadParams("models: train", found, "use fewer processes")
    loop = _Loop(model, batches, validation, plan)
    loop.resume()
    while not loop.over:
        loop.epoch()
    loop.progress.finish()
    return loop.points


class _Loop:
    def __init__(self, model: Any, batches: Batches, validation: Split, plan: Plan) -> None:  # noqa: ANN401
        self._model, self._batches, self._validation, self._plan = model, batches, validation, plan
        self._total = plan.recipe.total(batches.per_epoch)
        self._stepper = Stepper(model, plan.recipe, plan.means, plan.ranks, self._total)
        self._epoch, self._losses, self._saved = 1, list[float](), 0
        self._started = time.monotonic()
        self.points: list[Point] = []
        self.progress = Progress("training steps", self._total)
        self.over = False

    def resume(self) -> None:
        state = self._plan.checkpoint.restore(self._stepper, self._batches)
        if state is not None:
            self._epoch, self._losses = state["epoch"], state["losses"]
            self.points = [Point(*row) for row in state["points"]]
            self.progress.done = self._saved = state["step"]
            log.info("resumed after step %d", self._saved)

    def epoch(self) -> None:
        for batch in self._remaining():
            self._losses.append(self._stepper.step(batch))
            self.progress.add()
            self._save_sometimes()
        recipe, last = self._plan.recipe, self.progress.done >= self._total
        late = recipe.limit_s is not None and time.monotonic() - self._started > recipe.limit_s
        late = self._plan.ranks.agree(yes=late)
        if late or last or self._epoch % recipe.every == 0:
            self._measure()
        if late:
            log.warning(
                "limit_s reached after epoch %d: these weights depend on speed", self._epoch
            )
        self.over = late or last
        self._epoch, self._losses = self._epoch + 1, []

    def _remaining(self) -> Iterator[Any]:
        for batch in self._batches.epoch() if self.progress.done < self._total else ():
            yield batch
            if self.progress.done >= self._total:
                return

    def _save_sometimes(self) -> None:
        every = self._plan.means.checkpoint_every
        if every is None or self.progress.done % every or not self._plan.ranks.first:
            return
        state = {"epoch": self._epoch, "losses": self._losses, "step": self.progress.done}
        rows = [tuple(point) for point in self.points]
        self._plan.checkpoint.save(self._stepper, self._batches, {**state, "points": rows})

    def _measure(self) -> None:
        if self._plan.ranks.first:
            measured = measure(self._model, self._validation, self._batches.tokens)
            mean = sum(self._losses) / len(self._losses)
            point = Point(self._epoch, self.progress.done, mean, *measured)
            log.info("epoch %d, step %d: loss %.3f, MRR@10 t2m %.3f, m2t %.3f", *point)
            self.points.append(point)
