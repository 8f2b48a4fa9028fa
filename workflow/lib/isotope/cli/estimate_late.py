"""What late interaction and learned sparse models cost: bytes an item, and seconds of a search.

Sizes are those of the formats: `dim` + 4 bytes a vector (`core.multivectors`), a term and an impact
a word (`schemas.encode.SPARSE`). How many there are of an item is assumed.
"""

from collections.abc import Mapping
from typing import Any

from isotope.cli.estimate_curves import Asked
from isotope.cli.estimate_sizes import Size
from isotope.core.grid import SIDES, document_side, query_side
from isotope.core.multivectors import SCALE_BYTES
from isotope.params.sections import model_values

Model = Mapping[str, Any]
# ColPali's 32 x 32 patches and 6 words of its prompt (Faysse et al., ICLR 2025, appendix B), each
# with 128 components. ASSUME the other families have as many; no measurement says.
_PATCHES, _COMPONENTS = 1_030, 128
# ASSUME a word is 1.3 tokens, and that models add 16 of their own; no paper says.
_TOKENS_A_WORD, _ADDED = 1.3, 16
# ASSUME a document has 200 terms of SPLADE's 30,522, a query as many, as both are long texts here,
# and that a term takes 8 bytes in its table and 6 in an index; no measurement says.
_TERMS, _WORDS, _TERM_BYTES, _POSTING_BYTES = 200, 30_522, 8, 6
# ASSUME a core multiplies and adds 2e10 pairs of components a second in matrix products, and adds
# 5e8 postings a second; no measurement says.
_PRODUCTS_S, _POSTINGS_S = 2e10, 5e8


def sees(model: Model) -> bool:
    """Whether a model is one of late interaction on a vision-language model."""
    return model["kind"] == "late" and model_values(model)["images"] == "pixels"


def vectors(model: Model, of: Size, side: str) -> float:
    """Return the vectors of an item of a side, by a model of kind `late`."""
    if side == "images" and sees(model):
        return _PATCHES
    return min(model_values(model)["tokens"], of.words(side) * _TOKENS_A_WORD) + _ADDED


def encoded_bytes(model: Model, of: Size) -> float | None:
    """Return the bytes of all items of a model of kind `late` or `sparse`; None of other kinds."""
    if model["kind"] == "late":
        each = {s: vectors(model, of, s) * (_COMPONENTS + SCALE_BYTES) for s in SIDES}
        # Pooled vectors in single precision lie beside them.
        return sum(of.of_side(s) * (n + 4 * _COMPONENTS) for s, n in each.items())
    if model["kind"] == "sparse":
        return (of.texts + of.images) * _TERMS * _TERM_BYTES
    return None


def indexed_bytes(documents: float) -> float:
    """Return the bytes of indexes of impacts, over so many documents."""
    return documents * _TERMS * _POSTING_BYTES


def late_s(system: Mapping[str, Any], model: Model, of: Size, asked: Asked, task: str) -> float:
    """Return the core seconds of MaxSim in a cell: of the whole pool, or of candidates."""
    whole = asked.pool <= system["exact_up_to"]
    scored = asked.pool if whole else min(asked.pool, system["candidates"])
    sides = (query_side(task), document_side(task))
    queries, documents = (vectors(model, of, side) for side in sides)
    return asked.queries * scored * queries * documents * _COMPONENTS / _PRODUCTS_S


def sparse_s(asked: Asked) -> float:
    """Return the core seconds of a search over impacts in a cell."""
    postings = asked.pool * _TERMS * _TERMS / _WORDS
    return asked.queries * postings / _POSTINGS_S
