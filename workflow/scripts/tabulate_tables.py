from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.exhibits import tabulate_all

with logged(snakemake.log[0], snakemake.rule):
    tabulate_all(
        {k: Path(v) for k, v in snakemake.input.items() if isinstance(v, str)},
        [Path(p) for p in snakemake.input.curves],
        tables=Path(snakemake.output.metrics).parent,
        figures=Path(snakemake.output.corpus_size).parent,
        params=dict(snakemake.params.items()),
    )
