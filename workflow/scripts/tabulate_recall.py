from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.answered import recall_table

with logged(snakemake.log[0], snakemake.rule):
    recall_table(
        [Path(p) for p in snakemake.input.measured],
        Path(snakemake.output.tables[0]).with_suffix(""),
        snakemake.params.systems,
    )
