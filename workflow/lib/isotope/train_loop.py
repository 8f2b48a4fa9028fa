"""The loop of contrastive training: AdamW, warm-up, cosine decay, measured on validation."""

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import open_clip
import torch

from isotope.errors import BadParams
from isotope.models_clip import pick_device
from isotope.progress import Progress, log
from isotope.train_batches import Batch, Batches, standardised
from isotope.train_data import Split
from isotope.train_measure import measure
from isotope.train_recipe import Recipe

_BETAS = (0.9, 0.98)
_MAX_NORM = 1.0
# The paper clips the temperature so that logits are never scaled by more than 100.
_MAX_LOG_SCALE = math.log(100)


class Point(NamedTuple):
    """One row of the learning curve; `loss` is the mean over its epoch."""

    epoch: int
    step: int
    loss: float
    mrr10_t2m: float
    mrr10_m2t: float


def fit(model: Any, batches: Batches, validation: Split, recipe: Recipe) -> Iterator[Point]:  # noqa: ANN401
    """Train `model` in place; yield a point every few epochs and after the last."""
    stepper = _Stepper(model, recipe, batches.per_epoch)
    progress = Progress("training steps", recipe.epochs * batches.per_epoch)
    started = time.monotonic()
    for epoch in range(1, recipe.epochs + 1):
        losses: list[float] = []
        for batch in batches.epoch():
            losses.append(stepper.step(batch))
            progress.add()
        late = recipe.limit_s is not None and time.monotonic() - started > recipe.limit_s
        if late or epoch == recipe.epochs or epoch % recipe.every == 0:
            measured = measure(model, validation, batches.tokens)
            point = Point(epoch, progress.done, sum(losses) / len(losses), *measured)
            log.info("epoch %d, step %d: loss %.3f, MRR@10 t2m %.3f, m2t %.3f", *point)
            yield point
        if late:
            log.warning("limit_s reached after epoch %d: these weights depend on speed", epoch)
            break
    progress.finish()


class _Stepper:
    def __init__(self, model: Any, recipe: Recipe, per_epoch: int) -> None:  # noqa: ANN401
        self._device = torch.device(pick_device("auto"))
        self._model: Any = model.to(self._device)
        self._loss = open_clip.ClipLoss()
        self._optimizer = _optimizer(model, recipe)
        total = recipe.epochs * per_epoch
        warmup = round(recipe.warmup * total)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda done: rate(done, warmup, total)
        )

    def step(self, batch: Batch) -> float:
        pictures, tokens = (tensor.to(self._device) for tensor in batch)
        self._model.train()
        self._optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=self._device.type == "cuda"):
            image_vectors = self._model.encode_image(
                standardised(pictures, self._model), normalize=True
            )
            text_vectors = self._model.encode_text(tokens, normalize=True)
            loss = self._loss(image_vectors, text_vectors, self._model.logit_scale.exp())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), _MAX_NORM)
        self._optimizer.step()
        self._schedule.step()
        with torch.no_grad():
            self._model.logit_scale.clamp_(0, _MAX_LOG_SCALE)
        return _demand_number(loss.item())


def _optimizer(model: torch.nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
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
