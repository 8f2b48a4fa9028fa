"""Fine-tuning of OVEN's CLIP2CLIP and CLIP Fusion, all of their parameters, on judged pairs.

Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), section 4.1, appendices 11.1 and 11.2.
A pair is a question on an image, and the entity that answers it. The loop and the step are those of
every contrastive training; here stand the pairs, Adafactor, and early stopping by accuracies.
"""

import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import harmonic_mean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler
from transformers.optimization import Adafactor

from isotope.core import sql
from isotope.core.errors import EmptyTable, MissingColumn
from isotope.core.fields import text_of
from isotope.core.pixels import Cut
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.store import aside
from isotope.models.kinds._mix import MixKind, Schedule
from isotope.models.kinds.open_clip import OpenClip
from isotope.models.kinds.trained import Trained
from isotope.models.mix import best_weights
from isotope.models.multimodal import QUERY, TARGET, Clip2ClipModel, Multimodal, create
from isotope.models.open_clip import cut_of, pick_device, unit
from isotope.models.transformers import Device
from isotope.train.clip import Start, Tokens, begin, begin_listed
from isotope.train.data import (
    Block,
    Decoded,
    TrainingSource,
    Workplace,
    open_pictures,
    take_rows,
    write_pictures,
)
from isotope.train.loop import (
    Epochs,
    Ids,
    TrainingCheckpoint,
    TrainingLoop,
    TrainingPlan,
    deterministic,
    fingerprint,
    run_job,
    write_curve,
    write_weights,
)
from isotope.train.step import Batch, Ranks, Stepper, Vectors

GROUPS = (("entity", "seen"), ("entity", "unseen"), ("query", "seen"), ("query", "unseen"))
_CODE = "train.multimodal:train"
_BEST = "best.safetensors"
_LEAST = {"train": 2, "validation": 1}
_ALONE = Ranks()
_BLOCK = 64
_JOIN_MEMORY = "2GB"
_TEXT = pa.string()
_QUESTIONS = pa.schema(
    [
        *((name, _TEXT) for name in ("image_id", "picture_id", "question", "subset", "seen")),
        ("place", pa.int64()),
    ]
)
_ENTITIES = pa.schema([(name, _TEXT) for name in ("text_id", "picture_id", *FIVE_FIELDS)])


@dataclass(frozen=True)
class SideItems:
    """Items of one side: their words, and the places [n] of their pictures, -1 for a black one.

    `pixels`: uint8 [p, side, side, 3], each picture once, mapped or decoded when requested.
    """

    words: pl.Series
    places: Ids
    pixels: Block | Decoded
    side: int

    def __len__(self) -> int:
        return len(self.words)

    # A text without a picture has a black one: section 5.1.
    def pictures(self, rows: Ids, then: Ids | None = None) -> torch.Tensor:
        """Return float [n, 3, side, side] in 0..1; rows wanted `then` may be decoded meanwhile.

        Raises:
            CorruptFile: a picture that does not decode.
        """
        block = np.zeros((len(rows), self.side, self.side, 3), np.uint8)
        places = self.places[rows]
        coming = None if then is None else _present(self.places[then])
        block[places >= 0] = take_rows(self.pixels, _present(places), coming)
        return unit(block)

    def tokens(self, rows: Ids, tokens: Tokens) -> torch.Tensor:
        """Return int64 [n, context]."""
        some = [tokens.row([self.words[int(row)]]) for row in rows]
        return torch.from_numpy(np.stack(some))


@dataclass(frozen=True)
class JudgedImages:
    """The judged pairs of a split, by image: a question each, and the place of its entity.

    `groups`: subset and seen of each pair. Memory: some 200 bytes a pair.
    """

    questions: SideItems
    entities: SideItems
    answers: Ids
    groups: pl.DataFrame

    def __len__(self) -> int:
        return len(self.answers)

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Return ids, question and group of each pair, then the entities' words, for JSON."""
        yield from self.groups.iter_rows()
        yield from zip(self.entities.words, self.entities.places.tolist(), strict=True)


# Steps between two measurements on validation, of which the best chooses the weights; training
# pairs that choose where CLIP2CLIP's four weights start. The paper tells neither.
STEPS_A_MEASUREMENT = 100
GRID_PAIRS = 2_000


class MultimodalPoint(NamedTuple):
    """One row of the learning curve: accuracies on validation, and their harmonic mean."""

    epoch: int
    step: int
    loss: float
    entity_seen: float
    entity_unseen: float
    query_seen: float
    query_unseen: float
    harmonic_mean: float


def train(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    model: MixKind,
    base: OpenClip | Trained,
    weights: Path,
    curve: Path,
    scratch: Path | None = None,
    start: Path | None = None,
) -> None:
    """Fine-tune a model of pictures with words over the CLIP `base`, on the split `train`.

    `weights` gets safetensors of the step with the best harmonic mean on `validation`, with recipe
    and step in the metadata; `curve` a CSV of `MultimodalPoint`. Both are the same bytes for
    the same input and machine. `start` holds the weights of a `base` that is trained here. Pictures
    and checkpoints lie in `scratch` meanwhile; a killed training goes on from there.

    Raises:
        UnknownModel: a name that does not exist, or a model whose tokenizer is not CLIP's.
        BadParams: a recipe under which the loss is no number.
        EmptyTable: fewer than two training pairs, or none to stop by.
        MissingColumn: a collection without questions, or whose texts have no pictures.
        MissingFile, TruncatedFile, CorruptFile: pixels or weights absent, or that do not decode.
        ToolFailed: a process of several that ended without a word.
    """
    job = dict(locals())
    recipe, source = model.train, TrainingSource(texts, images, qrels, pixels, "")
    files = [*pixels, *([start] if start else [])]

    def work(folder: Path, ranks: Ranks) -> None:
        with deterministic(recipe.seed, recipe.threads):
            begun = _begin(base, start)
            workplace = Workplace(folder, ranks, threads=recipe.threads)
            splits = _read(source, base.fields, cut_of(begun.model), workplace)
            job_of = partial(fingerprint, model, base, splits=splits, files=files, code=_CODE)
            plan = TrainingPlan(
                model.schedule, recipe, ranks, TrainingCheckpoint.for_job(folder, recipe, job_of)
            )
            points = _fit(model, begun, splits, plan, folder / _BEST)
            if ranks.first:
                write_curve(points, MultimodalPoint._fields, curve)
                with aside(weights) as part:
                    shutil.copyfile(folder / _BEST, part)
                plan.checkpoint.clear()
                (folder / _BEST).unlink()

    run_job(__name__, job, recipe, work)


def _begin(base: OpenClip | Trained, start: Path | None) -> Start:
    if isinstance(base, Trained):
        return begin(base, start)
    return begin_listed(base.name, base.pretrained, base.resize, base.activation)


def _fit(
    entry: MixKind, begun: Start, splits: Sequence[JudgedImages], plan: TrainingPlan, best: Path
) -> list[MultimodalPoint]:
    """Leave the best weights in the file `best`, and return the curve."""
    kind, recipe, tokens = entry.kind_name(), entry.train, Tokens(begun.tokenizer)
    model = create(kind, begun.model).to(pick_device("auto"))
    notes = {**begun.notes, "kind": kind, "recipe": entry.method()}
    if isinstance(model, Clip2ClipModel):
        notes["start"] = grid_start(model, splits[0], tokens)
        model.weigh(notes["start"])
    pairs = PairEpochs(splits[0], tokens, recipe.batch, recipe.seed, plan.ranks)
    schedule = entry.schedule
    stepper = MultimodalStepper(model, schedule, plan.resources, plan.ranks, schedule.steps)

    def keep(point: MultimodalPoint, file: Path) -> None:
        write_weights(model, {**notes, "step": point.step}, file)

    def gauge() -> list[float]:
        return accuracies(model, splits[1], tokens)

    return EarlyStopping(stepper, pairs, plan, gauge, MultimodalPoint, keep=keep, best=best).run()


class EarlyStopping(TrainingLoop):
    """Measures after every few steps and the last, and keeps the best weights aside.

    Section 6 of the paper: "we employ the early stopping strategy for model selection, and pick the
    model with the best harmonic mean combined score on the validation set". The first of equals
    stays, since it has learned for the shortest time.
    """

    def __init__(
        self,
        *parts: Any,  # noqa: ANN401
        keep: Callable[[MultimodalPoint, Path], None],
        best: Path,
    ) -> None:
        """As `TrainingLoop`; `keep` writes the model as it is to the file `best`."""
        super().__init__(*parts)
        self._keep, self._best = keep, best

    def stepped(self) -> None:
        """Measure where it is time to."""
        done = self.progress.done
        if done % STEPS_A_MEASUREMENT and done < self.total:
            return
        self.measure()
        self.losses = []
        if self.plan.ranks.first and best(self.points) == self.points[-1]:
            self._keep(self.points[-1], self._best)


def best(points: list[MultimodalPoint]) -> MultimodalPoint:
    """Return the first point with the greatest harmonic mean."""
    return max(points, key=lambda point: point.harmonic_mean)


class MultimodalStepper(Stepper):
    """Every parameter of both sides, by Adafactor, which clips its own updates."""

    def prepare(self, recipe: Schedule, total: int) -> tuple[Optimizer, LRScheduler]:
        """Return Adafactor, and the rate that the recipe has for each step."""
        optimizer = adafactor(self.model, recipe)
        return optimizer, LambdaLR(optimizer, lambda n: recipe.rate(n) / recipe.learning_rate)

    def embed(self, piece: Batch) -> Vectors:
        """Return the vectors of pictures with questions, and of those with names."""
        pictures, words, entity_pictures, names = piece
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            queries = self.model.encode(QUERY, pictures, words)
            targets = self.model.encode(TARGET, entity_pictures, names)
        return [queries.float(), targets.float()]


# ASSUME Adafactor is T5's, whose transformers CLIP Fusion has: 11.1 names Shazeer & Stern [45]
# and a rate, and no other setting.
def adafactor(model: Any, recipe: Schedule) -> Adafactor:  # noqa: ANN401
    """Return Adafactor as T5 is fine-tuned with it: the rate comes from outside.

    Factored second moments that decay with 1 - step^-0.8, no momentum, updates clipped to a root
    mean square of 1 and scaled by that of the parameter (Shazeer & Stern, Adafactor, ICML 2018,
    algorithms 4 to 6; Raffel et al., T5, JMLR 2020, section 3.1.2).
    """
    return Adafactor(
        model.parameters(),
        lr=recipe.learning_rate,
        eps=(1e-30, 1e-3),
        clip_threshold=1.0,
        decay_rate=-0.8,
        beta1=None,
        weight_decay=0.0,
        scale_parameter=True,
        relative_step=False,
        warmup_init=False,
    )


class PairEpochs(Epochs):
    """Shuffled epochs of judged pairs; pictures are not augmented: the paper tells of none."""

    def __init__(
        self, judged: JudgedImages, tokens: Tokens, batch: int, seed: int, ranks: Ranks = _ALONE
    ) -> None:
        """Draw batches of at most as many pairs as there are."""
        super().__init__(len(judged), batch, seed, ranks)
        self._judged, self._tokens = judged, tokens

    def batch(self, rows: Ids) -> Batch:
        """Return this rank's pictures and tokens of the questions, then those of the entities."""
        judged, mine = self._judged, rows[self.ranks.rows(len(rows))]
        coming, answers = self.coming(), judged.answers[mine]
        later = None if coming is None else judged.answers[coming]
        return (
            judged.questions.pictures(mine, coming),
            judged.questions.tokens(mine, self._tokens),
            judged.entities.pictures(answers, later),
            judged.entities.tokens(answers, self._tokens),
        )


# ASSUME the candidates are the entities that validation asks for: encoding all six million after
# every hundred steps would take longer than training, and section 6 does not tell.
def accuracies(model: Multimodal, judged: JudgedImages, tokens: Tokens) -> list[float]:
    """Return the share of pairs whose entity comes first, of each of GROUPS, and their mean.

    NaN for a group without pairs; the mean is `combined`.
    """
    rows = np.arange(len(judged))
    model.eval()
    entities = _encoded(model, TARGET, judged.entities, np.arange(len(judged.entities)), tokens)
    queries = _encoded(model, QUERY, judged.questions, rows, tokens)
    blocks = (queries[i : i + _BLOCK] @ entities.T for i in range(0, len(queries), _BLOCK))
    first = np.concatenate([block.argmax(axis=1) for block in blocks])
    right = first == judged.answers[rows]
    groups = judged.groups[rows]
    shares: list[float] = []
    for subset, is_seen in GROUPS:
        right_of_group = right[
            ((groups["subset"] == subset) & (groups["seen"] == is_seen)).to_numpy()
        ]
        shares.append(float(right_of_group.mean()) if len(right_of_group) else math.nan)
    return [*shares, combined(shares)]


def combined(shares: list[float]) -> float:
    """Return the harmonic mean of the two subsets' harmonic means of seen and unseen.

    It is Table 1's `Overall`, which section 6 calls the combined score; groups without pairs have
    no part in it. NaN without any.
    """
    pairs = (shares[:2], shares[2:])
    subsets = [
        harmonic_mean(measured)
        for pair in pairs
        if (measured := [s for s in pair if not math.isnan(s)])
    ]
    return harmonic_mean(subsets) if subsets else math.nan


def grid_start(model: Clip2ClipModel, judged: JudgedImages, tokens: Tokens) -> list[float]:
    """Return the weights in the order of `models.mix.FOUR` that find most entities untrained.

    They are multiples of a step that add up to 1, on a sample of pairs among the entities of the
    sample (appendix 11.2: a grid search on the training data).
    """
    rows = spaced(len(judged), GRID_PAIRS)
    places, right = np.unique(judged.answers[rows], return_inverse=True)
    model.eval()
    images, questions = _features(model, QUERY, judged.questions, rows, tokens)
    pictures, names = _features(model, TARGET, judged.entities, places, tokens)
    four = [a @ b.T for a in (images, questions) for b in (pictures, names)]
    return best_weights(four, torch.from_numpy(right))


def spaced(n: int, most: int) -> Ids:
    """Return the places of at most `most` of n items, evenly spaced."""
    places = np.linspace(0, n - 1, min(most, n))
    return np.unique(places.astype(np.int64))


def _encoded(
    model: Multimodal, side: str, items: SideItems, rows: Ids, tokens: Tokens
) -> npt.NDArray[np.float32]:
    def encode(some: Ids) -> torch.Tensor:
        pictures, words = _inputs(model, items, some, tokens)
        return model.encode(side, pictures, words)

    return _blocks(encode, rows).numpy()


def _features(
    model: Clip2ClipModel, side: str, items: SideItems, rows: Ids, tokens: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    def encode(some: Ids) -> torch.Tensor:
        pictures, words = _inputs(model, items, some, tokens)
        both = model.see(side, pictures), model.read(side, words)
        return torch.cat([features.states[:, 0] for features in both], dim=-1)

    pictures, words = _blocks(encode, rows).chunk(2, dim=-1)
    return pictures, words


def _inputs(
    model: Multimodal, items: SideItems, rows: Ids, tokens: Tokens
) -> tuple[torch.Tensor, torch.Tensor]:
    device = next(model.parameters()).device
    return items.pictures(rows).to(device), items.tokens(rows, tokens).to(device)


def _blocks(encode: Callable[[Ids], torch.Tensor], rows: Ids) -> torch.Tensor:
    """Encode some rows at a time, in the precision of the phase encode."""
    device, parts = Device(), np.array_split(rows, range(_BLOCK, len(rows), _BLOCK))
    return torch.cat([device.rows(partial(encode, part)) for part in parts])


def _read(
    source: TrainingSource, fields: Sequence[str], cut: Cut, workplace: Workplace
) -> list[JudgedImages]:
    splits = [read_judged(source, name, fields, cut, workplace) for name in _LEAST]
    for split, (name, least) in zip(splits, _LEAST.items(), strict=True):
        if len(split) < least:
            problem = f"{len(split)} pairs in split {name}"
            remedy = "collect the training and validation files, or leave this model out"
            raise EmptyTable(source.qrels, problem, remedy)
    return splits


def read_judged(
    source: TrainingSource, split: str, fields: Sequence[str], cut: Cut, workplace: Workplace
) -> JudgedImages:
    """Join the judged pairs of a split, and put tables and pictures in the place's folder.

    Of several ranks the first writes them, and the others read them when they are complete.

    Raises:
        MissingColumn: a collection without questions, whose texts have no pictures, or a field
            that is none of a text's five.
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    _demand_columns(source, fields)
    if workplace.ranks.first:
        for name, schema in (("questions", _QUESTIONS), ("entities", _ENTITIES)):
            _write_table(source, split, name, schema, workplace)
    workplace.ranks.wait()
    questions, answering = (
        pl.read_parquet(_table(workplace, split, name), glob=False)
        for name in ("questions", "entities")
    )
    words = answering.select(text_of(fields)).to_series()
    return JudgedImages(
        _side(
            questions["question"],
            questions["picture_id"],
            source,
            cut,
            (workplace, f"{split}.questions"),
        ),
        _side(words, answering["picture_id"], source, cut, (workplace, f"{split}.entities")),
        questions["place"].to_numpy(),
        questions.drop("place"),
    )


def _write_table(
    source: TrainingSource, split: str, name: str, schema: pa.Schema, workplace: Workplace
) -> None:
    relations = {"qrels": source.qrels, "texts": source.texts, "images": source.images}
    sql.query(
        sql.SQL / "train" / f"{name}.sql",
        {k: v for k, v in relations.items() if k != "images" or name == "questions"},
        {"split": split},
        out=_table(workplace, split, name),
        schema=schema,
        memory_limit=_JOIN_MEMORY,
    )


def _table(workplace: Workplace, split: str, name: str) -> Path:
    return workplace.folder / f"{split}.{name}.parquet"


def _side(
    words: pl.Series,
    pictures: pl.Series,
    source: TrainingSource,
    cut: Cut,
    at: tuple[Workplace, str],
) -> SideItems:
    workplace, name = at
    file = workplace.folder / f"{name}.pictures"
    ids = pictures.drop_nulls().unique().sort()
    names: list[str] = ids.to_list()
    if workplace.ranks.first:
        write_pictures(names, source.pixels, cut, workplace, file)
    workplace.ranks.wait()
    rows = pictures.to_frame("id").join(
        ids.to_frame("id").with_row_index("place"), on="id", how="left", maintain_order="left"
    )
    places = rows["place"].cast(pl.Int64).fill_null(-1).to_numpy()
    return SideItems(words, places, open_pictures(names, cut, workplace, file), cut.side)


def _demand_columns(source: TrainingSource, fields: Sequence[str]) -> None:
    needed = ((source.images, {"question", "picture_id"}), (source.texts, {"picture_id", *fields}))
    for table, columns in needed:
        if missing := columns - {*pq.read_schema(table).names}:
            remedy = "train it on a collection whose pictures have questions"
            raise MissingColumn(table, f"no column {min(missing)!r}", remedy)
    if unknown := {*fields} - {*FIVE_FIELDS}:
        problem = f"field {min(unknown)!r} is none of the five"
        raise MissingColumn(source.texts, problem, f"use some of {', '.join(FIVE_FIELDS)}")


def _present(places: Ids) -> Ids:
    return places[places >= 0]
