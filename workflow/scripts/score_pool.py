from pathlib import Path

from isotope.core.progress import logged
from isotope.judge.sheets import write_pool

with logged(snakemake.log[0], snakemake.rule):
    write_pool(
        [Path(p) for p in snakemake.input.runs],
        Path(snakemake.input.texts),
        Path(snakemake.input.images),
        depth=snakemake.params.depth,
        pool=Path(snakemake.output.pool),
        sheets=[Path(p) for p in snakemake.output.sheets],
    )
