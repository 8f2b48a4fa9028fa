from pathlib import Path

from isotope.pool import write_pool
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    write_pool(
        [Path(p) for p in snakemake.input.runs],
        Path(snakemake.input.texts),
        Path(snakemake.input.images),
        depth=snakemake.params.depth,
        pool=Path(snakemake.output.pool),
        sheets=[Path(p) for p in snakemake.output.sheets],
    )
