from pathlib import Path

from isotope import catalog
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    catalog.build(Path(snakemake.output.catalog))
