from pathlib import Path

from isotope.acquire.fetch import acquire
from isotope.core.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    acquire(
        snakemake.params.spec,
        manifest=Path(snakemake.output.manifest),
        scratch=Path(snakemake.params.scratch),
    )
