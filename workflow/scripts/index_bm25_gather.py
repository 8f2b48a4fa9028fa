from pathlib import Path

from isotope.index_shards import index_bm25_gather
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    index_bm25_gather(
        [Path(p) for p in snakemake.input.pieces],
        Path(snakemake.input.digests),
        [Path(p) for p in snakemake.output.folders],
        snakemake.params.splits,
        [Path(p) for p in snakemake.input.earlier],
    )
