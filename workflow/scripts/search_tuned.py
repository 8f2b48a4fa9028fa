from pathlib import Path

from isotope.core.progress import logged
from isotope.search.tune import search_tuned

with logged(snakemake.log[0], snakemake.rule):
    search_tuned(
        [Path(p) for p in snakemake.input.runs],
        [Path(p) for p in snakemake.output.runs],
        snakemake.params.spec,
        qrels=Path(snakemake.input.qrels),
        trials=Path(snakemake.output.trials),
        labels=dict(snakemake.wildcards),
        depth=snakemake.params.depth,
    )
