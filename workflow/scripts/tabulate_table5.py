from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.table5 import Comparisons, table5

with logged(snakemake.log[0], snakemake.rule):
    table5(
        Path(snakemake.input.scores),
        [Path(p) for p in snakemake.input.trials],
        Comparisons(
            Path(snakemake.input.significance),
            snakemake.params.comparisons,
            snakemake.params.alpha,
        ),
        systems=snakemake.params.systems,
        models=snakemake.params.models,
        out=Path(snakemake.output.tables[0]).with_suffix(""),
    )
