from pathlib import Path

from isotope.core.progress import logged
from isotope.parse.dump import gather_dump

with logged(snakemake.log[0], snakemake.rule):
    gather_dump(
        {t: [Path(p) for p in snakemake.input[t]] for t in snakemake.params.tables},
        {t: Path(snakemake.output[t]) for t in snakemake.params.tables},
    )
