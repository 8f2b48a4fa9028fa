"""Fine-tuning of OVEN's CLIP2CLIP and CLIP Fusion, all of their parameters, on judged pairs.

Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), section 4.1, appendices 11.1 and 11.2.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.core.errors import EmptyTable
from isotope.core.store import aside
from isotope.models.multimodal import Clip2Clip, create
from isotope.models.open_clip import pick_device
from isotope.params.multimodal import Clip2ClipRecipe, recipe_of
from isotope.params.recipes import Means
from isotope.tables import FIVE_FIELDS
from isotope.train.batches import Tokens
from isotope.train.checkpoint import Checkpoint, fingerprint
from isotope.train.contrastive import deterministic, scratch_folder, write_curve, write_weights
from isotope.train.data import Place
from isotope.train.launch import launch
from isotope.train.loop import Plan
from isotope.train.multimodal_data import Judged, Pairs, read_judged
from isotope.train.multimodal_loop import EarlyStopping, Point
from isotope.train.multimodal_measure import accuracies, grid_start
from isotope.train.multimodal_step import MultimodalStepper
from isotope.train.pictures import Cut
from isotope.train.ranks import joined
from isotope.train.rows import Source
from isotope.train.start import Start, cut_of
from isotope.train.start import start as begin

_BEST = "best.safetensors"
_LEAST = {"train": 2, "validation": 1}
_CODE = "train.multimodal"


def train(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    spec: Mapping[str, Any],
    base: Mapping[str, Any],
    weights: Path,
    curve: Path,
    scratch: Path | None = None,
    start: Path | None = None,
) -> None:
    """Fine-tune what `spec` describes over the CLIP of the entry `base`, on the split `train`.

    `weights` gets safetensors of the step with the best harmonic mean on `validation`, with recipe
    and step in the metadata; `curve` a CSV of `multimodal_loop.Point`. Both are the same bytes for
    the same input and machine. `start` holds the weights of a `base` that is trained here. Pictures
    and checkpoints lie in `scratch` meanwhile; a killed training goes on from there.

    Raises:
        UnknownModel: a name that does not exist, or a model whose tokenizer is not CLIP's.
        BadParams: a recipe with unknown keys, or one under which the loss is no number.
        EmptyTable: fewer than two training pairs, or none to stop by.
        MissingColumn: a collection without questions, or whose texts have no pictures.
        MissingFile, TruncatedFile, CorruptFile: pixels or weights absent, or that do not decode.
        ToolFailed: a process of several that ended without a word.
    """
    job = dict(locals())
    recipe, means = recipe_of(spec), Means.of(spec)
    with scratch_folder(scratch) as folder:
        if means.processes > 1 and "WORLD_SIZE" not in os.environ:
            launch(__name__, {**job, "scratch": folder}, means.processes, folder)
            return
        source = Source(texts, images, qrels, pixels, "")
        with deterministic(recipe.seed, recipe.threads), joined() as ranks:
            begun = begin(base, start)
            place = Place(folder, ranks, means.squares_gib, means.workers)
            splits = _read(source, base.get("fields", FIVE_FIELDS), cut_of(begun.model), place)
            known = ""
            if means.checkpoint_every:
                told, files = {**spec, "base": dict(base)}, [*pixels, *([start] if start else [])]
                known = fingerprint(told, recipe.seed, splits, files, code=_CODE)
            plan = Plan(recipe, means, ranks, Checkpoint(folder / "checkpoint.pt", known))
            points = _fit(spec, begun, splits, plan, folder / _BEST)
            if ranks.first:
                write_curve(points, Point._fields, curve)
                with aside(weights) as part:
                    shutil.copyfile(folder / _BEST, part)
                plan.checkpoint.clear()
                (folder / _BEST).unlink()


def _read(source: Source, fields: Sequence[str], cut: Cut, place: Place) -> list[Judged]:
    splits = [read_judged(source, name, fields, cut, place) for name in _LEAST]
    for split, (name, least) in zip(splits, _LEAST.items(), strict=True):
        if len(split) < least:
            found = f"{len(split)} pairs in split {name}"
            remedy = "collect the training and validation files, or leave this model out"
            raise EmptyTable(source.qrels, found, remedy)
    return splits


def _fit(
    spec: Mapping[str, Any], begun: Start, splits: Sequence[Judged], plan: Plan, best: Path
) -> list[Point]:
    """Leave the best weights in the file `best`, and return the curve."""
    recipe, tokens = plan.recipe, Tokens(begun.tokenizer)
    model = create(spec, begun.model)
    notes = {**begun.notes, "kind": spec["kind"], "recipe": recipe.as_dict()}
    if isinstance(model, Clip2Clip) and isinstance(recipe, Clip2ClipRecipe):
        model.to(pick_device("auto"))
        notes["start"] = grid_start(model, splits[0], tokens, recipe.step, recipe.grid_sample)
        model.weigh(notes["start"])
    pairs = Pairs(splits[0], tokens, recipe.batch, recipe.seed, plan.ranks)
    stepper = MultimodalStepper(model, recipe, plan.means, plan.ranks, recipe.steps)

    def keep(point: Point, file: Path) -> None:
        write_weights(model, {**notes, "step": point.step}, file)

    def gauge() -> list[float]:
        return accuracies(model, splits[1], tokens, recipe.sample)

    return EarlyStopping(stepper, pairs, plan, gauge, keep=keep, best=best).run()
