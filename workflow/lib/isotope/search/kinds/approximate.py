from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.references import Model
from isotope.params.sections import Count, Integer, SystemKind


class Approximate(SystemKind):
    """A dual encoder, whose vectors FAISS searches approximately."""

    is_pointwise: ClassVar[bool] = False
    measures_recall: ClassVar[bool] = True

    kind: Literal["approximate"]
    model: Model
    """A key of `models`."""
    method: Literal["ivf", "ivfpq", "hnsw"]
    """FAISS's inverted lists, the same with quantised vectors, or its navigable graph."""
    lists: Count = 4096
    """Cells of ivf and ivfpq, fewer where vectors are few."""
    probes: Count = 64
    """Cells that ivf and ivfpq visit for a query."""
    codes: Count = 64
    """Most bytes that ivfpq stores per vector; the largest divisor of its components is used."""
    links: Annotated[Integer, Field(ge=2)] = 32
    """Neighbours in the graph of hnsw."""
    width: Count = 200
    """Candidates of hnsw while it builds and searches; at least the depth."""
    sample: Count = 200
    """Queries of each cell that are also searched exactly, to measure the recall."""
