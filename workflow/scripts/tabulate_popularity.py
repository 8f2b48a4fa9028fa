from pathlib import Path

from isotope.figures_popularity import popularity
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    popularity(
        Path(snakemake.input.intervals),
        dict(snakemake.params.items()),
        Path(snakemake.output.figure),
    )
