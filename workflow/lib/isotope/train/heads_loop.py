"""How the heads of a `lit` model learn: batches, CLIP's loss, the learning curve."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy

from isotope.models.lit import Heads
from isotope.params.heads_recipe import HeadsRecipe
from isotope.train.measure import mrr10

_WARMUP = 0.1
_HOTTEST = 100.0


class Features(NamedTuple):
    """A split's features: `images` [n, 1280], `texts` [t, 384] of distinct strings.

    `shown`: per image the rows of its texts; `said`: of its captions. `text_ids` names the rows of
    texts that are no captions.
    """

    image_ids: list[str]
    text_ids: list[str]
    images: torch.Tensor
    texts: torch.Tensor
    shown: list[list[int]]
    said: list[list[int]]


def fit(heads: Heads, train: Features, held_out: Features, recipe: HeadsRecipe) -> Iterator[str]:
    """Train `heads` in place and yield the lines of the curve.

    The loss is InfoNCE over in-batch negatives (Radford et al., CLIP, 2021, figure 3).
    """
    size = min(recipe.batch, len(train.image_ids))
    steps = recipe.epochs * (len(train.image_ids) // size)
    learner = torch.optim.AdamW(
        heads.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        learner, recipe.learning_rate, total_steps=steps + 1, pct_start=_WARMUP
    )
    for epoch in range(1, recipe.epochs + 1):
        heads.train()
        losses: list[float] = []
        for rows in torch.randperm(len(train.image_ids)).split(size)[: steps // recipe.epochs]:
            loss = _loss(heads, train, rows.tolist(), recipe)
            learner.zero_grad()
            loss.backward()
            learner.step()
            schedule.step()
            losses.append(loss.item())
        if epoch % recipe.every == 0 or epoch == recipe.epochs:
            numbers = (sum(losses) / len(losses), *measure(heads.eval(), held_out))
            told = ",".join(f"{number:.6f}" for number in numbers)
            yield f"{epoch},{epoch * len(losses)},{told}\n"


def _loss(heads: Heads, train: Features, rows: Sequence[int], recipe: HeadsRecipe) -> torch.Tensor:
    chosen = [_view(train, row, recipe.caption_rate) for row in rows]
    images = heads.of_images(train.images[list(rows)])
    scale = heads.logit_scale.exp().clamp(max=_HOTTEST)
    logits = scale * images @ heads.of_texts(train.texts[chosen]).T
    target = torch.arange(len(chosen))
    return (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2


def _view(train: Features, row: int, caption_rate: float) -> int:
    """Draw one of an image's captions or of its texts."""
    caption, which = torch.rand(2).tolist()
    views = train.said[row] if train.said[row] and caption < caption_rate else train.shown[row]
    return views[int(which * len(views))]


def measure(heads: Heads, split: Features) -> tuple[float, float]:
    """Return MRR@10 of t2m and of m2t on setting `small`; NaN where the split has no pairs."""
    if not split.image_ids:
        return float("nan"), float("nan")
    with torch.inference_mode():
        images = heads.of_images(split.images).numpy()
        texts = heads.of_texts(split.texts[: len(split.text_ids)]).numpy()
    shown_in = [{split.text_ids[row] for row in rows} for rows in split.shown]
    shows: list[set[str]] = [set() for _ in split.text_ids]
    for image_id, rows in zip(split.image_ids, split.shown, strict=True):
        for row in rows:
            shows[row].add(image_id)
    return (
        mrr10(texts, images, split.image_ids, shows),
        mrr10(images, texts, split.text_ids, shown_in),
    )
