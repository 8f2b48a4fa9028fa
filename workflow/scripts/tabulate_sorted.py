from pathlib import Path

from isotope.core.progress import logged
from isotope.judge.mistakes import tabulate_mistakes

with logged(snakemake.log[0], snakemake.rule):
    tabulate_mistakes(
        [Path(p) for p in snakemake.input.sheets],
        Path(snakemake.input.sample),
        snakemake.params.classes,
        Path(snakemake.output[0]).with_suffix(""),
        snakemake.params.systems,
    )
