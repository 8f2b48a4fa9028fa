from pathlib import Path

from isotope.collect.build import collect_gather
from isotope.core.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    collect_gather(
        {k: [Path(p) for p in snakemake.input[k]] for k in snakemake.params.pieces},
        Path(snakemake.output.texts).parent,
    )
