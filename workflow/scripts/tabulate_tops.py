from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.answered import tops_table

with logged(snakemake.log[0], snakemake.rule):
    tops_table(
        [Path(run) for run in snakemake.input.runs],
        depth=snakemake.params.depth,
        out=Path(snakemake.output.tops),
    )
