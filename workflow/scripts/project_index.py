from pathlib import Path

from isotope.core.memory import HEAP_MB
from isotope.core.progress import logged
from isotope.project.match import index_sections

with logged(snakemake.log[0], snakemake.rule):
    index_sections(
        Path(snakemake.input.sections),
        Path(snakemake.output.index),
        threads=snakemake.threads,
        memory_mb=HEAP_MB,
        language=snakemake.params.language,
        part=tuple(snakemake.params.part),
    )
