from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.table import tabulate

with logged(snakemake.log[0], snakemake.rule):
    tabulate(
        Path(snakemake.input.sql[0]),
        {name: snakemake.input[name] for name in snakemake.params.relations},
        {"systems": snakemake.params.systems},
        Path(snakemake.output.tables[0]).with_suffix(""),
    )
