from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.tokens import count_tokens

with logged(snakemake.log[0], snakemake.rule):
    count_tokens(
        Path(snakemake.input.texts),
        Path(snakemake.input.images),
        out=Path(snakemake.output.tokens),
        workers=snakemake.threads,
        **dict(snakemake.params.items()),
    )
