"""Which files the views of the catalog read, and what their tables look like."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from isotope import tables

_CURVES = pa.schema(
    [
        pa.field("epoch", pa.int64()),
        pa.field("step", pa.int64()),
        *(pa.field(name, pa.float64()) for name in ("loss", "mrr10_t2m", "mrr10_m2t")),
    ]
)
_CELL = ("collection", "system", "setting", "task", "split", "measure", "parameters")
TUNING = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in _CELL),
        pa.field("value", pa.float64()),
        pa.field("chosen", pa.bool_()),
    ]
)


@dataclass(frozen=True)
class View:
    """A view's files below the project's root, those among them that it leaves out, its columns."""

    glob: str
    schema: pa.Schema
    never: str = ""
    # Only tables with optional columns differ from file to file, and must all be opened first.
    varies: bool = False


VIEWS: Mapping[str, View] = {
    "texts": View("data/collect/*/texts.parquet", tables.TEXTS, varies=True),
    "images": View("data/collect/*/images.parquet", tables.IMAGES, varies=True),
    "qrels": View("data/collect/*/qrels.parquet", tables.QRELS),
    "filters": View("data/collect/*/filters.parquet", tables.FILTERS),
    "runs": View("results/search/*/*/*/*/*.parquet", tables.RUN),
    "tuning": View("results/search/*/tuning/*.csv", TUNING),
    "scores": View("results/score/*.parquet", tables.SCORES, ".significance.parquet"),
    "significance": View("results/score/*.significance.parquet", tables.SIGNIFICANCE),
    "pools": View("results/score/*/pool.parquet", tables.POOL),
    "sheets": View("results/score/*/sheet.parquet", tables.SHEET),
    "graded": View("results/score/*/graded.parquet", tables.GRADED),
    "graded_scores": View("results/score/*/scores.parquet", tables.SCORES),
    "reuse": View("results/score/*/reuse.parquet", tables.REUSE),
    "tau": View("results/score/*/tau.parquet", tables.TAU),
    "agreement": View("results/score/*/agreement.parquet", tables.AGREEMENT),
    "tokens": View("results/tables/*/tokens.parquet", tables.TOKENS),
    "tops": View("results/tables/*/tops.parquet", tables.TOPS),
    "intervals": View("results/tables/*/intervals.parquet", tables.INTERVALS),
    "subsets": View("results/tables/*/subsets.parquet", tables.SUBSETS),
    "temporal": View("results/tables/*/since/*/temporal.parquet", tables.TEMPORAL),
    "failures": View("results/tables/*/failures.parquet", tables.FAILURES),
    "ranks": View("results/tables/*/ranks.parquet", tables.RANKS),
    "studied": View("results/tables/*/studied.parquet", tables.STUDIED),
    "ledger": View("data/crawl/*/ledger.parquet", tables.LEDGER),
    "pixels": View("data/crawl/*/shard-*.parquet", tables.PIXELS),
    "projection": View("data/project/*/projection.parquet", tables.PROJECTION),
    "sections": View("data/parse/*/sections.parquet", tables.SECTIONS),
    "associations": View("data/parse/*/associations.parquet", tables.ASSOCIATIONS),
    "rejected": View("data/parse/*/*.rejected.parquet", tables.REJECTED),
    "inlinks": View("data/parse/*/inlinks.parquet", tables.INLINKS),
    "curves": View("data/train/*/*/curve.csv", _CURVES),
}
