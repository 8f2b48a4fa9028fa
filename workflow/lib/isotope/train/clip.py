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
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save_file
from torch.nn import functional

from isotope.core import errors
from isotope.core.errors import EmptyTable
from isotope.core.pixels import Cut
from isotope.core.progress import log
from isotope.core.store import aside
from isotope.models.open_clip import cut_of, unit
from isotope.params.recipes import Means, Recipe
from isotope.train.data import Place, Source, Split, read_split
from isotope.train.loop import Checkpoint, Plan, Point, fingerprint, fit
from isotope.train.loop import start as begin
from isotope.train.step import Ranks, joined

Batch = tuple[torch.Tensor, ...]
_ALONE = Ranks()
Ids = npt.NDArray[np.int64]
_NONE = np.empty(0, np.int64)


class Tokens:
    """Token ids of a text's fields; remembers each field, since epochs repeat them."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401
        """Use an open_clip SimpleTokenizer: its context length, its ids of start and end."""
        self._context = int(tokenizer.context_length)
        self._ends: list[int] = tokenizer.all_special_ids
        self._ids = lru_cache(maxsize=65_536)(
            lambda text: np.array(tokenizer.encode(text)[: self._context], np.int32)
        )

    def ids(self, fields: Sequence[str]) -> Ids:
        """Return the tokens of the fields joined by a space, without start and end."""
        return np.concatenate([_NONE, *map(self._ids, fields)], dtype=np.int64)

    def padded(self, ids: Ids) -> Ids:
        """Return int64 [context]: start, as many tokens as fit, end, zeros."""
        kept = ids[: self._context - 2]
        row = np.zeros(self._context, np.int64)
        row[: len(kept) + 2] = self._ends[0], *kept, self._ends[1]
        return row

    def row(self, fields: Sequence[str]) -> Ids:
        """Return int64 [context] for whole fields, what the tokenizer gives for them joined."""
        return self.padded(self.ids(fields))


class Epochs:
    """Shuffled epochs of n rows; every draw comes from one seeded generator."""

    def __init__(self, n: int, batch: int, seed: int, ranks: Ranks = _ALONE) -> None:
        """Draw batches of at most n rows; the rest of an epoch is left for the next."""
        self.size, self._n, self._ranks = min(batch, n), n, ranks
        self._rng = np.random.default_rng(seed)
        self._order, self._next, self._restored = np.empty(0, np.int64), 0, False
        self.per_epoch = n // self.size

    def epoch(self) -> Iterator[Batch]:
        """Yield what `batch` makes of the rows of each batch.

        No row comes twice in an epoch. After `restore` the rest of the interrupted epoch comes
        first.
        """
        if not self._restored:
            self._order, self._next = self._rng.permutation(self._n), 0
        self._restored = False
        while self._next < self.per_epoch:
            batch = self.batch(self._rows(self._next))
            self._next += 1
            yield batch

    def batch(self, rows: Ids) -> Batch:
        """Return this rank's part of the batch of these rows."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on after the batch that was yielded last."""
        drawn = json.dumps(self._rng.bit_generator.state)
        return {"rng": drawn, "order": torch.from_numpy(self._order), "next": self._next}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where the batches of the same rows, recipe and seed stood at `state`."""
        self._rng.bit_generator.state = json.loads(state["rng"])
        self._order, self._next = state["order"].numpy(), state["next"]
        self._restored = True

    def _rows(self, number: int) -> Ids:
        return np.sort(self._order[number * self.size :][: self.size])

    def _coming(self) -> Ids | None:
        """Return this rank's rows of the epoch's next batch, None where there is none."""
        if self._next + 1 >= self.per_epoch:
            return None
        rows = self._rows(self._next + 1)
        return rows[self._ranks.rows(len(rows))]


class Batches(Epochs):
    """Pictures of a split, each with one of its texts or captions."""

    def __init__(
        self, split: Split, tokens: Tokens, recipe: Recipe, seed: int, ranks: Ranks = _ALONE
    ) -> None:
        """Draw from a split.

        Each of several ranks draws for the whole batch and makes only the pictures of its rows.
        """
        super().__init__(len(split), recipe.batch, seed, ranks)
        self.tokens, self._split, self._recipe = tokens, split, recipe

    def batch(self, rows: Ids) -> Batch:
        """Return (pictures float [b, 3, side, side] in 0..1, tokens int64 [b, context]).

        No picture comes twice in an epoch, so a batch holds no picture as its own negative.
        """
        mine = self._ranks.rows(len(rows))
        texts = torch.from_numpy(np.stack([self._text(int(i)) for i in rows]))
        return self._augmented(rows, mine), texts[mine]

    def _text(self, i: int) -> Ids:
        captions, (_, views) = self._split.captions[i], self._split.views[i]
        if captions and self._rng.random() < self._recipe.caption_rate:
            fields: Sequence[str] = [captions[self._rng.integers(len(captions))]]
        else:
            whole = views[self._rng.integers(len(views))]
            kept = self._rng.random(len(whole)) >= self._recipe.field_dropout
            fields = [f for f, keep in zip(whole, kept, strict=True) if keep] or whole
        ids = self.tokens.ids(fields)
        return self.tokens.padded(ids[self._rng.random(len(ids)) >= self._recipe.token_dropout])

    def _augmented(self, rows: Ids, mine: slice) -> torch.Tensor:
        """Shift, zoom and tint; never mirror, since a text may say left and right."""
        n, recipe = len(rows), self._recipe
        theta = np.zeros((n, 2, 3), np.float32)
        theta[:, 0, 0] = theta[:, 1, 1] = 1 + self._spread((n,), recipe.zoom)
        theta[:, :, 2] = 2 * self._spread((n, 2), recipe.translate)
        tint = torch.from_numpy(1 + self._spread((n, 3, 1, 1), recipe.jitter))[mine]
        pictures = unit(self._split.squares(rows[mine], self._coming()))
        shape = list(pictures.shape)
        grid = functional.affine_grid(torch.from_numpy(theta)[mine], shape, align_corners=False)
        moved = functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
        return (moved * tint).clamp(0, 1)

    def _spread(self, shape: tuple[int, ...], reach: float) -> npt.NDArray[np.float32]:
        return self._rng.uniform(-reach, reach, shape).astype(np.float32)


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
        [sys.executable, *command, "-m", "isotope.train.clip", str(job)],
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


_CODE = "train.clip:train"
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
