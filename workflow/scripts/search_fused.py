from pathlib import Path

from isotope.core.progress import logged
from isotope.search.systems import search_fused

with logged(snakemake.log[0], snakemake.rule):
    search_fused(
        [Path(p) for p in snakemake.input.runs],
        [Path(p) for p in snakemake.output.runs],
        snakemake.params.spec,
        depth=snakemake.params.depth,
    )
