from pathlib import Path

from isotope.core.progress import logged
from isotope.project.match import project

with logged(snakemake.log[0], snakemake.rule):
    project(
        Path(snakemake.input.queries),
        Path(snakemake.input.sections),
        Path(snakemake.input.index),
        snakemake.params.spec,
        Path(snakemake.output.projection),
        threads=snakemake.threads,
        part=tuple(snakemake.params.part),
        language=snakemake.params.language,
    )
