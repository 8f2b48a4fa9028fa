from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.drawings import popularity

with logged(snakemake.log[0], snakemake.rule):
    popularity(
        Path(snakemake.input.intervals),
        dict(snakemake.params.items()),
        Path(snakemake.output.figure),
    )
