"""FAISS indexes that look at some vectors only."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.sections import Count, SystemKind, Whole


class Approximate(SystemKind):
    """A dual encoder, searched approximately."""

    indexed: ClassVar[bool] = True

    kind: Literal["approximate"]
    model: str = Field(description="A key of `models`.")
    method: Literal["ivf", "ivfpq", "hnsw"] = Field(
        description="FAISS's inverted lists, the same with quantised vectors, or its navigable "
        "graph."
    )
    lists: Count = Field(
        default=4096, description="Cells of ivf and ivfpq, fewer where vectors are few."
    )
    probes: Count = Field(default=64, description="Cells that ivf and ivfpq visit for a query.")
    codes: Count = Field(
        default=64,
        description="Most bytes that ivfpq keeps of a vector: the largest divisor of its "
        "components.",
    )
    links: Annotated[Whole, Field(ge=2)] = Field(
        default=32, description="Neighbours in the graph of hnsw."
    )
    width: Count = Field(
        default=200,
        description="Front of hnsw while it builds and searches; never below the depth.",
    )
    sample: Count = Field(
        default=200,
        description="Queries of each cell that are searched exactly as well to measure the recall.",
    )
