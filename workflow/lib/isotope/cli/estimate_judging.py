"""What models that grade a pool cost: pairs, the time of each, and the memory of a model."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from isotope.cli import estimate_work
from isotope.cli.estimate_sizes import GIB, Size
from isotope.plan.judges import BYTES, weights_mb

# ASSUME a message has 1,000 tokens, and each costs two operations a weight; a GPU does 10^14 a
# second and a core 5 * 10^10: no measurement says, as no weights were at hand.
_TOKENS, _GPU_RATE, _CORE_RATE = 1_000, 1e14, 5e10
# ASSUME the systems' first hits are half the same ones; no measurement says.
_DIFFERENT = 0.5
# A line of answers, and a row of grades.
_ANSWER_BYTES = 500


class Judging(NamedTuple):
    """Pairs, seconds and bytes on disk of all judges, and the memory of the largest."""

    pairs: int
    seconds: float
    disk: int
    memory_gib: float


def judging(params: Mapping[str, Any], of: Size, cores: int, *, gpu: bool) -> Judging:
    """Return what the models of `score.judge.models` cost on a source; nothing without them."""
    judge = params["score"].get("judge", {})
    models: Mapping[str, Any] = judge.get("models", {})
    if not models:
        return Judging(0, 0.0, 0, 0.0)
    pairs = sum(_pairs(params, of, judge, task) for task in params["search"]["tasks"])
    rate = _GPU_RATE if gpu else _CORE_RATE * cores
    weights = [weights_mb(each) * 1e6 / BYTES[each["precision"]] for each in models.values()]
    seconds = sum(pairs * _TOKENS * 2 * each / rate for each in weights)
    largest = max(map(weights_mb, models.values())) * 1e6 / GIB
    every = pairs * len(models)
    return Judging(every, seconds, every * _ANSWER_BYTES, largest)


def _pairs(params: Mapping[str, Any], of: Size, judge: Mapping[str, Any], task: str) -> int:
    asked = estimate_work.asked(of, params, (judge["setting"], judge["split"], task))
    systems = len(params["search"]["systems"])
    most = judge["depth"] * (1 + (systems - 1) * _DIFFERENT)
    return round(asked.queries * min(most, asked.pool))
