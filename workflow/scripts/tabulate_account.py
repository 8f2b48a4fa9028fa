from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.table import tabulate

with logged(snakemake.log[0], snakemake.rule):
    tabulate(
        Path(snakemake.input.sql[0]),
        {snakemake.params.relation: snakemake.input.table},
        {},
        Path(snakemake.output[0]).with_suffix(""),
    )
