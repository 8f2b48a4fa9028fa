"""Contrastive training of a dual encoder on a collection's judged pairs (CLIP's InfoNCE).

Radford et al., Learning Transferable Visual Models From Natural Language Supervision (2021),
section 2.3 and figure 3; models and loss are open_clip's.
"""

import csv
import importlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from isotope.core import errors
from isotope.core.errors import EmptyTable
from isotope.core.pixels import Cut
from isotope.core.progress import log
from isotope.core.store import aside
from isotope.models.open_clip import cut_of
from isotope.params.recipes import Means, Recipe
from isotope.train.batches import Batches, Tokens
from isotope.train.data import Place, Source, Split, read_split
from isotope.train.loop import Checkpoint, Plan, Point, fingerprint, fit
from isotope.train.loop import start as begin
from isotope.train.processes import joined

_PATHS = ("texts", "images", "qrels", "weights", "curve", "scratch", "start")
_TOLD = 20


def launch(module: str, arguments: Mapping[str, Any], processes: int, scratch: Path) -> None:
    """Run `train(**arguments)` of a module in `processes` processes of this machine.

    Raises:
        IsotopeError: what the first process raised.
        ToolFailed: torchrun, or a process, ended otherwise.
    """
    job, failure = scratch / "job.json", scratch / "error.json"
    failure.unlink(missing_ok=True)
    with aside(job) as part:
        part.write_text(json.dumps({**arguments, "module": module}, default=str))
    told: deque[str] = deque(maxlen=_TOLD)
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    with subprocess.Popen(
        [sys.executable, *command, "-m", "isotope.train.contrastive", str(job)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        try:
            for line in running.stdout or ():
                told.append(line.rstrip())
                log.info("%s", told[-1])
        except BaseException:
            running.terminate()
            raise
    if running.returncode:
        raise _failure(failure, running.returncode, told)


def _failure(path: Path, code: int, told: deque[str]) -> errors.IsotopeError:
    if not path.is_file():
        return errors.ToolFailed("torchrun", f"status {code}: {' | '.join(told)}", "see the log")
    kind, parts = json.loads(path.read_text())
    return getattr(errors, kind)(*parts)


def run(job: Path) -> None:
    """Train as one of the processes that torchrun started.

    Raises:
        As `train` of the job's module; the first process leaves its error beside the job.
    """
    given = json.loads(job.read_text())
    train = importlib.import_module(given.pop("module")).train
    for key in _PATHS:
        given[key] = None if given[key] is None else Path(given[key])
    given["pixels"] = [Path(p) for p in given["pixels"]]
    try:
        train(**given)
    except errors.IsotopeError as error:
        parts = type(error).__name__, [error.where, error.found, error.remedy]
        with aside(job.with_name("error.json")) as part:
            part.write_text(json.dumps(parts))
        raise


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    run(Path(sys.argv[1]))


_CODE = "train.contrastive:train"
_CURVE = Point._fields
_SMALLEST = 2
_SPLITS = ("train", "validation")
_AGAIN = ("train.*", "validation.*", "job.json", "error.json")


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
    scratch: Path | None = None,
    start: Path | None = None,
) -> None:
    """Train what `spec` starts from on the split `train` and measure it on `validation`.

    `weights` gets safetensors with recipe, seed and what loads them again in the metadata, `curve`
    a CSV of epoch, step, mean loss of the epoch and MRR@10 of both tasks on small/validation. Both
    are the same bytes for the same input, seed and machine, unless `limit_s` cut the training
    short. `start` holds the weights of the entry that `spec` goes on from. Pictures and checkpoints
    lie in `scratch` meanwhile; a killed training goes on from there.

    Raises:
        UnknownModel: a config or name that does not exist.
        BadParams: a recipe with unknown keys, or one under which the loss is no number.
        EmptyTable: fewer than two training images with a judged text.
        MissingFile, TruncatedFile, CorruptFile: pixels or weights absent, or that do not decode.
        ToolFailed: a process of several that ended without a word.
    """
    job = dict(locals())
    recipe, means = Recipe.of(spec), Means.of(spec)
    with scratch_folder(scratch) as folder:
        if means.processes > 1 and "WORLD_SIZE" not in os.environ:
            launch(__name__, {**job, "scratch": folder}, means.processes, folder)
            return
        source = Source(texts, images, qrels, pixels, recipe.language)
        with deterministic(seed, recipe.threads), joined() as ranks:
            begun = begin(spec, start)
            place = Place(folder, ranks, means.squares_gib, means.workers)
            splits = _read(source, cut_of(begun.model), place)
            files = [*pixels, *([] if start is None else [start])]
            known = (
                fingerprint(spec, seed, splits, files, code=_CODE) if means.checkpoint_every else ""
            )
            checkpoint = Checkpoint(folder / "checkpoint.pt", known)
            batches = Batches(splits[0], Tokens(begun.tokenizer), recipe, seed, ranks)
            points = fit(begun.model, batches, splits[1], Plan(recipe, means, ranks, checkpoint))
            if ranks.first:
                notes = {**begun.notes, "seed": seed, "recipe": recipe.as_dict()}
                write_curve(points, _CURVE, curve)
                write_weights(begun.model, notes, weights)
                checkpoint.clear()


@contextmanager
def scratch_folder(scratch: Path | None) -> Generator[Path]:
    """Yield the scratch folder, or one that does not last; what can be made again leaves it."""
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
            yield Path(folder)
        return
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        yield scratch
    finally:
        if "WORLD_SIZE" not in os.environ:
            for made in [path for pattern in _AGAIN for path in scratch.glob(pattern)]:
                made.unlink(missing_ok=True)


def _read(source: Source, cut: Cut, place: Place) -> list[Split]:
    splits = [read_split(source, name, cut, place) for name in _SPLITS]
    _demand_pairs(splits[0], source.qrels)
    return splits


def _demand_pairs(split: Split, qrels: Path) -> None:
    if len(split) < _SMALLEST:
        found = f"{len(split)} images with a judged text in split train"
        raise EmptyTable(qrels, found, "collect a larger snapshot, or drop the trained model")


@contextmanager
def deterministic(seed: int, threads: int) -> Generator[None]:
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


def write_curve(points: Iterable[tuple[Any, ...]], columns: Sequence[str], path: Path) -> None:
    """Write points, of which the first two are epoch and step, under the names of `columns`."""
    with aside(path) as part, part.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows((p[0], p[1], *(f"{value:.6f}" for value in p[2:])) for p in points)


def write_weights(model: torch.nn.Module, notes: Mapping[str, object], path: Path) -> None:
    """Write safetensors with notes in their metadata, the same bytes for the same weights."""
    state = {name: value.contiguous().cpu() for name, value in model.state_dict().items()}
    # One key only: safetensors writes several in an order that changes from run to run.
    with aside(path) as part:
        save_file(state, part, {"isotope": json.dumps(notes, sort_keys=True)})
