from pathlib import Path

from isotope.core.progress import logged
from isotope.core.shards import gather
from isotope.project.tables import PROJECTION

with logged(snakemake.log[0], snakemake.rule):
    gather([Path(p) for p in snakemake.input.pieces], Path(snakemake.output.projection), PROJECTION)
