"""MRR@10 in both tasks on a split's own candidates, measured while a model trains."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from isotope.train.batches import Tokens, standardised, unit
from isotope.train.data import Split
from isotope.train.pictures import Decoded

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
