from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.drawings import against

with logged(snakemake.log[0], snakemake.rule):
    against(
        [Path(p) for p in snakemake.input.scores],
        dict(snakemake.params.items()),
        table=Path(snakemake.output.tables[0]).with_suffix(""),
        figure=Path(snakemake.output.figure),
    )
