from pathlib import Path

from isotope.core.progress import logged
from isotope.search.foreign import take_run

with logged(snakemake.log[0], snakemake.rule):
    take_run(
        Path(snakemake.input.run),
        Path(snakemake.output.run),
        table=Path(snakemake.input.documents),
        qrels=Path(snakemake.input.qrels),
        depth=snakemake.params.depth,
    )
