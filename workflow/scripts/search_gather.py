from pathlib import Path

from isotope.progress import logged
from isotope.search_gather import search_gather

with logged(snakemake.log[0], snakemake.rule):
    search_gather(
        [Path(p) for p in snakemake.input.pieces],
        [Path(p) for p in snakemake.output.runs],
    )
