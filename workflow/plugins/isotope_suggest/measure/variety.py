"""How varied suggestions are, and whom they serve: clusters, kinds of page, languages.

Cluster recall at 10 is that of the MediaEval task Retrieving Diverse Social Images (Ionescu et al.,
"Div400: A Social Image Retrieval Result Diversification Dataset", MMSys 2014): of all
clusters of a query's pictures, the share that the first ten show. There, people have sorted
pictures into clusters. Here, two pictures are in a cluster if the cosine of their vectors is at
least SAME, directly or over others (single linkage), and the clusters of a section are those of
the first ten of every system. Whether a picture is right does not count, as nobody has judged all
of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope_suggest.measure.evaluate import Judged, Sample, interval

Floats = NDArray[np.float32]
SAME = 0.9
DEPTH = 10
_SECTIONS_AT_ONCE = 512
_VARIETY = ("system", "sections", "pictures", "clusters", "cluster_recall", "low", "high")


def cluster_recall(
    judged: Judged, vectors: Callable[[pl.Series], Floats], seed: int
) -> pl.DataFrame:
    """Return cluster recall at 10 of each system over the sections that any system answers.

    Columns: system, sections, pictures and clusters (means of the first ten), cluster_recall, low,
    high. `vectors` returns vectors of length 1 of pictures, [n, d].
    """
    top = judged.suggested.filter(pl.col("rank") <= DEPTH)
    pool = top.select("text_id", "image_id").unique().sort("text_id", "image_id")
    clusters = pool.with_columns(cluster=pl.Series(_clusters(pool, vectors), dtype=pl.Int64))
    totals = clusters.group_by("text_id").agg(total=pl.col("cluster").n_unique())
    answered = judged.sections.join(totals, on="text_id", maintain_order="left")
    named = top.join(clusters, on=["text_id", "image_id"])
    sample = Sample(answered["page"], seed)
    rows = [
        _of_system(named.filter(system=s), answered, sample) | {"system": s} for s in judged.systems
    ]
    kinds = [pl.String, pl.Int64, *[pl.Float64] * 5]
    schema: dict[str, Any] = dict(zip(_VARIETY, kinds, strict=True))
    return pl.DataFrame(rows, schema=schema)


def _of_system(suggested: pl.DataFrame, answered: pl.DataFrame, sample: Sample) -> dict[str, Any]:
    counts = suggested.group_by("text_id").agg(pl.len(), shown=pl.col("cluster").n_unique())
    rows = answered.join(counts, on="text_id", how="left", maintain_order="left").fill_null(0)
    recall = (rows["shown"] / rows["total"]).to_numpy()[:, None]
    low, high = interval(sample.ratios(recall, np.ones_like(recall))[:, 0])
    means = {"pictures": float(rows["len"].mean()), "clusters": float(rows["shown"].mean())}  # pyright: ignore[reportArgumentType]
    ends = {"cluster_recall": float(recall.mean()), "low": low, "high": high}
    return {"sections": len(rows), **means, **ends}


def _clusters(pool: pl.DataFrame, vectors: Callable[[pl.Series], Floats]) -> list[int]:
    """Return the cluster of each row of text_id and image_id, counted from 0 in its section."""
    labels: list[int] = []
    sizes: list[int] = pool.group_by("text_id", maintain_order=True).len()["len"].to_list()
    for first in range(0, len(sizes), _SECTIONS_AT_ONCE):
        some = sizes[first : first + _SECTIONS_AT_ONCE]
        block = vectors(pool["image_id"].slice(len(labels), sum(some)))
        start = 0
        for size in some:
            labels += clusters(block[start : start + size])
            start += size
    return labels


def clusters(vectors: Floats, same: float = SAME) -> list[int]:
    """Return the cluster of each of some vectors of length 1, [n, d], by single linkage."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 (slow to import)

    linked = (vectors @ vectors.T) >= same
    labels: Any = connected_components(linked, directed=False)[1]
    return labels.tolist()


def shares(feed: pl.DataFrame, sections: pl.LazyFrame) -> pl.DataFrame:
    """Return the shares of page classes and languages among open sections and among suggestions.

    Columns: stratum (page class or language), label, open_sections, open_share, served (sections
    with a suggestion), suggestions, suggestions_share.
    """
    opened = sections.filter(role="open").select("text_id", "page_class", "language").collect()
    named = feed.select("text_id").join(opened, on="text_id", how="left", maintain_order="left")
    parts = [_shares(opened, named, column) for column in ("page_class", "language")]
    return pl.concat(parts)


def _shares(opened: pl.DataFrame, named: pl.DataFrame, column: str) -> pl.DataFrame:
    label = pl.col(column).fill_null("").alias("label")
    opened_counts = opened.group_by(label).agg(open_sections=pl.len())
    served = {"served": pl.col("text_id").n_unique(), "suggestions": pl.len()}
    counts = opened_counts.join(named.group_by(label).agg(**served), on="label", how="left")
    rows = counts.with_columns(pl.col("served", "suggestions").fill_null(0))
    total = pl.col("suggestions").sum()
    return rows.sort("open_sections", "label", descending=[True, False]).select(
        pl.lit(column.replace("_", " ")).alias("stratum"),
        "label",
        pl.col("open_sections").cast(pl.Int64),
        open_share=pl.col("open_sections") / pl.col("open_sections").sum(),
        served=pl.col("served").cast(pl.Int64),
        suggestions=pl.col("suggestions").cast(pl.Int64),
        suggestions_share=pl.when(total > 0).then(pl.col("suggestions") / total),
    )
