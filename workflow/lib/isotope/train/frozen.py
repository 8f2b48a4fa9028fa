"""Train the heads of a `lit` model on a collection's judged pairs, over features cached once."""

import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

from isotope.core.errors import EmptyTable
from isotope.core.pixels import Cut
from isotope.core.progress import Progress
from isotope.core.store import aside
from isotope.core.vectors import FloatArray, created, write_ids
from isotope.models.encoders import Batches
from isotope.models.lit import Heads
from isotope.models.mix import FourWays, Frozen, Fusion, Pairs, best_weights, create, sample, scale
from isotope.models.offline import (
    DEFAULT,
    PICTURE_FEATURES,
    SIDE,
    Pictures,
    TextTower,
    square,
    text_tower,
)
from isotope.models.transformers import Device
from isotope.params.recipes import HeadsRecipe, MixRecipe
from isotope.train.data import Place, Source, Split, read_split, shown
from isotope.train.loop import mrr10

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


_WARMUP = 0.1
_HOTTEST = 100.0


class Features(NamedTuple):
    """A split's features: `images` [n, 1280], `texts` [t, 384] of distinct strings.

    `shown`: per image the rows of its texts; `said`: of its captions. `text_ids` names the rows of
    texts that are no captions.
    """

    image_ids: list[str]
    text_ids: list[str]
    images: torch.Tensor
    texts: torch.Tensor
    shown: list[list[int]]
    said: list[list[int]]


def fit(heads: Heads, train: Features, held_out: Features, recipe: HeadsRecipe) -> Iterator[str]:
    """Train `heads` in place and yield the lines of the curve.

    The loss is InfoNCE over in-batch negatives (Radford et al., CLIP, 2021, figure 3).
    """
    size = min(recipe.batch, len(train.image_ids))
    steps = recipe.epochs * (len(train.image_ids) // size)
    learner = torch.optim.AdamW(
        heads.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        learner, recipe.learning_rate, total_steps=steps + 1, pct_start=_WARMUP
    )
    for epoch in range(1, recipe.epochs + 1):
        heads.train()
        losses: list[float] = []
        for rows in torch.randperm(len(train.image_ids)).split(size)[: steps // recipe.epochs]:
            loss = _loss(heads, train, rows.tolist(), recipe)
            learner.zero_grad()
            loss.backward()
            learner.step()
            schedule.step()
            losses.append(loss.item())
        if epoch % recipe.every == 0 or epoch == recipe.epochs:
            numbers = (sum(losses) / len(losses), *measure(heads.eval(), held_out))
            told = ",".join(f"{number:.6f}" for number in numbers)
            yield f"{epoch},{epoch * len(losses)},{told}\n"


def _loss(heads: Heads, train: Features, rows: Sequence[int], recipe: HeadsRecipe) -> torch.Tensor:
    chosen = [_view(train, row, recipe.caption_rate) for row in rows]
    images = heads.of_images(train.images[list(rows)])
    scale = heads.logit_scale.exp().clamp(max=_HOTTEST)
    logits = scale * images @ heads.of_texts(train.texts[chosen]).T
    target = torch.arange(len(chosen))
    return (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2


def _view(train: Features, row: int, caption_rate: float) -> int:
    """Draw one of an image's captions or of its texts."""
    caption, which = torch.rand(2).tolist()
    views = train.said[row] if train.said[row] and caption < caption_rate else train.shown[row]
    return views[int(which * len(views))]


def measure(heads: Heads, split: Features) -> tuple[float, float]:
    """Return MRR@10 of t2m and of m2t on setting `small`; NaN where the split has no pairs."""
    if not split.image_ids:
        return float("nan"), float("nan")
    with torch.inference_mode():
        images = heads.of_images(split.images).numpy()
        texts = heads.of_texts(split.texts[: len(split.text_ids)]).numpy()
    shown_in = [{split.text_ids[row] for row in rows} for rows in split.shown]
    shows: list[set[str]] = [set() for _ in split.text_ids]
    for image_id, rows in zip(split.image_ids, split.shown, strict=True):
        for row in rows:
            shows[row].add(image_id)
    return (
        mrr10(texts, images, split.image_ids, shows),
        mrr10(images, texts, split.text_ids, shown_in),
    )


_TEXTS = 32


class Towers:
    """Both frozen towers; `seen` has the features [1280] of every picture by its id."""

    def __init__(self, pictures: Pictures, sentences: TextTower, batch: int) -> None:
        """See `batch` pictures at a time, as the phase encode does, so that features agree."""
        self._pictures, self._sentences, self._batch = pictures, sentences, batch
        self.seen: dict[str, FloatArray] = {}

    def features(self, split: Split, shown: Sequence[str]) -> Features:
        """Run them over a split whose images show the pictures `shown`."""
        fields_of = {t: f for ids, views in split.views for t, f in zip(ids, views, strict=True)}
        strings = [" ".join(filter(None, map(str.strip, f))) for f in fields_of.values()]
        row = {text_id: i for i, text_id in enumerate(fields_of)}
        captions = {c: i for i, c in enumerate(sorted({c for cs in split.captions for c in cs}))}
        self._see(split, shown)
        read = [self._sentences.read(some) for some in _counted([*strings, *captions])]
        images = [torch.from_numpy(self.seen[picture]) for picture in shown]
        return Features(
            list(split.image_ids),
            list(fields_of),
            torch.stack(images) if images else torch.zeros(0),
            torch.cat(read) if read else torch.zeros(0),
            [[row[t] for t in ids] for ids, _ in split.views],
            [[len(strings) + captions[c] for c in cs] for cs in split.captions],
        )

    def _see(self, split: Split, shown: Sequence[str]) -> None:
        rows = {picture: row for row, picture in enumerate(shown) if picture not in self.seen}
        block = np.empty((len(rows), PICTURE_FEATURES), np.float32)
        waiting, progress = (
            Batches(block, self._of_squares, self._batch),
            Progress("seen", len(rows)),
        )
        for place, row in enumerate(rows.values()):
            waiting.add([place], split.squares(np.array([row]))[0])
            progress.add()
        waiting.finish()
        progress.finish()
        self.seen |= dict(zip(rows, block, strict=True))

    def _of_squares(self, squares: list[Any]) -> FloatArray:
        return self._pictures.see_squares(np.stack(squares)).features.numpy()


def _counted(texts: list[str]) -> Iterator[list[str]]:
    progress = Progress("texts read", len(texts))
    for start in range(0, len(texts), _TEXTS):
        yield texts[start : start + _TEXTS]
        progress.add(len(texts[start : start + _TEXTS]))
    progress.finish()


_COLUMNS = "epoch,step,loss,mrr10_t2m,mrr10_m2t\n"


def train_heads(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    spec: Mapping[str, object],
    batch: int,
    weights: Path,
    curve: Path,
    features: Path,
    features_ids: Path,
) -> None:
    """Train what `spec` describes on the split `train` and measure it on `validation`.

    `weights` gets safetensors with the recipe in the metadata; `curve` a CSV as
    `isotope.train.clip.train` writes it. Same input, same seed and machine, same bytes.
    `features` and `features_ids` get what the frozen tower makes of the pictures, [p, 1280],
    `batch` at a time: the phase encode runs the tower over none of them again.

    Raises:
        BadParams: a recipe with unknown keys or unusable values.
        EmptyTable: fewer than two training images with a judged text.
        MissingFile, TruncatedFile, CorruptFile: pixels absent, or that do not decode; no towers.
    """
    recipe = HeadsRecipe.of(spec)
    source = Source(texts, images, qrels, pixels, recipe.language)
    before = torch.get_num_threads()
    torch.set_num_threads(recipe.threads)
    try:
        tower = text_tower(str(spec.get("text", DEFAULT)), Device())
        towers = Towers(Pictures(Device()), tower, batch)
        splits = [_features(source, name, towers) for name in ("train", "validation")]
        if len(splits[0].image_ids) < 2:  # noqa: PLR2004
            found = f"{len(splits[0].image_ids)} images with a judged text in split train"
            raise EmptyTable(qrels, found, "collect a larger snapshot, or use kind `conse`")
        with torch.random.fork_rng():
            torch.manual_seed(recipe.seed)
            heads = Heads(recipe.dim, tower.width)
            lines = list(fit(heads, splits[0], splits[1], recipe))
    finally:
        torch.set_num_threads(before)
    with aside(curve) as part:
        part.write_text(_COLUMNS + "".join(lines))
    _write_features(towers.seen, features, features_ids)
    notes = json.dumps({"recipe": recipe.values()}, sort_keys=True)
    with aside(weights) as part:
        save_file(heads.state_dict(), part, {"isotope": notes})


def _features(source: Source, name: str, towers: Towers) -> Features:
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        split = read_split(source, name, Cut(SIDE, square), Place(Path(folder)))
        return towers.features(split, shown(source, split.image_ids))


def _write_features(seen: Mapping[str, FloatArray], features: Path, features_ids: Path) -> None:
    ids = pl.Series("id", sorted(seen), pl.String)
    with created(features, (len(ids), PICTURE_FEATURES)) as block:
        for row, picture in enumerate(ids):
            block[row] = seen[picture]
    write_ids(ids, features_ids)
