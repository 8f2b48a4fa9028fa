from typing import ClassVar, Literal

from isotope.params.references import Model
from isotope.params.removed import Constant, Removed
from isotope.params.sections import Count, SystemKind


class Approximate(SystemKind):
    """A dual encoder, whose vectors FAISS searches approximately."""

    is_pointwise: ClassVar[bool] = False
    measures_recall: ClassVar[bool] = True

    removed: ClassVar[Removed] = {
        "codes": Constant(64, "bytes of a vector at most, a size that papers with ivfpq have"),
        "links": Constant(32, "as FAISS has it; `width` trades time for recall"),
        "sample": Constant(200, "enough queries to measure the recall by"),
    }

    kind: Literal["approximate"]
    model: Model
    """A key of `models`."""
    method: Literal["ivf", "ivfpq", "hnsw"]
    """FAISS's inverted lists, the same with quantised vectors, or its navigable graph."""
    lists: Count = 4096
    """Cells of ivf and ivfpq, fewer where vectors are few."""
    probes: Count = 64
    """Cells that ivf and ivfpq visit for a query."""
    width: Count = 200
    """Candidates of hnsw while it builds and searches; at least the depth."""
