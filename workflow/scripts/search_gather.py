from pathlib import Path

from isotope.core.progress import logged
from isotope.search.systems import search_gather

with logged(snakemake.log[0], snakemake.rule):
    search_gather(
        [Path(p) for p in snakemake.input.pieces],
        [Path(p) for p in snakemake.output.runs],
    )
