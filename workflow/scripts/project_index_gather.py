from pathlib import Path

from isotope.lucene_merge import merge_indexes
from isotope.memory import HEAP_MB
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    merge_indexes(
        [Path(p) for p in snakemake.input.pieces],
        Path(snakemake.output.index),
        memory_mb=HEAP_MB,
    )
