from pathlib import Path

from isotope.core.lucene import merge_indexes
from isotope.core.memory import HEAP_MB
from isotope.core.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    merge_indexes(
        [Path(p) for p in snakemake.input.pieces],
        Path(snakemake.output.index),
        memory_mb=HEAP_MB,
    )
