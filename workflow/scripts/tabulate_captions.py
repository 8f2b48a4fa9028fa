from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.cider import captions_table

with logged(snakemake.log[0], snakemake.rule):
    captions_table(
        Path(snakemake.input.texts),
        Path(snakemake.input.qrels),
        Path(snakemake.output.captions),
    )
