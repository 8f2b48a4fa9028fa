from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.side_by_side import choices_table

with logged(snakemake.log[0], snakemake.rule):
    choices_table(
        Path(snakemake.input.captioners),
        Path(snakemake.input.images),
        [Path(p) for p in snakemake.input.files],
        snakemake.params.languages,
        Path(snakemake.output.choices),
    )
