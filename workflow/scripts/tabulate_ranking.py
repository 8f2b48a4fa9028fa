from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.failures import tabulate_ranking

with logged(snakemake.log[0], snakemake.rule):
    tabulate_ranking(
        [Path(p) for p in snakemake.input.runs],
        Path(snakemake.input.qrels),
        Path(snakemake.output.tables[0]).with_suffix(""),
    )
