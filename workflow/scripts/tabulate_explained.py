from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.failures import tabulate_explained

with logged(snakemake.log[0], snakemake.rule):
    single = {name: [Path(snakemake.input[name])] for name in ("failures", "ranks", "rejected")}
    tabulate_explained(
        {**single, "perturbed": [Path(p) for p in snakemake.input.perturbed]},
        snakemake.params.names,
        Path(snakemake.output.tables[0]).parent,
        snakemake.params.systems,
    )
