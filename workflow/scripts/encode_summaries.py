from pathlib import Path

from isotope.core.progress import logged
from isotope.encode.summaries import write_summaries

with logged(snakemake.log[0], snakemake.rule):
    write_summaries(
        Path(snakemake.input.images),
        snakemake.params.spec,
        language=snakemake.params.language,
        batch=snakemake.params.batch,
        out=Path(snakemake.output.images),
    )
