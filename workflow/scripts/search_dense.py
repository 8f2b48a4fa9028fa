from pathlib import Path

from isotope.core.progress import logged
from isotope.search.systems import search_dense

with logged(snakemake.log[0], snakemake.rule):
    search_dense(
        Path(snakemake.input.qrels),
        {k: list(map(Path, snakemake.input[k])) for k in snakemake.params.encoded},
        [Path(p) for p in snakemake.input.indexes],
        [Path(p) for p in snakemake.output.runs],
        depth=snakemake.params.depth,
        memory_mb=snakemake.params.memory_mb,
        device=snakemake.params.device,
    )
