from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.styles import styles_table

with logged(snakemake.log[0], snakemake.rule):
    styles_table(
        [Path(p) for p in snakemake.input.vectors],
        [Path(p) for p in snakemake.input.ids],
        weights=next(map(Path, snakemake.input.weights), None),
        out=Path(snakemake.output.styles),
        **dict(snakemake.params.items()),
    )
