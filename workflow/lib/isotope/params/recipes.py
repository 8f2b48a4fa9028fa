"""How a model is trained: the closed set of keys under `train:` of a model in params.yaml."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from isotope.core.errors import BadParams


@dataclass(frozen=True)
class HeadsRecipe:
    """How heads are trained: components of a vector, passes, pairs a step, peak of the cosine.

    `caption_rate`: how often a caption in `language` stands in for the text. `every`: epochs
    between measurements. `threads`: of torch's.
    """

    dim: int = 256
    epochs: int = 30
    batch: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    caption_rate: float = 0.5
    language: str = "en"
    every: int = 5
    threads: int = 1
    seed: int = 0

    @classmethod
    def of(cls, spec: Mapping[str, object]) -> "HeadsRecipe":
        """Read the `heads` mapping of a model's entry.

        Raises:
            BadParams: a key that no recipe has, or values no training can use.
        """
        given = dict(cast("Mapping[str, Any]", spec.get("heads") or {}))
        known = [f.name for f in fields(cls)]
        unknown = sorted(given.keys() - set(known))
        if unknown:
            raise BadParams("models: heads", f"unknown {unknown}", f"use some of {known}")
        recipe = cls(**given)
        if min(recipe.dim, recipe.epochs, recipe.batch - 1, recipe.every, recipe.threads) < 1:
            raise BadParams("models: heads", f"a count too small in {given}", "raise it")
        return recipe


TOWERS = ("both", "text", "vision")
PRECISIONS = ("auto", "bf16", "fp32")
_LATER = ("steps", "tune")


@dataclass(frozen=True)
class Recipe:
    """Hyperparameters of contrastive training; shares, rates and reaches are fractions of 1.

    `warmup`: share of the steps. `every`: epochs between measurements. `caption_rate`: how often a
    caption stands in for the text. `field_dropout`, `token_dropout`: how often a field or token is
    left out. `translate`, `zoom`, `jitter`: how far a picture is moved, scaled and tinted.
    `threads`: of torch's; their number changes the order of sums, hence the weights, and two that
    wait for other jobs are slower than one. `limit_s`: stop after the epoch that passes it.
    `steps`: ends training, in the middle of an epoch too, in place of `epochs`. `tune`: the tower
    that learns; the other stays as it was (Zhai et al., LiT, CVPR 2022).
    """

    epochs: int = 30
    batch: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    warmup: float = 0.1
    every: int = 5
    caption_rate: float = 0.3
    field_dropout: float = 0.1
    token_dropout: float = 0.0
    translate: float = 0.04
    zoom: float = 0.05
    jitter: float = 0.05
    language: str = "en"
    threads: int = 1
    limit_s: float | None = None
    steps: int | None = None
    tune: str = "both"

    @classmethod
    def of(cls, spec: Mapping[str, object]) -> "Recipe":
        """Read the `train` mapping of a model's entry; seed and means are no part of the recipe.

        Raises:
            BadParams: a key that no recipe has, or values no training can use.
        """
        given = _given(spec)
        _demand_known(given)
        recipe = cls(**{k: v for k, v in given.items() if k in _names(cls)})
        counts = recipe.batch - 1, recipe.epochs, recipe.every, recipe.threads, recipe.steps or 1
        if min(counts) < 1 or recipe.steps == 0:
            found = f"a batch below 2, or epochs, steps, every or threads below 1 in {given}"
            raise BadParams("models: train", found, "raise them")
        if "steps" in given and "epochs" in given and recipe.steps is not None:
            raise BadParams("models: train", "both steps and epochs", "keep one of them")
        _demand("tune", recipe.tune, TOWERS)
        return recipe

    def total(self, per_epoch: int) -> int:
        """Return the steps of the whole training."""
        return self.steps or self.epochs * per_epoch

    def as_dict(self) -> dict[str, object]:
        """Return every value, for the weights' metadata, and the later keys only where they tell.

        So weights that were trained before those keys existed keep their bytes.
        """
        plain = Recipe()
        every = asdict(self).items()
        return {k: v for k, v in every if k not in _LATER or v != getattr(plain, k)}


@dataclass(frozen=True)
class Means:
    """How the arithmetic is carried out: these change memory, time and rounding, not the method.

    `micro_batch`: pairs that a process holds activations for; larger batches are cached.
    `precision`: of the towers' products; `auto` is bf16 on a GPU that has it. `processes`: ranks
    that share a batch. `checkpoint_every`: steps between checkpoints, None for none. `squares_gib`:
    disk that a split's pictures may take as squares; larger splits are decoded batch by batch, by
    `workers` threads.
    """

    micro_batch: int | None = None
    precision: str = "auto"
    processes: int = 1
    checkpoint_every: int | None = None
    squares_gib: float = 4.0
    workers: int = 1

    @classmethod
    def of(cls, spec: Mapping[str, object]) -> "Means":
        """Read the `train` mapping of a model's entry.

        Raises:
            BadParams: values no training can use.
        """
        means = cls(**{k: v for k, v in _given(spec).items() if k in _names(cls)})
        counts = (means.micro_batch, means.processes, means.checkpoint_every, means.workers)
        if any(count is not None and count < 1 for count in counts):
            found = f"micro_batch, processes, workers or checkpoint_every below 1 in {means}"
            raise BadParams("models: train", found, "raise them")
        _demand("precision", means.precision, PRECISIONS)
        return means


def _given(spec: Mapping[str, object]) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", spec.get("train") or {}))


def _names(of: type[Recipe] | type[Means]) -> list[str]:
    return [f.name for f in fields(of)]


def _demand_known(given: Mapping[str, Any]) -> None:
    known = ["seed", *_names(Recipe), *_names(Means)]
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise BadParams("models: train", f"unknown {unknown}", f"use some of {known}")


def _demand(key: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise BadParams("models: train", f"{key} {value!r}", f"use one of {', '.join(known)}")
