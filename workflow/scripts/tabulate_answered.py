from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.answered import write_answered

with logged(snakemake.log[0], snakemake.rule):
    write_answered(
        [Path(p) for p in snakemake.input.runs],
        dict(zip(snakemake.params.systems, map(Path, snakemake.input.answered), strict=True)),
        Path(snakemake.output.answered),
    )
