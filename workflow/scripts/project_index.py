from pathlib import Path

from isotope.memory import HEAP_MB
from isotope.progress import logged
from isotope.project import index_sections

with logged(snakemake.log[0], snakemake.rule):
    index_sections(
        Path(snakemake.input.sections),
        Path(snakemake.output.index),
        threads=snakemake.threads,
        memory_mb=HEAP_MB,
        language=snakemake.params.language,
        part=tuple(snakemake.params.part),
    )
