"""The loop of contrastive training: epochs of steps, measured on validation, checkpointed."""

import hashlib
import json
import pickle
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import open_clip
import torch

from isotope.core import provenance
from isotope.core.errors import BadParams, MissingFile, UnknownModel
from isotope.core.progress import Progress, log
from isotope.core.store import aside
from isotope.models.open_clip import (
    create,
    create_custom,
    create_trained,
    quick_gelu,
    standardised,
    trained_notes,
    unit,
)
from isotope.params.recipes import Means
from isotope.train.clip import Batches, Epochs, Tokens
from isotope.train.data import Decoded, Split
from isotope.train.step import Ranks, Stepper


class Start(NamedTuple):
    """A model to train, its tokenizer, and what must be known to load its weights again."""

    model: Any
    tokenizer: Any
    notes: dict[str, object]


def start(spec: Mapping[str, object], weights: Path | None) -> Start:
    """Make the model that an entry of kind `trained` begins with.

    `config`: from scratch; `name` with `pretrained`: a model of open_clip; with `weights`, those of
    the entry that `from` names, whose `config` or `name` this entry shares.

    Raises:
        BadParams: neither config nor name, or `from` without weights.
        UnknownModel: a name without loader, or a model whose tokenizer is not CLIP's.
        MissingFile, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    if "from" in spec and weights is None:
        remedy = "run the train phase, which trains it first"
        raise MissingFile("models: from", f"no weights of {spec['from']}", remedy)
    key = next((key for key in ("config", "name") if key in spec), None)
    if key is None:
        raise BadParams("models", f"no config, name or from in {dict(spec)}", "add one of them")
    name = str(spec[key])
    made = _custom(name, weights) if key == "config" else _listed(name, spec, weights)
    tokenizer = open_clip.get_tokenizer(name)
    if not isinstance(tokenizer, open_clip.SimpleTokenizer):
        found = f"{name} reads text with {type(tokenizer).__name__}"
        raise UnknownModel("models", found, "train a model with CLIP's own tokenizer")
    return Start(made[0], tokenizer, made[1])


def _custom(name: str, weights: Path | None) -> tuple[Any, dict[str, object]]:
    return create_custom(name, weights), {"config": name}


def _listed(
    name: str, spec: Mapping[str, object], weights: Path | None
) -> tuple[Any, dict[str, object]]:
    if weights is not None:
        given = trained_notes(weights)
        kept = {k: given[k] for k in ("preprocess", "quick_gelu") if k in given}
        return create_trained(name, weights), {"name": name, **kept}
    tag, resize = (None if spec.get(k) is None else str(spec[k]) for k in ("pretrained", "resize"))
    model: Any = create(name, tag, resize)
    settings = model.visual.preprocess_cfg
    kept = {key: settings[key] for key in ("mean", "std", "interpolation", "resize_mode")}
    notes = {"name": name, "preprocess": kept, "quick_gelu": quick_gelu(name, tag)}
    return model, {**notes, "pretrained": tag}


_UNREADABLE = (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, OSError)


class Rows(Protocol):
    """A split of what is trained on."""

    def rows(self) -> Iterable[Any]:
        """Return what is known of each pair, as JSON can write it."""
        ...


class Checkpoint:
    """One file, valid for one training only, which its fingerprint names."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        """Keep checkpoints at `path`; keep none where it is None."""
        self._path, self._fingerprint = path, fingerprint

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
    spec: Mapping[str, object],
    seed: int,
    splits: Iterable[Rows],
    files: Iterable[Path],
    *,
    code: str,
) -> str:
    """Digest what the weights depend on: params, seed, judged pairs, files' sizes, code, torch.

    `code` is the function that the rule calls; all that it uses counts. Pixels and weights to start
    from are known by the sizes of their files, not read again.
    """
    digest = hashlib.sha256(json.dumps([spec, seed, torch.__version__], sort_keys=True).encode())
    for split in splits:
        for row in split.rows():
            digest.update(json.dumps(row).encode())
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    for file in provenance.closure(code):
        digest.update((provenance.LIBRARY / file).read_bytes())
    return digest.hexdigest()


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
