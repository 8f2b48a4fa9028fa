from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.subsets import Asked, subsets_table

with logged(snakemake.log[0], snakemake.rule):
    subsets_table(
        [Path(run) for run in snakemake.input.runs],
        {t: Path(snakemake.input[t]) for t in ("texts", "images", "qrels")},
        Asked(**dict(snakemake.params.items())),
        Path(snakemake.output.subsets),
    )
