"""Learn a mix on the split `train`: contrastive within the batch, the towers frozen."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

from isotope.core.errors import EmptyTable
from isotope.core.store import aside
from isotope.models.mix import FourWays, Frozen, Fusion, Pairs, best_weights, create, sample, scale
from isotope.params.recipes import MixRecipe

_COLUMNS = "epoch,step,loss,accuracy\n"
_LEAST_PAIRS = 2


def learn_mix(
    *,
    spec: Mapping[str, Any],
    qrels: Path,
    inputs: Mapping[str, Sequence[Path]],
    weights: Path,
    curve: Path,
) -> None:
    """Learn what `spec` (params `models.<model>`) describes over the vectors `inputs` (`Frozen`).

    `weights` gets safetensors with the recipe in the metadata; `curve` a CSV of epoch, step, loss,
    and accuracy among the texts of validation's pairs. Same input, seed and machine, same bytes.

    Raises:
        BadParams: see `MixRecipe.of`.
        EmptyTable: fewer than two training pairs.
    """
    recipe, frozen = MixRecipe.of(spec), Frozen(inputs)
    train, held_out = (frozen.pairs(qrels, split) for split in ("train", "validation"))
    if len(train) < _LEAST_PAIRS:
        found = f"{len(train)} pairs in split train"
        raise EmptyTable(qrels, found, "collect the training files, or leave this model out")
    notes = {"kind": spec["kind"], "dim": frozen.dim, **recipe.values()}
    before = torch.get_num_threads()
    torch.set_num_threads(recipe.threads)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(recipe.seed)
            if spec["kind"] == "clip2clip":
                notes["weights"] = best_start(frozen, train, recipe)
            mix = create(spec["kind"], notes)
            lines = list(fit(mix, frozen, train, held_out, recipe))
    finally:
        torch.set_num_threads(before)
    with aside(curve) as part:
        part.write_text(_COLUMNS + "".join(lines))
    with aside(weights) as part:
        save_file(mix.state_dict(), part, {"isotope": json.dumps(notes, sort_keys=True)})


def best_start(frozen: Frozen, train: Pairs, recipe: MixRecipe) -> list[float]:
    """Return the four weights, multiples of `step` that add up to 1, that find most texts.

    The candidates are the texts of a sample of the training pairs; the first of equals wins.
    """
    some = sample(train, recipe.sample)
    texts, right = np.unique(some.texts, return_inverse=True)
    words, pictures = frozen.texts(texts)
    images, questions = frozen.queries(some.queries)
    four = [a @ b.T for a in (images, questions) for b in (pictures, words)]
    return best_weights(four, torch.from_numpy(right), recipe.step)


def fit(
    mix: FourWays | Fusion, frozen: Frozen, train: Pairs, held_out: Pairs, recipe: MixRecipe
) -> Iterator[str]:
    """Learn in place by AdamW and yield the lines of the curve."""
    learner = torch.optim.AdamW(mix.parameters(), recipe.learning_rate)
    size = min(recipe.batch, len(train))
    step = 0
    for epoch in range(1, recipe.epochs + 1):
        mix.train()
        losses: list[float] = []
        for places in torch.randperm(len(train)).split(size):
            if len(places) < _LEAST_PAIRS:
                continue
            loss = contrast(mix, frozen, train.some(places.numpy()))
            learner.zero_grad()
            loss.backward()
            learner.step()
            losses.append(loss.item())
        step += len(losses)
        share = accuracy(mix.eval(), frozen, sample(held_out, recipe.sample))
        yield f"{epoch},{step},{sum(losses) / len(losses):.6f},{share:.6f}\n"


def contrast(mix: FourWays | Fusion, frozen: Frozen, pairs: Pairs) -> torch.Tensor:
    """Return InfoNCE both ways within a batch; another pair's same text is no negative."""
    texts = torch.from_numpy(pairs.texts)
    queries = mix.queries(*frozen.queries(pairs.queries))
    logits = scale(mix) * queries @ mix.texts(*frozen.texts(pairs.texts)).T
    same = (texts[:, None] == texts[None, :]) & ~torch.eye(len(texts), dtype=torch.bool)
    logits = logits.masked_fill(same, -math.inf)
    target = torch.arange(len(texts))
    return (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2


def accuracy(mix: FourWays | Fusion, frozen: Frozen, pairs: Pairs) -> float:
    """Return the share of pairs whose text comes first among the texts of all; NaN without any."""
    if not len(pairs):
        return math.nan
    texts, right = np.unique(pairs.texts, return_inverse=True)
    with torch.inference_mode():
        answers = mix.texts(*frozen.texts(texts))
        found = (mix.queries(*frozen.queries(pairs.queries)) @ answers.T).argmax(dim=1)
    return float((found.numpy() == right).mean())
