from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate import catalog

with logged(snakemake.log[0], snakemake.rule):
    catalog.build(Path(snakemake.output.catalog))
