"""Training over frozen features: heads of a `lit` model, mixes of vectors, a temporal model.

The first two learn from a collection's judged pairs by the loop and the step of every contrastive
training.
`train_heads` runs two frozen towers once over the pictures and texts, and trains a head on either;
`learn_mix` learns how the vectors of another model are joined. They take seconds, so they keep no
checkpoints. `train_dates` fits a temporal model to the words of dated texts.
"""

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR

from isotope.core.errors import EmptyTable
from isotope.core.lucene import contents
from isotope.core.pixels import Cut
from isotope.core.progress import Progress
from isotope.core.vectors import FloatArray, created, write_ids
from isotope.models.dates import fit, fold_of, save_dates, years_of
from isotope.models.encoders import ShapeBatches
from isotope.models.kinds._mix import MixKind, MixRecipe
from isotope.models.kinds._training import Resources
from isotope.models.kinds.dates import Dates
from isotope.models.kinds.lit import HeadsRecipe, Lit
from isotope.models.lit import Heads
from isotope.models.mix import (
    FourWays,
    Frozen,
    FusionNetwork,
    JudgedRows,
    best_weights,
    create,
    sample,
)
from isotope.models.offline import (
    PICTURE_FEATURES,
    SIDE,
    FrozenEfficientNet,
    TextTower,
    square,
    text_tower,
)
from isotope.models.transformers import Device
from isotope.train.clip import ClipPoint, mrr10
from isotope.train.data import Split, TrainingSource, Workplace, picture_ids, read_split
from isotope.train.loop import (
    ByEpochs,
    Ids,
    InMemory,
    TrainingPlan,
    deterministic,
    total,
    write_curve,
    write_weights,
)
from isotope.train.overlap import warn_of_shared
from isotope.train.step import Batch, Ranks, Stepper, Vectors

_HASHES = 1 << 32
_LEAST_PAIRS = 2
# Of the heads' AdamW and its cycle; and how often a view's text is a caption. They learn as a CLIP
# here does (`train.clip`), with more captions, as a frozen tower reads a caption well.
_WARMUP = 0.1
_WEIGHT_DECAY = 0.1
_CAPTION_RATE = 0.5
_TEXTS = 32
# Texts that a temporal model counts at most; of more, those whose ids have the least hashes.
_DATED_TEXTS = 200_000


def train_heads(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    model: Lit,
    language: str,
    batch: int,
    weights: Path,
    curve: Path,
    features: Path,
    features_ids: Path,
) -> None:
    """Train the heads of a model on the split `train` and measure it on `validation`.

    Captions are those in `language`. `weights` gets safetensors with the recipe in the metadata,
    `curve` a CSV as
    `isotope.train.clip.train` writes it. Same input, same seed and machine, same bytes.
    `features` and `features_ids` get the features [p, 1280] of the pictures by the frozen tower,
    which runs over `batch` at a time: the phase encode does not run it over them again.

    Raises:
        EmptyTable: fewer than two training images with a judged text.
        MissingFile, TruncatedFile, CorruptFile: pixels absent, or that do not decode; no towers.
    """
    recipe = model.heads
    warn_of_shared(qrels)
    source = TrainingSource(texts, images, qrels, pixels, language)
    with deterministic(recipe.seed, recipe.threads):
        tower = text_tower(model.text, Device())
        towers = Towers(FrozenEfficientNet(Device()), tower, batch)
        train, held_out = (_features(source, name, towers) for name in ("train", "validation"))
    if len(train.image_ids) < _LEAST_PAIRS:
        problem = f"{len(train.image_ids)} images with a judged text in split train"
        raise EmptyTable(qrels, problem, "collect a larger snapshot, or use kind `conse`")
    with deterministic(recipe.seed, recipe.threads):
        heads = Heads(recipe.dim, tower.width)
        points = fit_heads(heads, train, held_out, recipe)
    write_curve(points, ClipPoint._fields, curve)
    _write_features(towers.features_of, features, features_ids)
    write_weights(heads, {"recipe": recipe.values()}, weights)


def fit_heads(
    heads: Heads, train: "SplitFeatures", held_out: "SplitFeatures", recipe: HeadsRecipe
) -> list[ClipPoint]:
    """Train `heads` in place; return a point of every few epochs and of the last.

    Raises:
        BadParams: a loss that is no number.
    """
    batches = HeadsBatches(train, recipe)
    steps = total(recipe, batches.per_epoch)
    stepper = HeadsStepper(heads, recipe, Resources(), Ranks(), steps)
    gauge = partial(measure, heads, held_out)
    return ByEpochs(stepper, batches, TrainingPlan(recipe), gauge, ClipPoint).run()


class SplitFeatures(NamedTuple):
    """A split's features: `images` [n, 1280], `texts` [t, 384] of distinct strings.

    `text_rows`: per image the rows of its texts; `captions`: of its captions. `text_ids`
    names the rows of texts that are no captions.
    """

    image_ids: list[str]
    text_ids: list[str]
    images: torch.Tensor
    texts: torch.Tensor
    text_rows: list[list[int]]
    captions: list[list[int]]


class Towers:
    """Both frozen towers; `features_of` has the features [1280] of each picture, by its id."""

    def __init__(self, pictures: FrozenEfficientNet, sentences: TextTower, batch: int) -> None:
        """Run them over `batch` pictures at a time, as the phase encode does: features agree."""
        self._pictures, self._sentences, self._batch = pictures, sentences, batch
        self.features_of: dict[str, FloatArray] = {}

    def features(self, split: Split, pictures: Sequence[str]) -> SplitFeatures:
        """Return the features of a split whose images show these `pictures`."""
        fields_of = {t: f for ids, views in split.views for t, f in zip(ids, views, strict=True)}
        strings = [" ".join(filter(None, map(str.strip, f))) for f in fields_of.values()]
        row = {text_id: i for i, text_id in enumerate(fields_of)}
        captions = {c: i for i, c in enumerate(sorted({c for cs in split.captions for c in cs}))}
        self._run(split, pictures)
        vectors = [self._sentences.read(some) for some in _counted([*strings, *captions])]
        images = [torch.from_numpy(self.features_of[picture]) for picture in pictures]
        return SplitFeatures(
            list(split.image_ids),
            list(fields_of),
            torch.stack(images) if images else torch.zeros(0),
            torch.cat(vectors) if vectors else torch.zeros(0),
            [[row[t] for t in ids] for ids, _ in split.views],
            [[len(strings) + captions[c] for c in cs] for cs in split.captions],
        )

    def _run(self, split: Split, pictures: Sequence[str]) -> None:
        rows = {
            picture: row for row, picture in enumerate(pictures) if picture not in self.features_of
        }
        block = np.empty((len(rows), PICTURE_FEATURES), np.float32)
        waiting = ShapeBatches(block, self._of_squares, self._batch)
        progress = Progress("pictures encoded", len(rows))
        for position, row in enumerate(rows.values()):
            waiting.add([position], split.squares(np.array([row]))[0])
            progress.add()
        waiting.finish()
        progress.finish()
        self.features_of |= dict(zip(rows, block, strict=True))

    def _of_squares(self, squares: list[Any]) -> FloatArray:
        return self._pictures.see_squares(np.stack(squares)).features.numpy()


def _counted(texts: list[str]) -> Iterator[list[str]]:
    progress = Progress("texts read", len(texts))
    for start in range(0, len(texts), _TEXTS):
        yield texts[start : start + _TEXTS]
        progress.add(len(texts[start : start + _TEXTS]))
    progress.finish()


def _features(source: TrainingSource, name: str, towers: Towers) -> SplitFeatures:
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        split = read_split(source, name, Cut(SIDE, square), Workplace(Path(folder)))
        return towers.features(split, picture_ids(source, split.image_ids))


def _write_features(
    features_of: Mapping[str, FloatArray], features: Path, features_ids: Path
) -> None:
    ids = pl.Series("id", sorted(features_of), pl.String)
    with created(features, (len(ids), PICTURE_FEATURES)) as block:
        for row, picture in enumerate(ids):
            block[row] = features_of[picture]
    write_ids(ids, features_ids)


class HeadsBatches(InMemory):
    """Features of images of a split, each with those of one of its texts or captions."""

    def __init__(self, features: SplitFeatures, recipe: HeadsRecipe) -> None:
        """Draw from the features of a split."""
        super().__init__(len(features.image_ids), recipe.batch)
        self._features = features

    def batch(self, rows: Ids) -> Batch:
        """Return features of images [b, 1280] and of texts [b, width]."""
        texts = [self._view(int(row)) for row in rows]
        return self._features.images[torch.from_numpy(rows)], self._features.texts[texts]

    def _view(self, row: int) -> int:
        """Draw one of an image's captions or of its texts."""
        caption, which = torch.rand(2).tolist()
        captions = self._features.captions[row]
        is_caption = captions and caption < _CAPTION_RATE
        views = captions if is_caption else self._features.text_rows[row]
        return views[int(which * len(views))]


class HeadsStepper(Stepper):
    """Both heads, by AdamW under one cycle of the rate."""

    def prepare(self, recipe: HeadsRecipe, total: int) -> tuple[Optimizer, LRScheduler]:
        """Return AdamW, and one cycle of its rate and momentum."""
        parameters, top = self.model.parameters(), recipe.learning_rate
        optimizer = AdamW(parameters, top, weight_decay=_WEIGHT_DECAY)
        return optimizer, OneCycleLR(optimizer, top, total_steps=total + 1, pct_start=_WARMUP)

    def embed(self, piece: Batch) -> Vectors:
        """Return unit rows of images and of texts."""
        images, texts = piece
        return [self.model.of_images(images), self.model.of_texts(texts)]


def measure(heads: Heads, split: SplitFeatures) -> tuple[float, float]:
    """Return MRR@10 of t2m and of m2t on setting `small`; NaN where the split has no pairs."""
    if not split.image_ids:
        return float("nan"), float("nan")
    heads.eval()
    with torch.inference_mode():
        images = heads.of_images(split.images).numpy()
        texts = heads.of_texts(split.texts[: len(split.text_ids)]).numpy()
    texts_of = [{split.text_ids[row] for row in rows} for rows in split.text_rows]
    images_of: list[set[str]] = [set() for _ in split.text_ids]
    for image_id, rows in zip(split.image_ids, split.text_rows, strict=True):
        for row in rows:
            images_of[row].add(image_id)
    return (
        mrr10(texts, images, split.image_ids, images_of),
        mrr10(images, texts, split.text_ids, texts_of),
    )


def learn_mix(
    *,
    model: MixKind,
    qrels: Path,
    inputs: Mapping[str, Sequence[Path]],
    weights: Path,
    curve: Path,
) -> None:
    """Learn the mix of an entry of kind clip2clip or clip_fusion over vectors `inputs` (`Frozen`).

    `weights` gets safetensors with the recipe in the metadata; `curve` a CSV of epoch, step, loss,
    and accuracy among the texts of validation's pairs. Same input, seed and machine, same bytes.

    Raises:
        EmptyTable: fewer than two training pairs.
    """
    recipe, frozen, kind = model.learn, Frozen(inputs), model.kind_name()
    warn_of_shared(qrels)
    train, held_out = (frozen.pairs(qrels, split) for split in ("train", "validation"))
    if len(train) < _LEAST_PAIRS:
        problem = f"{len(train)} pairs in split train"
        raise EmptyTable(qrels, problem, "collect the training files, or leave this model out")
    notes = {"kind": kind, "dim": frozen.dim, **recipe.values()}
    with deterministic(recipe.seed, recipe.threads):
        if kind == "clip2clip":
            notes["weights"] = best_start(frozen, train)
        mix = create(kind, notes)
        batches = MixBatches(frozen, train, recipe.batch)
        steps = total(recipe, batches.per_epoch)
        stepper = MixStepper(mix, recipe, Resources(), Ranks(), steps)
        gauge = partial(accuracy, mix, frozen, sample(held_out))
        points = ByEpochs(stepper, batches, TrainingPlan(recipe), gauge, MixPoint).run()
    write_curve(points, MixPoint._fields, curve)
    write_weights(mix, notes, weights)


class MixPoint(NamedTuple):
    """One row of a mix's learning curve; `loss` is the mean over its epoch."""

    epoch: int
    step: int
    loss: float
    accuracy: float


class MixBatches(InMemory):
    """Vectors of judged pairs: images, questions, words, pictures [b, dim]; rows of texts [b]."""

    def __init__(self, frozen: Frozen, pairs: JudgedRows, batch: int) -> None:
        """Draw from pairs; a last batch may be smaller, but has something to contrast."""
        super().__init__(len(pairs), batch)
        self._frozen, self._pairs = frozen, pairs
        self.per_epoch += len(pairs) % self.size >= _LEAST_PAIRS

    def batch(self, rows: Ids) -> Batch:
        """Return the vectors of the pairs at these places."""
        some = self._pairs.some(rows)
        texts = torch.from_numpy(some.texts)
        return (*self._frozen.queries(some.queries), *self._frozen.texts(some.texts), texts)


class MixStepper(Stepper):
    """A mix, by AdamW at one rate; another pair's same text is no negative."""

    def prepare(self, recipe: MixRecipe, total: int) -> tuple[Optimizer, LRScheduler]:
        """Return AdamW, whose rate stays."""
        optimizer = AdamW(self.model.parameters(), recipe.learning_rate)
        return optimizer, LambdaLR(optimizer, lambda _: 1.0)

    def embed(self, piece: Batch) -> Vectors:
        """Return rows of queries and of texts."""
        images, questions, words, pictures, _ = piece
        return [self.model.queries(images, questions), self.model.texts(words, pictures)]

    def same(self, batch: Batch) -> torch.Tensor:
        """Return the rows of the texts."""
        return batch[-1]


def best_start(frozen: Frozen, train: JudgedRows) -> list[float]:
    """Return the four weights, tenths that add up to 1, that find most texts.

    The candidates are the texts of a sample of the training pairs; the first of equals wins.
    """
    some = sample(train)
    texts, right = np.unique(some.texts, return_inverse=True)
    words, pictures = frozen.texts(texts)
    images, questions = frozen.queries(some.queries)
    four = [a @ b.T for a in (images, questions) for b in (pictures, words)]
    return best_weights(four, torch.from_numpy(right))


def accuracy(mix: FourWays | FusionNetwork, frozen: Frozen, pairs: JudgedRows) -> tuple[float]:
    """Return the share of pairs whose text comes first among the texts of all; NaN without any."""
    if not len(pairs):
        return (math.nan,)
    mix.eval()
    texts, right = np.unique(pairs.texts, return_inverse=True)
    with torch.inference_mode():
        answers = mix.texts(*frozen.texts(texts))
        first = (mix.queries(*frozen.queries(pairs.queries)) @ answers.T).argmax(dim=1)
    return (float((first.numpy() == right).mean()),)


def train_dates(
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    model: Dates,
    weights: Path,
) -> None:
    """Fit a temporal model on split `train`; write it to `weights`.

    A text has the date of the picture that it belongs to.

    Raises:
        MissingColumn, BadParams: no such column of dates.
        EmptyTable: too few dated training texts.
    """
    warn_of_shared(qrels)
    pairs = dated(images, qrels, model.column)
    order = pl.col("text_id").map_elements(lambda i: fold_of(i, _HASHES), pl.Int64)
    chosen = pairs.sort(order, "text_id", "year").head(_DATED_TEXTS).sort("text_id", "year")
    words = contents("texts", texts, language="", fields=model.fields)
    read = chosen.join(words, left_on="text_id", right_on="id", maintain_order="left")
    save_dates(fit(read["text_id"], read["contents"].to_list(), read["year"]), weights)


def dated(images: Path, qrels: Path, column: str) -> pl.DataFrame:
    """Return text_id and year of every judged training pair whose picture has a date.

    Raises:
        As `models.dates.years_of`.
    """
    table = pl.read_parquet(images, glob=False)
    years = years_of(table, column, images)
    with_year = table.select("image_id").with_columns(years.alias("year")).drop_nulls()
    right = pl.scan_parquet(qrels, glob=False).filter(pl.col("relevance") > 0, split="train")
    return right.collect().join(with_year, on="image_id").select("text_id", "year").unique()
