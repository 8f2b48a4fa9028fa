"""Contrastive training of a CLIP on a collection's judged pairs.

Radford et al., Learning Transferable Visual Models From Natural Language Supervision (2021),
section 2.3 and figure 3; models are open_clip's. The loop and the step are those of every
contrastive training; here stand a CLIP's start, its batches, augmented so that a text stays true of
its picture, its optimizer and its measure.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import open_clip
import torch
from torch.nn import functional
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

from isotope.core.errors import EmptyTable, MissingFile, UnknownModel
from isotope.core.pixels import Cut
from isotope.models.kinds.trained import Train, Trained
from isotope.models.notes import training_notes
from isotope.models.open_clip import (
    create,
    create_custom,
    create_trained,
    cut_of,
    pick_device,
    quick_gelu,
    standardised,
    unit,
)
from isotope.train.data import Decoded, Split, TrainingSource, Workplace, read_split
from isotope.train.loop import (
    ByEpochs,
    Epochs,
    Ids,
    TrainingCheckpoint,
    TrainingPlan,
    deterministic,
    fingerprint,
    run_job,
    total,
    write_curve,
    write_weights,
)
from isotope.train.step import Batch, Ranks, Stepper, Vectors

_CODE = "train.clip:train"
_SMALLEST = 2
_SPLITS = ("train", "validation")
_SHARED = frozenset({"logit_scale", "logit_bias"})
# Of AdamW and its schedule, as CLIP's trainings have them; a share of the steps warms up. The decay
# is half of CLIP's (Radford et al., table 18), since trainings here are short.
_BETAS = (0.9, 0.98)
_WEIGHT_DECAY = 0.1
_WARMUP = 0.1
_MAX_NORM = 1.0
_DEPTH = 10
_BATCH = 256
_QUERIES = 1_024
_ALONE = Ranks()
_NONE = np.empty(0, np.int64)
# How far a picture is changed at most, as shares of its side, scale and brightness, and how often a
# field is left out: so little that a text stays true of its picture.
_TRANSLATE, _ZOOM, _JITTER = 0.04, 0.05, 0.05
_FIELD_DROPOUT = 0.1
Block = npt.NDArray[np.float32]


class ClipPoint(NamedTuple):
    """One row of the learning curve; `loss` is the mean over its epoch."""

    epoch: int
    step: int
    loss: float
    mrr10_t2m: float
    mrr10_m2t: float


def train(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    model: Trained,
    language: str,
    weights: Path,
    curve: Path,
    scratch: Path | None = None,
    start: Path | None = None,
) -> None:
    """Train what `model` starts from on the split `train` and measure it on `validation`.

    `weights` gets safetensors with recipe, seed and what loads them again in the metadata, `curve`
    a CSV of epoch, step, mean loss of the epoch and MRR@10 of both tasks on small/validation. Both
    are the same bytes for the same input, seed and machine. `start` holds the weights of the entry
    that `model` goes on from. Captions are those in `language`. Pictures and checkpoints lie in
    `scratch` meanwhile; a killed training goes on from there.

    Raises:
        UnknownModel: a config or name that does not exist.
        BadParams: a recipe under which the loss is no number.
        EmptyTable: fewer than two training images with a judged text.
        MissingFile, TruncatedFile, CorruptFile: pixels or weights absent, or that do not decode.
        ToolFailed: a process of several that ended without a word.
    """
    job = dict(locals())
    recipe = model.train
    source = TrainingSource(texts, images, qrels, pixels, language)
    files = [*pixels, *([] if start is None else [start])]

    def work(folder: Path, ranks: Ranks) -> None:
        with deterministic(recipe.seed, recipe.threads):
            begun = begin(model, start)
            workplace = Workplace(folder, ranks, threads=recipe.threads)
            splits = _read(source, cut_of(begun.model), workplace)
            job_of = partial(fingerprint, model, splits=splits, files=files, code=_CODE)
            plan = TrainingPlan(
                recipe, recipe, ranks, TrainingCheckpoint.for_job(folder, recipe, job_of)
            )
            points = _fit(begun, splits, plan)
            if ranks.first:
                notes = {**begun.notes, "seed": recipe.seed, "recipe": recipe.method()}
                write_curve(points, ClipPoint._fields, curve)
                write_weights(begun.model, notes, weights)
                plan.checkpoint.clear()

    run_job(__name__, job, recipe, work)


class Start(NamedTuple):
    """A model to train, its tokenizer, and the notes by which its weights are loaded again."""

    model: Any
    tokenizer: Any
    notes: dict[str, object]


def _fit(begun: Start, splits: Sequence[Split], plan: TrainingPlan) -> list[ClipPoint]:
    """Train the model in place; return a point of every few epochs and of the last."""
    batches = ClipBatches(splits[0], Tokens(begun.tokenizer), plan.recipe, plan.ranks)
    steps = total(plan.recipe, batches.per_epoch)
    stepper = ClipStepper(begun.model, plan.recipe, plan.resources, plan.ranks, steps)

    def gauge() -> tuple[float, float]:
        return measure(begun.model, splits[1], batches.tokens)

    return ByEpochs(stepper, batches, plan, gauge, ClipPoint).run()


def _read(source: TrainingSource, cut: Cut, workplace: Workplace) -> list[Split]:
    splits = [read_split(source, name, cut, workplace) for name in _SPLITS]
    _demand_pairs(splits[0], source.qrels)
    return splits


def _demand_pairs(split: Split, qrels: Path) -> None:
    if len(split) < _SMALLEST:
        problem = f"{len(split)} images with a judged text in split train"
        raise EmptyTable(qrels, problem, "collect a larger snapshot, or drop the trained model")


def begin(model: Trained, weights: Path | None) -> Start:
    """Make the model that an entry of kind `trained` begins with.

    `config`: from scratch; `name` with `pretrained`: a model of open_clip; with `weights`, those of
    the entry that `from` names, whose `config` or `name` this entry shares.

    Raises:
        UnknownModel: a name without loader, or a model whose tokenizer is not CLIP's.
        MissingFile: `from` without weights.
        MissingFile, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    name = model.architecture
    if model.from_ and weights is None:
        remedy = "run the train phase, which trains it first"
        raise MissingFile("models: from", f"no weights of {model.from_}", remedy)
    if model.name is None:
        return _start(name, create_custom(name, weights), {"config": name})
    if weights is None:
        return begin_listed(name, model.pretrained, model.resize)
    notes = training_notes(weights)
    preprocess = {k: notes[k] for k in ("preprocess", "quick_gelu") if k in notes}
    return _start(name, create_trained(name, weights), {"name": name, **preprocess})


def begin_listed(
    name: str, pretrained: str | None, resize: str | None, activation: str | None = None
) -> Start:
    """Make a model of open_clip's list to train, as `models.open_clip.create` does.

    Raises:
        UnknownModel: a name without loader, or a model whose tokenizer is not CLIP's.
        MissingFile, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    model: Any = create(name, pretrained, resize, activation)
    settings = model.visual.preprocess_cfg
    preprocess = {key: settings[key] for key in ("mean", "std", "interpolation", "resize_mode")}
    quick = quick_gelu(name, pretrained, activation)
    notes = {"preprocess": preprocess, "quick_gelu": quick, "pretrained": pretrained}
    return _start(name, model, {"name": name, **notes})


def _start(name: str, model: Any, notes: dict[str, object]) -> Start:  # noqa: ANN401
    tokenizer = open_clip.get_tokenizer(name)
    if not isinstance(tokenizer, open_clip.SimpleTokenizer):
        problem = f"{name} reads text with {type(tokenizer).__name__}"
        raise UnknownModel("models", problem, "train a model with CLIP's own tokenizer")
    return Start(model, tokenizer, notes)


class ClipStepper(Stepper):
    """Both towers of a CLIP, or the one that `tune` of the recipe names, by AdamW."""

    def __init__(self, model: Any, recipe: Train, *arguments: Any) -> None:  # noqa: ANN401
        """As `Stepper`; the model moves to the GPU when there is one."""
        self._tune = recipe.tune
        # Convolutions are a quarter faster with the channels last, on CPUs and GPUs.
        moved = model.to(pick_device("auto"), memory_format=torch.channels_last)
        super().__init__(moved, recipe, *arguments)

    def prepare(self, recipe: Train, total: int) -> tuple[Optimizer, LRScheduler]:
        """Return AdamW, and a line up to its rate and half a cosine down."""
        freeze(self.model, recipe.tune)
        optimizer, warmup = _adamw(self.model, recipe), round(_WARMUP * total)
        return optimizer, LambdaLR(optimizer, lambda done: rate(done, warmup, total))

    def learns(self, name: str) -> bool:
        """Return whether the tower of a module learns."""
        return self._tune in ("both", tower_of(name))

    def embed(self, piece: Batch) -> Vectors:
        """Return the vectors of pictures and texts, with a graph for the towers that learn."""
        pictures, tokens = piece
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            with torch.set_grad_enabled(torch.is_grad_enabled() and self._tune != "text"):
                inputs = standardised(pictures, self.model)
                of_pictures = self.model.encode_image(inputs, normalize=True)
            with torch.set_grad_enabled(torch.is_grad_enabled() and self._tune != "vision"):
                of_texts = self.model.encode_text(tokens, normalize=True)
        return [of_pictures.float(), of_texts.float()]

    def clip(self) -> None:
        """Scale the gradients to a norm of at most 1."""
        torch.nn.utils.clip_grad_norm_(self.learned(), _MAX_NORM)


def freeze(model: Any, tune: str) -> None:  # noqa: ANN401
    """Let only the tower `tune` (`text`, `vision` or `both`) and the temperature learn.

    Locked-image tuning and its mirror: Zhai et al., LiT (CVPR 2022), section 3.
    """
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in _SHARED or tune in ("both", tower_of(name)))


def tower_of(name: str) -> str:
    """Return the tower that a parameter or module of an open_clip model belongs to."""
    return "vision" if name.partition(".")[0] == "visual" else "text"


def _adamw(model: torch.nn.Module, recipe: Train) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    vectors = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": matrices, "weight_decay": _WEIGHT_DECAY},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=_BETAS, fused=True)


def rate(done: int, warmup: int, total: int) -> float:
    """Return the share of the learning rate after `done` steps: a line up, half a cosine down."""
    if done < warmup:
        return (done + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (done - warmup) / max(total - warmup, 1)))


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
        cut = ids[: self._context - 2]
        row = np.zeros(self._context, np.int64)
        row[: len(cut) + 2] = self._ends[0], *cut, self._ends[1]
        return row

    def row(self, fields: Sequence[str]) -> Ids:
        """Return int64 [context] for whole fields, what the tokenizer gives for them joined."""
        return self.padded(self.ids(fields))


class ClipBatches(Epochs):
    """Pictures of a split, each with one of its texts or captions."""

    def __init__(self, split: Split, tokens: Tokens, recipe: Train, ranks: Ranks = _ALONE) -> None:
        """Draw from a split.

        Each of several ranks draws for the whole batch and makes only the pictures of its rows.
        """
        super().__init__(len(split), recipe.batch, recipe.seed, ranks)
        self.tokens, self._split, self._recipe = tokens, split, recipe

    def batch(self, rows: Ids) -> Batch:
        """Return (pictures float [b, 3, side, side] in 0..1, tokens int64 [b, context]).

        No picture comes twice in an epoch, so a batch holds no picture as its own negative.
        """
        mine = self.ranks.rows(len(rows))
        texts = torch.from_numpy(np.stack([self._text(int(i)) for i in rows]))
        return self._augmented(rows, mine), texts[mine]

    def _text(self, i: int) -> Ids:
        captions, (_, views) = self._split.captions[i], self._split.views[i]
        if captions and self.random.random() < self._recipe.caption_rate:
            fields: Sequence[str] = [captions[self.random.integers(len(captions))]]
        else:
            view = views[self.random.integers(len(views))]
            fields = [f for f in view if not self._is_left_out()] or view
        return self.tokens.padded(self.tokens.ids(fields))

    def _is_left_out(self) -> bool:
        return self._recipe.augment and self.random.random() < _FIELD_DROPOUT

    def _augmented(self, rows: Ids, mine: slice) -> torch.Tensor:
        """Shift, zoom and tint; never mirror, since a text may say left and right."""
        pictures = unit(self._split.squares(rows[mine], self.coming()))
        if not self._recipe.augment:
            return pictures
        n = len(rows)
        theta = np.zeros((n, 2, 3), np.float32)
        theta[:, 0, 0] = theta[:, 1, 1] = 1 + self._spread((n,), _ZOOM)
        theta[:, :, 2] = 2 * self._spread((n, 2), _TRANSLATE)
        tint = torch.from_numpy(1 + self._spread((n, 3, 1, 1), _JITTER))[mine]
        shape = list(pictures.shape)
        grid = functional.affine_grid(torch.from_numpy(theta)[mine], shape, align_corners=False)
        moved = functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
        return (moved * tint).clamp(0, 1)

    def _spread(self, shape: tuple[int, ...], reach: float) -> npt.NDArray[np.float32]:
        return self.random.uniform(-reach, reach, shape).astype(np.float32)


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
    texts_of = [set(ids) for ids, _ in split.views]
    image_ids = list(split.image_ids)
    images_of: dict[str, set[str]] = {text_id: set() for text_id in fields}
    for image_id, text_ids in zip(image_ids, texts_of, strict=True):
        for text_id in text_ids:
            images_of[text_id].add(image_id)
    return (
        mrr10(texts, images, image_ids, list(images_of.values())),
        mrr10(images, texts, list(fields), texts_of),
    )


def _blocks(encode: Callable[[Any], torch.Tensor], rows: npt.NDArray[Any] | Decoded) -> Block:
    with torch.inference_mode():
        blocks = [encode(rows[i : i + _BATCH]).float().cpu() for i in range(0, len(rows), _BATCH)]
    return torch.cat(blocks).numpy()


def mrr10(
    queries: Block,
    documents: Block,
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
        _reciprocal([doc_ids[int(descending[d])] for d in row], judged)
        for row, judged in zip(best, relevant, strict=True)
    ]
    return float(np.mean(values))


def _best(scores: Block) -> npt.NDArray[np.int64]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :_DEPTH]


def _reciprocal(ranking: Sequence[str], relevant: Collection[str]) -> float:
    ranks = (rank for rank, doc_id in enumerate(ranking, 1) if doc_id in relevant)
    return 1.0 / next(ranks, float("inf"))
