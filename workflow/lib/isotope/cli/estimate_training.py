"""What training costs: hours, memory and scratch files, by what is assumed of models."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from isotope.cli.estimate_sizes import GIB, Size
from isotope.params.recipes import Recipe, Resources, recipe_of
from isotope.params.sections import model_kind

# ASSUME a small model of ours reads squares of 64 px and has 5 M parameters, a published one
# 224 px and 151 M (ViT-B/32), where the params do not say.
_SIDE = {False: 64, True: 224}
_PARAMETERS = {False: 5e6, True: 151e6}
# ASSUME a core learns from 600 pairs a second with a small model and 5 with a large one, a GPU
# from 20,000 and 1,500, and a thread decodes and cuts 150 pictures a second; no paper says.
_RATE = {(False, False): 600, (False, True): 5, (True, False): 20_000, (True, True): 1_500}
_DECODE_RATE = 150
# ASSUME a pair's texts take 1.2 kB in the reader's file, and its places 100 bytes of memory (id,
# offsets, permutation); the join holds at most 2 GiB, and 3 kB a pair before that; no paper says.
_ROW_BYTES, _PLACE_BYTES, _JOIN_BYTES = 1_200, 100, 3_000
# ASSUME activations of 1 MB a pair for a small model and 20 MB for a large one, and 1 GiB for
# Python and its libraries; no paper says. AdamW holds four numbers a parameter.
_ACTIVATION = {False: 1e6, True: 20e6}
_LIBRARIES, _OPTIMIZER = 1.0, 16
_WEIGHT = 4


class Training(NamedTuple):
    """Of one model: bytes of weights and of scratch files, seconds, peak memory of a process."""

    weights: int
    scratch: int
    seconds: float
    memory_gib: float


def training(spec: Mapping[str, Any], of: Size, cores: int, *, gpu: bool) -> Training:
    """Return the cost of an entry of kind `trained`, or of a mix that is not frozen.

    Raises:
        BadParams: a recipe that no training can use.
    """
    if model_kind(spec).is_mix:
        return _whole(spec, of, cores, gpu=gpu)
    recipe, large = Recipe.of(spec), "name" in spec
    batch = min(recipe.batch, of.pairs)
    samples = recipe.steps * batch if recipe.steps else recipe.epochs * of.pairs
    at_once = _Work(samples, of.pairs, batch, recipe.threads, large=large)
    return _cost(at_once, Resources.of(spec), of, cores, gpu=gpu)


class _Work(NamedTuple):
    """Pictures that are learned from, in all, distinct ones, and in a batch; and the threads.

    `copies`: of the model.
    """

    samples: int
    pictures: int
    batch: int
    threads: int
    large: bool
    copies: int = 1


def _whole(spec: Mapping[str, Any], of: Size, cores: int, *, gpu: bool) -> Training:
    # ASSUME what is trained whole is a published model, two copies of it, two pictures a pair; the
    # params do not say.
    recipe = recipe_of(spec)
    batch = 2 * min(recipe.batch, of.pairs)
    pictures = 2 * of.pairs
    work = _Work(recipe.steps * batch, pictures, batch, recipe.threads, large=True, copies=2)
    return _cost(work, Resources.of(spec), of, cores, gpu=gpu)


def _cost(work: _Work, resources: Resources, of: Size, cores: int, *, gpu: bool) -> Training:
    large = work.large
    squares = work.pictures * _SIDE[large] ** 2 * 3
    fit = squares <= resources.squares_gib * GIB
    devices = resources.processes if gpu else min(cores, work.threads * resources.processes)
    seconds = work.samples / _RATE[gpu, large] / devices
    if not fit:
        workers = min(cores, resources.workers * resources.processes)
        seconds = max(seconds, work.samples / _DECODE_RATE / workers)
    weights = round(work.copies * _PARAMETERS[large] * _WEIGHT)
    checkpoint = 0 if resources.checkpoint_every is None else 3 * weights
    pictures = squares if fit else work.pictures * of.picture
    return Training(
        weights,
        checkpoint + pictures + of.pairs * _ROW_BYTES,
        seconds + work.pictures / _DECODE_RATE / cores,
        round(_memory(work, resources, of), 1),
    )


def _memory(work: _Work, resources: Resources, of: Size) -> float:
    pairs = work.batch // work.copies
    at_once = min(pairs, resources.micro_batch or pairs) * work.copies * _ACTIVATION[work.large]
    # Squares of this batch and the next, and floats of this one, before and after they are moved.
    pictures = work.batch * _SIDE[work.large] ** 2 * 3 * (2 + 2 * 4) / resources.processes
    learning = work.copies * _PARAMETERS[work.large] * _OPTIMIZER + at_once + pictures
    joining = min(2 * GIB, of.pairs * _JOIN_BYTES)
    return _LIBRARIES + (max(learning, joining) + of.pairs * _PLACE_BYTES) / GIB
