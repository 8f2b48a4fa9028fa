"""Who looks for the nearest documents in a block: FAISS on the processor, torch on a GPU."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from isotope.core.errors import BadParams

Vectors = NDArray[np.float32]
Found = tuple[NDArray[np.float32], NDArray[np.int64]]
# Queries and k to scores and places in the block, both [queries, k], in no order.
Ask = Callable[[Vectors, int], Found]
Seek = Callable[[Vectors], Ask]
_SCORES = 1 << 28


def seeker(device: str) -> Seek:
    """Return what takes a block of documents and looks for its nearest ones to queries.

    `cpu` is FAISS; any other name is a device of torch's, `torch-cpu` its processor; `auto` is the
    GPU where torch sees one, else FAISS.

    Raises:
        BadParams: a device that is not there.
    """
    if device == "auto":
        device = "cuda" if _driver() and _torch().cuda.is_available() else "cpu"
    if device == "cpu":
        return by_faiss
    torch = _torch()
    try:
        place = torch.device(device.removeprefix("torch-"))
        torch.empty(1, device=place)
    except (AssertionError, RuntimeError) as error:
        raise BadParams("search.device", f"no device {device!r}", "use auto or cpu") from error
    return lambda documents: by_torch(documents, place)


def by_faiss(documents: Vectors) -> Ask:
    """Let FAISS look, by its blocked matrix products."""

    def ask(queries: Vectors, k: int) -> Found:
        return faiss.knn(queries, documents, k, metric=faiss.METRIC_INNER_PRODUCT)

    return ask


def by_torch(documents: Vectors, device: Any) -> Ask:  # noqa: ANN401
    """Let torch look on one of its devices, where the block lies until the last query."""
    torch = _torch()
    there = torch.from_numpy(documents).to(device).T
    size = max(1, _SCORES // max(1, len(documents)))

    def ask(queries: Vectors, k: int) -> Found:
        asked = torch.from_numpy(np.ascontiguousarray(queries))
        tops = [torch.topk(part.to(device) @ there, k, sorted=False) for part in asked.split(size)]
        scores, places = (torch.cat(parts).cpu().numpy() for parts in zip(*tops, strict=True))
        return scores, places

    return ask


def _driver() -> bool:
    """Tell whether a driver of NVIDIA's is loaded; torch takes seconds to say that none is."""
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _torch() -> Any:  # noqa: ANN401
    import torch  # noqa: PLC0415

    return torch
