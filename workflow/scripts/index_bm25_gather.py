from pathlib import Path

from isotope.core.progress import logged
from isotope.index.bm25 import index_bm25_gather

with logged(snakemake.log[0], snakemake.rule):
    index_bm25_gather(
        [Path(p) for p in snakemake.input.pieces],
        Path(snakemake.input.digests),
        [Path(p) for p in snakemake.output.folders],
        snakemake.params.splits,
        [Path(p) for p in snakemake.input.earlier],
    )
