"""The loop of every contrastive training, and the processes that it runs in.

Epochs of shuffled batches, a step for each (`isotope.train.step`), measurements on validation, and
checkpoints from which a killed training goes on to the same bytes. A recipe plugs in its batches,
its stepper and its measure. `run_job` starts as many processes as the recipe asks for, each of
which runs this file.
"""

import csv
import hashlib
import importlib
import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save_file

from isotope.core import errors, provenance
from isotope.core.errors import BadParams
from isotope.core.progress import Progress, log
from isotope.core.store import aside
from isotope.core.syntax import located
from isotope.models.kinds._training import Resources
from isotope.params.sections import ModelKind, Section
from isotope.train.overlap import warn_of_shared
from isotope.train.step import Batch, Ranks, Stepper, joined

Ids = npt.NDArray[np.int64]
_ALONE = Ranks()


class Epochs:
    """Shuffled epochs of n rows; every draw comes from one seeded generator."""

    def __init__(self, n: int, batch: int, seed: int, ranks: Ranks = _ALONE) -> None:
        """Draw batches of at most n rows; the rest of an epoch is left for the next."""
        self.size, self.rows, self.ranks = min(batch, n), n, ranks
        self.random = np.random.default_rng(seed)
        self.per_epoch = n // self.size
        self._order, self._next, self._restored = np.empty(0, np.int64), 0, False

    def batch(self, rows: Ids) -> Batch:
        """Return this rank's part of the batch of these rows."""
        raise NotImplementedError

    def shuffled(self) -> Ids:
        """Return the order of an epoch's rows."""
        return self.random.permutation(self.rows)

    def epoch(self) -> Iterator[Batch]:
        """Yield what `batch` makes of the rows of each batch.

        No row comes twice in an epoch. After `restore` the rest of the interrupted epoch comes
        first.
        """
        if not self._restored:
            self._order, self._next = self.shuffled(), 0
        self._restored = False
        while self._next < self.per_epoch:
            batch = self.batch(self.numbered(self._next))
            self._next += 1
            yield batch

    def numbered(self, number: int) -> Ids:
        """Return the rows of a batch of this epoch, sorted, as pictures lie on disk."""
        return np.sort(self._drawn(number))

    def coming(self) -> Ids | None:
        """Return this rank's rows of the epoch's next batch, None where there is none."""
        if self._next + 1 >= self.per_epoch:
            return None
        rows = self.numbered(self._next + 1)
        return rows[self.ranks.rows(len(rows))]

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on after the batch that was yielded last."""
        drawn = json.dumps(self.random.bit_generator.state)
        return {"rng": drawn, "order": torch.from_numpy(self._order), "next": self._next}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where the batches of the same rows, recipe and seed stood at `state`."""
        self.random.bit_generator.state = json.loads(state["rng"])
        self._order, self._next = state["order"].numpy(), state["next"]
        self._restored = True

    def _drawn(self, number: int) -> Ids:
        return self._order[number * self.size :][: self.size]


class InMemory(Epochs):
    """Epochs of vectors in memory: torch's own generator draws, and rows stay as they were drawn.

    The generator's state is that of the stepper, so `state` needs no other.
    """

    def __init__(self, n: int, batch: int) -> None:
        """Draw batches of at most n rows, for one process."""
        super().__init__(n, batch, 0)

    def shuffled(self) -> Ids:
        """Return the order of an epoch's rows."""
        return torch.randperm(self.rows).numpy()

    def numbered(self, number: int) -> Ids:
        """Return the rows of a batch of this epoch, in the order in which they were drawn."""
        return self._drawn(number)


class TrainingRows(Protocol):
    """A split of what is trained on."""

    def rows(self) -> Iterable[Any]:
        """Return what belongs to each pair, as JSON can write it."""
        ...


_UNREADABLE = (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, OSError)


class TrainingCheckpoint:
    """One file, valid for one training only, which its fingerprint names."""

    def __init__(self, path: Path | None = None, fingerprint: str = "") -> None:
        """Keep checkpoints at `path`; keep none where it is None."""
        self._path, self._fingerprint = path, fingerprint

    @classmethod
    def for_job(
        cls, folder: Path, resources: Resources, digest: Callable[[], str]
    ) -> "TrainingCheckpoint":
        """Return the checkpoint in a scratch folder; `digest` returns its fingerprint."""
        return cls(folder / "checkpoint.pt", digest() if resources.checkpoint_every else "")

    def save(self, stepper: Stepper, batches: Epochs, progress: Mapping[str, Any]) -> None:
        """Replace the checkpoint by the present state; `progress` is the loop's own."""
        if self._path is None:
            return
        state = {
            "fingerprint": self._fingerprint,
            "stepper": stepper.state(),
            "batches": batches.state(),
            "progress": dict(progress),
        }
        with aside(self._path) as part:
            torch.save(state, part)

    def restore(self, stepper: Stepper, batches: Epochs) -> Mapping[str, Any] | None:
        """Put both where the checkpoint left them; return the loop's progress, None without one.

        A checkpoint of another recipe, input or version of this code is left aside, with a warning.
        """
        if self._path is None or not self._path.is_file():
            return None
        try:
            state = torch.load(self._path, map_location="cpu", weights_only=True)
        except _UNREADABLE as error:
            log.warning("%s: not a checkpoint (%s); starting over", self._path, error)
            return None
        if state["fingerprint"] != self._fingerprint:
            log.warning("%s: of another training; starting over", self._path)
            return None
        stepper.restore(state["stepper"])
        batches.restore(state["batches"])
        return state["progress"]

    def clear(self) -> None:
        """Remove the checkpoint; the training is complete."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def fingerprint(
    *models: ModelKind, splits: Iterable[TrainingRows], files: Iterable[Path], code: str
) -> str:
    """Digest what the weights depend on: params, judged pairs, files' sizes, code, torch.

    `models` are the entry that is trained, and one that it begins with. `code` is the function that
    the rule calls; all that it uses counts. Of pixels and weights to start from only the sizes of
    their files count: they are not read again.
    """
    params = [model.spec() for model in models]
    digest = hashlib.sha256(json.dumps([*params, torch.__version__], sort_keys=True).encode())
    for split in splits:
        for row in split.rows():
            digest.update(json.dumps(row).encode())
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    for file in provenance.closure(code):
        digest.update(located(file).read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class TrainingPlan:
    """What training follows: recipe, resources, processes and the place to resume from."""

    recipe: Any
    resources: Resources = field(default_factory=Resources)
    ranks: Ranks = _ALONE
    checkpoint: TrainingCheckpoint = field(default_factory=TrainingCheckpoint)


def total(recipe: Any, per_epoch: int) -> int:  # noqa: ANN401
    """Return the steps of a whole training: what its recipe says, or those of its epochs."""
    return getattr(recipe, "steps", None) or recipe.epochs * per_epoch


class TrainingLoop:
    """Steps over epochs of batches, checkpointed; a subclass says when it measures.

    `point` is the named tuple of a measurement: epoch, step and mean loss, then what is measured.
    """

    def __init__(
        self,
        stepper: Stepper,
        batches: Epochs,
        plan: TrainingPlan,
        measure: Callable[[], Sequence[float]],
        point: Any,  # noqa: ANN401
    ) -> None:
        """Prepare to step; `measure` returns the figures that a `point` has after its loss."""
        self.stepper, self.plan, self._batches = stepper, plan, batches
        self._measure, self._point = measure, point
        self.total = total(plan.recipe, batches.per_epoch)
        self.number, self.losses = 1, list[float]()
        self.points: list[Any] = []
        self.progress = Progress("training steps", self.total)

    def run(self) -> list[Any]:
        """Go on from the checkpoint, if there is one, to the end; return what was measured.

        Raises:
            BadParams: a batch too small for the processes, or a loss that is no number.
        """
        if self._batches.size < self.plan.ranks.world:
            problem = f"a batch of {self._batches.size} for {self.plan.ranks.world} processes"
            raise BadParams("models: train", problem, "use fewer processes")
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
            self.points.append(self._point(self.number, self.progress.done, mean, *self._measure()))
            figures = self.points[-1]._asdict().items()
            log.info(", ".join(f"{name} {value:.6g}" for name, value in figures))

    def _resume(self) -> None:
        state = self.plan.checkpoint.restore(self.stepper, self._batches)
        if state is not None:
            self.number, self.losses = state["epoch"], state["losses"]
            self.points = [self._point(*row) for row in state["points"]]
            self.progress.resume(state["step"])
            log.info("resumed after step %d", self.progress.done)

    def _remaining(self) -> Iterator[Batch]:
        for batch in self._batches.epoch() if self.progress.done < self.total else ():
            yield batch
            if self.progress.done >= self.total:
                return

    def _save_sometimes(self) -> None:
        interval = self.plan.resources.checkpoint_every
        if interval is None or self.progress.done % interval or not self.plan.ranks.first:
            return
        state = {"epoch": self.number, "losses": self.losses, "step": self.progress.done}
        rows = [tuple(point) for point in self.points]
        self.plan.checkpoint.save(self.stepper, self._batches, {**state, "points": rows})


class ByEpochs(TrainingLoop):
    """Measures after every few epochs: those that `every` of the recipe says."""

    def passed(self) -> bool:
        """Measure where it is time to; return whether the epoch was the last."""
        last = super().passed()
        if last or self.number % self.plan.recipe.every == 0:
            self.measure()
        self.losses = []
        return last


def write_curve(points: Sequence[Any], columns: Sequence[str], path: Path) -> None:
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


@contextmanager
def deterministic(seed: int, threads: int) -> Generator[None]:
    """Seed torch, hold it to `threads`, and leave its state as it was.

    What torch has no deterministic way for is refused, not warned of: told to warn, it takes ways
    of attention on a GPU whose gradients differ from run to run, though it has others. Convolutions
    on a GPU are in single precision as products are, where no bf16 is asked for.

    Raises:
        BadParams: a model with an operation of the first kind.
    """
    before, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    memory: Any = torch.utils.deterministic
    filled = memory.fill_uninitialized_memory
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    # Filling finds code that reads what it never wrote, and takes a tenth of a step.
    memory.fill_uninitialized_memory = False
    convolutions: Any = torch.backends.cudnn
    short, convolutions.allow_tf32 = convolutions.allow_tf32, False
    try:
        with torch.random.fork_rng(), _refusals_named():
            torch.manual_seed(seed)
            yield
    finally:
        convolutions.allow_tf32 = short
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(strict)
        memory.fill_uninitialized_memory = filled


@contextmanager
def _refusals_named() -> Generator[None]:
    """Name the operation that torch refuses as it has no deterministic way for it."""
    try:
        yield
    except RuntimeError as error:
        operation, has_none, _ = str(error).partition(" does not have a deterministic")
        if not has_none:
            raise
        problem = f"{operation}, which gives other bits each time on this device"
        remedy = "train on processors (CUDA_VISIBLE_DEVICES=), or another architecture"
        raise errors.BadParams("models: train", problem, remedy) from error


_PATHS = ("texts", "images", "qrels", "weights", "curve", "scratch", "start")
_MODELS = {"model", "base"}
_LOGGED_LINES = 20
# Files that are removed from the scratch folder, as they can be made again.
_REMADE = ("train.*", "validation.*", "job.json", "error.json")


def run_job(
    module: str,
    job: Mapping[str, Any],
    resources: Resources,
    work: Callable[[Path, Ranks], None],
) -> None:
    """Do the `work` of `train(**job)` of a module in a scratch folder, on one or several processes.

    With several `resources.processes` each is a process of this machine that calls `train(**job)`
    again, and gets to its own `work` here. The folder is `job["scratch"]`, or one that is removed.

    Raises:
        IsotopeError: what the first process raised.
        ToolFailed: torchrun, or a process, ended otherwise.
    """
    if "WORLD_SIZE" not in os.environ:
        warn_of_shared(job["qrels"])
    with _scratch_folder(job["scratch"]) as folder:
        if resources.processes > 1 and "WORLD_SIZE" not in os.environ:
            _launch({**job, "scratch": folder, "module": module}, resources.processes, folder)
        else:
            with joined() as ranks:
                work(folder, ranks)


@contextmanager
def _scratch_folder(scratch: Path | None) -> Generator[Path]:
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
            yield Path(folder)
        return
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        yield scratch
    finally:
        if "WORLD_SIZE" not in os.environ:
            for path in [path for pattern in _REMADE for path in scratch.glob(pattern)]:
                path.unlink(missing_ok=True)


def _launch(arguments: Mapping[str, Any], processes: int, scratch: Path) -> None:
    job, failure = scratch / "job.json", scratch / "error.json"
    failure.unlink(missing_ok=True)
    with aside(job) as part:
        part.write_text(json.dumps(arguments, default=_plain))
    last: deque[str] = deque(maxlen=_LOGGED_LINES)
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    with subprocess.Popen(
        [sys.executable, *command, "-m", "isotope.train.loop", str(job)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        try:
            for line in running.stdout or ():
                last.append(line.rstrip())
                log.info("%s", last[-1])
        except BaseException:
            running.terminate()
            raise
    if running.returncode:
        raise _failure(failure, running.returncode, last)


def _plain(value: object) -> object:
    return value.spec() if isinstance(value, Section) else str(value)


def _failure(path: Path, code: int, last: Iterable[str]) -> errors.IsotopeError:
    if not path.is_file():
        return errors.ToolFailed("torchrun", f"status {code}: {' | '.join(last)}", "see the log")
    kind, parts = json.loads(path.read_text())
    return getattr(errors, kind)(*parts)


def _run(job: Path) -> None:
    """Train as one of the processes that torchrun started; leave a named error beside the job."""
    arguments = json.loads(job.read_text())
    train = importlib.import_module(arguments.pop("module")).train
    for key in _PATHS:
        arguments[key] = None if arguments[key] is None else Path(arguments[key])
    for key in arguments.keys() & _MODELS:
        arguments[key] = ModelKind.of_spec(arguments[key])
    arguments["pixels"] = [Path(p) for p in arguments["pixels"]]
    try:
        train(**arguments)
    except Exception as error:
        named = errors.as_gpu_full(error, "models: train")
        if isinstance(named, errors.IsotopeError):
            parts = type(named).__name__, [named.where, named.problem, named.remedy]
            with aside(job.with_name("error.json")) as part:
                part.write_text(json.dumps(parts))
        raise


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    _run(Path(sys.argv[1]))
