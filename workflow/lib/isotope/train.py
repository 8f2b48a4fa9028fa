"""Contrastive training of a dual encoder on a collection's judged pairs (CLIP's InfoNCE).

Radford et al., Learning Transferable Visual Models From Natural Language Supervision (2021),
section 2.3 and figure 3; models and loss are open_clip's.
"""

import csv
import json
import os
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import open_clip
import torch
from safetensors.torch import save_file

from isotope.errors import EmptyTable
from isotope.models import need
from isotope.models_clip import create_custom
from isotope.tables import aside
from isotope.train_batches import Batches, Tokens
from isotope.train_data import Source, Split, read_split
from isotope.train_loop import Point, fit
from isotope.train_recipe import Recipe

_CURVE = ("epoch", "step", "loss", "mrr10_t2m", "mrr10_m2t")
_SMALLEST = 2


def train(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    spec: Mapping[str, object],
    seed: int,
    weights: Path,
    curve: Path,
) -> None:
    """Train `spec`'s config from scratch on the split `train` and measure it on `validation`.

    `weights` gets safetensors with config, recipe and seed in the metadata, `curve` a CSV of
    epoch, step, mean loss of the epoch and MRR@10 of both tasks on small/validation. Both are the
    same bytes for the same input, seed and machine, unless `limit_s` cut the training short.

    Raises:
        UnknownModel: a config that does not exist.
        BadParams: a recipe with unknown keys, or one under which the loss is no number.
        EmptyTable: fewer than two training images with a judged text.
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    config, recipe = need(spec, "config"), Recipe.of(spec)
    with (
        _deterministic(seed, recipe.threads),
        tempfile.TemporaryDirectory(prefix="isotope-") as scratch,
    ):
        model: Any = create_custom(config)
        source = Source(texts, images, qrels, pixels, recipe.language)
        learned, validation = (
            read_split(source, name, _side(model), Path(scratch) / f"{name}.npy")
            for name in ("train", "validation")
        )
        _demand_pairs(learned, qrels)
        batches = Batches(learned, Tokens(open_clip.get_tokenizer(config)), recipe, seed)
        points = list(fit(model, batches, validation, recipe))
    notes = {"config": config, "seed": seed, "recipe": recipe.as_dict()}
    _write_curve(points, curve)
    _write_weights(model, notes, weights)


def _side(model: Any) -> int:  # noqa: ANN401
    size = model.visual.image_size
    return int(size if isinstance(size, int) else size[0])


def _demand_pairs(split: Split, qrels: Path) -> None:
    if len(split) < _SMALLEST:
        found = f"{len(split)} images with a judged text in split train"
        raise EmptyTable(qrels, found, "collect a larger snapshot, or drop the trained model")


@contextmanager
def _deterministic(seed: int, threads: int) -> Generator[None]:
    """Seed torch, hold it to `threads`, and leave its state as it was."""
    before, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(strict)


def _write_curve(points: Iterable[Point], path: Path) -> None:
    with aside(path) as part, part.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(_CURVE)
        out.writerows((p[0], p[1], *(f"{value:.6f}" for value in p[2:])) for p in points)


def _write_weights(model: torch.nn.Module, notes: Mapping[str, object], path: Path) -> None:
    state = {name: value.contiguous().cpu() for name, value in model.state_dict().items()}
    # One key only: safetensors writes several in an order that changes from run to run.
    with aside(path) as part:
        save_file(state, part, {"isotope": json.dumps(notes, sort_keys=True)})
