from pathlib import Path

from isotope.captions import captions_table
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    captions_table(
        Path(snakemake.input.texts),
        Path(snakemake.input.qrels),
        Path(snakemake.output.captions),
    )
