"""The loop of contrastive training: epochs of steps, measured on validation, checkpointed."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from isotope.core.errors import BadParams
from isotope.core.progress import Progress, log
from isotope.params.recipes import Means
from isotope.train.batches import Batches, Epochs, Tokens, standardised, unit
from isotope.train.checkpoint import Checkpoint
from isotope.train.data import Split
from isotope.train.pictures import Decoded
from isotope.train.ranks import Ranks
from isotope.train.step import Stepper

_DEPTH = 10
_BATCH = 256
_QUERIES = 1_024
Vectors = npt.NDArray[np.float32]


def measure(model: Any, split: Split, tokens: Tokens) -> tuple[float, float]:  # noqa: ANN401
    """Return MRR@10 of t2m and of m2t on setting `small`; NaN where the split has no pairs."""
    if not len(split):
        return float("nan"), float("nan")
    fields = {t: f for ids, views in split.views for t, f in zip(ids, views, strict=True)}
    device = next(model.parameters()).device
    model.eval()
    images = _blocks(
        lambda rows: model.encode_image(standardised(unit(rows).to(device), model), normalize=True),
        split.pixels,
    )
    texts = _blocks(
        lambda rows: model.encode_text(torch.from_numpy(rows).to(device), normalize=True),
        np.stack([tokens.row(f) for f in fields.values()]),
    )
    shown_in = [set(ids) for ids, _ in split.views]
    image_ids = list(split.image_ids)
    shows: dict[str, set[str]] = {text_id: set() for text_id in fields}
    for image_id, text_ids in zip(image_ids, shown_in, strict=True):
        for text_id in text_ids:
            shows[text_id].add(image_id)
    return (
        mrr10(texts, images, image_ids, list(shows.values())),
        mrr10(images, texts, list(fields), shown_in),
    )


def _blocks(encode: Callable[[Any], torch.Tensor], rows: npt.NDArray[Any] | Decoded) -> Vectors:
    with torch.inference_mode():
        blocks = [encode(rows[i : i + _BATCH]).float().cpu() for i in range(0, len(rows), _BATCH)]
    return torch.cat(blocks).numpy()


def mrr10(
    queries: Vectors,
    documents: Vectors,
    doc_ids: Sequence[str],
    relevant: Sequence[Collection[str]],
) -> float:
    """Mean reciprocal rank at 10 of vectors [q, dim] against [d, dim] by inner product.

    Ties go to the greater doc_id, which is trec_eval's rule.
    """
    descending = np.argsort(np.array(doc_ids))[::-1]
    ordered = documents[descending].T
    blocks = (queries[i : i + _QUERIES] @ ordered for i in range(0, len(queries), _QUERIES))
    best = (row for block in blocks for row in _best(block))
    values = [
        _reciprocal([doc_ids[int(descending[d])] for d in row], known)
        for row, known in zip(best, relevant, strict=True)
    ]
    return float(np.mean(values))


def _best(scores: Vectors) -> npt.NDArray[np.int64]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :_DEPTH]


def _reciprocal(ranking: Sequence[str], relevant: Collection[str]) -> float:
    ranks = (rank for rank, doc_id in enumerate(ranking, 1) if doc_id in relevant)
    return 1.0 / next(ranks, float("inf"))


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

    recipe: Any
    means: Means
    ranks: Ranks
    checkpoint: Checkpoint


def fit(model: Any, batches: Batches, validation: Split, plan: Plan) -> list[Point]:  # noqa: ANN401
    """Train `model` in place; return a point of every few epochs and of the last.

    Raises:
        BadParams: a batch too small for the processes, or a loss that is no number.
    """
    total = plan.recipe.total(batches.per_epoch)
    stepper = Stepper(model, plan.recipe, plan.means, plan.ranks, total)
    return _Epochs(stepper, batches, plan, lambda: measure(model, validation, batches.tokens)).run()


class Loop:
    """Steps over epochs of batches, checkpointed; a subclass says when it measures.

    `point` is the named tuple of a measurement: epoch, step and mean loss, then what is measured.
    """

    point: Any

    def __init__(
        self, stepper: Stepper, batches: Epochs, plan: Plan, gauge: Callable[[], Sequence[float]]
    ) -> None:
        """Prepare to step; `gauge` measures on validation, after epoch, step and mean loss."""
        self.stepper, self.plan, self._batches, self._gauge = stepper, plan, batches, gauge
        self.total = plan.recipe.total(batches.per_epoch)
        self.number, self.losses = 1, list[float]()
        self.points: list[Any] = []
        self.progress = Progress("training steps", self.total)

    def run(self) -> list[Any]:
        """Go on from the checkpoint, if there is one, to the end; return what was measured.

        Raises:
            BadParams: a batch too small for the processes, or a loss that is no number.
        """
        if self._batches.size < self.plan.ranks.world:
            found = f"a batch of {self._batches.size} for {self.plan.ranks.world} processes"
            raise BadParams("models: train", found, "use fewer processes")
        self._resume()
        over = False
        while not over:
            for batch in self._remaining():
                self.losses.append(self.stepper.step(batch))
                self.progress.add()
                self.stepped()
                self._save_sometimes()
            over = self.passed()
            self.number += 1
        self.progress.finish()
        return self.points

    def stepped(self) -> None:
        """Do what a step is followed by, before the checkpoint."""

    def passed(self) -> bool:
        """Do what an epoch is followed by; return whether it was the last."""
        return self.progress.done >= self.total

    def measure(self) -> None:
        """Add a point to the curve, on the first rank."""
        if self.plan.ranks.first:
            mean = sum(self.losses) / len(self.losses)
            head = self.number, self.progress.done, mean
            self.points.append(self.point(*head, *self._gauge()))
            named = self.points[-1]._asdict().items()
            log.info(", ".join(f"{name} {value:.6g}" for name, value in named))

    def _resume(self) -> None:
        state = self.plan.checkpoint.restore(self.stepper, self._batches)
        if state is not None:
            self.number, self.losses = state["epoch"], state["losses"]
            self.points = [self.point(*row) for row in state["points"]]
            self.progress.done = state["step"]
            log.info("resumed after step %d", self.progress.done)

    def _remaining(self) -> Iterator[Any]:
        for batch in self._batches.epoch() if self.progress.done < self.total else ():
            yield batch
            if self.progress.done >= self.total:
                return

    def _save_sometimes(self) -> None:
        every = self.plan.means.checkpoint_every
        if every is None or self.progress.done % every or not self.plan.ranks.first:
            return
        state = {"epoch": self.number, "losses": self.losses, "step": self.progress.done}
        rows = [tuple(point) for point in self.points]
        self.plan.checkpoint.save(self.stepper, self._batches, {**state, "points": rows})


class _Epochs(Loop):
    """Measures after every few epochs, and may stop after one that came too late."""

    point = Point

    def __init__(self, *given: Any) -> None:  # noqa: ANN401
        super().__init__(*given)
        self._started = time.monotonic()

    def passed(self) -> bool:
        recipe, last = self.plan.recipe, super().passed()
        late = recipe.limit_s is not None and time.monotonic() - self._started > recipe.limit_s
        late = self.plan.ranks.agree(yes=late)
        if late or last or self.number % recipe.every == 0:
            self.measure()
        if late:
            log.warning(
                "limit_s reached after epoch %d: these weights depend on speed", self.number
            )
        self.losses = []
        return late or last
