from pathlib import Path

from isotope.collect.build import collect_images
from isotope.core.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    collect_images(
        {k: snakemake.input[k] for k in snakemake.params.relations},
        tuple(snakemake.params.part),
        {k: Path(p) for k, p in snakemake.output.items()},
    )
