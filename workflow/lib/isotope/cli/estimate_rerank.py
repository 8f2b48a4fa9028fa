"""What reranking costs: the weights of a model, times the tokens of all pairs that it reads.

A forward pass takes two operations a weight and token (Kaplan et al., Scaling Laws for Neural
Language Models, 2020, section 2.1).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from isotope.cli.estimate_sizes import GIB, Size
from isotope.cli.estimate_work import asked, cells
from isotope.models.reranker_sizes import weights
from isotope.params.sections import model_values, system_kind, with_parts

Params = Mapping[str, Any]
# ASSUME a core makes 20 billion operations a second in a model's products, a GPU 100 trillion; no
# measurement says.
_OPERATIONS_S = {False: 20e9, True: 100e12}
# ASSUME a word has 1.3 tokens, a prompt 60, a picture 1,000, or one for each 1,024 of its most
# pixels; no measurement says.
_WORD, _PROMPT, _PICTURE, _PIXELS = 1.3, 60, 1_000, 1_024
_BYTES_A_WEIGHT = 4
# Beside the weights: as plan.shards.RERANKS has it.
_BESIDES_GIB = 5.6


def seconds(of: Size, params: Params, cores: int, *, gpu: bool) -> float:
    """Return the seconds that the rerankers of a run take on this machine.

    ASSUME pools share no pairs and no earlier run has scored any; no measurement says.
    """
    rate = _OPERATIONS_S[gpu] * (1 if gpu else cores)
    return sum(
        2 * weights(model["name"]) * _tokens(of, model) * _pairs(of, params, spec["depth"]) / rate
        for spec, model in _reranked(params)
    )


def memory_gib(params: Params) -> float:
    """Return the memory of the largest reranker's job, 0 without one."""
    sizes = [weights(model["name"]) * _BYTES_A_WEIGHT / GIB for _, model in _reranked(params)]
    return max(sizes) + _BESIDES_GIB if sizes else 0.0


def _reranked(params: Params) -> Iterator[tuple[Params, Params]]:
    """Yield each reranked system of a run, and its model, with all keys."""
    systems = params["systems"]
    for name in with_parts(systems, params["search"]["systems"]):
        if system_kind(systems[name]).reranks:
            spec = system_kind(systems[name]).filled(systems[name])
            yield spec, model_values(params["models"][spec["model"]])


def _pairs(of: Size, params: Params, depth: int) -> float:
    every = [asked(of, params, cell) for cell in cells(params)]
    return sum(each.queries * min(depth, each.pool) for each in every)


def _tokens(of: Size, model: Params) -> float:
    """Return the tokens of a pair."""
    image = of.words("images") * _WORD
    if model["images"] == "pixels":
        most = (model.get("pixels") or _PICTURE * _PIXELS) / _PIXELS
        image = min(_PICTURE, most)
    words = _PROMPT + of.words("texts") * _WORD + image
    return min(words, model.get("context") or words)
